/** Parts of forms: a label with its input, errors next to their input. */

import { h, put, say } from "./dom.js";
import { typed } from "./format.js";
import { fromUnit, inUnit, unitOf, wordsInUnits } from "./units.js";

let made = 0;
/** The range of seeds. */
export const SEEDS = { least: 0, most: 2 ** 31 - 1 };

/** A labelled input: {element, input}. `hint` is read out with it. */
export function labelled(text, input, hint = "") {
  input.id ||= `field-${++made}`;
  const help = hint ? h("small", { class: "hint", id: `${input.id}-hint` }, hint) : null;
  if (help) input.setAttribute("aria-describedby", help.id);
  return { element: h("div", { class: "field" }, h("label", { for: input.id }, text), input, help), input };
}

/**
 * An input for one number, from `least` to `most`, whole if `isWhole`. Of a `quantity` it is typed in the chosen
 * unit, which the label names; `numberIn` and the bounds are in that of the server.
 */
export function numeric(text, { least, most, isWhole, quantity, ...properties } = {}, hint = "") {
  const input = h("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
    ...properties,
  });
  const unit = quantity ? unitOf(quantity).name : "";
  const label = unit ? `${text} [${unit}]` : text;
  return { ...labelled(label, input, hint), bounds: { least, most, isWhole }, quantity };
}

export function choice(text, options, chosen, hint = "") {
  const select = h(
    "select",
    {},
    options.map(({ name, label }) => h("option", { value: name }, label || name)),
  );
  if (chosen !== undefined && chosen !== null) select.value = chosen;
  return labelled(text, select, hint);
}

/** The label of an input. */
export function nameOf({ element }) {
  return element.querySelector("label").textContent;
}

/** Throw an error about an input, and focus it. */
export function refuse(item, words) {
  // It may be folded away.
  item.element.closest("details")?.setAttribute("open", "");
  item.input.setAttribute("aria-invalid", "true");
  item.input.focus();
  throw new RangeError(words);
}

/** The number in an input; `null` if empty. Throws an error and focuses the input if it is no number. */
export function numberIn(item, isNeeded = false) {
  const { input, bounds } = item;
  const text = input.value.trim();
  input.removeAttribute("aria-invalid");
  if (text === "" && !isNeeded) return null;
  if (text === "") refuse(item, `${nameOf(item)} is missing.`);
  const value = typed(text);
  if (!Number.isFinite(value)) refuse(item, `${nameOf(item)}: ${text} is not a number.`);
  const { quantity } = item;
  const { isWhole = false } = bounds ?? {};
  const [least, most] = [bounds?.least ?? -Infinity, bounds?.most ?? Infinity].map((bound) =>
    quantity ? Number(inUnit(bound, quantity).toPrecision(6)) : bound,
  );
  if (value < least || value > most || (isWhole && !Number.isInteger(value)))
    refuse(item, `${nameOf(item)}: ${rangeWords(least, most, isWhole)}; ${text} is not.`);
  return quantity ? fromUnit(value, quantity) : value;
}

/** Fill in a number of the server, in the unit of the input. */
export function fillIn(item, value) {
  item.input.value = String(Number(inUnit(value, item.quantity).toPrecision(12)));
}

function rangeWords(least, most, isWhole) {
  const kind = isWhole ? "a whole number" : "a number";
  if (least === -most) return `${kind} within \u00b1${most}`;
  if (!Number.isFinite(most)) return `${kind}, at least ${least}`;
  return `${kind} from ${least} to ${most}`;
}

/** Replace the server's keys in a text by the labels of the form: `names` by key. */
export function inFormWords(text, names) {
  const words = text
    // The form has only one of the two ways to give a wind.
    .replace(/\bwind_u and wind_v, or (?=wind_speed\b)/g, "")
    .replace(/`([\w.]+)`/g, (whole, key) => names[key] ?? whole)
    .replace(/\bwind_\w+\b/g, (key) => names[key] ?? key);
  return wordsInUnits(words);
}

/** An input for a name; its placeholder is the default. */
export function named(placeholder) {
  const input = h("input", { type: "text", name: "name", maxlength: "80", placeholder, autocomplete: "off" });
  return labelled("Name", input);
}

/**
 * Show a form with its title, parts and button. `begin` creates a mission and returns its id, and the page
 * opens it; an error is shown below the form. `names` are the labels of the inputs by the server's keys.
 */
export function showForm(view, { title, parts, label, begin, names, isWide = false }) {
  const button = h("button", { type: "submit", class: "primary" }, label);
  const message = buildMessage();
  const form = h(
    "form",
    { class: isWide ? "card form wide" : "card form", novalidate: true },
    h("h1", { tabindex: "-1" }, title),
    parts,
    h("div", { class: "row" }, button, h("a", { class: "button", href: "#/" }, "Cancel")),
    message.element,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    message.clear();
    try {
      location.hash = `#/m/${encodeURIComponent(await begin())}`;
    } catch (refusal) {
      message.tell(inFormWords(refusal.message, names));
      button.disabled = false;
    }
  });
  forgive(form, message);
  put(view, h("div", { class: "page" }, form));
  return { button, message };
}

/** Remove an error as soon as something is changed. */
export function forgive(form, message) {
  for (const event of ["input", "change"]) {
    form.addEventListener(event, ({ target }) => {
      target.removeAttribute("aria-invalid");
      message.clear();
    });
  }
}

/** A message line under a form; `clear` removes an error. */
export function buildMessage() {
  const element = h("p", { class: "form-message", role: "alert" });
  const tell = (text, kind = "error") => {
    element.className = `form-message ${kind}`;
    say(element, text);
  };
  const clear = () => element.classList.contains("error") && tell("", "note");
  return { element, tell, clear };
}
