// The data behind the charts of the evaluation and the groups, for CSV files, with all digits.

/** Return the thresholds of a class, the highest first, and the rates at each of them. */
function rocRows(decision) {
  const { counts: { tps, fps, nPositive, nNegative }, thresholdName } = decision;
  return [[`threshold (${thresholdName})`, "false-positive rate", "recall"], ["", 0, 0],
    ...decision.thresholds().map((x, k) => [x, fps[k] / nNegative, tps[k] / nPositive])];
}

function precisionRecallRows(decision) {
  const { counts: { tps, fps, nPositive }, thresholdName } = decision;
  return [[`threshold (${thresholdName})`, "recall", "precision"],
    ...decision.thresholds().map((x, k) => [x, tps[k] / nPositive, tps[k] / (tps[k] + fps[k])])];
}

/** Return the ends of bins of equal width, and columns of counts. */
function binRows(name, [low, high], columns) {
  const n = columns[0][1].length;
  const edge = (k) => low + ((high - low) * k) / n;
  return [[`${name}, from`, "to", ...columns.map(([title]) => title)],
    ...columns[0][1].map((_, k) => [edge(k), edge(k + 1), ...columns.map(([, counts]) => counts[k])])];
}

function calibrationRows(bins) {
  return [["mean predicted probability", "observed frequency", "rows", "95% interval, from", "to"],
    ...bins.map(({ n, predicted, observed, interval }) => [predicted, observed, n, ...interval])];
}

function costRows(decision, keyName, costs) {
  return [[keyName, `cost per ${ROWS_OF_COST} rows`], ...costPoints(decision, costs)];
}

function coverageRows(bins, width) {
  return [["predicted, from", "to", "rows", "share of rows inside"], ...bins.map(({ low, high,
    sizes }) => [low, high, sizes.length, countWithin(sizes, width) / sizes.length])];
}

/** Return the measures of the groups of a column, with their intervals. */
function groupRows({ measures }, { name, lines }, hasIntervals) {
  const hasExpected = measures.map(({ of }) => lines.some(({ sum }) =>
    typeof of(sum).expected === "number"));
  const titles = measures.flatMap(({ title, unit }, j) => [title + (unit ?? ""),
    ...(hasIntervals ? ["95% interval, from", "to"] : []),
    ...(hasExpected[j] ? ["mean predicted probability"] : [])]);
  return [[name, "rows", ...titles], ...lines.map(({ name: group, sum }) => [group, sum.n,
    ...measures.flatMap(({ of }, j) => {
      const { value, interval, expected } = of(sum);
      return [value, ...(hasIntervals ? interval ?? [null, null] : []),
        ...(hasExpected[j] ? [expected] : [])];
    })])];
}

/** Return the validation scores of the values among which one was chosen. */
function pathRows(name, values, { mean, std, scoring }, score) {
  const sign = isLoss({ scoring }) ? -1 : 1;
  return [[name, `validation ${score}`, ...(std ? ["standard deviation"] : [])],
    ...values.map((value, k) => [value, mean[k] === null ? null : sign * mean[k],
      ...(std ? [std[k]] : [])])];
}
