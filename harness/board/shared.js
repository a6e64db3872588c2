// What every page has: commands that are copied, tables that are sorted and are cards on phones, search, downloads.
window.PARAMID_PAGE = (() => {
  "use strict";
  const root = document.currentScript.getAttribute("src").replace("shared.js", "");
  const node = (tag, inside = [], attributes = {}) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...[].concat(inside));
    return made;
  };

  // ---- a button beside every command; without scripts a click selects the whole command
  for (const code of document.querySelectorAll("code.run")) {
    const button = node("button", "copy", { type: "button", class: "copy", "aria-label": `Copy ${code.textContent}` });
    code.title = code.textContent;
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(code);
      try { await navigator.clipboard.writeText(code.textContent); } catch { document.execCommand("copy"); }
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    code.after(button);
  }

  // ---- tables: up, down, and as they were; what has no value is last both ways
  const sorted = new Map();  // table -> what restores it
  const NUMBER = /^(?:below |≤ |≥ )?(-?[\d,]*\.?\d+(?:e[-+]?\d+)?)(?:\/(\d+))?(?=[\s%×]|$)/i;
  const value = (cell) => {
    if (!cell) return null;
    const text = (cell.dataset.v ?? cell.textContent).trim().replace("−", "-");
    if (!text || text === "–") return null;
    const told = NUMBER.exec(text);
    return told ? (+told[1].replaceAll(",", "")) / (told[2] === undefined ? 1 : +told[2] || 1) : text;
  };
  const before = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === typeof b ? a.localeCompare(b, "en", { numeric: true }) : typeof a === "number" ? -1 : 1;
  const order = (rows, column, sign) => rows.map((row) => [value(row.cells[column]), row])
    .sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * before(a, b))).map(([, row]) => row);
  const restore = (table) => {
    if (!sorted.has(table)) return;
    const { bodies, made } = sorted.get(table);
    for (const [body, rows] of bodies) { body.append(...rows); if (made) made.before(body); }
    if (made) made.remove();
    for (const th of table.tHead.querySelectorAll("[aria-sort]")) th.removeAttribute("aria-sort");
    sorted.delete(table);
  };
  const sort = (table, th, column, sign) => {
    restore(table);
    const bodies = [...table.tBodies].map((body) => [body, [...body.rows]]);
    const within = bodies.length === 1 || table.classList.contains("seeds");  // else groups are left for one order
    const plain = (row) => !row.querySelector("[scope=rowgroup]");
    let made = null;
    if (within) {
      for (const [body, rows] of bodies) body.append(...rows.filter((r) => !plain(r)), ...order(rows.filter(plain), column, sign));
    } else {
      made = node("tbody", order(bodies.flatMap(([, rows]) => rows.filter(plain)), column, sign));
      bodies[0][0].before(made);
      for (const [body] of bodies) body.remove();
    }
    sorted.set(table, { bodies, made });
    th.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  };
  const columns = (table) => {  // the heads at the bottom of a table's head, by their column
    const at = [], taken = [];
    [...table.tHead.rows].forEach((row, r) => {
      let c = 0;
      for (const th of row.cells) {
        while (taken[r]?.[c]) c++;
        for (let i = r; i < r + th.rowSpan; i++) for (let k = c; k < c + th.colSpan; k++) (taken[i] ??= [])[k] = th;
        if (r + th.rowSpan === table.tHead.rows.length) at[c] = th;
        c += th.colSpan;
      }
    });
    return { heads: at, above: taken[0] };
  };
  const sortable = (table) => {
    if (!table.tHead || table.matches(".matrix, .duels") || table.dataset.ready) return;
    table.dataset.ready = "1";
    const { heads, above } = columns(table);
    const words = heads.map((th, c) => th.textContent.trim() && (above[c] === th ? th.textContent : `${above[c].textContent}, ${th.textContent}`));
    if (heads.length > 3) {  // a card on a phone: every value says its column
      table.classList.add("stacked");
      for (const body of table.tBodies) for (const row of body.rows) {
        for (const [c, cell] of [...row.cells].entries()) {
          if (words[c] && cell.tagName === "TD") cell.dataset.l = words[c];
          if (cell.textContent === "–") cell.classList.add("none");
        }
      }
    }
    if (Math.max(...[...table.tBodies].map((body) => body.rows.length)) < 3 && table.tBodies.length < 3) return;
    heads.forEach((th, column) => {
      if (!words[column] || table.tBodies[0].rows[0]?.cells[column]?.querySelector("code.run")) return;
      const button = node("button", [...th.childNodes], { type: "button", class: "sort", title: "Sort; a third time: as it was" });
      button.addEventListener("click", () => {
        const now = th.getAttribute("aria-sort");
        if (now === "descending") restore(table); else sort(table, th, column, now ? -1 : 1);
      });
      th.append(button);
    });
  };
  for (const table of document.querySelectorAll("main table")) sortable(table);
  // whoever makes the rows anew finds them as they were
  for (const event of ["change", "reset"]) addEventListener(event, () => [...sorted.keys()].forEach(restore), true);

  // ---- search: a field in the header, by words in any order
  const form = document.getElementById("search"), names = window.PARAMID_NAMES || [];
  if (form && names.length) {
    const field = form.elements.q, list = form.querySelector("ul");
    let found = [], at = -1;
    const close = () => { list.hidden = true; at = -1; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
    const mark = (i) => {
      at = i;
      [...list.children].forEach((li, k) => li.setAttribute("aria-selected", String(k === i)));
      if (i >= 0) { field.setAttribute("aria-activedescendant", list.children[i].id); list.children[i].scrollIntoView({ block: "nearest" }); }
    };
    const find = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return close();
      const place = (name) => name === words[0] ? 0 : name.startsWith(words[0]) ? 1 : 2;
      found = names.map(([name, url, kind]) => [name.toLowerCase(), name, url, kind])
        .filter(([low]) => words.every((w) => low.includes(w))).sort((a, b) => place(a[0]) - place(b[0])).slice(0, 12);
      list.replaceChildren(...found.map(([, name, url, kind], i) => node("li", [node("a", name, { href: root + url, tabindex: "-1" }), node("small", kind)], { role: "option", id: `found-${i}`, "aria-selected": "false" })));
      if (!found.length) list.append(node("li", "Nothing has this name.", { role: "option", id: "found-0", "aria-disabled": "true", "aria-selected": "false" }));
      list.hidden = false;
      field.setAttribute("aria-expanded", "true");
      mark(found.length ? 0 : -1);
    };
    field.addEventListener("input", find);
    field.addEventListener("focus", find);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { close(); field.value = ""; }
      if (list.hidden || !found.length) return;
      if (event.key === "ArrowDown") mark((at + 1) % found.length);
      else if (event.key === "ArrowUp") mark((at - 1 + found.length) % found.length);
      else return;
      event.preventDefault();
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); if (found.length && !list.hidden) location.href = root + found[Math.max(at, 0)][2]; });
    form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) setTimeout(close, 150); });
    addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); field.focus(); }
    });
    form.hidden = false;
  }

  // ---- downloads: the drawing as a file of its own, and its numbers
  const alone = (svg) => {
    const copy = svg.cloneNode(true), ours = svg.querySelectorAll("*");
    const [, , w, h] = svg.getAttribute("viewBox").split(" ");
    Object.entries({ xmlns: "http://www.w3.org/2000/svg", width: w, height: h, color: "#1a1d21", fill: "currentColor", "font-family": "system-ui, sans-serif", "font-size": "10" })
      .forEach(([name, told]) => copy.setAttribute(name, told));
    copy.querySelectorAll("*").forEach((each, i) => {
      const style = getComputedStyle(ours[i]);
      if (each.matches(".grid")) each.setAttribute("stroke", "currentColor");
      if (each.matches(".grid")) for (const name of ["stroke-opacity", "stroke-width"]) each.setAttribute(name, style[name]);
      if (each.matches(".n, .m")) each.setAttribute("text-anchor", style["text-anchor"]);
      if (each.matches("path:not([fill]), rect:not([fill])")) each.setAttribute("fill", "none");
      each.removeAttribute("class");
    });
    return new XMLSerializer().serializeToString(copy);
  };
  const quoted = (word) => /[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
  const table = (text) => {
    const [[across, up], ...rows] = text.split("\n").map((line) => line.split("\t"));
    const told = [["panel", "name", across || "x", up || "y"]];
    for (const [panel, name, points] of rows) {
      const numbers = points ? points.split(" ") : ["", ""];
      for (let i = 0; i < numbers.length; i += 2) told.push([panel, name, numbers[i], numbers[i + 1]]);
    }
    return told.map((row) => `${row.map(quoted).join(",")}\n`).join("");
  };
  for (const files of document.querySelectorAll("main .files")) {
    const svg = files.previousElementSibling, kinds = { SVG: ["image/svg+xml", () => alone(svg)], CSV: ["text/csv", () => table(files.dataset.rows)] };
    for (const [kind, [type, make]] of Object.entries(kinds)) {
      const button = node("button", kind, { type: "button", "aria-label": `${files.dataset.name} as ${kind}` });
      button.addEventListener("click", () => {
        const link = node("a", [], { download: `${files.dataset.name}.${kind.toLowerCase()}`, href: URL.createObjectURL(new Blob([make()], { type })) });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 9999);
      });
      files.append(button);
    }
  }
  return { node, sortable };
})();
