// Heat maps of surfaces: what two features contribute together, in shades around zero.

const MAP = { width: 340, height: 246, left: 46, right: 22, top: 34, bottom: 38 };
const MAX_MAP_HEIGHT = 430;
const LEVEL_HEIGHT = 15; // of a row of a category
const MISSING_SIZE = 22; // of the row or column of missing values
const GAP = 4; // in front of it
const BAR_HEIGHT = 14; // of the highest bar of a distribution
const LETTER = 6.2; // the mean width of a letter
const MAX_LETTERS = 13; // of the name of a level
const HATCH = 8; // the distance between strokes
const RASTER = [64, 48]; // shaded parts of an axis of numbers: across, up
const ROTATION = 40; // degrees, of names of levels that are too long for their columns

/**
 * Return the heat map of a surface: its chart, and functions that mark a row and that read a value.
 * Of three features, the third is fixed at its value in the marked row.
 */
function drawSurface(summary, term, surface, limit, signs, curveOf) {
  const order = drawnOrder(surface.axes);
  const axes = order.map((j) => surface.axes[j]);
  const { frame, scales } = layOutMap(order.map((j) => {
    const d = surface.features[j];
    const { levels } = summary.document.features[d];
    return { axis: surface.axes[j], feature: summary.features[d],
      levels: levels ? listCells(surface, j, summary.features[d], levels, curveOf(d))
        : listTwoValues(summary.features[d]) };
  }));
  const chart = svg("svg", { class: "chart map", viewBox: `0 0 ${frame.width} ${frame.height}`,
    role: "img", "aria-label": `Heat map of ${term.name}, from ` +
      rangeOf([surface]).map((value) => formatNumber(value)).join(" to ") });
  const shades = svg("g", { "shape-rendering": "crispEdges" });
  const probe = svg("path", { class: "probe", visibility: "hidden" });
  const crossHair = svg("path", { class: "cross-hair", visibility: "hidden" });
  const dot = svg("circle", { class: "current", r: 4.5, visibility: "hidden" });
  const occupied = term.occupied && decodeFlags(term.occupied, surface.axes, order);
  const dots = svg("path", { class: "dots" });
  const hatching = svg("path", { class: "hatching", d: occupied
    ? rasterPoints(frame, scales).filter(({ entries: [i, k] }) => !occupied[i][k])
      .map(({ x, y }) => `M${(x - 2).toFixed(1)} ${(y + 2).toFixed(1)}l4 -4`).join("") : "" });
  chart.append(shades, ...drawMapAxes(frame, scales), ...drawMapBars(frame, scales),
    hatching, drawRows(scales, term.rows && decodeRowSizes(term.rows, surface.axes, order)), dots,
    crossHair, probe, dot);
  let [table, band, third] = [null, null, null];
  const look = (own) => (positions) =>
    (own === null || positions.includes(null) ? 0 : interpolateTable(own, positions));
  const mark = (x) => {
    if (table === null || !Object.is(x[2], third)) {
      third = x[2];
      table = drawnTable(surface, order, third);
      shades.replaceChildren(...drawShades(scales, look(table), limit, signs));
      if (surface.band) {
        band = drawnTable(surface.band, order, third);
        fill(dots, { d: uncertainPoints(frame, scales, occupied, look(table), look(band)) }, []);
      }
    }
    const at = order.map((j, k) => scales[k].at(x[j]));
    [dot, crossHair].forEach((element) => element.setAttribute("visibility",
      at.includes(null) ? "hidden" : "visible"));
    if (at.includes(null)) return;
    fill(dot, { cx: at[0], cy: at[1] }, []);
    fill(crossHair, { d: crossPath(frame, at) }, []);
  };
  const read = (point) => {
    const positions = point.map((value, k) => findPosition(axes[k], value));
    return { value: look(table)(positions), half: surface.band && look(band)(positions) };
  };
  return { chart, mark, read, probe, frame, scales };
}

