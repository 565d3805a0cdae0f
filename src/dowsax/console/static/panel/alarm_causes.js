/** What a mission alarms about, and what a person has seen of it, which is kept in this browser. */

import { serverNow } from "../server_time.js";
import { store, stored } from "../settings.js";
import { ageWords } from "./moments.js";

/** [s] without a reading, from which a feed counts as stopped. */
const USUAL_LIMIT_S = 300;

/** What is kept of a mission: {watched, seen, limit}. */
const stateOf = (id) => stored(`alarm-${id}`, {});

export const keepAlarm = (id, more) => store(`alarm-${id}`, { ...stateOf(id), ...more });

/** [s], as chosen; by itself only a mission with a feed waits for readings. 0 is never. */
export const limitOf = ({ id, hasFeed }) => stateOf(id).limit ?? (hasFeed ? USUAL_LIMIT_S : 0);

/**
 * The alarm that nobody has seen: {key, kind, words}, or `null`. A mission here is {id, type, status, hasFeed, count,
 * since}: the number of its newest snapshot, and when that was made, or else the mission.
 */
export function findAlarm(mission) {
  const { id, status } = mission;
  // A page that was opened after the end of the search gives no alarm.
  if (status === "searching" && !stateOf(id).watched) keepAlarm(id, { watched: true });
  const now = causeOf(mission);
  return now && now.key !== stateOf(id).seen ? now : null;
}

/** What there is to tell. A cause that was seen has the same key again. */
function causeOf(mission) {
  const { id, type, status, count, since } = mission;
  if (status === "found" && stateOf(id).watched && count > 0)
    return { key: `found ${count}`, kind: "found", words: `The source is found, by reading ${count}.` };
  const limit = limitOf(mission);
  if (!limit || status !== "searching" || type !== "real") return null;
  const silence = (serverNow() - Date.parse(since)) / 1000;
  if (!(silence > limit)) return null;
  return { key: `silent ${count}`, kind: "silent", words: `No reading has come for ${ageWords(silence)}.` };
}
