// Heat maps of an interaction in two models, side by side on the same axes.

const MAP_FRAME = { width: 420, left: 46, right: 8, top: 18, bottom: 38 };
const N_CELLS = [48, 36]; // of an axis of numbers: across, up
const CELL_HEIGHT = { number: 5.6, level: 15 };
const MAX_NAME = 14; // letters of a level
const NAME_LETTER = 6.2; // the mean width of a letter
const MISSING_NAME = "missing";

/** Return a card with the maps of both models, and the values of both at a point. */
function surfaceCard(summary, term, surfaces, limit, signs) {
  const name = term.names.join(" \u00d7 ");
  const [across, up] = mapAxes(summary, term, surfaces);
  const third = term.names.length > 2 ? thirdValue(summary, term) : null;
  const readout = html("p", { class: "readouts", "aria-hidden": "true" });
  const valueAt = (k, i, j) => {
    const x = [];
    x[across.own[k].d] = across.cells[i].codes[k];
    x[up.own[k].d] = up.cells[j].codes[k];
    if (third) x[third.own[k]] = third.codes[k];
    return evaluateSurface(surfaces[k], x) * summary.terms.scales[k];
  };
  const point = { i: Math.floor(across.cells.length / 2), j: Math.floor(up.cells.length / 2) };
  const maps = [0, 1].map((k) => drawMap(summary, k, name, across, up,
    (i, j) => valueAt(k, i, j), limit, signs));
  const show = (i, j) => {
    Object.assign(point, { i, j });
    maps.forEach(({ mark }) => mark(i, j));
    readout.replaceChildren(html("span", {}, `${across.cells[i].name}, ${up.cells[j].name}`),
      ...[0, 1].map((k) => html("span", { class: `m${k}` },
        `${summary.names[k]} ${formatSigned(valueAt(k, i, j))}`)));
    const text = [...readout.children].map((part) => part.textContent).join(", ");
    maps.forEach(({ chart }, k) => fill(chart, { "aria-valuenow": valueAt(k, i, j),
      "aria-valuetext": text }, []));
  };
  const hide = () => {
    maps.forEach(({ mark }) => mark(null));
    readout.replaceChildren();
  };
  maps.forEach((map) => addPointer(map, point, across, up, limit, show, hide));
  return html("article", { class: "card curve", "aria-label": name },
    html("h3", { title: name }, html("span", {}, ...breakable(name))),
    third ? html("p", { class: "hint" }, `at ${term.names[2]} = ${third.name}`) : null,
    html("div", { class: "maps" }, ...maps.map(({ chart }, k) => html("figure", {},
      html("figcaption", { class: `m${k}` }, summary.names[k]), chart))),
    html("p", { class: "map-legend" }, drawShadeScale([-limit, limit].map(formatSigned), signs)), readout);
}

/** Return a feature in each model: its index, its record, its levels, and if it can be missing. */
function ownFeatures({ documents, terms: { details } }, surfaces, name) {
  return surfaces.map((surface, k) => {
    const d = featureIndex(documents[k], name);
    return { ...details[k].features[d], d, levels: documents[k].features[d].levels,
      hasMissing: surface.axes[surface.features.indexOf(d)].missing };
  });
}

/**
 * Return the axes of both maps: which feature is drawn across and which up, and their cells with a
 * name and the number or level code of each model.
 */
function mapAxes(summary, term, surfaces) {
  const axesOf = [0, 1].map((j) => {
    const own = ownFeatures(summary, surfaces, term.names[j]);
    return { name: term.names[j], own, isLevel: own.some(({ levels }) => levels) };
  });
  const [first, second] = axesOf;
  const isSwapped = first.isLevel && !second.isLevel;
  return (isSwapped ? [second, first] : axesOf).map((axis, position) => {
    const cells = axis.isLevel ? levelCells(axis.own) : numberCells(axis.own, N_CELLS[position]);
    if (axis.own.some(({ hasMissing }) => hasMissing)) {
      cells.push({ name: MISSING_NAME, codes: [NaN, NaN] });
    }
    return { ...axis, cells };
  });
}

function levelCells(own) {
  const names = [...new Set(own.flatMap(({ levels }) => levels ?? []))];
  return names.map((level) => ({ name: String(level),
    codes: own.map(({ levels }) => (levels ?? []).indexOf(level)) }));
}

function numberCells(own, nCells) {
  const low = Math.min(...own.map((feature) => feature.low));
  const high = Math.max(...own.map((feature) => feature.high));
  const width = (high - low || 1) / nCells;
  return Array.from({ length: nCells }, (_, k) => {
    const x = low + (k + 0.5) * width;
    return { name: formatNumber(x, 3), codes: [x, x], from: low + k * width, to: low + (k + 1) * width };
  });
}

/** Return the typical value of the third feature of a term. */
function thirdValue({ documents, terms: { details } }, term) {
  const own = documents.map((model) => featureIndex(model, term.names[2]));
  const { typical } = details[0].features[own[0]];
  const codes = documents.map((model, k) => {
    const { levels } = model.features[own[k]];
    return levels ? levels.indexOf(typical) : typical ?? NaN;
  });
  return { name: formatValue(typical), own, codes };
}

