// What the page does with a script: values under the pointer, ranges by dragging, expressions to
// copy, and new numbers without a reload. Without it, forms and tables do the same.
import { attachCharts } from "./charts.js";
import { attachCopying } from "./copying.js";
import { attachPeriods } from "./periods.js";
import { keepFresh } from "./refresh.js";
import { onSwap } from "./swap.js";

onSwap(() => {
  attachCharts();
  attachPeriods();
  attachCopying();
});
keepFresh();
window.addEventListener("popstate", () => location.reload());
