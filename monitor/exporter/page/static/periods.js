// Drag over the chart to choose before, then after, or mark both ends with Enter at the point that
// the arrow keys have reached; the explanation is then replaced.
import { valueAt, xOf } from "./charts.js";
import { swap } from "./swap.js";

const SIDES = ["before", "after"];
const chosen = {};
let next = "before";

export function attachPeriods() {
  const form = document.getElementById("choose");
  if (!form || form.dataset.attached) return SIDES.forEach(redraw);
  form.dataset.attached = "yes";
  form.addEventListener("submit", explain);
  document.querySelectorAll("svg.timeline").forEach(brush);
  SIDES.forEach(redraw);
}

function textOf(seconds, step) {
  return new Date(seconds * 1000).toISOString().slice(0, step % 86400 === 0 ? 10 : 16);
}

function rangeOf(svg, one, other) {
  const step = Number(svg.dataset.step);
  const opens = Math.floor(Math.min(one, other) / step) * step;
  const closes = Math.max(Math.ceil(Math.max(one, other) / step) * step, opens + step);
  return [opens, closes];
}

function redraw(side) {
  const range = chosen[side];
  for (const svg of document.querySelectorAll("svg.timeline")) {
    const mark = svg.querySelector(`.brush.${side}`);
    const [left, right] = range ? range.map((end) => xOf(svg, end)) : [0, 0];
    mark.setAttribute("x", left);
    mark.setAttribute("width", right - left);
    for (const old of svg.querySelectorAll(`.chosen.${side}, .chosen-name.${side}`)) {
      old.classList.toggle("replaced", Boolean(range));
    }
  }
}

function brush(svg) {
  let start = null;
  function move(at) {
    chosen[next] = rangeOf(svg, start, at);
    redraw(next);
  }
  function stop() {
    start = null;
    delete document.body.dataset.dragging;
  }
  function end(at) {
    const moved = Math.abs(xOf(svg, at) - xOf(svg, start)) > 3;
    if (moved) move(at);
    else cancel();
    stop();
    if (moved) take(svg);
  }
  function cancel() {
    delete chosen[next];
    redraw(next);
    stop();
  }
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = valueAt(svg, event);
    document.body.dataset.dragging = "yes";
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => start === null || move(valueAt(svg, event)));
  svg.addEventListener("pointerup", (event) => start === null || end(valueAt(svg, event)));
  svg.addEventListener("pointercancel", cancel);
  svg.addEventListener("keydown", (event) => {
    const at = Number(svg.dataset.at);
    if (event.key === "Escape" && start !== null) cancel();
    if (event.key !== "Enter" || !at) return;
    if (start === null) {
      start = at;
      move(at);
      hint(`${next} begins here; go to its end and press Enter.`);
    } else {
      move(at);
      stop();
      take(svg);
    }
  });
}

function hint(text) {
  document.getElementById("choose-hint").textContent = text;
}

function take(svg) {
  const form = document.getElementById("choose");
  const side = next;
  const ends = chosen[side].map((end) => textOf(end, Number(svg.dataset.step)));
  form.elements[side].value = ends.join("..");
  next = side === "before" ? "after" : "before";
  if (side === "before") hint("Now mark the later period: after.");
  else form.requestSubmit();
}

async function explain(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const address = `/?${new URLSearchParams(new FormData(form))}`;
  document.body.classList.add("waiting");
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) throw new Error(fresh.querySelector(".fault")?.textContent ?? answer.statusText);
    SIDES.forEach((side) => delete chosen[side]);
    next = "before";
    form.reset();
    history.pushState(null, "", address);
    swap(fresh);
    focusOn(document.querySelector("#choose [aria-invalid]") ?? document.querySelector("#why h2"));
  } catch (error) {
    const reason = error instanceof TypeError ? "The monitor does not answer. Try again." : error.message;
    fault(reason);
  }
  document.body.classList.remove("waiting");
}

function focusOn(element) {
  if (element === null) return;
  if (element.tagName === "H2") element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: element.tagName === "H2" });
}

function fault(text) {
  const form = document.getElementById("choose");
  let shown = document.getElementById("choose-error");
  if (!shown) {
    shown = document.createElement("p");
    shown.id = "choose-error";
    shown.className = "fault";
    shown.setAttribute("role", "alert");
    form.append(shown);
  }
  shown.textContent = text;
  form.querySelector("button").focus();
}
