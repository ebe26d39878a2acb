// What heat maps show of the rows: the cells of levels, and how many rows are where.

const MAX_ENTRIES = 40; // levels along an axis of a map
const MIN_SIZE = 0.08; // of a circle, relative to the largest
const MAX_RADIUS = 3.2; // of the circle of the grid point with the most rows

/** Return the entries of a number with two values, which is drawn as a category; null for others. */
function listTwoValues({ two_values: values, distribution }) {
  return values && values.map((x, k) => ({ codes: [x], share: distribution.shares[k],
    name: formatNumber(x) }));
}

/**
 * Return the entries of a category along an axis of a surface, in the order in which they are
 * drawn: a level or, if the surface does not tell them apart, several. Numbers, weekdays and months
 * are in their own order, other levels in that of their curve.
 */
function listCells(surface, j, feature, levels, curve) {
  const { cells } = surface.axes[j];
  const shareOf = (codes) => codes.reduce((sum, code) => sum + (feature.shares?.[code] ?? 0), 0);
  const members = new Map();
  levels.forEach((_, code) => {
    const cell = cells ? cells[code] : code;
    if (members.has(cell)) members.get(cell).push(code);
    else members.set(cell, [code]);
  });
  const entries = [...members.values()].map((codes) => ({ codes, share: shareOf(codes),
    name: codes.length === 1 ? String(levels[codes[0]])
      : `${codes.length.toLocaleString("en")} others` }));
  const single = entries.filter(({ codes }) => codes.length === 1);
  const natural = naturalOrder(single.map(({ codes: [code] }) => levels[code]));
  const height = ({ codes: [code] }) => (curve ? evaluateCurve(curve, code) : 0);
  const sorted = natural ? natural.map((k) => single[k])
    : single.sort((a, b) => height(b) - height(a) || b.share - a.share);
  return [...largestEntries(sorted), ...entries.filter(({ codes }) => codes.length > 1)];
}

/** Return the entries with the most rows, in their order, if there are too many to draw. */
function largestEntries(entries) {
  if (entries.length <= MAX_ENTRIES) return entries;
  const shares = entries.map(({ share }) => share).sort((a, b) => b - a);
  return entries.filter(({ share }) => share >= shares[MAX_ENTRIES - 1]).slice(0, MAX_ENTRIES);
}

/** Return the sizes of the groups of rows at the grid points of the drawn axes, from 0 to 1. */
function decodeRowSizes(text, axes, order) {
  const bytes = decodeBytes(text);
  const length = axisLength(axes[1]);
  return arrange((i, k) => bytes[i * length + k] / 255, axes, order);
}

/** Return the rows as circles at the grid points of a map, whose areas are the numbers of rows. */
function drawRows(scales, rows) {
  if (!rows) return svg("path", { class: "rows" });
  const [xs, ys] = scales.map(gridPositions);
  const round = (x) => Math.round(10 * x) / 10;
  const circles = [];
  rows.forEach((line, i) => line.forEach((size, k) => {
    if (size < MIN_SIZE || xs[i] === undefined || ys[k] === undefined) return;
    const r = round(MAX_RADIUS * size);
    circles.push(`M${round(xs[i] - r)} ${round(ys[k])}a${r} ${r} 0 1 0 ${2 * r} 0` +
      `a${r} ${r} 0 1 0 ${-2 * r} 0`);
  }));
  return svg("path", { class: "rows", d: circles.join("") });
}

/** Return the coordinate of each entry of an axis; undefined if it is not drawn. */
function gridPositions({ axis, entries, points, strip }) {
  const positions = new Array(axisLength(axis));
  if (entries) {
    entries.forEach(({ codes: [code] }, k) => {
      positions[nearestEntry(axis, code)] = points[k];
    });
  } else points.forEach((point, k) => { positions[k] = point; });
  if (strip) positions[positions.length - 1] = (strip[0] + strip[1]) / 2;
  return positions;
}
