/** The inputs of a reading: place, value, and other measurements. */

import { h } from "../dom.js";
import { choice, labelled, nameOf, numberIn, numeric, refuse } from "../forms.js";
import { typed, within } from "../format.js";
import { distanceTo, middleOf } from "../map/places.js";
import { fromUnit, inUnit } from "../units.js";
import { needsWind } from "./winds.js";

/** Steps in which a place is filled in [degrees, m]: about a decimetre and a centimetre. */
const LARGEST = 1e15;
const FINE = { degrees: 1e-6, metres: 1e-2 };

/** The properties of a required number. */
const span = (most) => ({ required: true, least: -most, most });

/** Two inputs for a place, in degrees where there is a globe: {element, set, get, position, watch, names}. */
export function buildPlace(globe) {
  const quantity = globe ? undefined : "length";
  const first = numeric(globe ? "Latitude [°]" : "East", { name: "east", quantity, ...span(globe ? 90 : LARGEST) });
  const second = numeric(globe ? "Longitude [°]" : "North", {
    name: "north",
    quantity,
    ...span(globe ? 180 : LARGEST),
  });
  const step = globe ? FINE.degrees : FINE.metres;
  const write = (value) => within(value, 0, 99 * step).replace("\u2212", "-");
  return {
    element: h("div", { class: "pair" }, first.element, second.element),
    set: (position) => {
      const shown = globe ? globe.toDegrees(position) : position.map((length) => inUnit(length, "length"));
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
      return globe ? globe.toMetres(...pair) : pair.map((length) => fromUnit(length, "length"));
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

/**
 * The value and other measurements: {item, value, elements, get, setHeight, wind, names}. What the site needs is
 * unfolded; the names of the inputs begin with `prefix`.
 */
export function buildValue(facts, prefix = "") {
  const { quantities = [] } = facts;
  const item = numeric("Reading", { name: `${prefix}value`, class: "big", quantity: "value", ...span(LARGEST) });
  const speed = numeric("Wind speed", { name: `${prefix}wind-speed`, quantity: "speed", least: 0, most: 150 });
  const from = numeric("Wind from [°]", {
    name: `${prefix}wind-from`,
    placeholder: "270 = west",
    least: -360,
    most: 360,
  });
  const others = quantities.map(({ name, unit: own }) => {
    const label = name[0].toUpperCase() + name.slice(1);
    return [name, numeric(own ? `${label} [${own}]` : label, { name, least: -LARGEST, most: LARGEST })];
  });
  const height = buildHeight(facts, prefix);
  const dwell = numeric("Counted for [s]", { name: `${prefix}dwell`, least: 1e-6, most: LARGEST });
  const text = (name, properties) => h("input", { type: "text", name, autocomplete: "off", ...properties });
  const sensor = labelled("Sensor", text(`${prefix}sensor`, { maxlength: "64" }));
  const time = labelled("Time", text(`${prefix}time`, { placeholder: "now, or 2026-05-04T12:30:00Z" }));
  const wind = h("div", { class: "pair" }, speed.element, from.element);
  const isWindy = needsWind(facts);
  const more = h(
    "details",
    { class: "more" },
    h("summary", {}, "More about this reading"),
    isWindy ? null : wind,
    h("div", { class: "pair" }, height.isListed ? null : height.element, dwell.element),
    h("div", { class: "pair" }, sensor.element, time.element),
  );

  const get = () => {
    const made = { value: numberIn(item, true), ...windOf(speed, from), ...height.get() };
    for (const [name, other] of [["dwell", dwell], ...others]) {
      const given = numberIn(other);
      if (given !== null) made[name] = given;
    }
    for (const [name, other] of Object.entries({ sensor, time })) {
      if (other.input.value.trim()) made[name] = other.input.value.trim();
    }
    return made;
  };
  const both = `${nameOf(speed)} and ${nameOf(from)}`;
  const names = {
    value: nameOf(item),
    altitude: nameOf(height),
    dwell: nameOf(dwell),
    sensor: nameOf(sensor),
    time: nameOf(time),
    wind: both,
    wind_speed: nameOf(speed),
    wind_from: nameOf(from),
    ...Object.fromEntries(others.map(([name, other]) => [name, nameOf(other)])),
  };
  const needed = others.map(([, other]) => other.element);
  const listed = height.isListed ? height.element : null;
  const elements = [item.element, listed, ...needed, isWindy ? wind : null, more].filter(Boolean);
  /** Whether no wind is typed, and the moment that is: [ms], or now. */
  const lacksWind = () => !speed.input.value.trim() && !from.input.value.trim();
  return {
    item,
    value: item.input,
    elements,
    get,
    setHeight: height.set,
    lacksWind,
    windRow: isWindy ? wind : null,
    timeText: () => time.input.value.trim(),
    names,
  };
}

/**
 * The height of a reading above ground. Where the site lists heights it is needed, and one of them is filled in;
 * the server counts it from the level of its ground.
 */
function buildHeight({ heights = [], searchers = [], ground = 0 }, prefix) {
  const listed = [...new Set([heights, ...searchers.map((one) => one.heights ?? [])].flat())].sort((a, b) => a - b);
  const isListed = listed.length > 0;
  const shown = (height) => String(Number(inUnit(height, "length").toFixed(2)));
  /** A height as the site lists it, which is rounded where it is shown in feet. */
  const asListed = (height) => listed.find((one) => shown(one) === shown(height)) ?? height;
  const list = h(
    "datalist",
    { id: `${prefix}heights` },
    listed.map((height) => h("option", { value: shown(height) })),
  );
  const item = numeric(
    isListed ? "Height above ground" : "Height",
    {
      name: `${prefix}altitude`,
      quantity: "length",
      least: -500,
      most: 20000,
      list: isListed ? list.id : null,
    },
    isListed ? `The site lists ${listed.map(shown).join(", ")}.` : "",
  );
  item.element.append(list);
  let isTyped = false;
  item.input.addEventListener("input", () => {
    isTyped = true;
  });
  return {
    ...item,
    isListed,
    /** Fill in the advised height, unless another was typed for this reading. */
    set: (height, isNew) => {
      if (isNew) isTyped = false;
      if (isListed && !isTyped && height !== null && height !== undefined) item.input.value = shown(height);
    },
    get: () => {
      const height = numberIn(item);
      if (height === null) return {};
      return { altitude: isListed ? asListed(height) + ground : height };
    },
  };
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
