/** How probable it is that the source is as near to the estimate as is wanted, against what is asked for. */

import { h, put } from "../dom.js";
import { metres } from "../format.js";

export function buildSureness() {
  const bar = h("i");
  const goal = h("b");
  const meter = h("div", { class: "meter", role: "img" }, bar, goal);
  const text = h("p", { class: "meter-text" });
  const element = h("div", { class: "sureness" }, text, meter);

  const update = (facts, frame) => {
    element.hidden = !frame;
    if (!frame) return;
    const wanted = facts.probability ?? 0.95;
    bar.style.width = `${100 * Math.min(frame.mass ?? 0, 1)}%`;
    goal.style.left = `${100 * wanted}%`;
    const radius = metres(facts.radius, Number.isInteger(facts.radius) ? 1 : 2);
    const share = shareWords(frame.mass);
    meter.setAttribute("aria-label", `Probability ${share}, found from ${wanted}`);
    put(text, h("span", {}, `Probability within ${radius} of the estimate`), h("b", {}, share));
  };
  return { element, update };
}

/** Neither 0.00 nor 1.00 of what is not certain. */
function shareWords(mass) {
  if (!Number.isFinite(mass)) return "\u2013";
  if (mass > 0.994) return "> 0.99";
  return mass < 0.005 ? "< 0.01" : mass.toFixed(2);
}
