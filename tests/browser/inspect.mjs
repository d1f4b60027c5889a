// Runs inside the page: what is drawn, measured. Returns what is wrong, in words, and what figures there are.
export function inspect() {
  const wrong = [];
  const say = (true_, words) => { if (!true_) wrong.push(words); };
  const block = document.getElementById("figures");
  const data = block ? JSON.parse(block.textContent) : [];
  const figures = [...document.querySelectorAll("figure")];
  say(figures.length === data.length, `${figures.length} figures for ${data.length} of the data block`);
  const wide = document.documentElement.scrollWidth;
  say(wide <= innerWidth, `the page is ${wide} pixels wide in a window of ${innerWidth}`);
  for (const link of document.querySelectorAll("a.evidence")) {
    say(document.querySelector(link.getAttribute("href")), `${link.textContent.trim()}: leads to nothing`);
  }
  const summary = data.map((figure, n) => one(figures[n], figure));
  return { wrong, summary };

  function one(home, figure) {
    const name = `'${figure.title}'`;
    if (figure.kind === "spans") return timeline(home, figure, name);
    if (figure.kind === "heat") return heat(home, figure, name);
    const svg = home.querySelector(".drawing > svg");
    if (!svg) { wrong.push(`${name}: nothing is drawn`); return { title: figure.title }; }
    const of = (selector) => svg.querySelectorAll(selector).length;
    words(home, svg, name);
    const rows = home.querySelectorAll("details tbody tr").length;
    const found = { title: figure.title, marks: of(".marks > *"), rules: [], y: figure.series?.[0]?.y };
    if (figure.kind === "bars") {
      say(rows === figure.labels.length, `${name}: ${rows} rows in the table for ${figure.labels.length} bars`);
      const pieces = figure.values.flat().filter((value) => value > 0).length;
      say(found.marks === pieces, `${name}: ${found.marks} pieces drawn of ${pieces}`);
      found.bars = figure.labels.length;
      found.marks = undefined;
      found.pieces = pieces;
      if (figure.limit != null) rule(svg, home, name, figure.limit_name, 0, found);
    } else if (figure.kind === "gantt") {
      say(rows === figure.lanes.length || figure.notes.length > 0, `${name}: ${rows} rows in the table for ${figure.lanes.length} lanes`);
      say(found.marks === figure.pieces.length, `${name}: ${found.marks} pieces drawn of ${figure.pieces.length}`);
      say(found.marks === of(".marks > * > title"), `${name}: pieces without a title`);
      lanesAreFull(svg, name, figure);
      found.lanes = figure.lanes.length;
      found.pieces = found.marks;
      found.marks = undefined;
    } else {
      const same = figure.series.every((one) => JSON.stringify(one.x) === JSON.stringify(figure.series[0].x));
      const points = same ? figure.series[0].x.length : figure.series.reduce((sum, one) => sum + one.x.length, 0);
      say(rows === points, `${name}: ${rows} rows in the table for ${points} points`);
      figure.series.forEach((series, n) => drawn(of, name, series, n));
      figure.rules.forEach((one, n) => rule(svg, home, name, one.label, n, found));
      if (figure.chosen != null) say(figure.series[0].points.includes(figure.chosen), `${name}: the chosen point is not drawn`);
    }
    return found;
  }

  /** A cell a value, the largest in another colour than the least. */
  function heat(home, figure, name) {
    const cells = [...home.querySelectorAll(".drawing > table.heat td")];
    const count = figure.rows.length * figure.columns.length;
    say(cells.length === count, `${name}: ${cells.length} cells for ${count} values`);
    const shades = new Set(cells.map((one) => getComputedStyle(one).backgroundColor));
    say(shades.size > 1 || new Set(figure.shares.flat()).size < 2, `${name}: one colour for all`);
    return { title: figure.title, cells: cells.length };
  }

  /** A canvas as sharp as the screen, something in every colour that it needs, its buttons, and a row of the table a lane. */
  function timeline(home, figure, name) {
    const canvas = home.querySelector(".drawing > canvas");
    if (!canvas) { wrong.push(`${name}: nothing is drawn`); return { title: figure.title }; }
    const box = canvas.getBoundingClientRect();
    say(box.right <= innerWidth + 0.5 && box.left >= -0.5, `${name}: runs out of the window`);
    say(Math.abs(canvas.width - box.width * devicePixelRatio) < 2, `${name}: ${canvas.width} dots for ${box.width} pixels`);
    const dots = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < dots.length; i += 4) if (dots[i + 3] === 255) colours.add((dots[i] << 16) | (dots[i + 1] << 8) | dots[i + 2]);
    const spans = figure.lanes.map((lane) => lane.spans.split(" "));
    const kinds = new Set(spans.flatMap((numbers) => numbers.filter((_, n) => n % 4 === 3)));
    say(colours.size > kinds.size, `${name}: ${colours.size} colours for ${kinds.size} kinds`);
    say(!figure.path || colours.has(0xa4161a), `${name}: the path is not marked`);
    const buttons = [...home.querySelectorAll(".tools button")].map((one) => one.textContent);
    say(buttons.includes("write Perfetto file") && buttons.length === 4, `${name}: buttons ${buttons}`);
    const rows = home.querySelectorAll("details tbody tr").length;
    say(rows === figure.lanes.length, `${name}: ${rows} rows in the table for ${figure.lanes.length} lanes`);
    say(home.querySelector("figcaption")?.textContent.trim(), `${name}: no caption`);
    say(home.querySelector("details:not([open])"), `${name}: the numbers are not folded away`);
    return { title: figure.title, lanes: figure.lanes.length, pieces: spans.reduce((sum, numbers) => sum + numbers.length / 4, 0) };
  }

  /** What is drawn of a lane covers its time, gaps included, and nothing twice. */
  function lanesAreFull(svg, name, figure) {
    const areas = figure.lanes.map(() => 0);
    [...svg.querySelectorAll(".marks > rect")].forEach((mark, n) => {
      areas[figure.pieces[n]?.[0]] += (mark.width.baseVal.value * mark.height.baseVal.value);
    });
    areas.forEach((area, lane) => say(Math.abs(area / areas[0] - 1) < 0.03, `${name}: ${figure.lanes[lane]} is not covered once`));
    const hatched = [...svg.querySelectorAll(".pattern rect")].filter((mark) => getComputedStyle(mark).fill.includes("url(") ||
      getComputedStyle(mark.parentNode).fill.includes("url("));
    const gaps = figure.pieces.some((piece) => piece[1] === figure.kinds.length && piece[3] - piece[2] > 0.05 * figure.x.high);
    say(!gaps || hatched.length > 0, `${name}: gaps are not hatched`);
  }

  function drawn(of, name, series, n) {
    const marks = of(`.marks.series-${n} > *`);
    if (["line", "points", "bars"].includes(series.mark)) {
      say(marks === series.points.length, `${name}, ${series.name}: ${marks} marks for ${series.points.length} points`);
      say(series.points.length === series.x.length, `${name}, ${series.name}: ${series.x.length - series.points.length} points cannot be drawn`);
      const intervals = ["line", "points"].includes(series.mark) ? series.points.filter((i) => series.low[i] != null && series.high[i] != null).length : 0;
      say(of(`.interval.series-${n} line`) === intervals, `${name}, ${series.name}: ${of(`.interval.series-${n} line`)} intervals for ${intervals}`);
      say(of(`.marks.series-${n} > * > title`) === marks, `${name}, ${series.name}: marks without a title`);
    }
    const paths = of(`.curve.series-${n} path[d^=M], .band.series-${n} path[d^=M]`);
    if (series.mark !== "points" && series.mark !== "bars") say(paths >= 1, `${name}, ${series.name}: no line`);
  }

  function rule(svg, home, name, label, n, found) {
    say(svg.querySelectorAll(`.rule-${n} line`).length === 1, `${name}: rule '${label}' is not drawn`);
    const named = [...svg.querySelectorAll(".rule-name"), ...home.querySelectorAll(".legend span")];
    say(named.some((text) => text.textContent.includes(label)), `${name}: rule '${label}' has no name`);
    found.rules.push(label);
  }

  function words(home, svg, name) {
    say(home.querySelector("figcaption")?.textContent.trim(), `${name}: no caption`);
    say(home.querySelector("details:not([open])"), `${name}: the numbers are not folded away`);
    const frame = svg.getBoundingClientRect();
    say(frame.right <= innerWidth + 0.5 && frame.left >= -0.5, `${name}: runs out of the window`);
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim())
      .map((text) => ({ words: text.textContent, box: text.getBoundingClientRect() }));
    for (const { words: text, box } of texts) {
      const inside = box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      say(inside, `${name}: '${text}' runs out of the drawing`);
    }
    for (let a = 0; a < texts.length; ++a) {
      for (let b = a + 1; b < texts.length; ++b) {
        const [one, two] = [texts[a].box, texts[b].box];
        const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        say(across <= 1 || down <= 1, `${name}: '${texts[a].words}' and '${texts[b].words}' overlap`);
      }
    }
  }
}
