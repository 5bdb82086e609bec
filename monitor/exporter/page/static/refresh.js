// Fetches the page again every ten seconds, sooner while something on it is still to come, and
// replaces what has changed. A button pauses it.
import { swap } from "./swap.js";

const EVERY = 10_000;
const SOON = 2_000;
let paused = false;

export function keepFresh() {
  const top = document.querySelector(".top");
  const state = document.createElement("span");
  state.className = "muted";
  state.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Pause updates";
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Resume updates" : "Pause updates";
    state.textContent = paused ? "paused" : "";
  });
  (top.querySelector("nav") ?? top.lastElementChild).before(state, button);
  if (!top.querySelector("nav")) top.append(state, button);
  again(state);
}

function again(state) {
  const wait = document.querySelector(".later") ? SOON : EVERY;
  setTimeout(async () => {
    if (!paused && !document.hidden && !document.body.dataset.dragging) await refresh(state);
    again(state);
  }, wait);
}

async function refresh(state) {
  const asked = location.href;
  try {
    const answer = await fetch(asked, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok || asked !== location.href || document.body.dataset.dragging) return;
    if (fresh.querySelector("main")) swap(fresh);
    if (state.textContent) state.textContent = "";
  } catch {
    state.textContent = "The monitor does not answer: what is shown is old.";
  }
}
