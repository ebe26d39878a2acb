"use strict";

// The scorer of everystump.export.scoring, for documents that contain curves and surfaces only.

/** Decode the arrays of curves and surfaces that everystump.report._encoding packed. */
function unpack({ arrays, ...model }) {
  const decoded = new Map();
  const find = (k, read) => {
    if (!decoded.has(k)) decoded.set(k, read(arrays[k]));
    return decoded.get(k);
  };
  const decode = (record) => {
    for (const key of ["knots", "values", "level_values"]) {
      if (key in record) record[key] = find(record[key], decodeNumbers);
    }
    if ("cells" in record) {
      record.cells = find(record.cells, (text) => decodeIndices(text, record.n_cells));
    }
  };
  for (const { curves, surfaces = [] } of model.scores) {
    curves.forEach(decode);
    for (const surface of surfaces) {
      surface.axes.forEach(decode);
      surface.values = nest(find(surface.values, decodeNumbers), surface.axes.map(axisLength));
    }
  }
  return model;
}

/** Return numbers as nested arrays of some lengths. */
function nest(numbers, [length, ...others]) {
  if (!others.length) return numbers;
  const size = numbers.length / length;
  return Array.from({ length }, (_, k) => nest(numbers.slice(k * size, (k + 1) * size), others));
}

/** Return the features of each term: first of each curve, then of each surface. */
function listTerms(model) {
  const found = new Map();
  for (const { features } of model.scores.flatMap((score) => score.surfaces ?? [])) {
    found.set(features.join(), features);
  }
  const compare = (a, b) => {
    const j = a.findIndex((d, k) => d !== b[k]);
    return j < 0 ? -1 : a[j] - (b[j] ?? -1);
  };
  return [...model.features.map((_, d) => [d]), ...[...found.values()].sort(compare)];
}

