/** The meaning of the words, and the keys. */

import { h } from "../dom.js";

const KEYS = [
  ["Space", "run or pause a simulation"],
  ["[ and ]", "one reading back or forth"],
  ["L", "the newest reading"],
  ["F and D", "the expected field, the density of the source: on or off"],
  ["Arrows", "on the map: move it"],
  ["+ and \u2212", "on the map: zoom"],
  ["0 and B", "on the map: the whole area, the belief"],
  ["Enter", "on the map: choose its middle as the place of a reading"],
  ["Backspace and Escape", "while measuring or drawing: take the last point back, end it"],
  ["Shift and arrows", "while drawing a site: move the chosen corner; Delete deletes it"],
  ["Ctrl Z", "while drawing a site: take the last change back"],
  ["?", "this help"],
];
const WORDS = [
  ["Searching", "the source is not known well enough yet; the arrow shows where to measure next."],
  [
    "Found",
    "the source is within the site's radius with the site's probability, and the model fits the readings.",
  ],
  ["Inconclusive", "the budget is spent, or the readings speak against a source here."],
  ["Regions", "the smallest areas that hold the source with 50 and 95\u00a0% probability."],
  [
    "False stops",
    "how often \u201cfound\u201d was wrong in simulated searches, with its 95\u00a0% interval.",
  ],
];

export function showHelp() {
  document.querySelector("dialog.help")?.remove();
  const list = (pairs) =>
    h(
      "dl",
      {},
      pairs.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]),
    );
  const close = h("button", { type: "submit", class: "primary" }, "Close");
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h(
      "form",
      { method: "dialog" },
      h("h2", { id: "help-title" }, "What the words mean"),
      list(WORDS),
      h("h2", {}, "Keys"),
      list(KEYS),
      h("div", { class: "row" }, close),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
