// Replaces the parts of the page that differ from a newly fetched one. The place on the screen, the
// focus, open details, text that somebody has typed and chosen ranges stay.
const attachers = [];
let sources = null;

export function onSwap(attach) {
  sources = texts(document);
  attachers.push(attach);
  attach();
}

export function swap(fresh) {
  const place = placeOf();
  const state = stateOf();
  const [old, update] = [parts(document), parts(fresh)];
  const next = texts(fresh);
  fresh.querySelector("[autofocus]")?.removeAttribute("autofocus"); // `restore` sets the focus
  const alike = old.length === update.length && old.every((part, i) => part.id === update[i].id);
  if (alike) {
    update.forEach((part, i) => next[i] === sources[i] || old[i].replaceWith(part));
  } else {
    document.querySelector("main").replaceChildren(...update);
  }
  for (const selector of [".top nav", ".top .muted.now"]) {
    const [was, is] = [document, fresh].map((page) => page.querySelector(selector));
    if (was && is && was.textContent !== is.textContent) was.replaceWith(is);
  }
  sources = next;
  attachers.forEach((attach) => attach());
  restore(state);
  scrollTo(place);
}

function parts(page) {
  return [...page.querySelector("main").children];
}

function texts(page) {
  return parts(page).map((part) => part.outerHTML);
}

function placeOf() {
  const section = [...document.querySelectorAll("main > section")].find(
    (one) => one.getBoundingClientRect().bottom > 0,
  );
  return section ? { id: section.id, top: section.getBoundingClientRect().top } : null;
}

function scrollTo(place) {
  const section = place && document.getElementById(place.id);
  if (!section) return;
  const moved = section.getBoundingClientRect().top - place.top;
  if (Math.abs(moved) >= 1) window.scrollBy({ top: moved, behavior: "instant" });
}

function fields() {
  return [...document.querySelectorAll("main input:not([type=hidden]), main select")];
}

function stateOf() {
  const focus = document.activeElement;
  return {
    open: [...document.querySelectorAll("details[open]")].map((one) => one.id),
    typed: fields()
      .filter((one) => one.tagName === "INPUT" && one.value !== one.defaultValue)
      .map((one) => [one.name, one.value]),
    scrolled: [...document.querySelectorAll(".scroll")].map((one) => [
      one.getAttribute("aria-label"),
      one.scrollLeft,
      one.scrollTop,
    ]),
    focus: focus && document.querySelector("main").contains(focus) ? selectorOf(focus) : null,
  };
}

function restore(state) {
  for (const id of state.open) document.getElementById(id)?.setAttribute("open", "");
  for (const [name, value] of state.typed) {
    const field = fields().find((one) => one.name === name);
    if (field) field.value = value;
  }
  for (const [name, left, top] of state.scrolled) {
    const box = document.querySelector(`.scroll[aria-label="${CSS.escape(name)}"]`);
    if (box) [box.scrollLeft, box.scrollTop] = [left, top];
  }
  if (state.focus && !document.querySelector("main").contains(document.activeElement)) {
    document.querySelector(state.focus)?.focus({ preventScroll: true });
  }
}

function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const { name } = element;
  if (name) return `main [name="${CSS.escape(name)}"]`;
  const href = element.getAttribute("href");
  if (href) return `main a[href="${CSS.escape(href)}"]`;
  const above = element.closest("[id]");
  return above ? `#${CSS.escape(above.id)} ${element.tagName.toLowerCase()}` : null;
}