/** Return the bytes of base64. */
function decodeBytes(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** Return numbers in double precision from the base64 of their bytes. */
function decodeDoubles(text) {
  const view = new DataView(decodeBytes(text).buffer);
  return Float64Array.from({ length: view.byteLength / 8 }, (_, k) => view.getFloat64(8 * k, true));
}

/** Return multiples of a unit from the base64 of their bytes, 5 each, and the largest number. */
function decodeRounded(text, largest) {
  const view = new DataView(decodeBytes(text).buffer);
  const multiple = (k) => view.getInt8(5 * k + 4) * 2 ** 32 + view.getUint32(5 * k, true);
  return Float64Array.from({ length: view.byteLength / 5 }, (_, k) =>
    largest * (multiple(k) / (2 ** 39 - 1)));
}

/** Return numbers that everystump.report._encoding encoded, with run lengths after a bar. */
function decodeNumbers(text) {
  const [encoded, lengths] = text.split("|");
  const [first, rounded] = encoded.split("~");
  const floats = decodeDoubles(first);
  const numbers = Array.from(rounded === undefined ? floats : decodeRounded(rounded, floats[0]));
  if (lengths === undefined) return numbers;
  const repeats = decodeBytes(lengths);
  return numbers.flatMap((x, k) => new Array(repeats[k]).fill(x));
}

/** Return indices below n from the base64 of their bytes: one each, or two if n is above 256. */
function decodeIndices(text, n) {
  const bytes = decodeBytes(text);
  return n <= 256 ? bytes : new Uint16Array(bytes.buffer);
}

/** Return numbers in single precision from the base64 of their bytes. */
function decodeFloats(text) {
  const view = new DataView(decodeBytes(text).buffer);
  return Array.from({ length: view.byteLength / 4 }, (_, k) => view.getFloat32(4 * k, true));
}

/** Return functions that score rows with a document of everystump.export.to_json. */
function makeScorer(model) {
  const featureIndex = new Map(model.features.map((feature, d) => [feature.name, d]));
  const levelIndex = model.features.map((feature) =>
    feature.levels ? new Map(feature.levels.map((level, k) => [level, k])) : null);
  const terms = listTerms(model);
  const termIndex = new Map(terms.map((features, t) => [features.join(), t]));

  /** Return a cell as a number, or the index of its level, -1 if unknown; NaN if missing. */
  function toNumber(d, cell) {
    if (cell === null || cell === undefined || Number.isNaN(cell)) return NaN;
    const { name, levels } = model.features[d];
    const isText = typeof cell === "string";
    const expectsText = Boolean(levels) && typeof levels[0] === "string";
    if (isText !== expectsText && !(levels && levels.length === 0)) {
      throw new TypeError(`${JSON.stringify(cell)} for ${JSON.stringify(name)} must be ` +
        `${expectsText ? "text" : "a number"}; pass null if it is missing.`);
    }
    const value = isText ? cell : Number(cell);
    if (!isText && !Number.isFinite(value)) return NaN;
    if (!levels) return value;
    return levelIndex[d].has(value) ? levelIndex[d].get(value) : -1;
  }

  /** Return the cells of a row by name in the order of the features. */
  function toCells(row) {
    const cells = new Array(featureIndex.size);
    for (const name of Object.keys(row)) {
      if (!featureIndex.has(name)) throw new Error(`${JSON.stringify(name)} is not a feature.`);
    }
    for (const [name, d] of featureIndex) {
      if (!Object.hasOwn(row, name)) {
        throw new Error(`the row lacks ${JSON.stringify(name)}; pass null if it is missing.`);
      }
      cells[d] = row[name];
    }
    return cells;
  }

  /** Return the values of the curves and surfaces of a score by term, or those of their bands. */
  function valuesByTerm({ curves, surfaces = [] }, x, select, nothing) {
    const values = new Array(terms.length).fill(nothing);
    const add = (t, shape, evaluate) => {
      if (shape) values[t] = (values[t] ?? 0) + evaluate(shape);
    };
    curves.forEach((curve) => add(curve.feature, select(curve), (own) =>
      evaluateCurve(own, x[own.feature])));
    surfaces.forEach((surface) => add(termIndex.get(surface.features.join()), select(surface),
      (own) => evaluateSurface(own, x)));
    return values;
  }

  /**
   * Return scores, contributions and half the widths of their bands, and the predicted class and
   * probabilities, or the prediction of a regressor, of cells in feature order.
   */
  function explainCells(cells) {
    const x = cells.map((cell, d) => toNumber(d, cell));
    const hasNoScore = !model.takes_missing && x.some(Number.isNaN);
    const contributions = model.scores.map((score) => valuesByTerm(score, x, (shape) => shape, 0));
    const halfWidths = model.scores.map((score) => valuesByTerm(score, x, ({ band }) => band, null));
    const scores = model.scores.map((score, k) =>
      hasNoScore ? NaN : contributions[k].reduce((sum, part) => sum + part, score.intercept));
    if (model.link) {
      return { scores, contributions, halfWidths,
        prediction: hasNoScore ? null : INVERSE_LINKS[model.link](scores[0]) };
    }
    const predicted = hasNoScore ? null : predictedClass(scores);
    return {
      scores,
      contributions,
      halfWidths,
      predicted,
      label: predicted === null ? null : model.classes[predicted],
      probability: model.log_odds === null ? null
        : probabilities(scores.map((score) => score * model.log_odds), model.probabilities),
    };
  }

  const explain = (row) => explainCells(toCells(row));

  /** Return the score of a row, or one score per class if there are more than two. */
  function score(row) {
    const { scores } = explain(row);
    return scores.length === 1 ? scores[0] : scores;
  }

  /** Return the predicted class of a row, or the prediction of a regressor; null without one. */
  function predict(row) {
    const result = explain(row);
    return model.link ? result.prediction : result.label;
  }

  return Object.freeze({ score, predict, explain, explainCells, codeOf: toNumber, document: model });
}

/** The prediction of a regressor, given its score. */
const INVERSE_LINKS = { identity: (score) => score, log: Math.exp };

/** Return the index of the class that scores predict; the first one in a tie. */
function predictedClass(scores) {
  if (scores.length === 1) return scores[0] > 0 ? 1 : 0;
  return scores.indexOf(Math.max(...scores));
}

/** Return the value of a curve at x, which is NaN if it is missing. */
function evaluateCurve(curve, x) {
  if (Number.isNaN(x)) return curve.missing === null ? 0 : curve.missing;
  if (curve.level_values) return x >= 0 ? curve.level_values[x] : 0;
  return interpolate(curve.knots, curve.values, x);
}

/** Return a curve at x: linear between knots, flat beyond, right-continuous at jumps. */
function interpolate(knots, values, x) {
  const k = countAtMost(knots, x);
  if (k === 0) return values[0];
  const low = values[k - 1];
  if (k === knots.length || values[k] === low) return low;
  const slope = (values[k] - low) / (knots[k] - knots[k - 1]);
  if (!Number.isFinite(slope)) return low;
  // Rounding must not go beyond the value at the next knot: monotonic curves stay monotonic.
  const value = low + slope * (x - knots[k - 1]);
  return slope > 0 ? Math.min(value, values[k]) : Math.max(value, values[k]);
}

/** Return the value of a surface at x, the values of all features. */
function evaluateSurface({ features, axes, values }, x) {
  const positions = features.map((d, j) => findPosition(axes[j], x[d]));
  return positions.includes(null) ? 0 : interpolateTable(values, positions);
}

/** Return the number of entries of a surface along an axis. */
const axisLength = ({ knots, levels, n_cells: nCells, missing }) =>
  (knots ? knots.length : nCells ?? levels) + missing;

/**
 * Return the entry of an axis at x and the fraction of the way to the next one; null for an unknown
 * level, and for a missing value if the axis has no entry for it.
 */
function findPosition(axis, x) {
  if (Number.isNaN(x)) return axis.missing ? { index: axisLength(axis) - 1, fraction: 0 } : null;
  if (!axis.knots) return x >= 0 ? { index: axis.cells ? axis.cells[x] : x, fraction: 0 } : null;
  const index = Math.max(countAtMost(axis.knots, x) - 1, 0);
  const width = axis.knots[index + 1] - axis.knots[index]; // NaN at the last knot
  const fraction = (x - axis.knots[index]) / width;
  return { index, fraction: fraction > 0 && width < Infinity ? fraction : 0 };
}

/** Return the value of nested arrays at a position along each of their axes. */
function interpolateTable(values, [position, ...others]) {
  const { index, fraction } = position;
  const at = (k) => (others.length ? interpolateTable(values[k], others) : values[k]);
  const low = at(index);
  return fraction > 0 ? low + fraction * (at(index + 1) - low) : low;
}

/** Return how many of ascending numbers are at most x. */
function countAtMost(numbers, x) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

const logSigmoid = (t) => Math.min(t, 0) - Math.log1p(Math.exp(-Math.abs(t)));

/** Return class probabilities; with several classes, a softmax or normalized one-vs-rest ones. */
function probabilities(logOdds, kind) {
  if (logOdds.length === 1) {
    return [Math.exp(logSigmoid(-logOdds[0])), Math.exp(logSigmoid(logOdds[0]))];
  }
  const logs = kind === "softmax" ? logOdds : logOdds.map(logSigmoid);
  const largest = Math.max(...logs);
  const unnormalized = logs.map((log) => Math.exp(log - largest));
  const total = unnormalized.reduce((sum, p) => sum + p, 0);
  return unnormalized.map((p) => p / total);
}
