// A search box for items by name, and a button that shows all of them.

/** Return the box and the button; `set` takes the items in their order. */
function buildFinder(id, what, maxItems) {
  const box = html("input", { type: "search", id, autocomplete: "off", spellcheck: "false",
    placeholder: "part of a name" });
  const count = html("span", { class: "hint", role: "status" });
  const search = html("span", { class: "search" }, html("label", { for: id }, `Find a ${what}`),
    box, count);
  const more = html("button", { type: "button", class: "more" });
  let items = [];
  let showsAll = false;
  const isShort = () => items.length <= 1.5 * maxItems; // no button for one or two items

  function update() {
    const query = box.value.trim().toLowerCase();
    let nFound = 0;
    items.forEach(({ name, element, isPinned }, k) => {
      const isFound = query ? name.toLowerCase().includes(query)
        : showsAll || isShort() || k < maxItems || Boolean(isPinned && isPinned());
      element.classList.toggle("collapsed", !isFound);
      nFound += isFound;
    });
    count.textContent = query ? `${nFound} of ${items.length}` : "";
    search.hidden = isShort();
    more.hidden = Boolean(query) || isShort();
    more.textContent = showsAll ? `Show the first ${maxItems} only` : `Show all ${items.length}`;
    more.setAttribute("aria-expanded", String(showsAll));
  }
  box.addEventListener("input", update);
  more.addEventListener("click", () => {
    showsAll = !showsAll;
    update();
  });
  return {
    search,
    more,
    set(newItems) {
      items = newItems;
      update();
    },
    /** Show all items, so that a link can lead to any of them. */
    showAll() {
      box.value = "";
      showsAll = true;
      update();
    },
  };
}