/** Return the path of lines through a point, from one end of a map to the other. */
const crossPath = (frame, [x, y]) => `M${x} ${frame.top}V${frame.height - frame.bottom}` +
  `M${frame.left} ${y}H${frame.width - frame.right}`;

/** Return which axes are drawn from left to right and upward: a number, or fewer levels, first. */
function drawnOrder([first, second]) {
  const isSwapped = !first.knots && (second.knots || first.levels > second.levels);
  return isSwapped ? [1, 0] : [0, 1];
}

/** Return the values of a surface by the entries of the drawn axes, at a value of the third one. */
function drawnTable({ axes, values }, order, x) {
  const third = axes.length > 2 ? findPosition(axes[2], x) : undefined;
  const at = (cell) => (third === undefined ? cell : third ? interpolateTable(cell, [third]) : 0);
  return arrange((i, k) => at(values[i][k]), axes, order);
}

/** Return an entry for each combination of those of the drawn axes. */
function arrange(entryAt, axes, order) {
  const [rows, columns] = order.map((j) => [...new Array(axisLength(axes[j])).keys()]);
  return rows.map((i) => columns.map((k) => (order[0] ? entryAt(k, i) : entryAt(i, k))));
}

/** Return the frame of a map, with space for the names of levels, and the scales of its axes. */
function layOutMap([across, up]) {
  const longest = ({ levels }) => Math.min(MAX_LETTERS,
    Math.max(0, ...(levels || []).map(({ name }) => [...name].length)));
  const frame = { ...MAP };
  if (up.levels) {
    frame.left = Math.max(MAP.left, 10 + LETTER * longest(up));
    const rows = LEVEL_HEIGHT * up.levels.length + (up.axis.missing ? MISSING_SIZE + GAP : 0);
    frame.height = Math.min(MAX_MAP_HEIGHT, Math.max(MAP.height, MAP.top + MAP.bottom + rows));
  }
  const right = frame.width - frame.right;
  const xScale = makeScale(across, frame.left, right, RASTER[0]);
  if (across.levels && LETTER * longest(across) > xScale.size - 2) {
    const depth = LETTER * longest(across) * Math.sin((ROTATION * Math.PI) / 180);
    frame.isRotated = true;
    frame.bottom += depth;
    frame.height += depth;
  }
  const ground = frame.height - frame.bottom;
  const yScale = up.levels ? makeScale(up, frame.top, ground, RASTER[1])
    : makeScale(up, ground, frame.top, RASTER[1]);
  return { frame, scales: [xScale, yScale] };
}

/**
 * Return the scale of an axis from one coordinate to another; missing values are set apart at its
 * end. `at` maps a value to a coordinate, `valueAt` a coordinate to a value, and `next` a value to
 * one some steps further; `parts` are the pieces that are shaded, each with a value.
 */
function makeScale({ feature, axis, levels }, start, end, nParts) {
  const sign = Math.sign(end - start);
  const last = axis.missing ? end - sign * (MISSING_SIZE + GAP) : end;
  const strip = axis.missing ? [end - sign * MISSING_SIZE, end] : null;
  const inner = levels ? levelScale(levels, start, last)
    : numberScale(feature, axis, start, last, nParts);
  const missing = strip && { from: strip[0], to: strip[1], x: NaN, share: feature.share_missing };
  return {
    ...inner,
    feature,
    axis,
    ends: [start, last],
    strip,
    parts: [...inner.parts, ...(missing ? [missing] : [])],
    bars: [...inner.bars, ...(missing && missing.share ? [missing] : [])],
    at: (x, shift = 0) => (Number.isNaN(x)
      ? strip && (strip[0] + strip[1]) / 2 + shift * MISSING_SIZE : inner.at(x, shift)),
    valueAt(position) {
      const isBeyond = (limit) => sign * (position - limit) > 0;
      if (isBeyond(end) || !isBeyond(start - sign)) return null;
      return strip && isBeyond(last + sign * GAP * 0.5) ? NaN
        : inner.valueAt(isBeyond(last) ? last : position);
    },
    next(x, nSteps) {
      if (Number.isNaN(x)) return nSteps < 0 ? inner.highest : x;
      const isLast = levels ? x === inner.highest : x >= inner.highest;
      return strip && isLast && nSteps > 0 ? NaN : inner.next(x, nSteps);
    },
    format: (x) => (Number.isNaN(x) ? "missing" : levels ? inner.name(x) : formatNumber(x)),
    isDownward: Boolean(levels),
  };
}

