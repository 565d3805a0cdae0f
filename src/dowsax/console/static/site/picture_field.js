/** Where the site is on the globe, and a picture of it behind the map. */

import { postFile } from "../api.js";
import { h, icon, notice, say } from "../dom.js";
import { typed } from "../format.js";
import { locate } from "../map/own_place.js";

const LARGEST = 30 * 1024 * 1024;
const DECIMALS = 7;

/** `changed` is called with a part of the shapes; `shapes` returns them as they are. */
export function buildPicture({ changed, shapes, map }) {
  let upload = null;
  const file = h("input", { type: "file", accept: ".png,.jpg,.jpeg,.tif,.tiff,image/png,image/jpeg,image/tiff", class: "unseen", id: "picture-file" });
  const label = h("label", { for: "picture-file", class: "button" }, icon("up"), "Picture of the site");
  const words = h("small", { class: "hint", role: "status" });
  const pair = (text, name, hint) => {
    const input = h("input", { type: "text", name, autocomplete: "off", inputmode: "text", placeholder: hint });
    input.id = `site-${name}`;
    const fault = h("small", { class: "fault", role: "alert" });
    return { element: h("div", { class: "field" }, h("label", { for: input.id }, text), input, fault), input, fault };
  };
  const origin = pair("Latitude, longitude of (0, 0)", "origin", "not given: metres alone");
  const low = pair("Picture from [m east, north]", "picture-low", "0, 0");
  const high = pair("Picture to [m east, north]", "picture-high", "200, 150");
  const here = h("button", { type: "button", class: "small", on: { click: () => takePlace() } }, "Where I am");
  const corners = h("div", { class: "pair", hidden: true }, low.element, high.element);

  const takePlace = () =>
    locate(
      ({ latitude, longitude }) => changed({ origin: [latitude, longitude].map((value) => Number(value.toFixed(DECIMALS))) }),
      (reason) => notice(reason, "note"),
    );
  const changePair = (item, apply) =>
    item.input.addEventListener("change", () => {
      const parts = item.input.value.trim().split(/[\s;,]+/).filter(Boolean).map(typed);
      const isEmpty = parts.length === 0;
      const isPair = parts.length === 2 && parts.every(Number.isFinite);
      say(item.fault, isEmpty || isPair ? "" : "Two numbers, such as 52.1, 5.1.");
      if (isEmpty || isPair) apply(isEmpty ? null : parts);
    });
  changePair(origin, (place) => changed({ origin: place }));
  const moveCorner = (at) => (place) => {
    const { map: picture } = shapes();
    if (!picture || !place) return;
    const box = picture.corners?.length === 2 ? [...picture.corners] : boxOf(upload, shapes());
    box[at] = place;
    changed({ map: { ...picture, corners: box } });
  };
  changePair(low, moveCorner(0));
  changePair(high, moveCorner(1));

  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      if (chosen.size > LARGEST) throw new RangeError(`${chosen.name} has more than 30 MB: make it smaller.`);
      say(words, "Uploading");
      upload = await postFile("/pictures", chosen);
      upload.name = chosen.name;
      map.picture.load(`/api/pictures/${upload.id}`);
      changed(placed(upload, shapes()));
    } catch (refusal) {
      say(words, "");
      notice(refusal.message);
    }
    file.value = "";
  });

  const take = (now) => {
    const { map: picture } = now;
    if (document.activeElement !== origin.input) origin.input.value = now.origin?.join(", ") ?? "";
    corners.hidden = !picture || (!picture.corners && Boolean(upload?.corners)) || picture.corners?.length === 4;
    (picture?.corners?.length === 2 ? picture.corners : []).forEach((corner, at) => {
      const { input } = [low, high][at];
      if (document.activeElement !== input) input.value = corner.join(", ");
    });
    say(words, pictureWords(picture, upload));
  };
  const element = h(
    "fieldset",
    {},
    h("legend", {}, "Where it is"),
    h("div", { class: "row wrap end" }, origin.element, here),
    h("div", { class: "row wrap" }, file, label, words),
    corners,
  );
  return { element, take, upload: () => upload };
}

function pictureWords(picture, upload) {
  if (!picture) return "PNG, JPEG or GeoTIFF, at most 30 MB";
  if (!upload) return `The site file names ${picture.image}: upload it`;
  return `${picture.image}, ${upload.width} × ${upload.height} pixels`;
}

/** The box [m] of a picture without a place: as wide as the area, from its south-western corner on. */
function boxOf(upload, { area }) {
  const [[west, south], [east]] = area;
  return [
    [west, south],
    [east, south + ((east - west) * upload.height) / upload.width],
  ];
}

/** The shapes that an uploaded picture changes. */
function placed(upload, now) {
  const image = upload.name;
  if (now.map?.corners) return { map: { ...now.map, image } };
  if (!upload.corners) return { map: { image, corners: boxOf(upload, now) } };
  if (now.origin) return { map: { image, corners: null } };
  // Of a site without a place: its middle is that of the picture.
  const middle = [0, 1].map((axis) => upload.corners.reduce((sum, corner) => sum + corner[axis], 0) / 4);
  const north = (upload.corners[0][0] - upload.corners[3][0]) * 111_200;
  const east = (upload.corners[1][1] - upload.corners[0][1]) * 111_200 * Math.cos((middle[0] * Math.PI) / 180);
  const half = [east, north].map((side) => Number(Math.abs(side / 2).toPrecision(4)));
  return {
    origin: middle.map((value) => Number(value.toFixed(DECIMALS))),
    area: [half.map((side) => -side), half],
    start: null,
    map: { image, corners: null },
  };
}
