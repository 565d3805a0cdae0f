/** Which wind a reading has: its own, or that of an earlier reading that is carried over. */

import { degrees, number } from "../format.js";
import { inUnit, unitOf } from "../units.js";
import { ageWords, momentOf } from "./moments.js";

/** Whether the field of the site depends on wind. */
export function needsWind({ measures, field }) {
  return measures ? measures.includes("wind") : /plume/.test(field ?? "");
}

/** The reading whose wind the newest of these has: {number, wind, moment}; `null` where there is none. */
export function windSource(readings) {
  const held = readings.findLast(({ snapshot }) => !snapshot.held_wind && snapshot.reading.wind);
  if (!held) return null;
  return { number: held.number, wind: held.snapshot.reading.wind, moment: momentOf(held.snapshot) };
}

/** 3.2 m/s from 270°, of a velocity (u, v) [m/s] where the air goes. */
export function windWords([east, north]) {
  const speed = Math.hypot(east, north);
  const from = (450 - (Math.atan2(-north, -east) * 180) / Math.PI) % 360;
  return `${number(inUnit(speed, "speed"), 2)} ${unitOf("speed").name} from ${degrees(from)}`;
}

/** How old [s] a wind is at a moment; `null` where their times cannot be compared. */
export function windAge(source, moment) {
  if (source.moment.isDate !== moment.isDate) return null;
  return Math.max(0, moment.isDate ? (moment.at - source.moment.at) / 1000 : moment.at - source.moment.at);
}

export function windAgeWords(age) {
  return age === null ? "of unknown age" : `${ageWords(age)} old`;
}
