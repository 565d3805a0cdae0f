/** The area in numbers: how wide and how high it is, and where its south-western corner lies. */

import { h, say } from "../dom.js";
import { refuse } from "../forms.js";
import { typed } from "../format.js";
import { fromUnit, inUnit, unitOf } from "../units.js";

const DECIMALS = 3;

const widthOf = ([[west], [east]]) => east - west;
const heightOf = ([[, south], [, north]]) => north - south;

/** `of` are the numbers [m] of an area that a field shows, `apply` the area with other ones. */
const FIELDS = [
  {
    name: "area-width",
    title: "West to east",
    hint: "How wide the area is.",
    of: (area) => [widthOf(area)],
    apply: ([[west, south], [, north]], [width]) => [
      [west, south],
      [west + width, north],
    ],
  },
  {
    name: "area-height",
    title: "South to north",
    hint: "How high the area is on the map.",
    of: (area) => [heightOf(area)],
    apply: ([[west, south], [east]], [height]) => [
      [west, south],
      [east, south + height],
    ],
  },
  {
    name: "area-corner",
    title: "South-west corner",
    hint: "Where it lies, east and north of (0, 0). The area moves with it.",
    isPlace: true,
    of: ([corner]) => corner,
    apply: (area, [west, south]) => [
      [west, south],
      [west + widthOf(area), south + heightOf(area)],
    ],
  },
];

/** `changed` is called with a part of the shapes; `shapes` returns them as they are. */
export function buildArea({ changed, shapes }) {
  const fields = FIELDS.map((field) => ({ ...field, ...buildField(field) }));
  for (const field of fields) {
    field.input.addEventListener("change", () => {
      const numbers = read(field);
      if (numbers) changed({ area: field.apply(shapes().area, numbers) });
    });
  }

  /** Show an area [m]; what is being typed stays. */
  const take = ({ area }) => {
    const unit = unitOf("length").name;
    for (const field of fields) {
      say(field.label, `${field.title} [${unit}]`);
      if (document.activeElement === field.input) continue;
      field.input.value = field.of(area).map(shownLength).join(", ");
      read(field);
    }
  };

  /** Focus the first field that is wrong, and throw an error that says why. */
  const check = () => {
    const wrong = fields.find((field) => !read(field));
    if (wrong) refuse(wrong, `${wrong.label.textContent}: ${wrong.fault.textContent}`);
  };

  const parts = fields.map((field) => field.element);
  return { element: h("div", { class: "area-fields", role: "group", "aria-label": "Area" }, parts), take, check };
}

function buildField({ name, title, hint }) {
  const input = h("input", { type: "text", name, id: `site-${name}`, autocomplete: "off", inputmode: "text" });
  input.title = hint;
  const fault = h("small", { class: "fault", role: "alert", id: `fault-${name}` });
  input.setAttribute("aria-describedby", fault.id);
  const label = h("label", { for: input.id }, title);
  return { input, fault, label, element: h("div", { class: "field" }, label, input, fault) };
}

function shownLength(value) {
  return Number(inUnit(value, "length").toFixed(DECIMALS));
}

/** The numbers [m] of a field; `null` where they are wrong, which the field then says. */
function read({ input, fault, isPlace }) {
  const texts = isPlace ? input.value.trim().split(/[\s;,]+/) : [input.value];
  const numbers = texts.map(typed);
  const isRight = isPlace ? numbers.length === 2 && numbers.every(Number.isFinite) : numbers[0] > 0;
  const words = isPlace ? "Two numbers, such as 0, 0." : "A number above 0.";
  say(fault, isRight ? "" : words);
  if (isRight) input.removeAttribute("aria-invalid");
  else input.setAttribute("aria-invalid", "true");
  return isRight ? numbers.map((number) => fromUnit(number, "length")) : null;
}
