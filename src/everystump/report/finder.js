// A box that finds items by name, and a button that shows those beyond the first few.

/** Return the box and the button; `set` tells which items there are, in their order. */
function buildFinder(id, what, most) {
  const box = html("input", { type: "search", id, autocomplete: "off", spellcheck: "false",
    placeholder: "part of a name" });
  const count = html("span", { class: "hint", role: "status" });
  const search = html("span", { class: "search" }, html("label", { for: id }, `Find a ${what}`),
    box, count);
  const more = html("button", { type: "button", class: "more" });
  let items = [];
  let isWhole = false;
  const isShort = () => items.length <= 1.5 * most; // so that a button never stands for one or two

  function show() {
    const asked = box.value.trim().toLowerCase();
    let nFound = 0;
    items.forEach(({ name, element, isKept }, k) => {
      const isFound = asked ? name.toLowerCase().includes(asked)
        : isWhole || isShort() || k < most || Boolean(isKept && isKept());
      element.classList.toggle("beyond", !isFound);
      nFound += isFound;
    });
    count.textContent = asked ? `${nFound} of ${items.length}` : "";
    search.hidden = isShort();
    more.hidden = Boolean(asked) || isShort();
    more.textContent = isWhole ? `Show the first ${most} only` : `Show all ${items.length}`;
    more.setAttribute("aria-expanded", String(isWhole));
  }
  box.addEventListener("input", show);
  more.addEventListener("click", () => {
    isWhole = !isWhole;
    show();
  });
  return {
    search,
    more,
    set(given) {
      items = given;
      show();
    },
    /** Show all items, so that a link can lead to any of them. */
    showAll() {
      box.value = "";
      isWhole = true;
      show();
    },
  };
}
