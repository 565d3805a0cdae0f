/** Exports: a report, and files for other programs. */

import { getFile } from "../api.js";
import { h, icon } from "../dom.js";
import { buildMessage } from "../forms.js";

const FORMATS = [
  { name: "html", text: "Report", title: "One page to print or send" },
  { name: "geojson", text: "GeoJSON", title: "For a GIS" },
  { name: "csv", text: "CSV", title: "The readings" },
  { name: "kml", text: "KML", title: "For a globe", inDegrees: true },
  { name: "qgc", text: "QGroundControl", title: "A plan to fly", inDegrees: true },
];

export function buildExport(mission) {
  const message = buildMessage();
  const save = async ({ name, text, query = "" }, button) => {
    button.disabled = true;
    const { preparing, message: words } = mission.facts;
    message.tell(`Making ${text}${preparing ? `. ${words}` : ""}`, "note");
    try {
      const { file, called } = await getFile(
        `${mission.path}/export?to=${name}${query}`,
        `${mission.facts.name}.${name}`,
      );
      keep(file, called);
      message.tell(`${called} is in your downloads.`, "good");
    } catch (refusal) {
      message.tell(refusal.message);
    }
    button.disabled = false;
  };
  const usable = FORMATS.filter(({ inDegrees }) => !inDegrees || mission.facts.geographic).flatMap((format) =>
    format.name === "qgc" ? plansOf(format, mission.facts.searchers ?? []) : [format],
  );
  const buttons = usable.map((format) => {
    const button = h("button", { type: "button", title: format.title }, icon("down"), format.text);
    button.addEventListener("click", () => save(format, button));
    return button;
  });
  const hint = mission.facts.geographic
    ? null
    : h("p", { class: "hint" }, "KML and QGroundControl need degrees: give the site an origin.");
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "export-title" },
    h("h2", { id: "export-title" }, "Export"),
    h("div", { class: "row wrap" }, buttons),
    message.element,
    mission.facts.type === "real" ? hint : null,
  );
  const update = () => {
    element.hidden = mission.count === 0;
  };
  return { element, update };
}

/** One plan, or one for each of several searchers. */
function plansOf(format, searchers) {
  if (searchers.length === 0) return [format];
  return searchers.map(({ name }) => ({
    ...format,
    text: `${format.text}, ${name}`,
    query: `&searcher=${encodeURIComponent(name)}`,
  }));
}

/** Save a file to the downloads. */
function keep(file, called) {
  const address = URL.createObjectURL(file);
  const link = h("a", { href: address, download: called });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
