// Values over two lists: a table whose cells are coloured by their size, as a page without a script has it.

/** White for the least value, blue for the largest: dark text is read on both. */
function shade(share) {
  const mixed = (full) => Math.floor(255 + share * (full - 255));
  return `rgb(${mixed(0x56)},${mixed(0xb4)},${mixed(0xe9)})`;
}

function cell(name, text, more = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...more });
}

/** Draws a heat map into `home`. */
export function drawHeat(home, figure) {
  const table = cell("table", "", { className: "heat" });
  const head = table.createTHead().insertRow();
  head.append(...[figure.corner, ...figure.columns].map((name) => cell("th", name, { scope: "col" })));
  const body = table.createTBody();
  figure.rows.forEach((name, r) => {
    const row = body.insertRow();
    row.append(cell("th", name, { scope: "row" }));
    figure.cells[r].forEach((text, c) => {
      const one = cell("td", text, { className: "number" });
      one.style.background = shade(figure.shares[r][c]);
      const note = figure.notes[r]?.[c];
      if (note) one.append(document.createElement("br"), cell("small", note));
      row.append(one);
    });
  });
  home.classList.add("scroll");
  home.append(table);
}
