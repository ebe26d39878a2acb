// The data behind charts, as rows of cells for CSV files, with all digits.

/** Return the names of the scores: the classes, or what the contributions are. */
function scoreNames({ labels, document: model }) {
  return model.scores.length > 1 ? labels : [`contribution to the ${sumName(model)}`];
}

/** Return the columns of contributions: one for each unit, or for each class if there are several. */
function contributionColumns(summary) {
  const { document: model } = summary;
  if (model.scores.length > 1) {
    return summary.labels.map((label, k) => ({ title: `score of ${label}`, value: (c) => c[k] }));
  }
  return listUnits(summary, 0).map(({ key, axis, height, value = (h) => h }) => ({
    title: key === "own" ? scoreNames(summary)[0] : axis, value: (c) => value(height(c)) }));
}

/** Return the curve of a feature at its knots, on both sides of jumps, or at its levels. */
function curveRows(summary, d) {
  const { document: model } = summary;
  const feature = summary.features[d];
  const { levels } = model.features[d];
  const curves = model.scores.map(({ curves: all }) => all.find((curve) => curve.feature === d));
  const columns = contributionColumns(summary);
  const line = (name, evaluate, x, share) => {
    const contributions = curves.map((curve) => (curve ? evaluate(curve, x) : 0));
    return [name, ...(share === undefined ? [] : [share]), ...columns.map(({ value }) =>
      value(contributions))];
  };
  const isAtKnots = !levels && !feature.two_values;
  const shares = feature.shares ?? feature.distribution?.shares;
  const values = levels ?? feature.two_values ?? [...new Set(curves.flatMap((curve) =>
    curve?.knots ?? []))].sort((a, b) => a - b);
  const lines = values.flatMap((value, k) => {
    if (!isAtKnots) return [line(value, evaluateCurve, levels ? k : value, shares?.[k] ?? null)];
    const sides = [evaluateLeft, evaluateCurve].map((evaluate) => line(value, evaluate, value));
    return sides[0].join() === sides[1].join() ? [sides[1]] : sides;
  });
  const missing = curves.some((curve) => curve && curve.missing !== null)
    ? [line("missing", evaluateCurve, NaN, isAtKnots ? undefined : feature.share_missing)] : [];
  return [[feature.name, ...(isAtKnots ? [] : ["share of the rows"]),
    ...columns.map(({ title }) => title)], ...lines, ...missing];
}

/** Return the values of the surfaces of some features at their grid points. */
function surfaceRows(summary, features) {
  const { document: model } = summary;
  const surfaces = model.scores.map(({ surfaces: all = [] }) =>
    all.find((surface) => surface.features.join() === features.join()));
  const { axes } = surfaces.find(Boolean);
  const entries = axes.map((axis, j) => axisEntries(axis, summary, features[j]));
  const lines = [];
  const visit = (chosen) => {
    if (chosen.length < axes.length) {
      entries[chosen.length].forEach((entry) => visit([...chosen, entry]));
      return;
    }
    lines.push([...chosen.map(({ name }) => name), ...surfaces.map((surface) => (surface
      ? chosen.reduce((part, { index }) => part[index], surface.values) : 0))]);
  };
  visit([]);
  return [[...features.map((d) => summary.features[d].name), ...scoreNames(summary)], ...lines];
}

/** Return the index and the name of each entry of an axis; levels that share one are joined. */
function axisEntries(axis, summary, d) {
  const { levels } = summary.document.features[d];
  const names = axis.knots ? axis.knots : new Array(axisLength(axis) - axis.missing).fill(null);
  if (!axis.knots) {
    const members = names.map(() => []);
    levels.forEach((level, code) => members[axis.cells ? axis.cells[code] : code].push(level));
    members.forEach((own, k) => {
      names[k] = own.length > 1 ? `${own.length} other levels` : own[0] ?? "";
    });
  }
  return [...names, ...(axis.missing ? ["missing"] : [])].map((name, index) => ({ name, index }));
}

/** Return the importance of each term, for each class if there are several. */
function importanceRows(summary) {
  const { terms, order, labels } = summary;
  const isSplit = summary.document.scores.length > 1;
  return [["term", "importance", ...(isSplit ? labels : [])], ...order.map((t) => {
    const total = terms[t].importance.reduce((sum, part) => sum + part, 0);
    return [terms[t].name, total, ...(isSplit ? terms[t].importance : [])];
  })];
}

/** Return the values of a row, their contributions, and their sum. */
function whatIfRows(summary, cells, result) {
  const { terms, order, document: model } = summary;
  const lines = order.map((t) => [terms[t].name,
    terms[t].features.map((d) => formatCell(cells[d])).join(", "),
    ...result.contributions.map((parts) => parts[t])]);
  return [["term", "value", ...scoreNames(summary)], ...lines,
    ["intercept (baseline)", "", ...model.scores.map(({ intercept }) => intercept)],
    [sumName(model), "", ...result.scores]];
}

const formatCell = (cell) => (cell === null ? "missing" : String(cell));
