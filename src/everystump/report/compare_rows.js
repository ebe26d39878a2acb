// The data behind the curves of a comparison, for CSV files, with all digits.

/** Return the contributions of a feature in both models: of its levels, or at all knots. */
function comparedRows(summary, term, curves) {
  const table = curves.some((curve) => curve?.values) ? knotRows(curves)
    : levelRows(summary, term, curves);
  return [[term.names[0], ...summary.names], ...table];
}

/** Return the heights of both curves at the knots of either, and of missing values. */
function knotRows(curves) {
  const numbers = curves.filter((curve) => curve?.values);
  const knots = [...new Set(numbers.flatMap((curve) => [...curve.knots]))].sort((a, b) => a - b);
  const at = (x) => curves.map((curve) => (curve?.values ? evaluateCurve(curve, x) : null));
  const hasMissing = numbers.some((curve) => curve.missing !== null);
  return [...knots.map((x) => [x, ...at(x)]), ...(hasMissing
    ? [["missing", ...curves.map((curve) => curve?.missing ?? null)]] : [])];
}

function levelRows(summary, term, curves) {
  const own = curves.map((curve, k) => levelsOf(summary, k, term.terms[k], curve));
  const names = [...new Set(own.flatMap((levels) => [...levels.keys()]))];
  return names.map((name) => [name, ...own.map((levels) => levels.get(name) ?? null)]);
}
