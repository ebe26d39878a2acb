// Metrics of rows, as scikit-learn defines them. Scores are sorted once; then the counts at a
// threshold are found by bisection.

const NORMAL_QUANTILE = 1.959963984540054; // 97.5%
const MANY_DEGREES = 400; // of freedom, for which Student's t is expanded around the normal one

/** Return Wilson's score interval of a proportion, null without rows. */
function wilson(hits, n, quantile = NORMAL_QUANTILE) {
  if (!n) return null;
  const p = hits / n;
  const unit = quantile ** 2 / n;
  const center = (p + unit / 2) / (1 + unit);
  const half = Math.sqrt(unit * (p * (1 - p) + unit / 4)) / (1 + unit);
  return [hits === 0 ? 0 : center - half, hits === n ? 1 : center + half];
}

/** Return the mean of numbers, and its interval by Student's t, null for fewer than two. */
function meanInterval(sum, squares, n, probability = 0.95) {
  const mean = sum / n;
  if (n < 2) return { mean, interval: null };
  const variance = Math.max(0, squares - sum * mean) / (n - 1);
  const half = studentQuantile(n - 1, probability) * Math.sqrt(variance / n);
  return { mean, interval: [mean - half, mean + half] };
}

/**
 * Return the number within which Student's t is with a probability: tan(angle) * sqrt(degrees),
 * found by bisection.
 */
function studentQuantile(degrees, probability = 0.95) {
  if (degrees > MANY_DEGREES) return expandedQuantile(degrees, normalQuantile(probability));
  let [low, high] = [0, Math.PI / 2];
  for (let k = 0; k < 60; k += 1) {
    const middle = (low + high) / 2;
    if (studentProbability(middle, degrees) < probability) low = middle;
    else high = middle;
  }
  return Math.tan((low + high) / 2) * Math.sqrt(degrees);
}

