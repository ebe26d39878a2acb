// Horizontal axes of numbers: linear, logarithmic, or by quantiles of the rows.

const SCALE_KINDS = ["linear", "log", "quantile"];
// The quantiles of the rows that should not be crushed at one end of an axis, and how much of the
// axis should be between them.
const CENTRAL = [[0.05, 0.95, 0.3], [0.25, 0.75, 0.12]];
const FEW_VALUES = 12; // are told apart on any axis
const MAX_VALUE_SHARE = 0.1; // of one value, such as 0, when an axis is chosen
const N_QUANTILES = 40;
const N_BARS = 30;
const SMALL = 0.1; // the quantile of sizes below which a logarithmic axis through 0 is linear

/** Decode the distributions that everystump.report._encoding packed. */
function unpackFeatures(features) {
  for (const feature of features) {
    if (feature.distribution) {
      for (const key of ["values", "shares"]) {
        feature.distribution[key] = decodeFloats(feature.distribution[key]);
      }
    }
    if (typeof feature.shares === "string") feature.shares = decodeFloats(feature.shares);
  }
  return features;
}

/** Return the ends of an axis of numbers. */
const axisEnds = ({ low, high }) => (high > low ? [low, high] : [low - 0.5, high + 0.5]);

/** Return the quantiles of values with shares in ascending order of the values. */
function quantilesOf({ values, shares }, fractions) {
  let sum = 0;
  const cumulative = shares.map((share) => (sum += share));
  return fractions.map((p) => {
    const k = cumulative.findIndex((share) => share >= p * sum * (1 - 1e-6));
    return values[k < 0 ? values.length - 1 : k];
  });
}

/**
 * Return an axis of numbers: `to` maps a value to a fraction of the axis, 0 at the lowest value of
 * the rows and 1 at the highest, and `from` maps it back; `marks` are the values of its ticks.
 */
function makeNumberAxis(feature, kind) {
  const [low, high] = axisEnds(feature);
  const inside = (x) => Math.min(high, Math.max(low, x));
  const makers = { linear: linearAxis, log: logAxis, quantile: quantileAxis };
  const { to, from, marks, nBars = N_BARS } = makers[kind](feature, low, high);
  const isWhole = (x) => !feature.is_integer || Number.isInteger(x);
  return {
    kind,
    low,
    high,
    nBars,
    to,
    from: (t) => (t < 0 || t > 1 ? from(t) : inside(from(t))),
    marks: (nMarks) => marks(nMarks).filter(isWhole),
  };
}

function linearAxis(_, low, high) {
  return {
    to: (x) => (x - low) / (high - low),
    from: (t) => low + t * (high - low),
    marks: (nMarks) => ticks(low, high, nMarks),
  };
}

/** Return a logarithmic axis; one with 0 or negative values is about linear near 0. */
function logAxis({ distribution }, low, high) {
  const small = low > 0 ? null : smallSize(distribution, low, high);
  const bend = (x) => (small === null ? Math.log(Math.max(x, low / 1e3)) : Math.asinh(x / small));
  const unbend = (u) => (small === null ? Math.exp(u) : small * Math.sinh(u));
  const [first, last] = [bend(low), bend(high)];
  const to = (x) => (bend(x) - first) / (last - first);
  return {
    to,
    from: (t) => unbend(first + t * (last - first)),
    marks: (nMarks) => logMarks(low, high, small, to, nMarks),
  };
}

/** Return the size of the smallest numbers that a logarithmic axis through 0 tells apart. */
function smallSize(distribution, low, high) {
  const sizes = (distribution?.values ?? []).map((x, k) => [Math.abs(x), distribution.shares[k]])
    .filter(([size]) => size > 0).sort((a, b) => a[0] - b[0]);
  const [small] = sizes.length ? quantilesOf({ values: sizes.map(([size]) => size),
    shares: sizes.map(([, share]) => share) }, [SMALL]) : [];
  return small || Math.max(-low, high) / 100;
}

/** Return 0 and round numbers 1, 2 and 5 times powers of ten that are not too close on an axis. */
function logMarks(low, high, small, to, nMarks) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const least = small ?? low;
  const powers = [];
  for (let p = Math.floor(Math.log10(least)); p <= Math.log10(size); p += 1) powers.push(p);
  const step = Math.ceil(powers.length / nMarks);
  const round = (factor, p) => Number((factor * 10 ** p).toPrecision(3));
  const candidates = [small === null ? [] : [0],
    powers.filter((p) => (p - powers[powers.length - 1]) % step === 0).map((p) => round(1, p)),
    powers.map((p) => round(2, p)), powers.map((p) => round(5, p))]
    .flat().flatMap((x) => (small === null || x === 0 ? [x] : [x, -x]))
    .filter((x) => x >= low && x <= high);
  const marks = [];
  for (const x of candidates) {
    if (marks.every((other) => Math.abs(to(x) - to(other)) > 0.8 / nMarks)) marks.push(x);
  }
  return marks.sort((a, b) => a - b);
}

