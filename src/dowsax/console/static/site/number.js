/** Numbers of a site file in the units of the page: in a field, from it, and in what is wrong with them. */

import { typed } from "../format.js";
import { convertBare, fromUnit, inUnit, quantityOf, unitOf } from "../units.js";

/** Figures of a number that is shown after it was converted, and of one that is written. */
const SHOWN = 6;
const WRITTEN = 15;

/** The unit in which a field shows and takes its number; empty without one. */
export function unitIn({ unit }) {
  const quantity = quantityOf(unit);
  return quantity ? unitOf(quantity).name : unit;
}

/** A number of the file as text in the unit of its field; what is no number, as it is. */
export function inField(value, { unit }) {
  const quantity = quantityOf(unit);
  if (typeof value !== "number" || !quantity || unitOf(quantity).size === 1) return String(value);
  return String(Number(inUnit(value, quantity).toPrecision(SHOWN)));
}

/** A typed number as the file has it; a text where it is none, so that the server says what is wrong. */
export function fromField(text, { unit }) {
  const plain = text.trim();
  if (plain === "") return null;
  const value = typed(plain);
  if (!Number.isFinite(value)) return plain;
  const quantity = quantityOf(unit);
  if (!quantity || unitOf(quantity).size === 1) return value;
  return Number(fromUnit(value, quantity).toPrecision(WRITTEN));
}

/** What is wrong with the number of a field, with the numbers in the unit of the field. */
export function faultIn(text, { unit }) {
  const quantity = quantityOf(unit);
  return quantity ? convertBare(text, quantity) : text;
}