function numberScale(feature, axis, start, end, nParts) {
  const line = numberAxis(feature);
  const { low, high } = line;
  const place = (t) => start + Math.min(1, Math.max(0, t)) * (end - start);
  const at = (x) => place(line.to(x));
  const { knots } = axis;
  const isStep = knots.length % 2 === 0 && knots.every((x, k) => x === knots[k ^ 1]);
  const edges = isStep ? [low, ...new Set(knots.filter((x) => x > low && x < high)), high]
    : Array.from({ length: nParts + 1 }, (_, k) => line.from(k / nParts));
  return {
    at,
    valueAt: (position) => line.from(Math.min(1, Math.max(0, (position - start) / (end - start)))),
    lowest: low,
    highest: high,
    next: (x, nSteps) => stepAlong(line, x, nSteps, feature.is_integer),
    typical: feature.typical ?? low,
    parts: edges.slice(1).map((edge, k) => ({ from: at(edges[k]), to: at(edge),
      x: line.from((line.to(edges[k]) + line.to(edge)) / 2) })),
    bars: densityBars(feature, line).map(({ from, to, share }) => ({ from: place(from),
      to: place(to), share })),
    marks: line.marks(4).map((x) => ({ position: at(x), text: formatNumber(x) })),
    points: knots.map(at),
    kind: line.kind,
    size: Infinity,
  };
}

/** Return the scale of a category with an entry for each cell of its levels. */
function levelScale(entries, start, end) {
  const size = (end - start) / entries.length;
  const indices = new Map(entries.flatMap(({ codes }, k) => codes.map((code) => [code, k])));
  const last = entries.length - 1;
  const position = (k) => start + (k + 0.5) * size;
  const at = (code, shift = 0) => (indices.has(code) ? position(indices.get(code)) + shift * size
    : null);
  const code = (k) => entries[Math.min(last, Math.max(0, k))].codes[0];
  const parts = entries.map(({ codes, share }, k) => ({ from: start + k * size,
    to: start + (k + 1) * size, x: codes[0], share }));
  const every = Math.ceil(12 / size); // names must not overlap
  const [typical] = [...entries].sort((a, b) => b.share - a.share);
  return {
    at,
    valueAt: (place) => code(Math.floor((place - start) / size)),
    lowest: code(0),
    highest: code(last),
    next: (x, nSteps) => code(indices.get(x) + nSteps),
    typical: typical.codes[0],
    parts,
    bars: parts.filter(({ share }) => share > 0),
    marks: entries.map(({ name }, k) => ({ position: position(k), name,
      text: truncateMiddle(name, MAX_LETTERS) })).filter((_, k) => (last - k) % every === 0),
    points: entries.map((_, k) => position(k)),
    name: (x) => entries[indices.get(x)].name,
    entries,
    size,
  };
}

