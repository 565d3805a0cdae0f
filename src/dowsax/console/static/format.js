/** Formatting of numbers, places and times. */

import { serverNow } from "./server_time.js";
import { inUnit, unitOf } from "./units.js";

const MINUS = "\u2212";
const QUARTERS = ["north", "east", "south", "west"];
const BETWEEN = ["northeast", "southeast", "southwest", "northwest"];

/** A number with this many significant figures; large and small ones as powers of ten. */
export function number(value, figures = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "\u2013";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return signed(power(value, figures));
  const decimals = size === 0 ? 0 : Math.max(0, figures - 1 - Math.floor(Math.log10(size)));
  return signed(value.toFixed(Math.min(decimals, 8)));
}

/** A number rounded to two figures of the width of its interval. */
export function within(value, low, high) {
  const width = high - low;
  if (!(width > 0) || !Number.isFinite(value)) return number(value);
  if (Math.abs(value) >= 1e6 || (Math.abs(value) < 1e-3 && width < 1e-3)) return number(value);
  const decimals = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(width))));
  return signed(value.toFixed(decimals));
}

function power(value, figures) {
  const [mantissa, exponent] = value.toExponential(figures - 1).split("e");
  return `${mantissa}e${Number(exponent)}`;
}

function signed(text) {
  return text.replaceAll("-", MINUS);
}

/** Parse a typed number; NaN if it is none. A decimal comma is allowed. */
export function typed(text) {
  const plain = text
    .trim()
    .replaceAll(MINUS, "-")
    .replace(/^([+-]?\d*),(\d+)$/, "$1.$2");
  return plain === "" ? Number.NaN : Number(plain);
}

/** A length [m] in the chosen unit. */
export function metres(value, figures = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "\u2013";
  const { name } = unitOf("length");
  if (name === "m" && Math.abs(value) >= 10000) return `${number(value / 1000, figures)} km`;
  return `${number(inUnit(value, "length"), figures)} ${name}`;
}

/** A value of the site's sensor in the chosen unit. */
export function measured(value, figures = 3) {
  return withUnit(number(inUnit(value, "value"), figures), unitOf("value").name);
}

export function withUnit(text, unit) {
  return unit ? `${text} ${unit}` : text;
}

/** A probability in per cent; never 0 or 100, as nothing is certain. */
export function shareWords(share) {
  const rounded = Math.round(100 * share);
  if (rounded >= 100) return "> 99 %";
  return rounded < 1 ? "< 1 %" : `${rounded} %`;
}

export function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** The compass direction nearest to a bearing, of sixteen. */
export function compass(bearing) {
  const at = Math.round(bearing / 22.5) % 16;
  if (at % 4 === 0) return QUARTERS[at / 4];
  const middle = BETWEEN[Math.floor(at / 4)];
  return at % 4 === 2 ? middle : `${QUARTERS[Math.round(at / 4) % 4]}-${middle}`;
}

/** 045\u00b0 */
export function degrees(bearing) {
  return `${String(Math.round(bearing) % 360).padStart(3, "0")}\u00b0`;
}

/** One of latitude and longitude, to about 10 cm. */
export function latitude(value, decimals = 6) {
  return `${Math.abs(value).toFixed(decimals)}\u00b0 ${value < 0 ? "S" : "N"}`;
}

export function longitude(value, decimals = 6) {
  return `${Math.abs(value).toFixed(decimals)}\u00b0 ${value < 0 ? "W" : "E"}`;
}

/** The local time of day. */
export function clock(iso) {
  const moment = new Date(iso);
  return Number.isNaN(moment.getTime()) ? "" : moment.toLocaleTimeString([], { hour12: false });
}

/** How long ago, in words. */
export function ago(iso) {
  const seconds = (serverNow() - new Date(iso).getTime()) / 1000;
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 45) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(iso).toLocaleDateString();
}

export function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** How far the next place is and where to, or that one stays or begins; with its height where there are several. */
export function wayWords({ distance, bearing, next_height: height }, direction) {
  const still = distance === null ? "begin there" : "same place";
  const way = bearing === null ? still : `${metres(distance, 2)}${direction(bearing)}`;
  return height == null ? way : `${way}, ${metres(height)} up`;
}
