/** Particles as discs. Their pixels are set one by one: a path of 100,000 arcs takes a hundred times as long. */

/** [points] */
const RADIUS = 1.5;
const OPACITY = 0.5;

/** Draw on a canvas that is empty; where discs overlap, the picture is as dark as one. */
export function paintParticles(pen, camera, ratio, particles, colour) {
  const { width, height } = pen.canvas;
  const image = pen.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const { offsets, values } = stampOf(RADIUS * ratio, colour, width);
  const reach = Math.ceil(RADIUS * ratio) + 1;
  const scale = camera.scale * ratio;
  const left = width / 2 - camera.centre[0] * scale;
  const top = height / 2 + camera.centre[1] * scale;
  for (const particle of particles) {
    const x = Math.round(left + particle[0] * scale - 0.5);
    const y = Math.round(top - particle[1] * scale - 0.5);
    // One that is cut by the edge of the canvas is beyond the view.
    if (!(x >= reach && y >= reach && x < width - reach && y < height - reach)) continue;
    const middle = y * width + x;
    for (let index = 0; index < offsets.length; index++) {
      const at = middle + offsets[index];
      // The opacity is the highest byte: the larger number is the darker one.
      if (pixels[at] < values[index]) pixels[at] = values[index];
    }
  }
  pen.putImageData(image, 0, 0);
}

/** The pixels of a disc, as offsets in rows of this width, and their colours with opacity as numbers. */
function stampOf(radius, colour, width) {
  const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
  const reach = Math.ceil(radius);
  const [offsets, values] = [[], []];
  for (let down = -reach; down <= reach; down++) {
    for (let across = -reach; across <= reach; across++) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(across, down), 0), 1);
      const opacity = Math.round(255 * OPACITY * cover);
      if (opacity === 0) continue;
      offsets.push(down * width + across);
      values.push(((opacity << 24) | (blue << 16) | (green << 8) | red) >>> 0);
    }
  }
  return { offsets: Int32Array.from(offsets), values: Uint32Array.from(values) };
}
