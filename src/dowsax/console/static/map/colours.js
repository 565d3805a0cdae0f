/** Colours of the map. Readings in inferno, which is even to the eye and safe for the colour-blind. */

const INFERNO = [
  "#000004",
  "#07051b",
  "#160b39",
  "#2b0b57",
  "#420a68",
  "#57106e",
  "#6a176e",
  "#7f1e6c",
  "#932667",
  "#a82e5f",
  "#bc3754",
  "#cc4248",
  "#dd513a",
  "#ea632a",
  "#f37819",
  "#f98e09",
  "#fca50a",
  "#fbbe23",
  "#f6d746",
  "#f1ef75",
  "#fcffa4",
].map((text) => [1, 3, 5].map((start) => Number.parseInt(text.slice(start, start + 2), 16)));

/** Ratio of the largest to the smallest reading from which colours follow the logarithm. */
const WIDE = 50;

export const PALETTES = {
  light: {
    ground: "#f7f9fa",
    site: "#ffffff",
    line: "#e4e9ee",
    label: "#64727f",
    border: "#8695a3",
    ink: "#16212b",
    halo: "#ffffff",
    belief: "#0b5fa5",
    go: "#16212b",
    goText: "#ffffff",
    truth: "#00795a",
    nogo: "#8f2d20",
    path: "#50606e",
    pick: "#7a2ea0",
    wind: "#3d6b74",
    own: "#1769e0",
  },
  dark: {
    ground: "#0b1117",
    site: "#111a22",
    line: "#1d2832",
    label: "#8b9bab",
    border: "#53636f",
    ink: "#eaf1f6",
    halo: "#0b1117",
    belief: "#6cb8ff",
    go: "#eaf1f6",
    goText: "#0b1117",
    truth: "#4fd6ac",
    nogo: "#ff9b8a",
    path: "#93a3b1",
    pick: "#d9a2ff",
    wind: "#9fd3dc",
    own: "#5b9dff",
  },
};

/** `dark` or `light`, as chosen, or as the system is. */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** From 0 to 1 to red, green and blue. Low is near the ground in both looks: pale by day, deep by night. */
export function ramp(share, look) {
  const clipped = Math.min(Math.max(share, 0), 1);
  const at = (look === "dark" ? 0.16 + 0.84 * clipped : 0.97 - 0.82 * clipped) * (INFERNO.length - 1);
  const below = Math.min(Math.floor(at), INFERNO.length - 2);
  return [0, 1, 2].map((i) =>
    Math.round(INFERNO[below][i] + (at - below) * (INFERNO[below + 1][i] - INFERNO[below][i])),
  );
}

export function css([red, green, blue], alpha = 1) {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

/** Which value has which colour: {low, high, isLog, share(value), ticks}. `null` without any values. */
export function scaleOf(values) {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return null;
  const sorted = Float64Array.from(finite).sort();
  let low = sorted[0];
  let high = sorted[sorted.length - 1];
  const positive = sorted.find((value) => value > 0) ?? 0;
  const isLog = low >= 0 && positive > 0 && high / sorted[Math.floor(sorted.length / 4)] > WIDE;
  if (isLog) low = Math.max(positive, high / 1e3);
  // Readings that are all alike are no hot spot: they have the lowest colour.
  if (!(high > low)) high = low + (Math.abs(low) || 1);
  const share = isLog
    ? (value) => (value > 0 ? Math.log(value / low) / Math.log(high / low) : 0)
    : (value) => (value - low) / (high - low);
  return { low, high, isLog, share, ticks: isLog ? logTicks(low, high) : evenTicks(low, high, 4) };
}

/** About this many round numbers from low to high. */
export function evenTicks(low, high, count) {
  const step = roundStep((high - low) / count);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

function logTicks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const ticks = [];
  for (let exponent = first; exponent <= last; exponent++) ticks.push(10 ** exponent);
  return ticks.length >= 2 ? ticks : [low, Math.sqrt(low * high), high];
}

/** The next of 1, 2, 5, 10, … that is not below. */
export function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9));
}
