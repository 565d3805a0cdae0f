/** On a phone the side is a sheet below the map: its handle makes it taller or shorter. */

import { h } from "../dom.js";

const SIZES = ["small", "half", "tall"];
const FAR = 40;

export function buildSheet(side) {
  const handle = h(
    "button",
    { type: "button", class: "handle", "aria-label": "Resize the sheet: half", "aria-controls": side.id },
    h("i"),
  );
  let size = 1;
  let from = null;

  const set = (wanted) => {
    size = Math.max(0, Math.min(wanted, SIZES.length - 1));
    document.documentElement.dataset.sheet = SIZES[size];
    handle.setAttribute("aria-label", `Resize the sheet: ${SIZES[size]}`);
  };
  handle.addEventListener("pointerdown", (event) => {
    from = event.clientY;
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointerup", (event) => {
    const moved = event.clientY - (from ?? event.clientY);
    from = null;
    if (Math.abs(moved) > FAR) set(size + (moved < 0 ? 1 : -1));
    else set((size + 1) % SIZES.length);
  });
  // A key makes a click without a pointer.
  handle.addEventListener("click", (event) => event.detail === 0 && set((size + 1) % SIZES.length));
  set(1);
  return handle;
}
