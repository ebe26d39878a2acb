// A part of the page as a picture: its text, bars and charts at their places, as one SVG.

const PAINT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray",
  "stroke-linejoin", "stroke-linecap", "opacity", "font-size", "font-weight", "text-anchor",
  "shape-rendering", "visibility"];
const SKIPPED = "button:not(table *), input, select, .announcer, .readout, .tools, .search, " +
  ".controls, .threshold, title, [hidden], circle.current:not(.threshold-mark), .probe, " +
  ".cross-hair, .only-marked";
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const MARGIN = 16;
const MIN_PIXELS = 1200; // width of a PNG

/** Return text without the characters that XML does not allow. */
const toXmlText = (text) => text.replace(NOT_XML, "\uFFFD");

/** Return an SVG of an element as it is on the screen, in light colors, without its controls. */
function takeSnapshot(element) {
  const root = document.documentElement;
  root.classList.add("light", "still");
  const box = element.getBoundingClientRect();
  const origin = { x: box.left - MARGIN, y: box.top - MARGIN };
  const [width, height] = [box.width + 2 * MARGIN, box.height + 2 * MARGIN];
  const picture = svg("svg", { width: width.toFixed(0), height: height.toFixed(0),
    viewBox: `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`,
    "font-family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" },
  svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(element).backgroundColor }));
  [...element.childNodes].forEach((child) => paintNode(child, picture, origin));
  root.classList.remove("light", "still");
  return picture;
}

/** Add an element or a text and all that it contains to a picture. */
function paintNode(node, picture, origin) {
  if (node.nodeType === Node.TEXT_NODE) paintText(node, picture, origin);
  if (!(node instanceof Element) || node.matches(SKIPPED) || !node.checkVisibility()) return;
  if (node instanceof SVGSVGElement) {
    picture.append(copyChart(node, origin));
    return;
  }
  paintBox(node, picture, origin);
  const style = getComputedStyle(node);
  const isCut = style.textOverflow === "ellipsis" || !["none", ""].includes(style.webkitLineClamp);
  const parent = isCut ? clip(node, picture, origin) : picture;
  [...node.childNodes].forEach((child) => paintNode(child, parent, origin));
}

/** Add the background and the lower border of an element. */
function paintBox(node, picture, { x, y }) {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const isVisible = !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor);
  if (isVisible && box.width > 0 && !node.matches(".current, .card, .scroll")) {
    picture.append(svg("rect", { x: (box.left - x).toFixed(1), y: (box.top - y).toFixed(1),
      width: box.width.toFixed(1), height: box.height.toFixed(1), fill: style.backgroundColor,
      rx: Math.min(parseFloat(style.borderRadius) || 0, box.height / 2) }));
  }
  const before = getComputedStyle(node, "::before"); // the zero line of a track
  if (node.matches(".track") && before.content !== "none") {
    const at = (box.left - x + parseFloat(before.left)).toFixed(1);
    picture.append(svg("line", { x1: at, x2: at, y1: (box.top - y - 3).toFixed(1),
      y2: (box.bottom - y + 3).toFixed(1), stroke: before.borderLeftColor, opacity: 0.45 }));
  }
  if (node.matches(".ramp")) paintRamp(node, picture, { x, y });
  if (node.matches(".whisker, .reference, .ring")) paintBorder(node, picture, { x, y });
  if (parseFloat(style.borderTopWidth) && node.matches("tr")) {
    picture.append(svg("line", { x1: box.left - x, x2: box.right - x, y1: box.top - y,
      y2: box.top - y, stroke: style.borderTopColor }));
  }
}

/** Add what is drawn by the border of an element: an error bar, a line or a ring. */
function paintBorder(node, picture, { x, y }) {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const [left, right, top, bottom] = [box.left - x, box.right - x, box.top - y, box.bottom - y];
  const middle = (top + bottom) / 2;
  const paths = { ring: `M${left} ${middle}a${box.width / 2} ${box.width / 2} 0 1 0 ${box.width} 0` +
    `a${box.width / 2} ${box.width / 2} 0 1 0 ${-box.width} 0`,
  reference: `M${left} ${top}V${bottom}`,
  whisker: `M${left} ${middle}H${right}` +
    `${node.matches(".cut-low") ? "" : `M${left} ${middle - 3}v6`}` +
    `${node.matches(".cut-high") ? "" : `M${right} ${middle - 3}v6`}` };
  const kind = Object.keys(paths).find((name) => node.classList.contains(name));
  picture.append(svg("path", { d: paths[kind], fill: "none", opacity: style.opacity,
    stroke: kind === "whisker" ? style.borderTopColor : style.borderLeftColor,
    "stroke-width": kind === "reference" ? 1 : 1.5,
    "stroke-dasharray": kind === "reference" ? "3 3" : null }));
}

