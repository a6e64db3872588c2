// The first page's filters, sorting and permalinks. Ranks are recomputed as harness/statistics/ranking.py computes them.
(() => {
  "use strict";
  const { targets, ceiling, methods, tasks, boards } = window.PARAMID;
  const DRAWS = 400, EDGE = 0.025;
  const form = document.getElementById("filters"), table = document.getElementById("matrix");
  const body = table.tBodies[0], kinds = [...table.tHead.rows[0].cells].slice(1), head = [...table.tHead.rows[1].cells];
  const rows = [...body.rows], said = document.getElementById("state");
  const original = new Map([...document.querySelectorAll("[data-over] table")].map((t) => [t, [...t.tBodies]]));
  const spans = kinds.map((th) => [th, th.colSpan]);
  const fields = ["access", "family", "size", "device", "cost"];
  const hide = document.head.appendChild(document.createElement("style"));
  let state = {};

  // ---- ranking: (1) expected cost, (3) score, resampled ranks and groups
  const random = (seed) => () => {  // mulberry32: the same page, the same intervals
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  // area of (3) for every method at one task, its seeds taken `times` each
  const area = (runs, times, out) => {
    const costs = new Float64Array(runs.length);
    for (let k = 0; k < targets.length; k++) {
      let best = Infinity;
      for (let m = 0; m < runs.length; m++) {
        let total = 0, count = 0;
        for (let s = 0; s < runs[m].length; s++) {
          const run = runs[m][s], n = times[s];
          if (!n) continue;
          if (k < run[0]) { total += n * run[1 + k]; count += n; } else total += n * run[1 + run[0]];
        }
        costs[m] = count ? Math.max(total / count, Number.MIN_VALUE) : Infinity;
        best = Math.min(best, costs[m]);
      }
      if (best === Infinity) continue;
      for (let m = 0; m < runs.length; m++) {
        if (costs[m] < Infinity) out[m] += Math.max(0, 1 - Math.log(costs[m] / best) / Math.log(ceiling)) / targets.length;
      }
    }
  };
  const ranks = (scores) => scores.map((a) => {
    let above = 0, equal = 0;
    for (const b of scores) { above += b > a; equal += b === a; }
    return above + (equal + 1) / 2;
  });
  const quantile = (values, q) => {
    const at = q * (values.length - 1), low = Math.floor(at), high = Math.ceil(at);
    return values[low] + (values[high] - values[low]) * (at - low);
  };
  const rank = (targetCosts, ours, where) => {  // ours: places of methods, where: places of tasks
    const table = where.map((t) => ours.map((m) => targetCosts.runs[m][t]));
    const seeds = table.map((runs) => Math.max(0, ...runs.map((r) => r.length)));
    const next = random(1), whole = new Array(ours.length).fill(0);
    table.forEach((runs, t) => area(runs, new Array(seeds[t]).fill(1), whole));
    const drawn = [];
    for (let d = 0; d < DRAWS; d++) {
      const out = new Array(ours.length).fill(0);
      for (let i = 0; i < where.length; i++) {
        const t = Math.floor(next() * where.length), times = new Array(seeds[t]).fill(0);
        for (let s = 0; s < seeds[t]; s++) times[Math.floor(next() * seeds[t])]++;
        area(table[t], times, out);
      }
      drawn.push(out.map((v) => v / where.length));
    }
    const scores = whole.map((v) => v / where.length), placed = drawn.map(ranks), final = ranks(scores);
    const within = (lists, m) => {
      const sorted = lists.map((l) => l[m]).sort((a, b) => a - b);
      return [quantile(sorted, EDGE), quantile(sorted, 1 - EDGE)];
    };
    const name = (i) => methods[targetCosts.methods[ours[i]]].name;
    const order = ours.map((_, i) => i).sort((a, b) => scores[b] - scores[a] || (name(a) < name(b) ? -1 : 1));
    let lead = order[0], group = 1;
    return order.map((i) => {
      if (drawn.filter((d) => d[lead] > d[i]).length / DRAWS >= 1 - EDGE) { lead = i; group++; }
      return { at: ours[i], name: name(i), score: scores[i], scores: within(drawn, i), rank: final[i], ranks: within(placed, i), group };
    });
  };
  window.PARAMID.rank = rank;

  // ---- standings
  const node = (tag, inside, attributes = {}) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...[].concat(inside));
    return made;
  };
  const short = (x) => String(Math.round(x * 100) / 100);
  const share = (count, all) => {
    if (!all) return ["–"];
    return [`${Math.round((100 * count) / all)} % `, node("small", `${count}/${all}`)];
  };
  const standing = (s, targetCosts, where, old) => {
    const a = Math.floor(s.ranks[0]), b = Math.ceil(s.ranks[1]), [low, high] = s.scores;
    const runs = where.flatMap((t) => targetCosts.runs[s.at][t]);
    const bar = node("span", [], { class: "bar", "aria-hidden": "true", style: `--s:${s.score};--a:${low};--b:${high}` });
    return node("tr", [
      node("td", [node("b", short(s.rank)), " ", ...(a === b ? [] : [node("small", `${a}–${b}`)])], { class: "rank" }),
      old.querySelector("th").cloneNode(true),
      node("td", [bar, node("b", s.score.toFixed(2)), " ", node("small", `${low.toFixed(2)}–${high.toFixed(2)}`)], { class: "score" }),
      ...targets.map((_, k) => node("td", share(runs.filter((r) => r[0] > k).length, runs.length), { class: "num" })),
      node("td", identified(s.name), { class: "num" }),
    ], { "data-method": s.name });
  };
  const identified = (name) => {  // from the matrix' own words
    const column = methods.findIndex((m) => m.name === name) + 1;
    let count = 0, all = 0;
    for (const row of rows) {
      const told = row.hidden ? null : /(\d+)\/(\d+) identified; (.*?) \(95/.exec(row.cells[column].title);
      if (told) { count += +told[1]; all += +told[2]; }
    }
    return share(count, all);
  };
  const standings = () => {
    for (const section of document.querySelectorAll(".board")) {
      const kind = section.dataset.kind;
      section.hidden = Boolean(state.access && state.access !== kind);
      for (const part of section.querySelectorAll("[data-over]")) {
        part.hidden = part.dataset.over !== (state.cost || "seconds");
        const whole = part.querySelector("table"), first = original.get(whole);
        if (part.hidden || section.hidden) continue;
        for (const old of [...whole.tBodies]) old.remove();
        const note = section.querySelector(".recomputed");
        const targetCosts = boards[kind][part.dataset.over];
        const where = targetCosts.tasks.map((t, i) => [t, i]).filter(([t]) => shown(tasks[t])).map(([, i]) => i);
        const ours = targetCosts.methods.map((m, i) => [m, i]).filter(([m]) => !state.device || methods[m].device === state.device).map(([, i]) => i);
        if (where.length === targetCosts.tasks.length && ours.length === targetCosts.methods.length) {
          whole.append(...first);
          note.textContent = "";
          continue;
        }
        note.textContent = where.length && ours.length
          ? `Recomputed here over ${where.length} of ${targetCosts.tasks.length} tasks; intervals from ${DRAWS} resamples.` : "No task of this board is shown.";
        if (!where.length || !ours.length) continue;
        let made = null, group = 0;
        for (const s of rank(targetCosts, ours, where)) {
          if (s.group !== group) {
            group = s.group;
            made = node("tbody", ours.length > 1 ? [node("tr", node("th", group === 1 ? "Head group" : `Group ${group}`, { colspan: 7, scope: "rowgroup" }), { class: "group" })] : []);
            whole.append(made);
          }
          const old = first.flatMap((b) => [...b.rows]).find((r) => r.dataset.method === s.name);
          made.append(standing(s, targetCosts, where, old));
        }
      }
    }
  };

  // ---- matrix
  const shown = (task) => (!state.family || task.family === state.family) && (!state.size || task.size === state.size);
  const filter = () => {
    let count = 0;
    for (const row of rows) {
      row.hidden = !shown(tasks[row.dataset.task]);
      count += !row.hidden;
    }
    const gone = head.map((th, i) => [th, i + 2]).filter(([th]) =>
      (state.access && th.dataset.kind !== state.access) || (state.device && th.dataset.device !== state.device));
    hide.textContent = gone.map(([, i]) => `#matrix tbody>tr>:nth-child(${i}),#matrix .names>:nth-child(${i - 1})`).join(",") + (gone.length ? "{display:none}" : "");
    let from = 0;
    for (const [th, span] of spans) {  // a board is as wide as its methods that are shown
      const left = span - gone.filter(([, i]) => i - 2 >= from && i - 2 < from + span).length;
      th.hidden = !left;
      th.colSpan = left || 1;
      from += span;
    }
    table.style.setProperty("--n", head.length - gone.length);
    said.textContent = `${count} of ${rows.length} tasks, ${head.length - gone.length} of ${head.length} methods`;
  };
  const sort = () => {
    const column = methods.findIndex((m) => m.name === state.sort), sign = state.down ? -1 : 1;
    head.forEach((th, i) => i === column ? th.setAttribute("aria-sort", state.down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
    const value = (row) => { const cell = row.cells[column + 1], v = cell.dataset.v; return /^(no|bare)$/.test(cell.className) ? Infinity : v === undefined ? NaN : +v; };
    const keyed = rows.map((row, i) => [row, column < 0 ? i : value(row), i]);
    keyed.sort((a, b) => (isNaN(a[1]) - isNaN(b[1])) || (a[1] === b[1] ? 0 : (a[1] < b[1] ? -1 : 1) * sign) || a[2] - b[2]);
    if (keyed.some(([row], i) => row !== body.rows[i])) body.append(...keyed.map(([row]) => row));
    let last = null;
    for (const [row] of keyed.filter(([r]) => !r.hidden)) {
      const family = tasks[row.dataset.task].family;
      row.classList.toggle("first", family !== last);
      last = family;
    }
  };

  // ---- state: the form, the address and the page say the same
  const read = () => {
    const told = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    state = {};
    for (const name of fields) {
      const options = [...form.elements[name].options].map((o) => o.value);
      if (options.includes(told.get(name))) state[name] = told.get(name);
      form.elements[name].value = state[name] || options[0];
    }
    if (methods.some((m) => m.name === told.get("sort"))) state.sort = told.get("sort");
    state.down = told.get("down") === "1";
  };
  const write = () => {
    const told = { ...state, down: state.down ? "1" : "", cost: state.cost === "seconds" ? "" : state.cost };
    const kept = [...fields, "sort", "down"].map((name) => [name, told[name]]).filter(([, value]) => value);
    history.replaceState(null, "", kept.length ? `#${new URLSearchParams(kept)}` : location.pathname.split("/").pop() || ".");
  };
  const soon = rows.length * head.length > 2000 ? (work) => setTimeout(work, 30) : (work) => work();  // the matrix answers first
  const show = () => { filter(); sort(); soon(standings); };

  for (const [i, th] of head.entries()) {
    const button = node("button", "⇅", { type: "button", "aria-label": `Sort tasks by the error of ${methods[i].name}` });
    button.addEventListener("click", () => {
      const name = methods[i].name;
      if (state.sort !== name) { state.sort = name; state.down = false; } else if (!state.down) state.down = true; else { delete state.sort; state.down = false; }
      write(); sort();
    });
    th.append(button);
  }
  form.addEventListener("change", () => {
    for (const name of fields) state[name] = form.elements[name].value;
    write(); show();
  });
  form.addEventListener("reset", (event) => { event.preventDefault(); history.replaceState(null, "", location.pathname.split("/").pop() || "."); read(); show(); });
  addEventListener("hashchange", () => { if (location.hash.includes("=") || !location.hash) { read(); show(); } });
  form.hidden = false;
  read(); show();
})();
