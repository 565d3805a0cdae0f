/** Look at one reading of a real mission, and correct or withdraw it. */

import { patch, withdraw } from "../api.js";
import { h, icon, say } from "../dom.js";
import { buildMessage, forgive, inFormWords, labelled, numberIn, numeric } from "../forms.js";
import { clock, number, withUnit } from "../format.js";
import { placeOf } from "../map/places.js";
import { askWhether } from "./question.js";
import { buildPlace } from "./reading_inputs.js";

const MAX_NUMBER = 1e15;

export function buildCorrection(mission, map) {
  const words = h("p", { class: "place-line" });
  const correct = h("button", { type: "button", "aria-haspopup": "dialog" }, "Correct");
  const withdrawal = h("button", { type: "button", "aria-haspopup": "dialog" }, icon("bin"), "Withdraw");
  const hint = h("p", { class: "hint" }, "Move the slider to see another reading.");
  const title = h("h2", { id: "correction-title" });
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "correction-title" },
    title,
    words,
    h("div", { class: "row wrap" }, correct, withdrawal),
    hint,
  );
  /** The reading of the shown step. */
  const chosen = () => {
    const { snapshot } = mission;
    if (!snapshot) return null;
    const wanted = snapshot.corrects ?? snapshot.number;
    const now = mission.activeReadings(mission.count).find((one) => one.number === wanted);
    return { number: wanted, reading: now?.reading ?? null, time: mission.snapshots[wanted - 1]?.time };
  };
  correct.addEventListener("click", () => askCorrection(mission, map, chosen()));
  withdrawal.addEventListener("click", () => askWithdrawal(mission, chosen()));

  const update = () => {
    const one = chosen();
    element.hidden = !one;
    if (!one) return;
    say(title, `Reading ${one.number}`);
    say(words, one.reading ? readingWords(one, mission, map) : "It was withdrawn and does not count.");
    correct.disabled = withdrawal.disabled = !one.reading || mission.facts.status === "failed";
  };
  return { element, update };
}

function readingWords({ reading, time }, mission, map) {
  const value = withUnit(number(reading.value), mission.facts.unit);
  const place = map.placeWords(placeOf(reading));
  return `${value} at ${place}${time ? `, received at ${clock(time)}` : ""}.`;
}

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

function askWithdrawal(mission, { number: which }) {
  const reason = labelled("Reason (optional)", h("input", { type: "text", maxlength: "500", name: "reason" }));
  const text = "Belief and advice are computed again without it. The log keeps it as withdrawn.";
  const fields = [h("p", {}, text), reason.element];
  openDialog(`Withdraw reading ${which}?`, fields, "Withdraw it", true, async () => {
    const { snapshot } = await withdraw(`${mission.path}/readings/${which}`, reason.input.value.trim());
    follow(mission, snapshot);
  });
}

function askCorrection(mission, map, { number: which, reading }) {
  const { unit, geographic } = mission.facts;
  const place = buildPlace(geographic ? map.globe : null);
  const value = numeric(unit ? `Reading [${unit}]` : "Reading", {
    name: "corrected-value",
    least: -MAX_NUMBER,
    most: MAX_NUMBER,
  });
  const reason = labelled("Reason (optional)", h("input", { type: "text", maxlength: "500", name: "reason" }));
  place.set(reading.position);
  value.input.value = String(reading.value);
  const before = { place: JSON.stringify(place.get()), value: value.input.value };
  const names = { ...place.names, value: unit ? `Reading [${unit}]` : "Reading" };
  // A wrong path is withdrawn, and the reading added along the right one.
  const fields = [value.element, reading.far_end ? null : place.element, reason.element];
  openDialog(`Correct reading ${which}`, fields, "Correct it", false, async () => {
    const body = { reason: reason.input.value.trim() };
    if (value.input.value !== before.value) body.value = numberIn(value, true);
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

function follow(mission, snapshot) {
  mission.select(mission.count);
  mission.add(snapshot);
}
