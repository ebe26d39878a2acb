// Inputs for a choice: one of a few by a click, and one of many levels by typing.

/** Return a group of radio buttons that looks like a switch; `show` selects one of its values. */
function segments(name, label, options, onChange) {
  const radios = options.map(({ value, text, title }, k) => {
    const radio = html("input", { type: "radio", name, id: `${name}-${k}`, value: k });
    radio.addEventListener("change", () => onChange(value));
    return { radio, value, element: html("label", { for: radio.id, title }, radio,
      html("span", {}, text)) };
  });
  const element = html("span", { class: "segments", role: "radiogroup", "aria-label": label },
    ...radios.map((item) => item.element));
  return {
    element,
    show(value) {
      radios.forEach((item) => {
        item.radio.checked = Object.is(item.value, value);
      });
    },
  };
}

/** Return a switch between two values; a row with another value adds it. */
function twoValueInput(id, feature, values, onChange) {
  let last = feature.typical ?? values[0];
  const choose = (value) => {
    last = value;
    onChange(value);
  };
  const holder = html("span", { class: "holder" });
  let control = null;
  const offer = (others) => {
    control = segments(id, feature.name, [...values, ...others].map((value) => {
      const text = formatValue(value);
      return { value, text: truncateMiddle(text, 24), title: text };
    }), choose);
    holder.replaceChildren(control.element);
  };
  offer([]);
  return {
    elements: [holder],
    isGroup: true,
    read: () => last,
    clear: () => control.show(null), // so that either value can be chosen again
    show(cell) {
      if (cell !== null) {
        last = cell;
        offer(values.includes(cell) ? [] : [cell]);
      }
      control.show(cell);
    },
  };
}

/** Return the cells that a text box offers for some text: levels, and the text itself last. */
function offeredCells(feature, levels, query) {
  const found = searchLevels(feature, levels, query);
  const cells = found.slice(0, MAX_FOUND).map((k) => ({ cell: levels[k],
    more: feature.shares ? formatPercent(feature.shares[k]) : "" }));
  const text = query.trim();
  const typed = typeof levels[0] === "string" ? text : Number(text);
  const isKnown = found.length > 0
    && String(levels[found[0]]).toLowerCase() === String(typed).toLowerCase();
  if (text && !isKnown && !Number.isNaN(typed)) cells.push({ cell: typed, more: "another level" });
  return { cells, nFound: found.length };
}

/** Return a list of options, one of which is active; `onChoose` is called with its cell. */
function optionList(id, label, onChoose) {
  const element = html("ul", { class: "options", role: "listbox", id, hidden: true,
    "aria-label": label });
  let [options, active] = [[], 0];
  return {
    element,
    isOpen: () => !element.hidden,
    active: () => options[active],
    move(step) {
      active = Math.min(options.length - 1, Math.max(0, active + step));
      options.forEach((option, k) => option.element.setAttribute("aria-selected",
        String(k === active)));
      options[active]?.element.scrollIntoView({ block: "nearest" });
    },
    show(cells) {
      options = cells.map(({ cell, more }, k) => {
        const option = html("li", { role: "option", id: `${id}-${k}` },
          html("span", { class: "name", title: cell }, String(cell)),
          html("span", { class: "share" }, more));
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault(); // the text box keeps the focus
          onChoose(cell);
        });
        return { cell, element: option };
      });
      element.replaceChildren(...options.map((option) => option.element));
      element.hidden = false;
      active = 0;
      this.move(0);
    },
    hide() {
      element.hidden = true;
    },
  };
}

/** Return a text box that lists the levels that contain its text, and other levels last. */
function levelSearchInput(id, feature, levels, onChange) {
  const box = html("input", { type: "search", id, role: "combobox", autocomplete: "off",
    spellcheck: "false", "aria-autocomplete": "list", "aria-controls": `${id}-list`,
    title: `type to find one of ${levels.length.toLocaleString("en")} levels` });
  const count = html("span", { class: "announcer", role: "status" });
  const list = optionList(`${id}-list`, `Levels of ${feature.name}`, choose);
  let last = feature.typical ?? levels[0];
  let isEmpty = false; // a missing value

  function follow() {
    fill(box, { "aria-expanded": String(list.isOpen()),
      "aria-activedescendant": list.isOpen() && list.active() ? list.active().element.id : "" }, []);
  }
  function close() {
    list.hide();
    follow();
  }
  function choose(cell) {
    show(cell);
    onChange(cell);
  }
  function show(cell) {
    isEmpty = cell === null;
    last = cell ?? last;
    restore();
  }
  function restore() {
    box.value = isEmpty ? "" : String(last);
    close();
  }
  function open(query) {
    const { cells, nFound } = offeredCells(feature, levels, query);
    list.show(cells);
    count.textContent = `${nFound.toLocaleString("en")} levels found`;
    follow();
  }
  const move = (step) => {
    if (list.isOpen()) list.move(step);
    else open("");
    follow();
  };
  const keys = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: restore,
    Enter: () => list.isOpen() && list.active() && choose(list.active().cell) };
  box.addEventListener("input", () => open(box.value));
  box.addEventListener("focus", () => box.select());
  box.addEventListener("click", () => list.isOpen() || open(""));
  box.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  box.addEventListener("blur", restore);
  follow();
  return {
    elements: [html("span", { class: "combobox" }, box, list.element, count)],
    read: () => last,
    show,
  };
}
