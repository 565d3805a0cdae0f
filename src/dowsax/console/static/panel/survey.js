/** Upload a survey: a CSV of readings, by its button or dropped on the map. */

import { postFile } from "../api.js";
import { h, icon, put } from "../dom.js";
import { buildMessage } from "../forms.js";

const MAX_BYTES = 5e6;
const MAX_LISTED = 50;

export function buildSurvey(mission, target) {
  const input = h("input", {
    type: "file",
    accept: ".csv,.txt,text/csv",
    id: "survey-file",
    class: "unseen",
  });
  const label = h(
    "label",
    { for: "survey-file", class: "button", id: "survey-label" },
    icon("up"),
    "Choose a CSV",
  );
  const message = buildMessage();
  const refused = h("ul", {
    class: "refused-rows",
    hidden: true,
    tabindex: "0",
    "aria-label": "Rows that were refused, and notes",
  });
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "survey-title" },
    h("h2", { id: "survey-title" }, "Upload a survey"),
    h(
      "p",
      { class: "hint" },
      "A CSV with x, y (or latitude, longitude) and value. Wind, time and sensor are optional. " +
        "You can also drop it on the map.",
    ),
    h("div", { class: "row wrap" }, input, label),
    message.element,
    refused,
  );

  /** The name of the file that is being uploaded. */
  let busy = "";

  const show = ({ new: added, known, refused: rejected, skipped, notes }) => {
    const odd = [skipped ? `${skipped} skipped` : null, rejected.length ? `${rejected.length} refused` : null];
    const counts = [`${added} new`, `${known} known`, ...odd.filter(Boolean)].join(", ");
    message.tell(`Readings: ${counts}.`, rejected.length + skipped ? "note" : "good");
    const rows = rejected.slice(0, MAX_LISTED).map(({ line, reason }) => `Line ${line}: ${reason}`);
    if (rejected.length > MAX_LISTED) rows.push(`and ${rejected.length - MAX_LISTED} more.`);
    const items = [...rows, ...notes].map((text) => h("li", {}, text));
    put(refused, items);
    refused.hidden = items.length === 0;
  };
  const upload = async (file) => {
    refused.hidden = true;
    if (file.size === 0) {
      message.tell(`${file.name} is empty.`);
      return;
    }
    if (file.size > MAX_BYTES) {
      message.tell(`${file.name} has ${(file.size / 1e6).toFixed(1)} MB; the limit is 5 MB. Split it.`);
      return;
    }
    busy = file.name;
    update();
    try {
      // As bytes: not all loggers write UTF-8.
      const result = await postFile(`${mission.path}/survey`, file);
      busy = "";
      show(result);
    } catch (refusal) {
      busy = "";
      message.tell(refusal.message);
    }
    input.value = "";
    update();
  };

  const update = () => {
    const { status, preparing, message: words } = mission.facts;
    input.disabled = Boolean(busy) || ["preparing", "failed"].includes(status);
    if (busy) message.tell(`Uploading ${busy}${preparing ? `. ${words}` : ""}`, "note");
  };
  input.addEventListener("change", () => input.files[0] && upload(input.files[0]));
  bindDrop(target, (file) => !input.disabled && upload(file));
  return { element, update };
}

/** Accept a file that is dropped on an element. */
function bindDrop(target, dropped) {
  target.addEventListener("dragover", (event) => {
    event.preventDefault();
    target.classList.add("dropping");
  });
  target.addEventListener("dragleave", () => target.classList.remove("dropping"));
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    target.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (file) dropped(file);
  });
}
