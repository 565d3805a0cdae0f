/** The probability that the source is within the radius of the estimate, and the probability to reach. */

import { h, put } from "../dom.js";
import { metres } from "../format.js";

export function buildSureness() {
  const bar = h("i");
  const goal = h("b");
  const meter = h("div", { class: "meter", role: "img" }, bar, goal);
  const text = h("p", { class: "meter-text" });
  const element = h("div", { class: "sureness" }, text, meter);

  const update = (facts, snapshot) => {
    element.hidden = !snapshot;
    if (!snapshot) return;
    const wanted = facts.probability ?? 0.95;
    bar.style.width = `${100 * Math.min(snapshot.mass ?? 0, 1)}%`;
    goal.style.left = `${100 * wanted}%`;
    const radius = metres(facts.radius, Number.isInteger(facts.radius) ? 1 : 2);
    const share = shareWords(snapshot.mass);
    meter.setAttribute("aria-label", `Probability ${share}, found from ${wanted}`);
    put(text, h("span", {}, `Probability within ${radius} of the estimate`), h("b", {}, share));
  };
  return { element, update };
}

/** Never 0.00 or 1.00: nothing is certain. */
function shareWords(mass) {
  if (!Number.isFinite(mass)) return "\u2013";
  if (mass > 0.994) return "> 0.99";
  return mass < 0.005 ? "< 0.01" : mass.toFixed(2);
}