/** Add the legend of the shades of a map. */
function paintRamp(node, picture, { x, y }) {
  const box = node.getBoundingClientRect();
  const width = box.width / N_SHADES;
  const fillColor = getComputedStyle(node).getPropertyValue("--own").trim();
  for (let k = 0; k < N_SHADES; k += 1) {
    const place = node.matches(".falling") ? N_SHADES - 1 - k : k;
    picture.append(svg("rect", { x: (box.left - x + place * width).toFixed(2), width: width.toFixed(2),
      y: (box.top - y).toFixed(1), height: box.height.toFixed(1), fill: fillColor,
      "fill-opacity": Math.sqrt((k + 0.5) / N_SHADES).toFixed(3) }));
  }
}

/** Return an inner picture that cuts off what an element does not show. */
function clip(node, picture, { x, y }) {
  const box = node.getBoundingClientRect();
  const [left, top] = [box.left - x, box.top - y];
  const inner = svg("svg", { x: left, y: top, width: box.width, height: box.height,
    viewBox: `${left} ${top} ${box.width} ${box.height}` });
  picture.append(inner);
  return inner;
}

/** Add a text, one element for each of its lines. */
function paintText(node, picture, { x, y }) {
  if (!node.textContent.trim()) return;
  const style = getComputedStyle(node.parentElement);
  for (const { text, box } of textLines(node)) {
    picture.append(svg("text", { x: (box.left - x).toFixed(1),
      y: (box.bottom - y - 0.26 * box.height).toFixed(1), fill: style.color,
      "font-size": style.fontSize, "font-weight": style.fontWeight === "400" ? null : style.fontWeight,
      textLength: box.width.toFixed(1), lengthAdjust: "spacingAndGlyphs",
      "text-decoration": null }, toXmlText(text)));
  }
}

/** Return the lines into which a text is broken, between words or inside them, and their boxes. */
function textLines(node) {
  const lines = [];
  const range = document.createRange();
  const boxes = (start, end) => {
    range.setStart(node, start);
    range.setEnd(node, end);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const add = (text, box, gap) => {
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.box.top - box.top) < 2) {
      last.text += gap + text;
      last.box = union(last.box, box);
    } else lines.push({ text, box });
  };
  for (const { index, 0: word } of node.textContent.matchAll(/\S+/g)) {
    const found = boxes(index, index + word.length);
    if (found.length === 1) add(word, found[0], " ");
    let start = index;
    for (const letter of found.length > 1 ? word : []) {
      const [box] = boxes(start, start + letter.length);
      if (box) add(letter, box, start === index ? " " : "");
      start += letter.length;
    }
  }
  return lines;
}

function union(a, b) {
  const [left, right] = [Math.min(a.left, b.left), Math.max(a.right, b.right)];
  return { left, right, top: a.top, bottom: a.bottom, width: right - left, height: a.bottom - a.top };
}

/** Return a copy of a chart, at its place, that does not need the styles of the page. */
function copyChart(chart, { x, y }) {
  const copy = chart.cloneNode(true);
  const originals = [chart, ...chart.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
    const style = getComputedStyle(originals[k]);
    for (const name of PAINT) {
      const value = style.getPropertyValue(name);
      if (value && !["none", "normal", "auto"].includes(value)) element.setAttribute(name, value);
    }
    if (style.fill === "none") element.setAttribute("fill", "none");
    [...element.attributes].filter(({ name }) => /^(class|role|tabindex|aria-|id$)/.test(name))
      .forEach(({ name }) => element.removeAttribute(name));
  });
  [...copy.querySelectorAll("*")].forEach((element, k) => {
    if (originals[k + 1].matches(SKIPPED)) element.remove();
  });
  copy.querySelectorAll("text").forEach((element) => {
    element.textContent = toXmlText(element.textContent);
  });
  const box = chart.getBoundingClientRect();
  return fill(copy, { x: (box.left - x).toFixed(1), y: (box.top - y).toFixed(1),
    width: box.width.toFixed(1), height: box.height.toFixed(1), overflow: "visible" }, []);
}

/** Return an SVG as text. */
const toSvgText = (picture) => new XMLSerializer().serializeToString(picture);

/** Return a promise of the PNG of an SVG. */
async function toPng(picture) {
  const [width, height] = ["width", "height"].map((name) => Number(picture.getAttribute(name)));
  const scale = Math.max(2, MIN_PIXELS / width);
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(toSvgText(picture))}`;
  await image.decode();
  const canvas = fill(document.createElement("canvas"), { width: Math.round(scale * width),
    height: Math.round(scale * height) }, []);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