/** Return the probability that Student's t is within tan(angle) * sqrt(degrees) of 0. */
function studentProbability(angle, degrees) {
  const cosine = Math.cos(angle);
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let k = isOdd ? 3 : 2; k <= degrees - 2; k += 2) { // a finite series for whole degrees
    term *= ((k - 1) / k) * cosine ** 2;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** Return a quantile of Student's t for many degrees of freedom, given that of a normal number. */
function expandedQuantile(degrees, z) {
  return z + (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92160 * degrees ** 4);
}

/** Return the number within which a standard normal number is with a probability, by bisection. */
function normalQuantile(probability) {
  let [low, high] = [0, 10];
  for (let k = 0; k < 60; k += 1) {
    const middle = (low + high) / 2;
    if (upperTail(middle) > (1 - probability) / 2) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Return the probability that a standard normal number is above x, which is not negative. */
function upperTail(x) {
  if (x > 4) { // continued fraction
    let fraction = x;
    for (let k = 60; k > 0; k -= 1) fraction = x + k / fraction;
    return Math.exp((-x * x) / 2) / (Math.sqrt(2 * Math.PI) * fraction);
  }
  let [term, sum] = [x, x]; // series of the distribution function
  for (let k = 1; k < 120; k += 1) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return 0.5 - (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** Return the scores of rows of a class and of the others, both in ascending order. */
function rankScores(scores, isPositive) {
  const nPositive = isPositive.reduce((sum, flag) => sum + flag, 0);
  const positive = new Float64Array(nPositive);
  const negative = new Float64Array(scores.length - nPositive);
  let [p, n] = [0, 0];
  scores.forEach((score, i) => {
    if (isPositive[i]) {
      positive[p] = score;
      p += 1;
    } else {
      negative[n] = score;
      n += 1;
    }
  });
  return { positive: positive.sort(), negative: negative.sort() };
}

/** Return how many of ascending numbers are above a cut, or at least at it if not strict. */
function countAbove(numbers, cut, isStrict) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isStrict ? numbers[middle] <= cut : numbers[middle] < cut) low = middle + 1;
    else high = middle;
  }
  return numbers.length - low;
}

/** Return the confusion matrix if rows with scores above a cut are predicted as the class. */
function confusionAt({ positive, negative }, cut, isStrict) {
  const tp = countAbove(positive, cut, isStrict);
  const fp = countAbove(negative, cut, isStrict);
  return { tp, fp, fn: positive.length - tp, tn: negative.length - fp };
}

/**
 * Return the distinct scores, highest first, and the number of rows of the class (tps) and of the
 * others (fps) with that score or a higher one.
 */
function countByThreshold({ positive, negative }) {
  const size = positive.length + negative.length;
  const [thresholds, tps, fps] = [0, 1, 2].map(() => new Float64Array(size));
  let [p, n, length] = [positive.length, negative.length, 0];
  while (p > 0 || n > 0) {
    const score = n === 0 || (p > 0 && positive[p - 1] >= negative[n - 1])
      ? positive[p - 1] : negative[n - 1];
    while (p > 0 && positive[p - 1] === score) p -= 1;
    while (n > 0 && negative[n - 1] === score) n -= 1;
    thresholds[length] = score;
    tps[length] = positive.length - p;
    fps[length] = negative.length - n;
    length += 1;
  }
  return { thresholds: thresholds.subarray(0, length), tps: tps.subarray(0, length),
    fps: fps.subarray(0, length), nPositive: positive.length, nNegative: negative.length };
}

/** Return the area under the ROC curve, null if all rows are of one class. */
function rocArea({ tps, fps, nPositive, nNegative }) {
  if (!nPositive || !nNegative) return null;
  let area = 0;
  let [tp, fp] = [0, 0];
  for (let k = 0; k < tps.length; k += 1) {
    area += ((fps[k] - fp) * (tps[k] + tp)) / 2;
    [tp, fp] = [tps[k], fps[k]];
  }
  return area / (nPositive * nNegative);
}

/** Return the average precision, null without rows of the class. */
function averagePrecision({ tps, fps, nPositive }) {
  if (!nPositive) return null;
  let sum = 0;
  let tp = 0;
  for (let k = 0; k < tps.length; k += 1) {
    sum += ((tps[k] - tp) / nPositive) * (tps[k] / (tps[k] + fps[k]));
    tp = tps[k];
  }
  return sum;
}

/** Return the Brier score: the mean squared difference of probabilities and outcomes. */
function brierScore(probabilities, isPositive) {
  return probabilities.reduce((sum, p, i) => sum + (isPositive[i] - p) ** 2, 0)
    / probabilities.length;
}

/** Return a quantile of ascending numbers, interpolated linearly as in NumPy. */
function quantileOf(sorted, q) {
  const position = q * (sorted.length - 1);
  const k = Math.min(Math.floor(position), sorted.length - 2);
  if (k < 0) return sorted[0];
  const [low, high, t] = [sorted[k], sorted[k + 1], position - k];
  return t >= 0.5 ? high - (high - low) * (1 - t) : low + (high - low) * t;
}

/** Return the inner edges of bins of equal width from 0 to 1, or with equally many rows each. */
function calibrationEdges(probabilities, nBins, hasEqualCounts) {
  const step = 1 / nBins; // multiples of it are rounded as those of np.linspace
  const inner = Array.from({ length: nBins - 1 }, (_, k) => (k + 1) * step);
  if (!hasEqualCounts) return inner;
  const sorted = Float64Array.from(probabilities).sort();
  return inner.map((q) => quantileOf(sorted, (q * 100) / 100));
}

/** Return, for each bin with rows, their number, mean probability and frequency of the class. */
function calibrationBins(probabilities, isPositive, nBins = 10, hasEqualCounts = false) {
  const edges = calibrationEdges(probabilities, nBins, hasEqualCounts);
  const bins = Array.from({ length: nBins }, () => ({ n: 0, hits: 0, sum: 0 }));
  probabilities.forEach((p, i) => {
    const bin = bins[edges.length - countAbove(edges, p, false)];
    bin.n += 1;
    bin.hits += isPositive[i];
    bin.sum += p;
  });
  return bins.filter(({ n }) => n > 0).map(({ n, hits, sum }) => ({ n, hits,
    predicted: sum / n, observed: hits / n, interval: wilson(hits, n) }));
}

/** Return the number of rows of each flag in bins of equal width between two ends. */
function countInBins(values, flags, [low, high], nBins) {
  const counts = [0, 1].map(() => new Array(nBins).fill(0));
  const scale = nBins / (high - low || 1);
  values.forEach((x, i) => {
    counts[flags[i]][Math.min(nBins - 1, Math.max(0, Math.floor((x - low) * scale)))] += 1;
  });
  return counts;
}

/**
 * Return the number k of distinct scores, the highest ones, whose rows should be predicted as the
 * class so that false alarms and misses cost the least, and that cost. Of equally cheap choices it
 * is the one with the widest gap between scores.
 */
function cheapestChoice({ thresholds, tps, fps, nPositive }, [alarm, miss]) {
  const gap = (k) => (k === 0 || k === thresholds.length ? 0 : thresholds[k - 1] - thresholds[k]);
  let best = { k: 0, cost: miss * nPositive };
  for (let k = 1; k <= thresholds.length; k += 1) {
    const cost = alarm * fps[k - 1] + miss * (nPositive - tps[k - 1]);
    if (cost < best.cost || (cost === best.cost && gap(k) > gap(best.k))) best = { k, cost };
  }
  return best;
}

/** Return the number with the fewest digits between two others, which may be equal or infinite. */
function shortestBetween(low, high) {
  if (!(low < high)) return low;
  const finite = [low, high].map((x, k) => (Number.isFinite(x) ? x : [high - 1, low + 1][k]));
  const middle = (finite[0] + finite[1]) / 2;
  for (let digits = 1; digits <= 17; digits += 1) {
    const rounded = Number(middle.toPrecision(digits));
    if (rounded > low && rounded < high) return rounded;
  }
  return middle;
}
