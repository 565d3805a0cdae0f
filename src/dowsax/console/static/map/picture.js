/** A picture of the site behind the map: an aerial photograph, or a plan. */

import { Sheet } from "./sheet.js";

export class BackPicture {
  /** `loaded` is called once the picture can be drawn, or cannot be had: with an error. */
  constructor(loaded) {
    this.image = null;
    this.corners = null;
    this.loaded = loaded;
    this.sheet = new Sheet((pen, camera, ratio, image, corners) => {
      const [topLeft, topRight, bottomLeft] = corners.map((corner) => camera.toScreen(corner));
      const along = (end, size) => [0, 1].map((axis) => (end[axis] - topLeft[axis]) / size);
      pen.transform(...along(topRight, image.naturalWidth), ...along(bottomLeft, image.naturalHeight), ...topLeft);
      pen.imageSmoothingQuality = "medium";
      pen.drawImage(image, 0, 0);
    });
  }

  /** Show the picture at this address; `null` for none. */
  load(address) {
    this.image = null;
    if (!address) return;
    const image = new Image();
    image.onload = () => {
      this.image = image;
      this.loaded();
    };
    image.onerror = () => this.loaded(new Error("The picture behind the map did not load: open the page again."));
    image.src = address;
  }

  /** `corners` are top left, top right and bottom left [m]. */
  place(corners) {
    // The same list for the same place: the sheet compares by identity.
    if (JSON.stringify(corners) !== JSON.stringify(this.corners)) this.corners = corners;
  }

  draw(pen, camera, ratio) {
    if (this.image && this.corners) this.sheet.draw(pen, camera, ratio, [this.image, this.corners]);
  }
}
