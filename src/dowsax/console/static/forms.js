/** Parts of forms: a label with its input, errors beside what they are about. */

import { h, put, say } from "./dom.js";
import { typed } from "./format.js";

let made = 0;

/** A labelled input: {element, input}. `hint` is read out with it. */
export function labelled(text, input, hint = "") {
  input.id ||= `field-${++made}`;
  const help = hint ? h("small", { class: "hint", id: `${input.id}-hint` }, hint) : null;
  if (help) input.setAttribute("aria-describedby", help.id);
  return { element: h("div", { class: "field" }, h("label", { for: input.id }, text), input, help), input };
}

/** An input for one number. */
export function numeric(text, properties = {}, hint = "") {
  const input = h("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
    ...properties,
  });
  return labelled(text, input, hint);
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

/** The number in an input, `null` where it is empty; throws in words where it is none, and goes there. */
export function numberIn({ input, element }, isNeeded = false) {
  const name = element.querySelector("label").textContent;
  input.removeAttribute("aria-invalid");
  if (input.value.trim() === "" && !isNeeded) return null;
  const value = typed(input.value);
  if (Number.isFinite(value)) return value;
  input.setAttribute("aria-invalid", "true");
  input.focus();
  throw new RangeError(
    input.value.trim() === "" ? `${name} is missing.` : `${name}: ${input.value} is not a number.`,
  );
}

/** A whole number, or `null` where there is none. */
export function wholeIn(item) {
  const value = numberIn(item);
  if (value === null || Number.isInteger(value)) return value;
  throw new RangeError(`${item.element.querySelector("label").textContent}: a whole number, such as 3.`);
}

/** An input for a name; what happens without one is its placeholder. */
export function named(placeholder) {
  const input = h("input", { type: "text", name: "name", maxlength: "80", placeholder, autocomplete: "off" });
  return labelled("Name", input);
}

/**
 * A page with a form: its title, its parts, its button. `begin` makes a mission and gives its id; then that is
 * shown, and where it fails, it says why.
 */
export function showForm(view, { title, parts, label, begin, isWide = false }) {
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
    try {
      location.hash = `#/m/${encodeURIComponent(await begin())}`;
    } catch (refusal) {
      message.tell(refusal.message);
      button.disabled = false;
    }
  });
  put(view, h("div", { class: "page" }, form));
  return { button, message };
}

/** A line under a form for what went wrong or well. */
export function buildMessage() {
  const element = h("p", { class: "form-message", role: "alert" });
  return {
    element,
    tell: (text, kind = "error") => {
      element.className = `form-message ${kind}`;
      say(element, text);
    },
  };
}
