/** What happened, the newest first. */

import { h, put } from "../dom.js";
import { clock } from "../format.js";
import { wordsInUnits } from "../units.js";

const MOST = 200;

export function buildLog(mission) {
  const list = h("ol", { class: "log", tabindex: "0", "aria-label": "Events, the newest first" });
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "log-title" },
    h("h2", { id: "log-title" }, "Log"),
    list,
  );
  let before = null;
  const update = () => {
    if (mission.events === before) return;
    before = mission.events;
    const items = mission.events.slice(-MOST).reverse();
    put(
      list,
      items.map((event) =>
        h(
          "li",
          { class: `event ${String(event.kind).replace(/\W+/g, "-")}` },
          h("time", { datetime: event.time }, clock(event.time)),
          h("span", {}, wordsInUnits(event.text)),
        ),
      ),
    );
    element.hidden = items.length === 0;
  };
  return { element, update };
}
