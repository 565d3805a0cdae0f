/** A reading without a wind of its own: which wind it will have, how old that is, and whether that is right. */

import { h, say } from "../dom.js";
import { typed } from "../format.js";
import { serverNow } from "../server_time.js";
import { ageWords } from "./moments.js";
import { needsWind, windAge, windAgeWords, windSource, windWords } from "./winds.js";

/** {element, update, require, reset} for the inputs of `buildValue`. */
export function buildCarriedWind(mission, about) {
  const words = h("p", { class: "carried-words" });
  const box = h("input", { type: "checkbox", name: "same-wind" });
  const question = h("label", { class: "check" }, box, h("span", {}, "The wind is still like this"));
  const element = h("div", { class: "carried", role: "group", "aria-label": "Wind of this reading" }, words, question);
  const { facts } = mission;
  const most = facts.max_wind_age ?? 600;
  // Missions of earlier versions do not say it; where it is not so the server asks for the wind.
  const carries = needsWind(facts) && (facts.holds_wind ?? true);
  let isOld = false;

  /** When the reading is taken: as typed, else now. */
  const moment = () => {
    const text = about.timeText();
    const seconds = typed(text);
    if (text && Number.isFinite(seconds)) return { isDate: seconds >= 1e8, at: seconds >= 1e8 ? 1000 * seconds : seconds };
    const date = Date.parse(text);
    return { isDate: true, at: Number.isFinite(date) ? date : serverNow() };
  };
  const update = () => {
    const source = carries ? windSource(mission.activeReadings(mission.count)) : null;
    element.hidden = !source || !about.lacksWind();
    isOld = false;
    if (element.hidden) return;
    const age = windAge(source, moment());
    isOld = age === null || age > most;
    const limit = isOld ? `, older than ${ageWords(most)}: enter the wind, or confirm it` : "";
    say(words, `No wind entered: that of reading ${source.number} is used, ${windWords(source.wind)}, ${windAgeWords(age)}${limit}.`);
    element.classList.toggle("is-old", isOld);
    question.hidden = !isOld;
  };
  return {
    element,
    update,
    /** Refuse to go on with an old wind that nobody has confirmed. */
    require: () => {
      update();
      if (!isOld || box.checked) return;
      box.focus();
      throw new RangeError(`The wind is older than ${ageWords(most)}: enter it, or tick that it is still like this.`);
    },
    /** The next reading is asked about again. */
    reset: () => {
      box.checked = false;
      update();
    },
  };
}
