// Categories: the order of their levels, and a search among those with too many levels to list.

const MAX_LISTED = 60; // levels of a category; those of larger ones are found by typing
const MAX_FOUND = 10;
const CYCLES = ["mon tue wed thu fri sat sun",
  "jan feb mar apr may jun jul aug sep oct nov dec"].map((names) => names.split(" "));
const NUMBER = /^[^\p{L}\d]*?(-?\d+(?:[.,]\d+)?)/u; // at the start of a level, such as "10-19"

/** Return the codes of levels in the order of their numbers, weekdays or months; null if none. */
function naturalOrder(levels) {
  if (levels.length < 2) return null;
  const cycle = CYCLES.find((names) => levels.every((level) =>
    names.includes(String(level).slice(0, 3).toLowerCase())));
  const number = (level) => Number(NUMBER.exec(String(level))?.[1].replace(",", ".") ?? NaN);
  const key = cycle ? (level) => cycle.indexOf(String(level).slice(0, 3).toLowerCase()) : number;
  const keys = levels.map((level) => (typeof level === "number" ? level : key(level)));
  if (keys.some(Number.isNaN) || new Set(keys).size < levels.length) return null;
  return keys.map((_, k) => k).sort((a, b) => keys[a] - keys[b]);
}

/**
 * Return a function that finds the codes of the levels that contain some text: equal ones first,
 * then those that start with it, then the others; in each group the most frequent first.
 */
function makeLevelSearch(levels, shares) {
  const texts = levels.map((level) => String(level).toLowerCase());
  const byShare = texts.map((_, k) => k);
  if (shares) byShare.sort((a, b) => shares[b] - shares[a] || a - b);
  return (query) => {
    const text = query.trim().toLowerCase();
    const groups = [[], [], []];
    for (const k of byShare) {
      const at = texts[k].indexOf(text);
      if (at >= 0) groups[at > 0 ? 2 : texts[k].length > text.length ? 1 : 0].push(k);
    }
    return groups.flat();
  };
}

/** Return the search among the levels of a feature, which is prepared when it is first used. */
function searchLevels(feature, levels, query) {
  feature.search ??= makeLevelSearch(levels, feature.shares);
  return feature.search(query);
}

/** Return the bars of a category with many levels: the most important ones, and a search. */
function drawManyLevels(feature, levels, curve, limits, signs, view) {
  const heights = levels.map((_, k) => view.at(k));
  const shares = feature.shares || levels.map(() => null);
  const sizes = heights.map((height, k) => (shares[k] ?? 1) * Math.abs(height - view.unit.base));
  const codes = levels.map((_, k) => k);
  const largest = [...codes].sort((a, b) => sizes[b] - sizes[a]).slice(0, MAX_LEVELS - 1)
    .sort((a, b) => heights[b] - heights[a]);
  const shown = new Set(largest);
  const others = averageLevel(codes.filter((k) => !shown.has(k)), shares, heights);
  const item = (k) => levelItem(String(levels[k]), shares[k], heights[k], limits, signs,
    view.unit, bandAt(view, k));
  const rest = levelItem(`mean of ${(levels.length - shown.size).toLocaleString("en")} others`,
    others.share, others.value, limits, ["others", "others"], view.unit);
  const missing = curve.missing === null ? [] : [levelItem("missing", feature.share_missing,
    view.at(NaN), limits, ["missing", "missing"], view.unit, bandAt(view, NaN))];
  const list = html("ul", { class: "levels" });
  const search = html("input", { type: "search", autocomplete: "off", spellcheck: "false",
    placeholder: `find one of ${levels.length.toLocaleString("en")} levels`,
    "aria-label": `Find a level of ${feature.name}` });
  const status = html("p", { class: "hint", role: "status" });
  let marked = -1;

  function update() {
    const query = search.value.trim();
    const found = query ? searchLevels(feature, levels, query) : largest;
    const listed = found.slice(0, MAX_FOUND);
    if (!query && marked >= 0 && !shown.has(marked)) listed.push(marked);
    const items = listed.map((k) => {
      const line = item(k);
      line.classList.toggle("current", k === marked);
      line.classList.toggle("only-marked", !query && !shown.has(k));
      return line;
    });
    missing.forEach((line) => line.classList.toggle("current", Number.isNaN(marked)));
    list.replaceChildren(...items, ...(query ? [] : [rest, ...missing]));
    status.textContent = !query ? "" : found.length > MAX_FOUND
      ? `${MAX_FOUND} of ${found.length.toLocaleString("en")} levels found`
      : `${found.length} level${found.length === 1 ? "" : "s"} found`;
  }
  search.addEventListener("input", update);
  update();
  return {
    chart: html("div", { class: "many-levels" }, search, list, status),
    mark(x) {
      if (Object.is(x, marked)) return;
      marked = x;
      update();
    },
  };
}
