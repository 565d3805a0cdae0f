/** Add a reading to a real mission, at the advised place, one clicked on the map, or a typed one. */

import { newId, post } from "../api.js";
import { h, icon, say } from "../dom.js";
import { buildMessage, choice, forgive, inFormWords } from "../forms.js";
import { askWhether } from "./question.js";
import { buildCarriedWind } from "./carried_wind.js";
import { buildPathChoice, buildPlace, buildValue } from "./reading_inputs.js";

const TRIES = 3;

export function buildReading(mission, map) {
  const { paths, searchers, geographic } = mission.facts;
  const hasPaths = Boolean(paths?.length);
  const place = hasPaths ? buildPathChoice(paths) : buildPlace(geographic ? map.globe : null);
  const about = buildValue(mission.facts);
  const toNext = h("button", { type: "button" }, icon("pin"), hasPaths ? "Next path" : "Next place");
  const send = h("button", { type: "submit", class: "primary" }, "Add reading");
  const message = buildMessage();
  const clicked = hasPaths ? "choose the nearest path" : "set the place";
  const hint = h("p", { class: "hint" }, `Click on the map to ${clicked}.`);
  const buttons = h("div", { class: "row wrap" }, send, toNext);
  const who = searchers?.length ? choice("Searcher", searchers, searchers[0].name) : null;
  const carried = buildCarriedWind(mission, about);
  const inputs = about.elements.flatMap((part) => (part === about.windRow ? [part, carried.element] : [part]));
  const parts = [...(who ? [who.element] : []), place.element, hint, ...inputs, buttons, message.element];
  const form = h("form", { class: "reading", novalidate: true, id: "reading-form" }, parts);
  const title = h("h2", { id: "reading-title" }, "Add a reading");
  const element = h("section", { class: "card", "aria-labelledby": "reading-title" }, title, form);
  const deliver = buildDelivery(mission);
  const names = { ...place.names, ...about.names };
  forgive(form, message);
  form.addEventListener("input", carried.update);
  /** Whether the person chose the place, which advice must not change. */
  let chosen = false;
  let placed = null;
  let isBusy = false;

  const mark = () => {
    map.pick = place.position();
    map.redraw();
  };
  const go = (target, isChosen) => {
    chosen = isChosen;
    place.set(target);
    mark();
  };
  /** The advised place [m], or the name of the advised path. */
  const advised = () => {
    const newest = mission.snapshots[mission.count - 1];
    if (who) {
      const own = mission.snapshots.findLast((snapshot) => snapshot?.searcher === who.input.value);
      return own ? own.next : searchers.find(({ name }) => name === who.input.value).start;
    }
    if (mission.count === 0) return hasPaths ? paths[0].name : mission.facts.start;
    return (hasPaths ? newest?.next_path : newest?.next) ?? null;
  };

  /** [m] above ground, where the advised place is; where the site begins before there is any advice. */
  const advisedHeight = () => {
    const own = who ? mission.snapshots.findLast((one) => one?.searcher === who.input.value) : null;
    const newest = who ? own : mission.snapshots[mission.count - 1];
    const listed = searchers?.find(({ name }) => name === who?.input.value)?.heights;
    return newest?.next_height ?? (listed?.length ? listed : mission.facts.heights)?.[0] ?? null;
  };

  /** Send a reading; ask the person to confirm an implausible value. */
  const deliverOrAsk = async (body) => {
    try {
      return await deliver(body);
    } catch (refusal) {
      if (!refusal.canConfirm) throw refusal;
      const words = inFormWords(refusal.message, names);
      return (await askWhether(words)) ? deliver({ ...body, confirm: true }) : null;
    }
  };

  place.watch(() => {
    chosen = true;
    mark();
  });
  who?.input.addEventListener("change", () => {
    chosen = false;
    update();
  });
  toNext.addEventListener("click", () => {
    go(advised(), false);
    about.value.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled) return;
    message.clear();
    try {
      const body = { ...place.get(), ...about.get(), ...(who ? { searcher: who.input.value } : {}) };
      carried.require();
      isBusy = true;
      update();
      const snapshot = await deliverOrAsk(body);
      isBusy = false;
      if (!snapshot) {
        message.clear();
        update();
        return;
      }
      chosen = false;
      about.value.value = "";
      about.setHeight(advisedHeight(), true);
      carried.reset();
      message.tell(`Reading ${snapshot.number} is saved.`, "good");
      about.value.focus();
    } catch (refusal) {
      isBusy = false;
      message.tell(inFormWords(refusal.message, names));
    }
    update();
  });

  const update = () => {
    const { status } = mission.facts;
    const next = advised();
    about.setHeight(advisedHeight());
    carried.update();
    toNext.disabled = !next;
    send.disabled = isBusy || status === "preparing" || status === "failed";
    say(send, status === "preparing" ? "Preparing" : "Add reading");
    if (isBusy) message.tell(mission.facts.preparing ? mission.facts.message : "Computing", "note");
    if (next && !chosen && String(next) !== placed) {
      placed = String(next);
      go(next, false);
    }
  };
  /** Set the place. A click leaves the focus on the map, so that its keys and the shortcuts still work. */
  const pick = (position, byKeyboard) => {
    message.clear();
    go(position, true);
    if (byKeyboard) about.value.focus();
  };
  return { element, update, pick };
}

/** Send a reading until it is answered. A repeated reading keeps its id, so that it counts once. */
function buildDelivery(mission) {
  let pending = null;
  return async (body) => {
    const text = JSON.stringify(body);
    if (pending?.text !== text) pending = { text, id: newId() };
    for (let trial = 1; ; trial++) {
      try {
        const { snapshot } = await post(`${mission.path}/readings`, { ...body, id: pending.id });
        pending = null;
        mission.select(mission.count);
        mission.add(snapshot);
        return snapshot;
      } catch (refusal) {
        if (refusal.status !== 0 || trial === TRIES) throw refusal;
        await new Promise((resolve) => setTimeout(resolve, 700 * trial));
      }
    }
  };
}
