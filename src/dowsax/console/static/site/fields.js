/** The form of a site: fields as the server describes them, with errors next to what they concern. */

import { h, put, say } from "../dom.js";
import { typed } from "../format.js";

const GROUPS = [
  ["What is measured", ["field.", "wind.", "background.", "sensor."]],
  ["The search", ["search.", "step.", "budget."]],
];

/** `changed` is called with the values after each change. */
export function buildFields(changed) {
  const element = h("div", { class: "site-fields" });
  let fields = [];
  let shown = "";
  let values = {};
  const inputs = new Map();

  const take = (form) => {
    values = { ...form.values };
    fields = form.fields;
    const now = JSON.stringify(fields);
    if (now !== shown) build();
    shown = now;
    for (const { key } of fields) set(key);
    showFaults(form.faults);
  };

  const build = () => {
    const focused = document.activeElement?.name;
    inputs.clear();
    const groups = GROUPS.map(([title, starts]) => {
      const own = fields.filter(({ key }) => starts.some((start) => key.startsWith(start)));
      return h("fieldset", {}, h("legend", {}, title), h("div", { class: "field-grid" }, own.map(buildField)));
    });
    const top = fields.filter(({ key }) => !key.includes("."));
    put(element, top.map(buildField), groups);
    if (focused) element.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
  };

  const buildField = (field) => {
    const input = inputOf(field);
    const fault = h("small", { class: "fault", id: `fault-${field.key}`, role: "alert" });
    input.id = `site-${field.key}`;
    input.title = field.hint;
    input.setAttribute("aria-describedby", fault.id);
    input.addEventListener("change", () => {
      values[field.key] = valueOf(field, input);
      changed({ ...values });
    });
    inputs.set(field.key, { field, input, fault });
    const label = field.unit ? `${field.label} [${field.unit}]` : field.label;
    const text = h("label", { for: input.id, title: field.hint }, label);
    return field.form === "flag"
      ? h("div", { class: "field check" }, input, text, fault)
      : h("div", { class: "field" }, text, input, fault);
  };

  const set = (key) => {
    const { field, input } = inputs.get(key);
    // What is being typed stays.
    if (document.activeElement === input && input.type === "text") return;
    if (field.form === "flag") input.checked = values[key] ?? field.default ?? false;
    else input.value = values[key] ?? (field.form === "choice" ? (field.default ?? "") : "");
  };

  /** Show each fault at its field. */
  const showFaults = (faults) => {
    for (const { input, fault } of inputs.values()) {
      input.removeAttribute("aria-invalid");
      say(fault, "");
    }
    for (const { key, text } of faults) {
      const one = inputs.get(key);
      if (!one) continue;
      one.input.setAttribute("aria-invalid", "true");
      say(one.fault, text);
    }
  };

  return { element, take };
}

function inputOf({ key, form, choices, default: usual }) {
  if (form === "flag") return h("input", { type: "checkbox", name: key });
  if (form === "choice") {
    // A key that the file need not have may be left out.
    const none = usual === null && key !== "field.kind" ? [h("option", { value: "" }, "not given")] : [];
    return h("select", { name: key }, none, choices.map((choice) => h("option", { value: choice }, choice)));
  }
  const isText = form === "text";
  return h("input", {
    type: "text",
    name: key,
    inputmode: isText ? "text" : "decimal",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: usual === null || usual === "" ? (isText ? "" : "not given") : String(usual),
  });
}

/** The value as the file has it; a text where no number was typed, so that the server says what is wrong. */
function valueOf({ form }, input) {
  if (form === "flag") return input.checked;
  const text = input.value.trim();
  if (text === "") return null;
  if (form === "text" || form === "choice") return text;
  const value = typed(text);
  return Number.isFinite(value) ? value : text;
}
