// Drag over the chart to choose before, then after; the explanation is then replaced.
// Without this script the form below the chart does the same.
"use strict";

const REPLACED = ["when", "why", "where", "plane"];
let next = "before";

function day(seconds, step) {
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  return step % 86400 === 0 ? text.slice(0, 10) : `${text}Z`;
}

function timeAt(svg, event) {
  const box = svg.getBoundingClientRect();
  const width = svg.viewBox.baseVal.width;
  const { left, right, from, to } = svg.dataset;
  const x = ((event.clientX - box.left) / box.width) * width;
  const share = (x - Number(left)) / (Number(right) - Number(left));
  return Number(from) + Math.min(Math.max(share, 0), 1) * (Number(to) - Number(from));
}

function xOf(svg, seconds) {
  const { left, right, from, to } = svg.dataset;
  const share = (seconds - Number(from)) / (Number(to) - Number(from));
  return Number(left) + share * (Number(right) - Number(left));
}

function range(svg, one, other) {
  const step = Number(svg.dataset.step);
  const opens = Math.floor(Math.min(one, other) / step) * step;
  const closes = Math.max(Math.ceil(Math.max(one, other) / step) * step, opens + step);
  return [opens, closes];
}

function brush(svg) {
  const mark = svg.querySelector(".brush");
  let start = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = timeAt(svg, event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const [opens, closes] = range(svg, start, timeAt(svg, event));
    mark.setAttribute("x", xOf(svg, opens));
    mark.setAttribute("width", xOf(svg, closes) - xOf(svg, opens));
  });
  svg.addEventListener("pointercancel", () => {
    start = null;
    mark.setAttribute("width", 0);
  });
  svg.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const end = timeAt(svg, event);
    const step = Number(svg.dataset.step);
    const moved = Math.abs(xOf(svg, end) - xOf(svg, start)) > 3;
    const [opens, closes] = range(svg, start, end);
    start = null;
    if (moved) chosen(`${day(opens, step)}..${day(closes, step)}`, mark);
    else mark.setAttribute("width", 0);
  });
}

function chosen(text, mark) {
  const form = document.getElementById("choose");
  if (form === null) return;
  const side = next;
  next = side === "before" ? "after" : "before";
  form.elements[side].value = text;
  mark.setAttribute("class", `brush chosen ${side}`);
  document.getElementById("choose-hint").textContent =
    side === "before" ? "Now drag over the later period: after." : "";
  if (side === "after") form.requestSubmit();
}

// Fetches the new page and replaces its sections, so that the scroll position stays.
async function explain(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const query = new URLSearchParams(new FormData(form));
  const address = `/?${query}`;
  document.body.classList.add("waiting");
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok || fresh.getElementById("why") === null) throw new Error(answer.status);
    replace(fresh);
    history.pushState(null, "", address);
  } catch {
    location.assign(`${address}#why`);
  }
  document.body.classList.remove("waiting");
}

function replace(fresh) {
  for (const id of REPLACED) {
    const old = document.getElementById(id);
    const update = fresh.getElementById(id);
    if (old && update) old.replaceWith(update);
    else if (old) old.remove();
    else if (update) document.querySelector("main").append(update);
  }
  attach();
  document.getElementById("why").querySelector("h2").setAttribute("tabindex", "-1");
}

function attach() {
  next = "before";
  document.querySelectorAll("svg.timeline").forEach(brush);
  document.getElementById("choose")?.addEventListener("submit", explain);
}

window.addEventListener("popstate", () => location.reload());
attach();
