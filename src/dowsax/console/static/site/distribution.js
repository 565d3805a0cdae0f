/** The field of a number that may be unknown: as usual for the kind, one known number, or a range. */

import { h, say } from "../dom.js";
import { wordsInUnits } from "../units.js";
import { fromField, inField } from "./number.js";

const MODES = [
  ["usual", "Usual"],
  ["known", "Known"],
  ["range", "From, to"],
];
/** A normal distribution, for example, which only the text of the site file can say. */
const OTHER = ["other", "As in the file"];

/** {element, input, set, isTyped, fault}; `changed` is called with the value as the file has it. */
export function buildDistribution(field, changed) {
  const { key, label, usual } = field;
  let value = null;
  /** The numbers of the file, and how they are shown. */
  let numbers = [];
  let texts = [];
  const mode = h("select", { name: key });
  const ends = ["from", "to"].map((end) => {
    const properties = { name: `${key}.${end}`, inputmode: "decimal", autocomplete: "off", spellcheck: "false" };
    return h("input", { type: "text", "aria-label": `${label}, ${end}`, ...properties });
  });
  const [from, to] = ends;
  const joint = h("span", {}, "to");
  const words = h("span", { class: "usual" });
  const element = h("div", { class: "distribution" }, mode, words, from, joint, to);

  const show = () => {
    from.hidden = !["known", "range"].includes(mode.value);
    from.setAttribute("aria-label", mode.value === "known" ? label : `${label}, from`);
    joint.hidden = to.hidden = mode.value !== "range";
    words.hidden = !from.hidden;
    say(words, mode.value === "other" ? value : wordsInUnits(usual));
  };

  const set = (now) => {
    value = now;
    const shown = modeOf(now);
    const offered = shown === "other" ? [...MODES, OTHER] : MODES;
    mode.replaceChildren(...offered.map(([name, text]) => h("option", { value: name }, text)));
    mode.value = shown;
    numbers = shown === "usual" || shown === "other" ? [] : [now].flat();
    texts = ends.map((_, at) => inField(numbers[at] ?? "", field));
    ends.forEach((input, at) => (input.value = texts[at]));
    show();
  };

  /** The numbers as the file has them; what is left out is an empty text, which the server refuses. */
  const read = () => {
    // What was not typed anew has not been rounded either.
    const [low, high] = ends.map(({ value: text }, at) =>
      text && text === texts[at] ? numbers[at] : fromField(text, field),
    );
    if (mode.value === "known") return low ?? "";
    return high === null ? [low ?? ""] : [low ?? "", high];
  };

  mode.addEventListener("change", () => {
    show();
    if (mode.value === "usual") changed(field.default);
    else if (mode.value === "other") changed(value);
    else if (ends.every((input) => input.hidden || input.value.trim())) changed(read());
    else ends.find((input) => !input.hidden && !input.value.trim()).focus();
  });
  for (const input of ends) {
    input.addEventListener("change", () => {
      // Of a new range the other end comes next.
      const isHalf = mode.value === "range" && ends.some((one) => !one.value.trim());
      if (!isHalf || Array.isArray(value)) changed(read());
    });
  }
  const isTyped = () => ends.includes(document.activeElement);
  const fault = (text) => (mode.value === "range" && ends.some((one) => !one.value.trim()) ? "Give both ends." : text);
  return { element, input: mode, set, isTyped, fault };
}

function modeOf(value) {
  if (value === null || value === "unknown") return "usual";
  if (Array.isArray(value)) return "range";
  return typeof value === "string" && value.startsWith("{") ? "other" : "known";
}
