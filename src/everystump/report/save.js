// Buttons that save charts as SVG and PNG files, and tables as CSV files, without a network.

const MAX_FILE_NAME = 60;

/** Return a name for a file, made of letters, digits, dots and dashes. */
function fileName(text, extension) {
  const name = text.normalize("NFC").replace(/[^\p{L}\p{N}.-]+/gu, "_").replace(/^[_.-]+|[_.-]+$/g, "");
  return `${[...name].slice(0, MAX_FILE_NAME).join("") || "chart"}.${extension}`;
}

/** Save a file. */
function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = html("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60e3);
}

/** Return rows of cells as CSV; text that a spreadsheet would run as a formula is quoted for it. */
function toCsv(rows) {
  const cell = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    if (typeof value === "number") return String(value);
    const isFormula = /^[=@\t\r]|^[+-](?!\d*\.?\d+(e[+-]?\d+)?%?$)/i.test(value);
    const text = isFormula ? `'${value}` : value;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `\uFEFF${rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("")}`;
}

/** Return the cells of a table of the page as text; a plain minus sign makes numbers of them. */
function readTable(table) {
  const text = (cell) => {
    const parts = cell.querySelectorAll(".chip");
    const read = (element) => [...element.childNodes].filter((node) => !(node instanceof Element
      && node.matches(".below, .announcer, .save, .share"))).map((node) => (node instanceof Element
      ? read(node) : node.textContent)).join(" ");
    return (parts.length ? [...parts].map(read).join("; ") : read(cell))
      .replaceAll(MINUS, "-").replace(/\s+/g, " ").trim();
  };
  return [...table.rows].map((row) => [...row.cells].map(text));
}

/**
 * Return a button with a menu of the files in which a part of the page can be saved.
 * `rows` returns the data of a chart; else the tables of the part are saved.
 */
function saveButton(part, name, { rows = null, hasChart = true } = {}) {
  const save = (extension, type, makeText) => async () => {
    const content = await makeText();
    download(content instanceof Blob ? content : new Blob([content], { type }),
      fileName(name, extension));
  };
  const tables = () => [...part.querySelectorAll("table")].flatMap((table, k) =>
    [...(k ? [[]] : []), ...readTable(table)]);
  const hasTable = rows !== null || part.querySelector("table") !== null;
  const entries = [
    hasChart && ["SVG image", save("svg", "image/svg+xml", () => toSvgText(takeSnapshot(part)))],
    hasChart && ["PNG image", save("png", "image/png", () => toPng(takeSnapshot(part)))],
    hasTable && ["CSV table", save("csv", "text/csv;charset=utf-8",
      () => toCsv((rows ?? tables)()))]].filter(Boolean);
  return menuButton(`Save ${name}`, entries);
}

/** Return a button that opens a menu of some entries: text, and what it does. */
function menuButton(label, entries) {
  const arrow = svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
    svg("path", { d: "M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10" }));
  const button = html("button", { type: "button", class: "save", title: "Save",
    "aria-label": label, "aria-haspopup": "menu", "aria-expanded": "false" }, arrow);
  const holder = html("span", { class: "save-holder" }, button);
  let menu = null;

  function close(isFocused = false) {
    const closed = menu;
    menu = null; // before the focus leaves the menu, which would close it again
    if (isFocused) button.focus();
    closed?.remove();
    button.setAttribute("aria-expanded", "false");
  }
  function open() {
    const items = entries.map(([text, act]) => {
      const item = html("button", { type: "button", role: "menuitem", tabindex: "-1" }, text);
      item.addEventListener("click", () => {
        close(true);
        act();
      });
      return item;
    });
    menu = html("span", { class: "menu", role: "menu", "aria-label": label }, ...items);
    menu.addEventListener("keydown", (event) => {
      const k = items.indexOf(document.activeElement);
      const moves = { ArrowDown: k + 1, ArrowUp: k - 1, Home: 0, End: items.length - 1 };
      if (event.key === "Escape") close(true);
      if (!Object.hasOwn(moves, event.key)) return;
      event.preventDefault();
      items[(moves[event.key] + items.length) % items.length].focus();
    });
    holder.append(menu);
    button.setAttribute("aria-expanded", "true");
    items[0].focus();
  }
  button.addEventListener("click", () => (menu ? close() : open()));
  holder.addEventListener("focusout", ({ relatedTarget }) => {
    if (menu && !holder.contains(relatedTarget)) close();
  });
  return holder;
}

/** Add a button that saves a part of the page to its title. */
function addSaveButton(title, part, name, options) {
  title.append(saveButton(part, name, options));
  title.classList.add("has-save");
}

/** Add a button to each card with a chart or a table that has none. */
function addSaveButtons(root) {
  for (const card of root.querySelectorAll(".card")) {
    const hasChart = card.querySelector(".chart, .importances") !== null
      || (card.closest("#quality") !== null && card.querySelector("table") !== null);
    if (card.querySelector(".save") || !(hasChart || card.querySelector("table"))) continue;
    const title = card.getAttribute("aria-label") ?? card.querySelector("h3")?.textContent
      ?? card.closest("section")?.querySelector("h2")?.textContent ?? document.title;
    const above = card.previousElementSibling;
    const own = card.querySelector(":scope > h3:first-child");
    const head = own ?? (card.matches(".scroll") && above?.matches("h3") ? above : null);
    if (head) addSaveButton(head, card, title, { hasChart });
    else {
      card.prepend(saveButton(card, title, { hasChart }));
      card.classList.add("has-save");
    }
  }
}