function drawMap(summary, k, name, across, up, valueAt, limit, signs) {
  const height = up.cells.length * (up.isLevel ? CELL_HEIGHT.level : CELL_HEIGHT.number);
  const letters = Math.min(MAX_NAME, Math.max(0, ...(up.isLevel ? up.cells : [])
    .map((cell) => cell.name.length)));
  const left = Math.max(MAP_FRAME.left, 12 + NAME_LETTER * letters);
  const frame = { ...MAP_FRAME, left, height: height + MAP_FRAME.top + MAP_FRAME.bottom };
  const size = [(frame.width - left - frame.right) / across.cells.length,
    height / up.cells.length];
  // Levels are listed downward, numbers grow upward.
  const row = (j) => (up.isLevel ? j : up.cells.length - 1 - j);
  const corner = (i, j) => [left + i * size[0], frame.top + row(j) * size[1]];
  const chart = svg("svg", { class: "chart map", viewBox: `0 0 ${frame.width} ${frame.height}`,
    "aria-label": `Heat map of ${name}, ${summary.names[k]}` });
  const shapes = new Map();
  across.cells.forEach((_, i) => up.cells.forEach((__, j) => {
    const shade = shadeOf(valueAt(i, j), limit);
    if (!shade) return;
    const [x, y] = corner(i, j);
    const [from, to, top, bottom] = [x, x + size[0], y, y + size[1]].map((end) => end.toFixed(1));
    if (!shapes.has(shade)) shapes.set(shade, []);
    shapes.get(shade).push(`M${from} ${top}H${to}V${bottom}H${from}Z`);
  }));
  const shades = svg("g", { "shape-rendering": "crispEdges" }, ...drawShadePaths(shapes, signs));
  const outline = svg("rect", { class: "outline", x: left, y: frame.top,
    width: frame.width - left - frame.right, height });
  const probe = svg("rect", { class: "map-probe", width: size[0], height: size[1],
    visibility: "hidden" });
  chart.append(shades, outline, ...mapLabels(frame, across, up, corner, size), probe);
  const mark = (i, j) => {
    probe.setAttribute("visibility", i === null ? "hidden" : "visible");
    if (i === null) return;
    const [x, y] = corner(i, j);
    fill(probe, { x, y }, []);
  };
  return { chart, mark, frame, size, left, row };
}

/** Return the names of both axes, and ticks of numbers or names of levels. */
function mapLabels(frame, across, up, corner, size) {
  const ground = frame.height - frame.bottom;
  const write = (text, attributes) => svg("text", { class: "tick", ...attributes }, text);
  const x = axisMarks(across, size[0], 44).map(({ at, text }) => write(text,
    { x: corner(0, 0)[0] + at * size[0], y: ground + 15, "text-anchor": "middle" }));
  const top = frame.top;
  const y = axisMarks(up, size[1], 14).map(({ at, text }) => write(text, { x: frame.left - 6,
    y: (up.isLevel ? top + at * size[1] : ground - at * size[1]) + 3.5, "text-anchor": "end" }));
  return [...x, ...y, write(truncateMiddle(up.name, 40), { x: 2, y: 11 }),
    write(truncateMiddle(across.name, 40), { x: frame.width - frame.right, y: frame.height - 4,
      "text-anchor": "end" })];
}

/** Return what is written along an axis, at positions in cells, with a least distance. */
function axisMarks({ cells, isLevel }, size, distance) {
  const isNumber = (cell) => cell.from !== undefined;
  const numbers = cells.filter(isNumber);
  const others = cells.map((cell, k) => ({ cell, at: k + 0.5 })).filter(({ cell }) => !isNumber(cell));
  const every = Math.max(1, Math.ceil((isLevel ? distance : 1) / size));
  const names = others.filter(({ cell }, k) => k % every === 0 || cell.name === MISSING_NAME)
    .map(({ cell, at }) => ({ at, text: truncateMiddle(cell.name, MAX_NAME) }));
  if (!numbers.length) return names;
  const { from } = numbers[0];
  const { to } = numbers[numbers.length - 1];
  const place = (x) => ((x - from) / (to - from)) * numbers.length;
  const last = others.length ? place(to) - distance / size : Infinity;
  return [...ticks(from, to, 5).map((x) => ({ at: place(x), text: formatNumber(x) }))
    .filter(({ at }) => at < last || at <= numbers.length - distance / size || !others.length),
  ...names];
}

/** Let the pointer and the arrow keys choose a cell of both maps. */
function addPointer({ chart, frame, size, left, row }, point, across, up, limit, show, hide) {
  const inside = (k, cells) => Math.min(cells.length - 1, Math.max(0, k));
  fill(chart, { role: "slider", tabindex: 0, "aria-valuemin": -limit, "aria-valuemax": limit,
    "aria-valuenow": 0 }, []);
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * frame.width - left;
    const y = ((event.clientY - box.top) / box.height) * frame.height - frame.top;
    const [i, j] = [Math.floor(x / size[0]), row(Math.floor(y / size[1]))];
    if (across.cells[i] && up.cells[j]) show(i, j);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focus", () => show(point.i, point.j));
  chart.addEventListener("blur", hide);
  const upward = up.isLevel ? -1 : 1;
  const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, upward],
    ArrowDown: [0, -upward], Home: [-Infinity, 0], End: [Infinity, 0] };
  chart.addEventListener("keydown", (event) => {
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [di, dj] = moves[event.key];
    show(inside(point.i + di, across.cells), inside(point.j + dj, up.cells));
  });
}
