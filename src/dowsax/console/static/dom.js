/** Building elements. Texts become text nodes, so that a name or a cell is never markup. */

const SVG = "http://www.w3.org/2000/svg";
const AS_PROPERTY = new Set(["value", "checked", "disabled", "hidden", "indeterminate", "readOnly"]);

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (AS_PROPERTY.has(name)) {
      element[name] = value;
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An element with these attributes, listeners (`on`) and children (elements or texts). */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function s(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Replace all children. */
export function put(element, ...children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
}

/** Whether a key pressed here is text or belongs to a dialog, and so is no shortcut. */
export function isTyping(element) {
  const fields = "input:not([type=checkbox], [type=radio], [type=range], [type=file]), textarea, select";
  return element.closest(`${fields}, dialog`) !== null;
}

/** Set a text only if it differs, so that screen readers read it once. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const PATHS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6 4.5h4v15H6zM14 4.5h4v15h-4z",
  step: "M5 4.5v15l10-7.5zM16.5 4.5h3v15h-3z",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  belief: "M12 3v4M12 17v4M3 12h4M17 12h4M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  layers: "M12 3.5 3 8.5l9 5 9-5zM3 13l9 5 9-5",
  ruler: "M3.5 16.5 16.5 3.5l4 4-13 13zM7 13l2 2M10 10l2.5 2.5M13 7l2 2",
  own: "M12 2v4M12 18v4M2 12h4M18 12h4M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z",
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  sun:
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22" +
    "M5 5l1.7 1.7M17.3 17.3 19 19M19 5l-1.7 1.7M6.7 17.3 5 19",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  help: "M9 9a3 3 0 1 1 4.2 2.7c-.8.4-1.2 1-1.2 2v.3M12 17.5v.5",
  down: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  up: "M12 16V5M7 9.5l5-5 5 5M5 20h14",
  bin: "M4 6.5h16M9.5 6V4h5v2M6.5 6.5 7.5 20h9l1-13.5M10 10.5v6M14 10.5v6",
  pin: "M12 21s-6.5-5.6-6.5-11a6.5 6.5 0 1 1 13 0c0 5.4-6.5 11-6.5 11zM12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  bell: "M6 16.5V11a6 6 0 1 1 12 0v5.5l1.5 2h-15zM10 21h4",
  muted: "M6 16.5V11a6 6 0 0 1 9-5.2M18 11v5.5l1.5 2h-15M10 21h4M4 4l16 16",
  people: "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 4.8a3.4 3.4 0 0 1 0 6.4M18 14.6c2.1.9 3.5 2.8 3.5 5.4",
  searching: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.3 15.3 21 21",
  found: "M4.5 12.5 10 18 20 6.5",
  unsure: "M12 4 2.8 20h18.4zM12 10v4.5M12 17v.5",
  failed: "M6 6l12 12M18 6 6 18",
  preparing: "M6 3h12M6 21h12M7.5 3c0 5 4.5 5.5 4.5 9s-4.5 4-4.5 9M16.5 3c0 5-4.5 5.5-4.5 9s4.5 4 4.5 9",
};
const FILLED = new Set(["play", "pause", "step"]);

/** A decorative icon; its parent has the label. */
export function icon(name) {
  const filled = FILLED.has(name);
  return s(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" },
    s("path", {
      d: PATHS[name],
      fill: filled ? "currentColor" : "none",
      stroke: filled ? "none" : "currentColor",
      "stroke-width": "2",
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );
}

let notices = 0;

/** Show a notice for a while; errors stay until they are closed. Returns the element. */
export function notice(text, kind = "error") {
  const box = document.getElementById("notices");
  const close = h(
    "button",
    { type: "button", class: "quiet", "aria-label": "Close this message" },
    icon("failed"),
  );
  const item = h("div", { class: `notice ${kind}`, id: `notice-${++notices}` }, h("p", {}, text), close);
  close.addEventListener("click", () => item.remove());
  box.append(item);
  while (box.children.length > 3) box.firstElementChild.remove();
  if (kind !== "error") setTimeout(() => item.remove(), 6000);
  return item;
}

/** Announce a text to screen readers. */
export function announce(text) {
  say(document.getElementById("announce"), text);
}
