/** The inputs of a reading: place, value, and other measurements. */

import { h } from "../dom.js";
import { choice, labelled, nameOf, numberIn, numeric, refuse } from "../forms.js";
import { typed, within } from "../format.js";
import { distanceTo, middleOf } from "../map/places.js";

/** Steps in which a place is filled in [degrees, m]: about a decimetre and a centimetre. */
const LARGEST = 1e15;
const FINE = { degrees: 1e-6, metres: 1e-2 };

/** The properties of a required number. */
const span = (most) => ({ required: true, least: -most, most });

/** Two inputs for a place, in degrees where there is a globe: {element, set, get, position, watch, names}. */
export function buildPlace(globe) {
  const first = numeric(globe ? "Latitude [°]" : "East [m]", { name: "east", ...span(globe ? 90 : LARGEST) });
  const second = numeric(globe ? "Longitude [°]" : "North [m]", {
    name: "north",
    ...span(globe ? 180 : LARGEST),
  });
  const step = globe ? FINE.degrees : FINE.metres;
  const write = (value) => within(value, 0, 99 * step).replace("\u2212", "-");
  return {
    element: h("div", { class: "pair" }, first.element, second.element),
    set: (position) => {
      const shown = globe ? globe.toDegrees(position) : position;
      first.input.value = write(shown[0]);
      second.input.value = write(shown[1]);
    },
    /** In the keys of the server. */
    get: () => {
      const [a, b] = [numberIn(first, true), numberIn(second, true)];
      return globe ? { latitude: a, longitude: b } : { position: [a, b] };
    },
    /** [m], or `null` while it is not a place. */
    position: () => {
      const pair = [typed(first.input.value), typed(second.input.value)];
      if (!pair.every(Number.isFinite)) return null;
      return globe ? globe.toMetres(...pair) : pair;
    },
    names: {
      position: `${nameOf(first)} and ${nameOf(second)}`,
      "position.0": nameOf(first),
      "position.1": nameOf(second),
      x: nameOf(first),
      y: nameOf(second),
      latitude: nameOf(first),
      longitude: nameOf(second),
    },
    watch: (changed) => {
      for (const { input } of [first, second]) input.addEventListener("input", changed);
    },
  };
}

/**
 * A choice among the paths of the site, with the functions of `buildPlace`.
 * `set` takes the name of a path, or a place, which chooses the nearest path.
 */
export function buildPathChoice(paths) {
  const { element, input } = choice("Path", paths, paths[0].name);
  const chosen = () => paths.find(({ name }) => name === input.value);
  return {
    element,
    set: (target) => {
      const away = ({ ends }) => distanceTo(ends, target);
      const nearest = () => paths.reduce((best, path) => (away(path) < away(best) ? path : best));
      input.value = typeof target === "string" ? target : nearest().name;
    },
    get: () => ({ position: chosen().ends[0], far_end: chosen().ends[1] }),
    position: () => middleOf(chosen().ends),
    names: { position: "Path", far_end: "Path" },
    watch: (changed) => input.addEventListener("change", changed),
  };
}

/** The value and other measurements: {value, elements, get, names}. What the site needs is unfolded. */
export function buildValue({ unit, field, quantities = [] }) {
  const value = numeric(unit ? `Reading [${unit}]` : "Reading", {
    name: "value",
    class: "big",
    ...span(LARGEST),
  });
  const speed = numeric("Wind speed [m/s]", { name: "wind-speed", least: 0, most: 150 });
  const from = numeric("Wind from [°]", {
    name: "wind-from",
    placeholder: "270 = west",
    least: -360,
    most: 360,
  });
  const others = quantities.map(({ name, unit: own }) => {
    const label = name[0].toUpperCase() + name.slice(1);
    return [name, numeric(own ? `${label} [${own}]` : label, { name, least: -LARGEST, most: LARGEST })];
  });
  const altitude = numeric("Height [m]", { name: "altitude", least: -500, most: 20000 });
  const dwell = numeric("Counted for [s]", { name: "dwell", least: 1e-6, most: LARGEST });
  const text = (name, properties) => h("input", { type: "text", name, autocomplete: "off", ...properties });
  const sensor = labelled("Sensor", text("sensor", { maxlength: "64" }));
  const time = labelled("Time", text("time", { placeholder: "2026-05-04T12:30:00Z" }));
  const wind = h("div", { class: "pair" }, speed.element, from.element);
  const needsWind = /plume/.test(field ?? "");
  const more = h(
    "details",
    { class: "more" },
    h("summary", {}, "More about this reading"),
    needsWind ? null : wind,
    h("div", { class: "pair" }, altitude.element, dwell.element),
    h("div", { class: "pair" }, sensor.element, time.element),
  );

  const get = () => {
    const made = { value: numberIn(value, true), ...windOf(speed, from) };
    for (const [name, item] of [...Object.entries({ altitude, dwell }), ...others]) {
      const given = numberIn(item);
      if (given !== null) made[name] = given;
    }
    for (const [name, item] of Object.entries({ sensor, time })) {
      if (item.input.value.trim()) made[name] = item.input.value.trim();
    }
    return made;
  };
  const both = `${nameOf(speed)} and ${nameOf(from)}`;
  const names = {
    value: nameOf(value),
    altitude: nameOf(altitude),
    dwell: nameOf(dwell),
    sensor: nameOf(sensor),
    time: nameOf(time),
    wind: both,
    wind_speed: nameOf(speed),
    wind_from: nameOf(from),
    ...Object.fromEntries(others.map(([name, item]) => [name, nameOf(item)])),
  };
  const needed = others.map(([, item]) => item.element);
  const elements = [value.element, ...needed, needsWind ? wind : null, more];
  return { value: value.input, elements, get, names };
}

/** The inputs of a wind: its speed and where it comes from. */
function windOf(speedInput, fromInput) {
  const [speed, from] = [numberIn(speedInput), numberIn(fromInput)];
  if ((speed === null) !== (from === null)) {
    refuse(speed === null ? speedInput : fromInput, "Wind: give both its speed and where it comes from.");
  }
  if (speed === null) return {};
  return { wind_speed: speed, wind_from: from };
}
