// Two methods side by side, as harness/statistics/pairwise.py compares them.
(() => {
  "use strict";
  const { methods, tasks, pairs } = window.PARAMID, { node, sortable } = window.PARAMID_PAGE;
  const form = document.getElementById("choice"), result = document.getElementById("versus");
  const fields = ["a", "b", "family", "over"], cells = methods.map(() => new Map());
  for (const [m, t, said, runs] of pairs.cells) cells[m].set(t, { said, runs });

  // ---- (1) pairs of runs, (2) the sign test
  const compare = (a, b, over) => {
    const theirs = new Map(b.runs.map((r) => [`${r[0]} ${r[1]}`, r])), at = over === "seconds" ? 3 : 4;
    const told = { won: 0, lost: 0, met: 0 };
    for (const mine of a.runs) {
      const other = theirs.get(`${mine[0]} ${mine[1]}`);
      if (!other) continue;
      told.met++;
      const x = mine[at] ?? Infinity, y = other[at] ?? Infinity;
      if (x < Infinity && y < Infinity && over === "seconds" && mine[2] !== other[2]) continue;
      told.won += x < y;
      told.lost += y < x;
    }
    return told;
  };
  const test = (won, lost) => {
    const n = won + lost, most = Math.max(won, lost);
    let log = -n * Math.LN2, sum = 0;
    for (let k = 1; k <= n - most; k++) log += Math.log((most + k) / k);
    for (let k = most; k <= n; k++) { sum += Math.exp(log); log += Math.log((n - k) / (k + 1)); }
    return Math.min(1, 2 * sum);
  };
  const share = (said) => { const [solved, all] = said[0].split("/"); return solved / all; };

  // ---- the page
  const short = (name) => name.length > 26 ? `${name.slice(0, 25)}…` : name;
  const named = (i) => node("a", methods[i].name, { href: methods[i].url });
  const count = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
  const verdict = (a, b, all, over, p) => {
    const lead = all.won > all.lost ? a : b, last = lead === a ? b : a;
    const line = p > 0.05 ? [node("b", named(a)), " and ", node("b", named(b)), " are not told apart"]
      : [node("b", named(lead)), " is ahead of ", node("b", named(last))];
    const draws = all.met - all.won - all.lost;
    const where = over === "seconds" ? "seconds" : "rows of the teacher";
    const bar = node("div", [["won", all.won, short(methods[a].name)], ["draw", draws, "draws"], ["lost", all.lost, short(methods[b].name)]].filter(([, n]) => n)
      .map(([kind, n, who]) => node("span", `${who} ${n}`, { class: kind, style: `flex:${n}` })), { class: "split", "aria-hidden": "true" });
    const told = `Of ${count(all.met, "run")} that both made, ${short(methods[a].name)} won ${all.won}, ${short(methods[b].name)} won ${all.lost}, ${count(draws, "draw")}; cheaper is in ${where}. Sign test: p = ${+p.toPrecision(2)}, for this pair alone.`;
    return node("section", [node("p", line, { class: "lead" }), bar, node("p", told, { id: "verdict" })],
      { "data-won": all.won, "data-lost": all.lost, "data-met": all.met, "data-p": p, class: "verdict" });
  };
  const row = ({ t, a, b, each, idle }) => {
    const number = (text) => text === "–" ? Infinity : parseFloat(text.replaceAll(",", ""));
    const line = [node("th", node("a", tasks[t].name, { href: pairs.urls[t] }), { scope: "row" })];
    const won = each ? `${each.won}:${each.lost}` : "–";
    line.push(node("td", won, { class: each && each.won !== each.lost ? (each.won > each.lost ? "ahead" : "behind") : "", "data-v": each ? each.won - each.lost : "" }));
    for (let q = 0; q < 4; q++) {
      const [x, y] = [a, b].map((c) => c ? c.said[q] : null);
      const better = x && y && (q ? number(x) - number(y) : share(b.said) - share(a.said));
      const both = q < 2 || (a && b && share(a.said) && share(a.said) === share(b.said));  // a cost without the result is no virtue
      [[x, better < 0], [y, better > 0]].forEach(([text, best], i) => line.push(node("td", best && both ? node("b", text) : text ?? (q ? "–" : idle(i)))));
    }
    return node("tr", line, each ? {} : { class: "alone" });
  };
  const show = () => {
    const [a, b] = ["a", "b"].map((f) => methods.findIndex((m) => m.name === form.elements[f].value));
    const over = form.elements.over.value, family = form.elements.family.value;
    const all = { won: 0, lost: 0, met: 0 }, lines = [];
    for (let t = 0; t < tasks.length; t++) {
      const x = cells[a].get(t), y = cells[b].get(t);
      if ((!x && !y) || (family && tasks[t].family !== family)) continue;
      const each = x && y ? compare(x, y, over) : null;
      if (each) for (const k of Object.keys(all)) all[k] += each[k];
      lines.push({ t, a: x, b: y, each, idle: (i) => pairs.declined[[a, b][i]].includes(t) ? "declined" : "not run" });
    }
    lines.sort((x, y) => !x.each - !y.each);
    const differ = lines.filter(({ a: x, b: y }) => x && y && share(x.said) !== share(y.said));
    const kept = form.elements.differ.checked ? differ : lines;
    const heads = ["solved", "median error", "rows", "seconds"];
    const both = heads.flatMap(() => [a, b]).map((m) => node("th", short(methods[m].name), { title: methods[m].name, scope: "col" }));
    const shared = lines.filter((l) => l.each).length;
    const caption = `${count(shared, "task")} that both ran, ${lines.length - shared} that one of them did; they differ in what they solve in ${differ.length}`;
    const table = node("table", [
      node("caption", caption),
      node("thead", [
        node("tr", [node("th", "task", { rowspan: 2, scope: "col" }), node("th", "runs won", { rowspan: 2, scope: "col" }), ...heads.map((h) => node("th", h, { colspan: 2, scope: "colgroup" }))]),
        node("tr", both),
      ]),
      node("tbody", kept.map(row)),
    ], { class: "versus" });
    const region = node("div", table, { class: "scroll", role: "region", "aria-label": "Task by task", tabindex: "0" });
    const none = node("p", a === b ? "This is one method twice." : "No task here was run by either of them.");
    result.replaceChildren(...(a === b || !lines.length ? [none] : [...(shared ? [verdict(a, b, all, over, test(all.won, all.lost))] : [node("p", "No task here was run by both of them.")]), region]));
    sortable(table);
  };

  // ---- the address and the form say the same
  const read = () => {
    const told = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    const first = document.querySelectorAll(".duels tbody th");
    const usual = { a: first[0]?.dataset.m ?? methods[0].name, b: first[1]?.dataset.m ?? methods[methods.length > 1 ? 1 : 0].name, family: "", over: "seconds" };
    for (const f of fields) {
      const options = [...form.elements[f].options].map((o) => o.value);
      form.elements[f].value = options.includes(told.get(f)) ? told.get(f) : usual[f];
    }
    form.elements.differ.checked = told.get("differ") === "1";
    show();
  };
  const write = () => {
    const kept = fields.map((f) => [f, form.elements[f].value]).filter(([f, v]) => v && !(f === "over" && v === "seconds"));
    if (form.elements.differ.checked) kept.push(["differ", "1"]);
    history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
    show();
  };
  form.addEventListener("change", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("swap").addEventListener("click", () => {
    [form.elements.a.value, form.elements.b.value] = [form.elements.b.value, form.elements.a.value];
    write();
  });
  addEventListener("hashchange", () => { if (location.hash.includes("=")) { read(); form.scrollIntoView(); } });

  // ---- every pair of the matrices opens here
  for (const table of document.querySelectorAll(".duels")) {
    const { family } = table.closest("section").dataset, { over } = table.closest("[data-over]").dataset;
    const names = [...table.tBodies[0].rows].map((r) => r.cells[0].dataset.m);
    [...table.tBodies[0].rows].forEach((r, i) => [...r.cells].slice(1).forEach((cell, k) => {
      if (!cell.textContent.includes(":")) return;
      const to = new URLSearchParams({ a: names[i], b: names[k], family, ...(over === "seconds" ? {} : { over }) });
      cell.replaceChildren(node("a", cell.textContent, { href: `#${to}`, "aria-label": `${names[i]} against ${names[k]}: ${cell.textContent}` }));
    }));
  }
  form.hidden = false;
  read();
})();
