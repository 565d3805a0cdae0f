/** Drag, wheel, pinch, keys and clicks on the map. */

/** [points] a finger or mouse may slip while it clicks. */
const SLIP = 6;

const KEYS = {
  ArrowLeft: (map) => map.camera.pan(60, 0),
  ArrowRight: (map) => map.camera.pan(-60, 0),
  ArrowUp: (map) => map.camera.pan(0, 60),
  ArrowDown: (map) => map.camera.pan(0, -60),
  "+": (map) => map.camera.zoom(1.4),
  "=": (map) => map.camera.zoom(1.4),
  "-": (map) => map.camera.zoom(1 / 1.4),
  0: (map) => map.fitArea(),
  b: (map) => map.fitBelief?.(),
};

export function bindGestures(map) {
  const { canvas } = map;
  const fingers = new Map();
  let slipped = 0;
  /** Whether the finger moves something of a tool, and not the map. */
  let holds = false;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const middle = () => {
    const all = [...fingers.values()];
    return [0, 1].map((axis) => all.reduce((sum, point) => sum + point[axis], 0) / all.length);
  };
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 0) {
      slipped = 0;
      holds = map.tool?.grab?.(at(event), event.pointerType) ?? false;
    }
    fingers.set(event.pointerId, at(event));
  });

  canvas.addEventListener("pointermove", (event) => {
    const point = at(event);
    if (!fingers.has(event.pointerId)) {
      map.hover(point);
      return;
    }
    const before = { middle: middle(), apart: fingers.size === 2 ? apart() : 0 };
    const [x, y] = fingers.get(event.pointerId);
    slipped += Math.hypot(point[0] - x, point[1] - y);
    fingers.set(event.pointerId, point);
    if (slipped < SLIP) return;
    if (holds) {
      map.tool.drag(map.camera.toMetres(point));
      return;
    }
    const after = middle();
    map.camera.pan(after[0] - before.middle[0], after[1] - before.middle[1]);
    if (fingers.size === 2 && before.apart > 0) map.camera.zoom(apart() / before.apart, after);
    map.moved();
  });

  const lift = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    const clicked = event.type === "pointerup" && fingers.size === 0 && slipped < SLIP;
    if (fingers.size > 0) slipped = SLIP;
    if (holds && fingers.size === 0) {
      holds = false;
      map.tool?.drop(slipped >= SLIP && event.type === "pointerup");
      if (slipped >= SLIP) return;
    }
    if (clicked) map.click(at(event));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => map.hover(null));
  bindKeys(map, at);
}

/** Wheel and keys. */
function bindKeys(map, at) {
  const { canvas } = map;
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const notch = event.deltaMode === 1 ? 30 : 1;
      map.camera.zoom(Math.exp(-0.0016 * notch * Math.max(-240, Math.min(240, event.deltaY))), at(event));
      map.moved();
    },
    { passive: false },
  );

  canvas.addEventListener("keydown", (event) => {
    if (map.tool?.key?.(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") {
      map.click([map.camera.width / 2, map.camera.height / 2], true);
      event.preventDefault();
      return;
    }
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act(map);
    map.moved();
  });
  canvas.addEventListener("focus", () => map.redraw());
  canvas.addEventListener("blur", () => map.redraw());
}
