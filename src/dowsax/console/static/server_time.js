/** The time of the server, whose clock stamps readings: a phone may be minutes ahead of it, or behind. */

/** [ms] by which the server is ahead of this device. */
let ahead = 0;

/** Learn it from the Date header of an answer, which has whole seconds, and from when the request was sent. */
export function learnServerTime(date, sent) {
  const said = Date.parse(date ?? "");
  if (Number.isFinite(said)) ahead = said + 500 - (sent + Date.now()) / 2;
}

/** [ms] since 1970, by the clock of the server. */
export function serverNow() {
  return Date.now() + ahead;
}
