/** The units of this page. */

import { h } from "../dom.js";
import { choice } from "../forms.js";
import { chooseUnit, unitOf, unitsOf } from "../units.js";

const TITLES = { length: "Lengths", speed: "Wind", value: "Readings" };

/** A choice for each quantity that has several units. */
export function buildUnits() {
  const choices = Object.entries(TITLES)
    .filter(([quantity]) => unitsOf(quantity).length > 1)
    .map(([quantity, title]) => {
      const { element, input } = choice(title, unitsOf(quantity), unitOf(quantity).name);
      input.name = `unit-${quantity}`;
      input.addEventListener("change", () => chooseUnit(quantity, input.value));
      return element;
    });
  return [
    h("div", { class: "units" }, choices),
    h("p", { class: "hint" }, "For this browser only. Files and the API keep the units of the site."),
  ];
}

export function buildSettings() {
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "units-title" },
    h("h2", { id: "units-title" }, "Units"),
    buildUnits(),
  );
  return { element, update: () => {} };
}