/** Return one path per shade of a map: all parts where the surface has about the same value. */
function drawShades([across, up], valueAt, limit, signs) {
  const shapes = new Map();
  const columns = across.parts.map(({ x }) => findPosition(across.axis, x));
  for (const row of up.parts) {
    const y = findPosition(up.axis, row.x);
    const top = Math.min(row.from, row.to).toFixed(1);
    const bottom = Math.max(row.from, row.to).toFixed(1);
    let run = null;
    across.parts.forEach(({ from, to }, k) => {
      const shade = shadeOf(valueAt([columns[k], y]), limit);
      if (run && run.shade === shade && run.to === from) {
        run.to = to;
        return;
      }
      run = { shade, from, to };
      if (!shade) return;
      if (!shapes.has(shade)) shapes.set(shade, []);
      shapes.get(shade).push({ run, top, bottom });
    });
  }
  const piece = ({ run: { from, to }, top, bottom }) =>
    `M${from.toFixed(1)} ${top}H${to.toFixed(1)}V${bottom}H${from.toFixed(1)}Z`;
  return drawShadePaths([...shapes].map(([shade, runs]) => [shade, runs.map(piece)]), signs);
}

/** Return the outline of a map, the names of its axes, and their ticks. */
function drawMapAxes(frame, [across, up]) {
  const ground = frame.height - frame.bottom;
  const write = (text, attributes) => svg("text", { class: "tick", ...attributes }, text);
  const name = ({ feature, kind = "linear" }) => truncateMiddle(feature.name, 40) +
    (kind === "linear" ? "" : ` (${kind} axis)`);
  const boxes = [across.ends, across.strip].filter(Boolean).flatMap((x) =>
    [up.ends, up.strip].filter(Boolean).map((y) => svg("path", { class: "outline",
      d: `M${x[0]} ${y[0]}H${x[1]}V${y[1]}H${x[0]}Z` })));
  const label = ({ text, name: whole }, attributes) => {
    const element = write(text, attributes);
    if (whole && whole !== text) element.append(svg("title", {}, whole));
    return element;
  };
  const isClear = ({ position }, { strip }, distance) => !strip
    || Math.abs(position - (strip[0] + strip[1]) / 2) > distance;
  const xLabels = [...across.marks.filter((mark) => across.size < Infinity
    || isClear(mark, across, 40)), ...missingMark(across)].map((mark) => {
    const x = mark.position;
    if (!frame.isRotated) return label(mark, { x, y: ground + 16, "text-anchor": "middle" });
    return label(mark, { x: x + 4, y: ground + 12, "text-anchor": "end",
      transform: `rotate(${-ROTATION} ${x + 4} ${ground + 12})` });
  });
  const yLabels = [...up.marks.filter((mark) => isClear(mark, up, 14)), ...missingMark(up)]
    .map((mark) => label(mark, { x: frame.left - 6, y: mark.position + 3.5,
      "text-anchor": "end" }));
  return [...boxes, ...xLabels, ...yLabels, write(name(up), { x: 2, y: 11 }),
    write(name(across), { x: across.ends[1], y: frame.height - 3, "text-anchor": "end" })];
}

function missingMark({ strip }) {
  return strip ? [{ position: (strip[0] + strip[1]) / 2, text: "missing" }] : [];
}

/** Return the distributions of the rows along both axes, as bars above and beside a map. */
function drawMapBars(frame, [across, up]) {
  const draw = ({ bars }, piece) => {
    const largest = Math.max(...bars.filter(({ x }) => !Number.isNaN(x)).map(({ share }) => share));
    return svg("path", { class: "density", d: bars.map(({ from, to, share }) =>
      piece(from, to, BAR_HEIGHT * Math.min(1, share / largest))).join("") });
  };
  const top = frame.top - 2;
  const side = frame.width - frame.right + 2;
  const number = (x) => x.toFixed(1);
  return [
    draw(across, (from, to, height) => `M${number(from)} ${top}V${number(top - height)}` +
      `H${number(to - 0.6)}V${top}Z`),
    draw(up, (from, to, height) => `M${side} ${number(from)}H${number(side + height)}` +
      `V${number(to + Math.sign(from - to) * 0.6)}H${side}Z`),
  ];
}

