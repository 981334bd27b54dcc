"""Sums over a window that moves along rows, each place of the window by its own matrix, by fewer multiplications.

Toom and Cook: `TILE` neighbouring sums over a window of n are the middle of a product of polynomials, and that is known
from its values at `TILE` + n - 1 points; so that many products stand for `TILE` times n. Points near 1 keep rounding as
small as summing in place does. For windows of 2, 3 and 5 it is 5, 6 and 8 products in place of 8, 12 and 20.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Rows = NDArray[np.float32]

TILE: Final = 4
"""Neighbouring sums that are made together."""

_POINTS: Final = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
"""Where polynomials are evaluated; and, after as many of these as are needed, at infinity."""


class Windows:
    """Sums over windows of `window` rows; `matrices` [window * width, width], one below the other. Keeps no state."""

    def __init__(self, matrices: Rows, window: int) -> None:
        self._points = TILE + window - 1
        self._width = matrices.shape[1]
        values = _values(self._points, window) @ matrices.reshape(window, -1)
        self._matrices = values.astype(np.float32).reshape(self._points, self._width, self._width)
        self._into = np.linalg.inv(_values(self._points, self._points)).T.astype(np.float32)
        self._back = _values(self._points, TILE).T.astype(np.float32)

    def sums(self, rows: Rows, out: Rows) -> None:
        """Of rows [TILE * n + window - 1, width] the sum at row TILE * i + k into `out` [TILE, n, width] at [k, i]."""
        tiles = sliding_window_view(rows, self._points, axis=0)[::TILE].transpose(2, 0, 1)
        given = self._into @ tiles.reshape(self._points, -1)
        made = given.reshape(self._points, -1, self._width) @ self._matrices
        np.matmul(self._back, made.reshape(self._points, -1), out=out.reshape(TILE, -1))


def _values(points: int, degree: int) -> NDArray[np.float64]:
    """What turns a polynomial's coefficients, `degree` of them, into its values at so many points."""
    at_infinity = np.eye(1, degree, degree - 1)
    return np.concatenate([np.vander(_POINTS[: points - 1], degree, increasing=True), at_infinity])
