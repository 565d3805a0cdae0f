/** When a reading was taken. Where it does not say, that is when it was uploaded. */

import { clock, number } from "../format.js";

/** [s] from which a time is a date; smaller ones are seconds since some start. */
const FIRST_DATE_S = 1e8;
/** [ms] by which an upload is later than its reading before the page says so. */
const LATE_MS = 60000;

/** {at, isDate, received} of the step that added a reading: `at` in ms since 1970, or in s since a start. */
export function momentOf({ reading, time }) {
  const received = Date.parse(time);
  const given = reading?.time ?? null;
  if (given === null) return { at: received, isDate: true, isGiven: false, received };
  if (given >= FIRST_DATE_S) return { at: 1000 * given, isDate: true, isGiven: true, received };
  return { at: given, isDate: false, isGiven: true, received };
}

/** The time of a reading in words: of today the time alone. */
export function momentWords({ at, isDate }) {
  return isDate ? dateWords(at) : `${number(at, 6)} s`;
}

export function dateWords(at) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return "";
  const time = clock(moment);
  if (moment.toDateString() === new Date().toDateString()) return time;
  return `${moment.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" })} ${time}`;
}

/** That a reading was uploaded later than it was taken, or nothing. */
export function uploadWords({ at, isDate, isGiven, received }) {
  if (!isGiven) return "";
  const isLate = !isDate || Math.abs(received - at) > LATE_MS;
  return isLate ? `uploaded ${dateWords(received)}` : "";
}

/** A duration [s] in words. */
export function ageWords(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${number(seconds / 3600, 2)} h` : `${Math.round(seconds / 86400)} days`;
}

/** Whether the times of all these can be compared: all are dates, or none is. */
export function areComparable(moments) {
  return moments.every(({ isDate }) => isDate === moments[0].isDate);
}
