"""Steady dispersion of a gas among buildings: the wind around them, and what each place reads of each source.

Two-dimensional, averaged over the depth of the layer in which the gas is mixed: outside of JAX, once a site.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from scipy import ndimage, sparse
from scipy.sparse.linalg import splu

from dowsax.world.obstacles import Obstacle

MAX_CELLS = 4096
"""In the box: responses between all pairs of them take 64 MiB for each spread."""
_MAX_PECLET = 500.0


@dataclass(frozen=True)
class Grid:
    """Square cells over a box and a margin around it, (nx, ny) from west to east and south to north."""

    low: tuple[float, float]
    """[m], the south-western corner."""
    cell: float
    """[m]"""
    shape: tuple[int, int]

    @classmethod
    def over(cls, low: Sequence[float], high: Sequence[float], cells: int, margin: int) -> "Grid":
        """Return a grid with this number of cells along the longer side of a box, and more around it."""
        sides = np.subtract(high, low)
        cell = float(sides.max() / cells)
        inner = np.ceil(sides / cell - 1e-9).astype(int)
        west, south = (float(end) - margin * cell for end in low)
        columns, rows = (int(number) + 2 * margin for number in inner)
        if inner.prod() > MAX_CELLS:
            raise ValueError(f"A grid may have at most {MAX_CELLS} cells; got {inner[0]} x {inner[1]}.")
        return cls((west, south), cell, (columns, rows))

    def is_near(self, low: Sequence[float], high: Sequence[float]) -> np.ndarray:
        """Return (nx, ny) which cells have their middle in a box, or within a cell of it."""
        west_south, east_north = np.subtract(low, self.cell), np.add(high, self.cell)
        return np.all((self.middles >= west_south) & (self.middles <= east_north), axis=-1)

    @property
    def middles(self) -> np.ndarray:
        """(nx, ny, 2) [m], the middles of the cells."""
        axes = [
            low + self.cell * (np.arange(number) + 0.5)
            for low, number in zip(self.low, self.shape, strict=True)
        ]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def find_free(grid: Grid, obstacles: Sequence[Obstacle]) -> np.ndarray:
    """Return (nx, ny) whether gas flows through each cell: its middle lies in no obstacle.

    Cells that obstacles enclose do not count, as no wind gets there.
    """
    solid = shapely.union_all([shapely.Polygon(one.corners) for one in obstacles])
    free = ~shapely.contains_xy(solid, grid.middles[..., 0], grid.middles[..., 1])
    labels: np.ndarray = ndimage.label(free)[0]  # pyright: ignore[reportIndexIssue, reportAssignmentType]
    border = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    return free & np.isin(labels, border[border > 0])


def nearest_numbers(kept: np.ndarray) -> np.ndarray:
    """Return (nx, ny) the number, among the kept cells, of the one nearest to each cell."""
    nearest: np.ndarray = ndimage.distance_transform_edt(~kept, return_distances=False, return_indices=True)  # pyright: ignore[reportAssignmentType]
    return _number(kept)[nearest[0], nearest[1]]


def _number(kept: np.ndarray) -> np.ndarray:
    """Return (nx, ny) the number of each kept cell, −1 for the others."""
    return np.where(kept, np.cumsum(kept).reshape(kept.shape) - 1, -1)


@dataclass(frozen=True)
class Faces:
    """The pairs of neighbouring free cells, and the free cells at the border of the grid."""

    first: np.ndarray
    second: np.ndarray
    """The numbers of the two cells, the second to the east or north of the first."""
    axis: np.ndarray
    """0 from west to east, 1 from south to north."""
    inner: np.ndarray
    """The number of each cell with a side at the border of the grid."""
    outward: np.ndarray
    """(borders, 2), the direction outwards."""

    @classmethod
    def of(cls, free: np.ndarray) -> "Faces":
        numbers = _number(free)
        pairs = [
            np.stack([numbers[:-1].ravel(), numbers[1:].ravel()]),
            np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()]),
        ]
        axis = np.repeat([0, 1], [pairs[0].shape[1], pairs[1].shape[1]])
        first, second = np.concatenate(pairs, axis=1)
        between = (first >= 0) & (second >= 0)
        sides = [numbers[0], numbers[-1], numbers[:, 0], numbers[:, -1]]
        directions = np.repeat([[-1, 0], [1, 0], [0, -1], [0, 1]], [len(side) for side in sides], axis=0)
        inner = np.concatenate(sides)
        return cls(first[between], second[between], axis[between], inner[inner >= 0], directions[inner >= 0])


def solve_wind(grid: Grid, free: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the wind of unit speed through faces between cells, and outwards through those of the border.

    Potential flow: $u = \nabla \varphi$ with $\nabla^2 \varphi = 0$, nothing through walls, and the potential
    of the undisturbed wind at the border of the grid. It has no wakes and no eddies.
    """
    faces, size = Faces.of(free), int(free.sum())
    ends = np.concatenate([faces.first, faces.second])
    others = np.concatenate([faces.second, faces.first])
    degree = np.bincount(ends, minlength=size) + 2 * np.bincount(faces.inner, minlength=size)
    laplacian = sparse.diags_array(degree.astype(float)) - sparse.coo_array(
        (np.ones(len(ends)), (ends, others)), (size, size)
    )
    border = grid.middles[free][faces.inner] + 0.5 * grid.cell * faces.outward
    # Half a cell away, so that it counts twice.
    known = np.bincount(faces.inner, 2 * (border @ direction), minlength=size)
    potential = splu(laplacian.tocsc()).solve(known)
    through = (potential[faces.second] - potential[faces.first]) / grid.cell
    outward = (border @ direction - potential[faces.inner]) / (0.5 * grid.cell)
    return through, outward