/** Return the points of a raster on a map, with their values and the nearest entries of the axes. */
function rasterPoints(frame, scales) {
  const points = [];
  for (let y = frame.top + HATCH / 2; y < frame.height - frame.bottom; y += HATCH) {
    for (let x = frame.left + HATCH / 2; x < frame.width - frame.right; x += HATCH) {
      const values = [scales[0].valueAt(x), scales[1].valueAt(y)];
      if (values.includes(null)) continue;
      const entries = values.map((value, j) => nearestEntry(scales[j].axis, value));
      points.push({ x, y, values, entries });
    }
  }
  return points;
}

/** Return dots where rows are, but where the value is smaller than half the width of its band. */
function uncertainPoints(frame, scales, occupied, valueAt, halfAt) {
  return rasterPoints(frame, scales).filter(({ values, entries: [i, k] }) => {
    const positions = values.map((value, j) => findPosition(scales[j].axis, value));
    return (!occupied || occupied[i][k]) && Math.abs(valueAt(positions)) < halfAt(positions);
  }).map(({ x, y }) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("");
}

/** Return the entry of an axis that is nearest to x, on its own side of a jump. */
function nearestEntry(axis, x) {
  if (Number.isNaN(x)) return axisLength(axis) - 1;
  if (!axis.knots) return axis.cells ? axis.cells[x] : x;
  axis.middles ??= axis.knots.slice(1).map((knot, k) => axis.knots[k] / 2 + knot / 2);
  return countAtMost(axis.middles, x);
}

/** Return flags by the entries of the drawn axes from the base64 of their bits. */
function decodeFlags(text, axes, order) {
  const bytes = decodeBytes(text);
  const flag = (k) => (bytes[k >> 3] >> (7 - (k & 7))) & 1;
  const length = axisLength(axes[1]);
  return arrange((i, k) => flag(i * length + k), axes, order);
}

/** Show the value of a surface at the pointer, or at a point that the arrow keys move. */
function addMapProbe({ chart, read, probe, frame, scales }, limit, readout, format) {
  let point = scales.map(({ typical }) => typical);

  function show(values) {
    point = values;
    const [x, y] = values.map((value, j) => scales[j].at(value));
    fill(probe, { visibility: "visible", d: crossPath(frame, [x, y]) }, []);
    const { value: added, half } = read(values);
    readout.textContent = `${values.map((value, j) =>
      truncateMiddle(scales[j].format(value), 24)).join(", ")}: ${format(added, half)}`;
    fill(chart, { "aria-valuenow": added, "aria-valuetext": readout.textContent }, []);
  }
  function hide() {
    probe.setAttribute("visibility", "hidden");
    readout.textContent = "";
  }
  fill(chart, { role: "slider", tabindex: 0, "aria-valuemin": -limit, "aria-valuemax": limit,
    "aria-valuenow": 0 }, []);
  const follow = (event) => {
    const box = chart.getBoundingClientRect();
    const values = [
      scales[0].valueAt(((event.clientX - box.left) / box.width) * frame.width),
      scales[1].valueAt(((event.clientY - box.top) / box.height) * frame.height)];
    if (!values.includes(null)) show(values);
  };
  chart.addEventListener("pointermove", follow);
  chart.addEventListener("pointerdown", follow);
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focus", () => show(point));
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const next = pointAfterKey(event.key, point, scales);
    if (next === null) return;
    event.preventDefault();
    show(next);
  });
}

/** Return the point after a key, null for other keys. */
function pointAfterKey(key, [x, y], [across, up]) {
  const down = up.isDownward ? 1 : -1;
  const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, down],
    ArrowUp: [0, -down], PageDown: [0, 5 * down], PageUp: [0, -5 * down] };
  if (key === "Home") return [across.lowest, y];
  if (key === "End") return [across.highest, y];
  if (!(key in moves)) return null;
  return [[across, x, moves[key][0]], [up, y, moves[key][1]]].map(([scale, value, nSteps]) =>
    (nSteps ? scale.next(value, nSteps) : value));
}
