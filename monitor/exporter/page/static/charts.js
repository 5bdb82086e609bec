// Reads the points of a chart out, under the pointer and by arrow keys. The values are those of the
// table below the chart.
export function xOf(svg, at) {
  const { left, right, from, to } = svg.dataset;
  const share = (at - Number(from)) / (Number(to) - Number(from));
  return Number(left) + share * (Number(right) - Number(left));
}

export function valueAt(svg, event) {
  const box = svg.getBoundingClientRect();
  const { left, right, from, to } = svg.dataset;
  const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
  const share = (x - Number(left)) / (Number(right) - Number(left));
  return Number(from) + Math.min(Math.max(share, 0), 1) * (Number(to) - Number(from));
}

export function attachCharts() {
  for (const svg of document.querySelectorAll("svg.readable:not([tabindex])")) attach(svg);
}

function attach(svg) {
  const table = document.querySelector(`table[data-of="${svg.dataset.table}"]`);
  const rows = table ? [...table.tBodies[0].rows] : [];
  if (!rows.length) return;
  const readout = readoutOf(svg);
  let shown = -1;
  function show(index) {
    shown = Math.min(Math.max(index, 0), rows.length - 1);
    svg.dataset.at = rows[shown].dataset.at;
    const cursor = svg.querySelector(".cursor");
    const x = xOf(svg, Number(svg.dataset.at));
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.setAttribute("visibility", "visible");
    readout.textContent = textOf(table, rows[shown]);
  }
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "chart; arrow keys read its points");
  svg.addEventListener("pointermove", (event) => show(nearest(rows, valueAt(svg, event))));
  svg.addEventListener("keydown", (event) => {
    const to = {
      ArrowLeft: shown < 0 ? rows.length - 1 : shown - 1,
      ArrowRight: shown < 0 ? rows.length - 1 : shown + 1,
      PageUp: shown - 10,
      PageDown: shown + 10,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
}

function readoutOf(svg) {
  const figure = svg.closest("figure");
  const known = figure.querySelector(".readout");
  if (known) return known;
  const readout = document.createElement("output");
  readout.className = "readout";
  readout.setAttribute("aria-live", "polite");
  readout.textContent = "Point at the chart, or focus it and press the arrow keys, for its values.";
  figure.querySelector("figcaption").before(readout);
  return readout;
}

function nearest(rows, at) {
  let best = 0;
  rows.forEach((row, i) => {
    const [one, other] = [row, rows[best]].map((r) => Math.abs(Number(r.dataset.at) - at));
    if (one < other) best = i;
  });
  return best;
}

function textOf(table, row) {
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const [name, ...cells] = [...row.cells].map((cell) => cell.textContent);
  const known = cells.map((text, i) => `${titles[i + 1]} ${text}`);
  return `${name}: ${known.filter((text) => !text.endsWith("—")).join(", ")}`;
}
