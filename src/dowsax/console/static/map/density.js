/** The density of the source position, from equally weighted samples of the belief. */

/** More positions than these are thinned evenly: they are alike in weight, and time goes with their square. */
const MOST = 1000;
/** Cells along the longer side. */
const CELLS = 72;
/** Kernels are cut off at this many of their widths. */
const REACH = 3.5;
/** Kernels are widened by this share of a cell, so that none falls between the cells, */
const LEAST = 0.7;
/** and grids have at least this width [m]. */
const FINEST = 1e-3;

/**
 * The sum of Gaussian kernels about positions [m] on a grid {low, high, columns, rows, values [1/m\u00b2], blur
 * [m]}, row by row from the south-west, within an area.
 *
 * In coordinates in which the positions spread alike every way, each kernel is as wide as the distance within
 * which 2 / \u221an of all positions lie: narrow where many are, as the regions are drawn. The blur comes on top.
 */
export function densityOf(all, area) {
  const positions = all.length <= MOST ? all : all.filter((_, index) => (index * MOST) % all.length < MOST);
  const spread = spreadOf(positions);
  const widths = widthsOf(positions.map((position) => inUnits(spread, position)));
  const grid = gridOf(positions, spread, widths, area);
  positions.forEach((position, index) => addKernel(grid, spread, position, widths[index]));
  grid.values = grid.values.map((value) => value / positions.length);
  return grid;
}

/** Mean, principal axis (its cosine and sine) and standard deviations along and across it [m]. */
function spreadOf(positions) {
  const count = positions.length;
  const mean = [0, 1].map((axis) => positions.reduce((sum, place) => sum + place[axis], 0) / count);
  const moment = (one, other) =>
    positions.reduce((sum, place) => sum + (place[one] - mean[one]) * (place[other] - mean[other]), 0) / count;
  const [east, mixed, north] = [moment(0, 0), moment(0, 1), moment(1, 1)];
  const angle = Math.atan2(2 * mixed, east - north) / 2;
  const apart = Math.hypot(east - north, 2 * mixed) / 2;
  const squares = [(east + north) / 2 + apart, (east + north) / 2 - apart];
  const least = Math.max(FINEST, 1e-3 * Math.sqrt(squares[0]));
  const sizes = squares.map((square) => Math.max(Math.sqrt(Math.max(square, 0)), least));
  return { mean, cosine: Math.cos(angle), sine: Math.sin(angle), sizes };
}

/** A place along the principal axis and across it, in standard deviations. */
function inUnits({ mean, cosine, sine, sizes }, place) {
  const [east, north] = [place[0] - mean[0], place[1] - mean[1]];
  return [(cosine * east + sine * north) / sizes[0], (cosine * north - sine * east) / sizes[1]];
}

function widthsOf(plain) {
  const neighbours = Math.min(Math.ceil(2 * Math.sqrt(plain.length)), plain.length - 1);
  return plain.map(([x, y]) => {
    const far = Float64Array.from(plain, ([otherX, otherY]) => Math.hypot(otherX - x, otherY - y)).sort();
    return far[neighbours];
  });
}

/** An empty grid about all positions with room for a middling kernel, as far as it lies in the area. */
function gridOf(positions, spread, widths, [low, high]) {
  const middling = Float64Array.from(widths).sort()[Math.floor(widths.length / 2)];
  const room = reachOf(spread, spread.sizes.map((size) => middling * size));
  const ends = [0, 1].map((axis) => {
    const all = positions.map((place) => place[axis]);
    const [from, to] = [Math.min(...all) - room[axis], Math.max(...all) + room[axis]];
    return [Math.max(low[axis], from - FINEST), Math.min(high[axis], to + FINEST)];
  });
  const sides = ends.map(([from, to]) => Math.max(to - from, FINEST));
  const cell = Math.max(...sides) / CELLS;
  const [columns, rows] = sides.map((side) => Math.max(2, Math.ceil(side / cell)));
  return {
    low: ends.map(([from]) => from),
    high: ends.map(([from], axis) => from + sides[axis]),
    columns,
    rows,
    values: new Float64Array(columns * rows),
    blur: LEAST * cell,
  };
}

/** How far east and north a kernel of these widths along the principal axes reaches [m]. */
function reachOf({ cosine, sine }, [along, across]) {
  return [Math.hypot(cosine * along, sine * across), Math.hypot(sine * along, cosine * across)].map(
    (width) => REACH * width,
  );
}

function addKernel(grid, spread, place, width) {
  const { low, high, columns, rows, values, blur } = grid;
  const { cosine, sine } = spread;
  const [along, across] = spread.sizes.map((size) => Math.hypot(width * size, blur));
  const room = reachOf(spread, [along, across]);
  const cell = [(high[0] - low[0]) / columns, (high[1] - low[1]) / rows];
  const [[west, east], [south, north]] = [columns, rows].map((count, axis) => {
    const at = (metres) => Math.floor((metres - low[axis]) / cell[axis]);
    return [Math.max(at(place[axis] - room[axis]), 0), Math.min(at(place[axis] + room[axis]), count - 1)];
  });
  const height = 1 / (2 * Math.PI * along * across);
  for (let row = south; row <= north; row++) {
    for (let column = west; column <= east; column++) {
      const x = low[0] + (column + 0.5) * cell[0] - place[0];
      const y = low[1] + (row + 0.5) * cell[1] - place[1];
      const away = ((cosine * x + sine * y) / along) ** 2 + ((cosine * y - sine * x) / across) ** 2;
      if (away <= REACH ** 2) values[row * columns + column] += height * Math.exp(-away / 2);
    }
  }
}

/** The density as a picture in one colour, the more of it the more probable; drawn large, it is smooth. */
export function densityPicture({ columns, rows, values }, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(columns, rows);
  const peak = values.reduce((most, value) => Math.max(most, value), 0) || 1;
  const rgb = [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const share = values[row * columns + column] / peak;
      image.data.set([...rgb, Math.round(255 * 0.85 * share ** 0.7)], 4 * ((rows - 1 - row) * columns + column));
    }
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}