/** Return an axis on which equal distances hold equal shares of the rows; repeats count once. */
function quantileAxis({ distribution }, low, high) {
  const fractions = Array.from({ length: N_QUANTILES + 1 }, (_, k) => k / N_QUANTILES);
  const inner = distribution?.values.length ? quantilesOf(distribution, fractions) : [];
  const xs = [low, ...new Set(inner.filter((x) => x > low && x < high)), high];
  const last = xs.length - 1;
  const index = (x) => Math.min(last - 1, Math.max(0, countAtMost(xs, x) - 1));
  const fraction = (x, k) => (x - xs[k]) / (xs[k + 1] - xs[k]);
  const to = (x) => Math.min(1, Math.max(0, (index(x) + fraction(x, index(x))) / last));
  return {
    to,
    from(t) {
      const k = Math.min(last - 1, Math.max(0, Math.floor(t * last)));
      return xs[k] + Math.min(1, Math.max(0, t * last - k)) * (xs[k + 1] - xs[k]);
    },
    marks: (nMarks) => [...new Set(Array.from({ length: nMarks }, (_, k) =>
      roundMark(xs[Math.round((k * last) / (nMarks - 1))], to)))].filter((x) => x >= low && x <= high),
    nBars: last,
  };
}

/** Return a number with as few digits as do not move it along an axis. */
function roundMark(x, to) {
  return [1, 2, 3].map((nDigits) => Number(x.toPrecision(nDigits)))
    .find((rounded) => Math.abs(to(rounded) - to(x)) < 0.02) ?? x;
}

/** Return the kind of axis on which the bulk of the rows is not crushed at one end. */
function chooseScale(feature) {
  const { distribution, low } = feature;
  if (!distribution || distribution.values.length <= FEW_VALUES) return "linear";
  const total = distribution.shares.reduce((sum, share) => sum + share, 0);
  const capped = { values: distribution.values, shares: distribution.shares.map((share) =>
    Math.min(share, MAX_VALUE_SHARE * total)) };
  const ranges = CENTRAL.map(([first, last, spread]) =>
    ({ ends: quantilesOf(capped, [first, last]), spread }));
  const isReadable = (kind) => {
    const { to } = makeNumberAxis(feature, kind);
    return ranges.every(({ ends: [first, last], spread }) => to(last) - to(first) >= spread);
  };
  return ["linear", ...(low >= 0 ? ["log"] : [])].find(isReadable) ?? "quantile";
}

/** Return the axis of a feature, of the kind that the reader or `chooseScale` chose. */
function numberAxis(feature) {
  feature.automatic ??= chooseScale(feature);
  const kind = feature.chosen ?? feature.automatic;
  if (feature.axis?.kind !== kind) feature.axis = makeNumberAxis(feature, kind);
  return feature.axis;
}

/** Return the shares of the rows as bars along an axis: their ends as fractions of it. */
function densityBars(feature, axis) {
  const { density, distribution } = feature;
  if (!density) return [];
  if (axis.kind === "linear") {
    return density.at.map((x, k) => ({ from: axis.to(x - density.width / 2),
      to: axis.to(x + density.width / 2), share: density.share[k] }));
  }
  const { nBars } = axis;
  const bars = Array.from({ length: nBars }, (_, k) => ({ from: k / nBars, to: (k + 1) / nBars,
    share: 0 }));
  distribution.values.forEach((x, k) => {
    const t = Math.min(1, Math.max(0, axis.to(x)));
    bars[Math.min(nBars - 1, Math.floor(nBars * t))].share += distribution.shares[k];
  });
  return bars.filter(({ share }) => share > 0);
}

/** Return the value after a key, null for other keys; NaN, missing, follows the highest value. */
function valueAfterKey(key, at, { is_integer: isInteger }, axis, hasMissing) {
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5,
    PageDown: -5 };
  const { low, high } = axis;
  if (key === "Home") return low;
  if (key === "End") return high;
  if (!Object.hasOwn(steps, key)) return null;
  if (Number.isNaN(at)) return steps[key] < 0 ? high : at;
  if (at >= high && steps[key] > 0 && hasMissing) return NaN;
  return stepAlong(axis, at, steps[key], isInteger);
}

/** Return the value some fortieths of an axis further; of whole numbers, at least the next one. */
function stepAlong(axis, x, nSteps, isInteger) {
  const next = axis.from(Math.min(1, Math.max(0, axis.to(x) + nSteps / 40)));
  const whole = Math.round(next);
  const inside = (value) => Math.min(axis.high, Math.max(axis.low, value));
  if (!isInteger) return next;
  return inside(nSteps > 0 ? Math.max(whole, x + 1) : Math.min(whole, x - 1));
}
