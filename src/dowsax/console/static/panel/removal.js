/** Delete a mission, after a confirmation. */

import { remove } from "../api.js";
import { h, icon, notice } from "../dom.js";
import { plural } from "../format.js";

export function buildRemoval(mission) {
  const button = h(
    "button",
    { type: "button", class: "danger", "aria-haspopup": "dialog" },
    icon("bin"),
    "Delete this mission",
  );
  button.addEventListener("click", () => ask(mission));
  const element = h("section", { class: "removal" }, button);
  return { element, update: () => {} };
}

/** Ask, and say what will be lost; Escape and Keep it change nothing. */
function ask(mission) {
  const { facts } = mission;
  const cancel = h("button", { type: "button", autofocus: true }, "Keep it");
  const confirm = h("button", { type: "submit", class: "danger" }, icon("bin"), "Delete it");
  const lost = `${plural(facts.readings, "reading")}, the log and all results`;
  const stops = facts.running || facts.mqtt ? " It is stopped first." : "";
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "removal-title" }, `Delete \u201c${facts.name}\u201d?`),
    h("p", { id: "removal-words" }, `${lost} will be deleted for good, for everybody.${stops}`),
    h("div", { class: "row" }, cancel, confirm),
  );
  const dialog = h(
    "dialog",
    { class: "ask-dialog", "aria-labelledby": "removal-title", "aria-describedby": "removal-words" },
    form,
  );
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    // This page needs no notice of its own deletion.
    mission.leaving = true;
    try {
      await remove(mission.path);
      location.hash = "#/";
      notice(`\u201c${facts.name}\u201d is deleted.`, "note");
    } catch (refusal) {
      mission.leaving = false;
      notice(refusal.message);
    }
    dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
