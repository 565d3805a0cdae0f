/** The dialogs that correct a reading of a real mission, or leave it out. */

import { patch, withdraw } from "../api.js";
import { h } from "../dom.js";
import { buildMessage, fillIn, forgive, inFormWords, labelled } from "../forms.js";
import { askWhether } from "./question.js";
import { buildPlace, buildValue } from "./reading_inputs.js";

/** A dialog with a form, which closes when `act` is done; Escape and Cancel change nothing. */
function openDialog(title, fields, buttonText, isDanger, act) {
  const message = buildMessage();
  const cancel = h("button", { type: "button" }, "Cancel");
  const send = h("button", { type: "submit", class: isDanger ? "danger" : "primary" }, buttonText);
  const form = h(
    "form",
    { method: "dialog", novalidate: true },
    h("h2", { id: "correction-dialog-title" }, title),
    fields,
    h("div", { class: "row" }, cancel, send),
    message.element,
  );
  const dialog = h("dialog", { class: "ask-dialog", "aria-labelledby": "correction-dialog-title" }, form);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    message.tell("Computing the belief again", "note");
    try {
      await act();
      dialog.close();
    } catch (refusal) {
      message.tell(refusal.message);
    }
    send.disabled = false;
  });
  forgive(form, message);
  document.body.append(dialog);
  dialog.showModal();
}

function reasonInput() {
  return labelled("Reason (optional)", h("input", { type: "text", maxlength: "500", name: "reason" }));
}

export function askWithdrawal(mission, { number: which }) {
  const reason = reasonInput();
  const text = "Belief and advice are computed again without it. It stays in the log, and you can undo this.";
  const fields = [h("p", {}, text), reason.element];
  openDialog(`Leave out reading ${which}?`, fields, "Leave it out", true, async () => {
    const { snapshot } = await withdraw(`${mission.path}/readings/${which}`, reason.input.value.trim());
    follow(mission, snapshot);
  });
}

export function askCorrection(mission, map, { number: which, reading }) {
  const { facts } = mission;
  const place = buildPlace(facts.geographic ? map.globe : null);
  const about = buildValue(facts, "corrected-");
  const reason = reasonInput();
  place.set(reading.position);
  fillIn(about.item, reading.value);
  const before = { place: JSON.stringify(place.get()), value: about.value.value };
  const names = { ...place.names, ...about.names };
  // A wrong path is left out, and the reading added along the right one.
  const where = reading.far_end ? null : place.element;
  const hint = h("p", { class: "hint" }, "An empty field stays as it was.");
  const fields = [about.elements[0], where, ...about.elements.slice(1), hint, reason.element];
  openDialog(`Correct reading ${which}`, fields.filter(Boolean), "Correct it", false, async () => {
    const { value, ...others } = about.get();
    const body = { ...others, reason: reason.input.value.trim() };
    if (about.value.value !== before.value) body.value = value;
    if (JSON.stringify(place.get()) !== before.place) Object.assign(body, place.get());
    const path = `${mission.path}/readings/${which}`;
    try {
      follow(mission, (await patch(path, body)).snapshot);
    } catch (refusal) {
      const words = inFormWords(refusal.message, names);
      if (!refusal.canConfirm) throw new Error(words);
      if (await askWhether(words)) follow(mission, (await patch(path, { ...body, confirm: true })).snapshot);
    }
  });
}

/** Show the newest snapshot, with this one added. */
export function follow(mission, snapshot) {
  mission.select(mission.count);
  mission.add(snapshot);
}
