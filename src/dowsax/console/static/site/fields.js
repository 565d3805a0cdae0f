/** The form of a site: fields as the server describes them, with errors next to what they concern. */

import { h, put, say } from "../dom.js";
import { wordsInUnits } from "../units.js";
import { buildDistribution } from "./distribution.js";
import { faultIn, fromField, inField, unitIn } from "./number.js";

/** Title, the keys by how they begin, and whether the group is folded away. */
const GROUPS = [
  ["What is measured", ["field.", "wind.", "sensor."], false],
  ["What is known of the source", ["prior."], true],
  ["Background and noise", ["background.", "noise."], true],
  ["The search", ["search.", "step.", "budget."], false],
];

/** `changed` is called with the values after each change. */
export function buildFields(changed) {
  const element = h("div", { class: "site-fields" });
  let fields = [];
  let shown = "";
  let values = {};
  const controls = new Map();

  const take = (form) => {
    values = { ...form.values };
    fields = form.fields;
    const now = JSON.stringify([fields, fields.map(unitIn)]);
    if (now !== shown) build();
    shown = now;
    for (const [key, { control }] of controls) if (!control.isTyped()) control.set(values[key]);
    showFaults(form.faults);
  };

  const build = () => {
    const focused = document.activeElement?.name;
    const open = new Set([...element.querySelectorAll("details[open]")].map(({ id }) => id));
    controls.clear();
    const groups = GROUPS.map(([title, starts, isFolded]) => {
      const own = fields.filter(({ key }) => starts.some((start) => key.startsWith(start)));
      if (own.length === 0) return null;
      const grid = h("div", { class: "field-grid" }, own.map(buildField));
      if (!isFolded) return h("fieldset", {}, h("legend", {}, title), grid);
      const id = `site-group-${starts[0].replace(".", "")}`;
      return h("details", { class: "more", id, open: open.has(id) }, h("summary", {}, title), grid);
    });
    const top = fields.filter(({ key }) => !key.includes("."));
    put(element, top.map(buildField), groups);
    if (focused) element.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
  };

  const buildField = (field) => {
    const set = (value) => {
      values[field.key] = value;
      changed({ ...values });
    };
    const control = field.form === "distribution" ? buildDistribution(field, set) : buildInput(field, set);
    const { input } = control;
    const fault = h("small", { class: "fault", id: `fault-${field.key}`, role: "alert" });
    input.id = `site-${field.key}`;
    input.title = field.hint;
    input.setAttribute("aria-describedby", fault.id);
    controls.set(field.key, { field, control, fault });
    const unit = unitIn(field);
    const text = h("label", { for: input.id, title: field.hint }, unit ? `${field.label} [${unit}]` : field.label);
    if (field.form === "flag") return h("div", { class: "field check" }, input, text, fault);
    const isWide = field.form === "distribution";
    return h("div", { class: isWide ? "field wide" : "field" }, text, control.element, fault);
  };

  /** Show each fault at its field. */
  const showFaults = (faults) => {
    for (const { control, fault } of controls.values()) {
      control.input.removeAttribute("aria-invalid");
      say(fault, "");
    }
    for (const { key, text } of faults) {
      const one = [...controls.values()].find(({ field }) => key === field.key || key.startsWith(`${field.key}.`));
      if (!one) continue;
      one.control.input.setAttribute("aria-invalid", "true");
      const words = faultIn(text, one.field);
      say(one.fault, one.control.fault?.(words) ?? words);
      // It may be folded away.
      one.fault.closest("details")?.setAttribute("open", "");
    }
  };

  return { element, take };
}

/** A field with one input: {element, input, set, isTyped}. */
function buildInput(field, changed) {
  const input = inputOf(field);
  input.addEventListener("change", () => changed(valueOf(field, input)));
  const set = (value) => {
    if (field.form === "flag") input.checked = value ?? field.default ?? false;
    else if (field.form === "choice") input.value = value ?? field.default ?? "";
    else input.value = inField(value ?? "", field);
  };
  // What is being typed stays.
  const isTyped = () => document.activeElement === input && input.type === "text";
  return { element: input, input, set, isTyped };
}

function inputOf(field) {
  const { key, form, choices, default: usual } = field;
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
    placeholder: placeholderOf(field),
  });
}

/** What holds where nothing is typed. */
function placeholderOf(field) {
  const { form, usual, default: value } = field;
  if (usual) return wordsInUnits(usual);
  const isEmpty = value === null || value === "";
  if (isEmpty) return form === "text" ? "" : "not given";
  return inField(value, field);
}

/** The value as the file has it. */
function valueOf(field, input) {
  if (field.form === "flag") return input.checked;
  if (field.form === "text" || field.form === "choice") return input.value.trim() || null;
  return fromField(input.value, field);
}
