/** The next place: an arrow as on a compass, the distance, the coordinates. Of a path: its name and ends. */

import { h, s, say } from "../dom.js";
import { compass, degrees, latitude, longitude, wayWords, within } from "../format.js";
import { inUnit, unitOf } from "../units.js";

export function buildCompass() {
  const needle = s("path", { d: "M32 20 43 59 32 52 21 59z", class: "needle" });
  const rose = s(
    "svg",
    { viewBox: "0 0 64 72", class: "rose", "aria-hidden": "true" },
    s("circle", { cx: 32, cy: 42, r: 28 }),
    s("text", { x: 32, y: 9.5, "text-anchor": "middle" }, "N"),
    needle,
  );
  const title = h("span", { class: "go-title" }, "Next reading");
  const way = h("span", { class: "go-word" });
  const place = h("span", { class: "go-place" });
  const element = h("div", { class: "go" }, rose, h("p", {}, title, way, place));

  const update = (facts, snapshot, globe) => {
    element.hidden = !snapshot?.next;
    if (!snapshot?.next) return;
    const words = (end) => placeWords(facts, globe, end);
    rose.style.display = snapshot.bearing === null ? "none" : "";
    if (snapshot.next_path) {
      say(way, snapshot.next_path);
      say(place, `the path from ${words(snapshot.next)} to ${words(snapshot.next_far_end)}`);
      return;
    }
    say(way, wayWords(snapshot, (bearing) => ` ${compass(bearing)}`));
    if (snapshot.bearing === null) {
      say(place, `at ${words(snapshot.next)}`);
      return;
    }
    needle.setAttribute("transform", `rotate(${snapshot.bearing} 32 42)`);
    say(place, `bearing ${degrees(snapshot.bearing)}, to ${words(snapshot.next)}`);
  };
  return { element, update };
}

/** In degrees if the site has an origin, else in metres, much finer than the radius to reach. */
export function placeWords(facts, globe, position) {
  if (facts.geographic && globe) {
    const [lat, lon] = globe.toDegrees(position);
    return `${latitude(lat)}, ${longitude(lon)}`;
  }
  const fine = inUnit((facts.radius ?? 1) / 10, "length");
  const [east, north] = position.map((value) => within(inUnit(value, "length"), 0, fine));
  return `(${east}, ${north}) ${unitOf("length").name}`;
}
