"use strict";

// The scorer of everystump.export.scoring, for documents that hold curves only.

/** Give the curves of a packed document their numbers, which everystump.report.coding packed. */
function unpack({ arrays, ...model }) {
  const numbers = arrays.map(readNumbers);
  for (const curve of model.scores.flatMap((score) => score.curves)) {
    for (const key of ["knots", "values", "level_values"]) {
      if (key in curve) curve[key] = numbers[curve[key]];
    }
  }
  return model;
}

/** Return numbers from their bytes in base64 and, after a bar, how often each comes. */
function readNumbers(text) {
  const [bytes, lengths] = text.split("|").map((part) =>
    Uint8Array.from(atob(part), (letter) => letter.charCodeAt(0)));
  const view = new DataView(bytes.buffer);
  const numbers = Array.from({ length: bytes.length / 8 }, (_, k) => view.getFloat64(8 * k, true));
  return lengths ? numbers.flatMap((x, k) => new Array(lengths[k]).fill(x)) : numbers;
}

/** Return functions that score rows with a document of everystump.export.to_json. */
function makeScorer(model) {
  const places = new Map(model.features.map((feature, d) => [feature.name, d]));
  const numbers = model.features.map((feature) =>
    feature.levels ? new Map(feature.levels.map((level, k) => [level, k])) : null);

  /** Return a cell as a number: that of its level, -1 if unknown, NaN if missing. */
  function read(d, cell) {
    if (cell === null || cell === undefined || Number.isNaN(cell)) return NaN;
    const { name, levels } = model.features[d];
    const isText = typeof cell === "string";
    const wantsText = Boolean(levels) && typeof levels[0] === "string";
    if (isText !== wantsText && !(levels && levels.length === 0)) {
      throw new TypeError(`${JSON.stringify(cell)} for ${JSON.stringify(name)} must be ` +
        `${wantsText ? "text" : "a number"}; give null if it is missing.`);
    }
    const value = isText ? cell : Number(cell);
    if (!isText && !Number.isFinite(value)) return NaN;
    if (!levels) return value;
    return numbers[d].has(value) ? numbers[d].get(value) : -1;
  }

  /** Return the cells of a row by name in the order of the features. */
  function inOrder(row) {
    const cells = new Array(places.size);
    for (const name of Object.keys(row)) {
      if (!places.has(name)) throw new Error(`${JSON.stringify(name)} is no feature.`);
    }
    for (const [name, d] of places) {
      if (!Object.hasOwn(row, name)) {
        throw new Error(`the row lacks ${JSON.stringify(name)}; give null if it is missing.`);
      }
      cells[d] = row[name];
    }
    return cells;
  }

  /** Return scores, contributions, class and probabilities of cells in the order of features. */
  function explainCells(cells) {
    const x = cells.map((cell, d) => read(d, cell));
    const unread = !model.takes_missing && x.some(Number.isNaN);
    const contributions = model.scores.map((score) => {
      const adds = new Array(x.length).fill(0);
      for (const curve of score.curves) adds[curve.feature] += curveAt(curve, x[curve.feature]);
      return adds;
    });
    const scores = model.scores.map((score, k) =>
      unread ? NaN : contributions[k].reduce((sum, part) => sum + part, score.intercept));
    const predicted = unread ? null : numberOfClass(scores);
    return {
      scores,
      contributions,
      predicted,
      label: predicted === null ? null : model.classes[predicted],
      probability: model.log_odds === null ? null
        : probabilities(scores.map((score) => score * model.log_odds)),
    };
  }

  const explain = (row) => explainCells(inOrder(row));

  /** Return the score of a row, or those of each class if there are more than two. */
  function score(row) {
    const { scores } = explain(row);
    return scores.length === 1 ? scores[0] : scores;
  }

  return Object.freeze({ score, explain, explainCells, document: model });
}

/** Return the number of the class that scores name; the first of equals. */
function numberOfClass(scores) {
  if (scores.length === 1) return scores[0] > 0 ? 1 : 0;
  return scores.indexOf(Math.max(...scores));
}

/** Return what a curve adds at x, which is NaN if it is missing. */
function curveAt(curve, x) {
  if (Number.isNaN(x)) return curve.missing === null ? 0 : curve.missing;
  if (curve.level_values) return x >= 0 ? curve.level_values[x] : 0;
  return lineAt(curve.knots, curve.values, x);
}

/** Return a line at x: straight between knots, flat beyond, right values at jumps. */
function lineAt(knots, values, x) {
  const k = countUpTo(knots, x);
  if (k === 0) return values[0];
  const low = values[k - 1];
  if (k === knots.length || values[k] === low) return low;
  const slope = (values[k] - low) / (knots[k] - knots[k - 1]);
  if (!Number.isFinite(slope)) return low;
  // Rounding must not lead beyond the next knot's value: monotone curves stay so.
  const found = low + slope * (x - knots[k - 1]);
  return slope > 0 ? Math.min(found, values[k]) : Math.max(found, values[k]);
}

/** Return how many of ascending numbers are at most x. */
function countUpTo(numbers, x) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Return the chance of each class: of several, each against the rest, scaled to sum to 1. */
function probabilities(logOdds) {
  const logOf = (t) => Math.min(t, 0) - Math.log1p(Math.exp(-Math.abs(t)));
  if (logOdds.length === 1) return [Math.exp(logOf(-logOdds[0])), Math.exp(logOf(logOdds[0]))];
  const logs = logOdds.map(logOf);
  const most = Math.max(...logs);
  const probabilities = logs.map((one) => Math.exp(one - most));
  const total = probabilities.reduce((sum, one) => sum + one, 0);
  return probabilities.map((one) => one / total);
}
