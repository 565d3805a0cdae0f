/** The density of the source position, from draws of the belief that all count the same. */

/** Cells along the longer side. */
const CELLS = 96;
/** Kernels are cut off at so many of their widths. */
const REACH = 3.5;
/** [m], no kernel is narrower, */
const FINEST = 1e-3;
/** nor narrower than about this share of a cell, so that none falls between the cells. */
const LEAST = 0.7;

/**
 * The sum of Gaussian kernels about positions [m] on a grid {low, high, columns, rows, values [1/m\u00b2]}, row by
 * row from the south-west, within an area. No kernel is narrower than `finest` [m].
 *
 * In coordinates in which the positions spread alike every way, each kernel is as wide as the distance within
 * which 2 / \u221an of all positions lie: narrow where many are, as the regions are drawn.
 */
export function densityOf(positions, area) {
  const spread = spreadOf(positions);
  const plain = positions.map((position) => straightened(spread, position));
  const neighbourly = widthsOf(plain);
  const rough = gridOf(positions, spread, neighbourly, area);
  const finest = Math.max((LEAST * (rough.high[0] - rough.low[0])) / rough.columns, FINEST);
  const widths = neighbourly.map((width) => Math.max(width, finest / spread.shortest));
  const grid = { ...gridOf(positions, spread, widths, area), finest };
  plain.forEach((centre, index) => addKernel(grid, spread, positions[index], centre, widths[index]));
  const share = 1 / (positions.length * spread.size);
  grid.values = grid.values.map((value) => value * share);
  return grid;
}

/** Mean and root (a lower triangle) of the covariance, and how long its unit is at most and at least [m]. */
function spreadOf(positions) {
  const count = positions.length;
  const mean = [0, 1].map((axis) => positions.reduce((sum, place) => sum + place[axis], 0) / count);
  const moment = (one, other) =>
    positions.reduce((sum, place) => sum + (place[one] - mean[one]) * (place[other] - mean[other]), 0) / count;
  const floor = FINEST ** 2 + 1e-6 * (moment(0, 0) + moment(1, 1));
  const east = Math.sqrt(moment(0, 0) + floor);
  const along = moment(0, 1) / east;
  const north = Math.sqrt(Math.max(moment(1, 1) + floor - along ** 2, floor));
  const size = east * north;
  const square = (east ** 2 + along ** 2 + north ** 2) / 2;
  const longest = Math.sqrt(square + Math.sqrt(Math.max(square ** 2 - size ** 2, 0)));
  return { mean, east, along, north, size, longest, shortest: size / longest };
}

function straightened({ mean, east, along, north }, place) {
  const first = (place[0] - mean[0]) / east;
  return [first, (place[1] - mean[1] - along * first) / north];
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
  const ends = [0, 1].map((axis) => {
    const room = REACH * middling * breadth(spread, axis);
    const all = positions.map((place) => place[axis]);
    return [Math.max(low[axis], Math.min(...all) - room), Math.min(high[axis], Math.max(...all) + room)];
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
  };
}

/** How far one unit of a kernel reaches along an axis [m]. */
function breadth({ east, along, north }, axis) {
  return axis === 0 ? east : Math.hypot(along, north);
}

function addKernel(grid, spread, place, centre, width) {
  const { low, high, columns, rows, values } = grid;
  const cell = [(high[0] - low[0]) / columns, (high[1] - low[1]) / rows];
  const [[west, east], [south, north]] = [columns, rows].map((count, axis) => {
    const room = REACH * width * breadth(spread, axis);
    const at = (metres) => Math.floor((metres - low[axis]) / cell[axis]);
    return [Math.max(at(place[axis] - room), 0), Math.min(at(place[axis] + room), count - 1)];
  });
  const height = 1 / (2 * Math.PI * width ** 2);
  for (let row = south; row <= north; row++) {
    for (let column = west; column <= east; column++) {
      const middle = [low[0] + (column + 0.5) * cell[0], low[1] + (row + 0.5) * cell[1]];
      const [x, y] = straightened(spread, middle);
      const away = ((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / width ** 2;
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