def transport(
    grid: Grid, free: np.ndarray, wind: tuple[np.ndarray, np.ndarray], spread: float
) -> sparse.csc_array:
    r"""Return A of the steady balance $A c = Q/(u H)$ over cells: what leaves each minus what enters.

    `spread` is $\ell = D/u$ [m], the diffusivity over the speed of the wind. The flow through a face is that
    of Scharfetter and Gummel, exact between two cells, so that no concentration is negative. Clean air
    comes in.
    """
    faces, size = Faces.of(free), int(free.sum())
    through, outward = wind
    peclet, border = through * grid.cell / spread, outward * grid.cell / spread
    leave, enter = spread * _bernoulli(-peclet), spread * _bernoulli(peclet)
    rows = np.concatenate([faces.first, faces.first, faces.second, faces.second, faces.inner])
    columns = np.concatenate([faces.first, faces.second, faces.second, faces.first, faces.inner])
    entries = np.concatenate([leave, -enter, enter, -leave, spread * _bernoulli(-border)])
    return sparse.coo_array((entries, (rows, columns)), (size, size)).tocsc()


def solve_responses(matrix: sparse.csc_array, stations: np.ndarray) -> np.ndarray:
    """Return (stations, cells) what a sensor in each of these cells reads of a unit source in every cell.

    By the adjoint: one solve for each station, whatever the number of sources.
    """
    cells = matrix.indptr.size - 1
    sensors = np.zeros((cells, len(stations)))
    sensors[stations, np.arange(len(stations))] = 1.0
    return np.maximum(np.asarray(splu(matrix).solve(sensors, trans="T")).T, 0.0)


def _bernoulli(peclet: np.ndarray) -> np.ndarray:
    """Return x/(exp(x) − 1), which is 1 − x/2 near zero."""
    limited = np.clip(peclet, -_MAX_PECLET, _MAX_PECLET)
    small = np.abs(limited) < 1e-6
    return np.where(small, 1 - 0.5 * limited, limited / np.where(small, 1.0, np.expm1(limited)))
