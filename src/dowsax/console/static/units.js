/**
 * Units in which numbers are shown and typed. The server has metres, m/s and the unit of the site, and says how
 * large the other units are; which ones a person has chosen is kept in this browser.
 */

import { store, stored } from "./settings.js";

const OWN = {
  length: [{ name: "m", size: 1 }],
  speed: [{ name: "m/s", size: 1 }],
  value: [{ name: "", size: 1 }],
};

let offered = OWN;

/** Offer the units of a mission: of `length`, `speed` and `value`, the server's own first; or none. */
export function offerUnits(units) {
  offered = { ...OWN, ...units };
}

export function unitsOf(quantity) {
  return offered[quantity];
}

/** Under which a choice is kept: a concentration in ppm says nothing about one in counts. */
const keyOf = (quantity) => `${quantity} ${offered[quantity][0].name}`;

/** The unit chosen: {name, size}. */
export function unitOf(quantity) {
  const wanted = stored("units", {})[keyOf(quantity)];
  return offered[quantity].find(({ name }) => name === wanted) ?? offered[quantity][0];
}

/** Choose a unit; everything that shows numbers has to be built again. */
export function chooseUnit(quantity, name) {
  store("units", { ...stored("units", {}), [keyOf(quantity)]: name });
  document.dispatchEvent(new Event("unitschange"));
}

/** A number of the server in the chosen unit. */
export function inUnit(value, quantity) {
  const { size } = unitOf(quantity);
  return size === 1 || value === null || value === undefined ? value : value / size;
}

/** A number in the chosen unit as the server takes it. */
export function fromUnit(value, quantity) {
  const { size } = unitOf(quantity);
  return size === 1 || value === null ? value : value * size;
}

/** The quantity whose unit on the server this is, or `null`. */
export function quantityOf(unit) {
  return ["length", "speed", "value"].find((name) => unit && offered[name][0].name === unit) ?? null;
}

const NUMBER = "\\d[\\d,]*(?:\\.\\d+)?(?:e[+-]?\\d+)?";
/** What stands between the two numbers of a range. */
const JOINTS = " to | and | ± ";

/** A sentence of the server with its lengths, speeds and readings in the chosen units. */
export function wordsInUnits(text) {
  let words = text;
  for (const quantity of ["length", "speed", "value"]) {
    const { name, size } = unitOf(quantity);
    const own = offered[quantity][0].name;
    if (size === 1 || !own) continue;
    const convert = (number, factor) => shortNumber((Number(number.replaceAll(",", "")) * factor) / size);
    // A place: (3.2, 8.1) m.
    if (quantity === "length") {
      words = words.replace(new RegExp(`\\((-?${NUMBER}), (-?${NUMBER})\\) m(?![\\w²³/])`, "g"), (_, x, y) =>
        `(${convert(x, 1)}, ${convert(y, 1)}) ${name}`,
      );
      words = convertNumbers(words, "km", name, (number) => convert(number, 1000));
    }
    words = convertNumbers(words, own, name, (number) => convert(number, 1));
  }
  return words;
}

/**
 * Convert the numbers of a unit: alone, the two of a range (from 2 to 3 m, between 2 and 3 m, 2 ± 3 m), and a
 * refused one after its bound (at least 2 m; got 1).
 */
function convertNumbers(text, unit, name, convert) {
  const asWritten = unit.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const range = `(?:(between )?(-?${NUMBER})(${JOINTS}))?`;
  const refused = `((?: above ground)?; got )(-?${NUMBER})(?![.,]?[\\de]| ${asWritten})`;
  const pattern = new RegExp(`${range}(-?${NUMBER}) ${asWritten}(?![\\w²³/])(?:${refused})?`, "g");
  return text.replace(pattern, (_, between = "", first = "", joint = "", last = "", got = "", other = "") => {
    // Two numbers beside an "and" need not be a range.
    const isRange = first && (joint !== " and " || between);
    const begin = `${between}${isRange ? convert(first) : first}${joint}`;
    return `${begin}${convert(last)} ${name}${got}${other && convert(other)}`;
  });
}

/** Three figures, as the server's sentences have them. */
function shortNumber(value) {
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** Convert the numbers of what is wrong with a number in the server's unit: "must be >= 0; got -3." */
export function convertBare(text, quantity) {
  const { size } = unitOf(quantity);
  if (size === 1) return text;
  const bare = /(?<=[<>]=? |got |\[|, )-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?=[;\]]|, |\.?$|\. )/g;
  return wordsInUnits(text.replace(bare, (found) => shortNumber(Number(found.replaceAll(",", "")) / size)));
}
