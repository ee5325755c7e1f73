"""Discrete Fourier transforms along an axis, with their derivatives.

They are linear: tangents are transforms of tangents, cotangents are those of the transposed map. The
last argument is the axis, a known integer.

`dft`              of complex numbers, by their parts; it is symmetric, so that the transposed map of
                   the parts is the transform of the parts in the other order
`rdft`             of real numbers: the half of the result that determines the rest
`rdft_transposed`  its transposed map, to a number of elements: the last argument but one
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import acb

from symdiff.ir import ZERO, Expr, integer
from symdiff.ir.linalg.derivatives import Routine, Writer
from symdiff.ir.loop_program import Call

SUMS: dict[str, tuple[tuple[tuple[int, int], ...], ...]] = {
    "dft": (((1, 0), (0, 1)), ((0, -1), (1, 0))),
    "rdft": (((1, 0),), ((0, -1),)),
    "rdft_transposed": (((1, 0), (0, -1)),),
}
"""The transforms as sums: for each result and each array of the arguments the factors of cosines and of
sines. The angle is 2*pi*j*k/n for element k of a result and j of an argument."""


# -------------------------------------------------------------------------- values
def _complex(re: Any, im: Any) -> Any:
    z = np.empty(np.shape(re), np.result_type(re, np.complex64))
    z.real, z.imag = re, im
    return z


def _dft(re: Any, im: Any, axis: Any) -> tuple[Any, Any]:
    z = np.fft.fft(_complex(re, im), axis=axis)
    return z.real, z.imag


def _rdft(x: Any, axis: Any) -> tuple[Any, Any]:
    z = np.fft.rfft(x, axis=axis)
    return z.real, z.imag


def _rdft_transposed(re: Any, im: Any, n: Any, axis: Any) -> tuple[Any]:
    z = _complex(re, im)
    np.moveaxis(z, axis, -1)[..., 1 : (n + 1) // 2] *= 0.5  # the inverse transform doubles these
    return (np.fft.irfft(z, n, axis=axis, norm="forward"),)


# --------------------------------------------------------------------------- balls
def _balls(re: Any, im: Any, axis: Any, count: int) -> tuple[Any, Any]:
    """The first results of `dft`, of balls."""
    rows = [np.moveaxis(part, axis, -1) for part in (re, im)]
    made = [np.empty((*rows[0].shape[:-1], count), object) for _ in rows]
    for row in np.ndindex(*rows[0].shape[:-1]):
        found = acb.dft([acb(*z) for z in zip(*(part[row] for part in rows), strict=True)])[:count]
        made[0][row], made[1][row] = ([x.mid() for x in xs] for xs in ([z.real for z in found], [z.imag for z in found]))  # fmt: skip
    return np.moveaxis(made[0], -1, axis), np.moveaxis(made[1], -1, axis)


def _dft_balls(re: Any, im: Any, axis: Any) -> tuple[Any, Any]:
    return _balls(re, im, axis, re.shape[axis])


def _rdft_balls(x: Any, axis: Any) -> tuple[Any, Any]:
    return _balls(x, x - x, axis, x.shape[axis] // 2 + 1)


def _rdft_transposed_balls(re: Any, im: Any, n: Any, axis: Any) -> tuple[Any]:
    shape = [*re.shape]
    shape[axis] = n - re.shape[axis]
    zeros = np.full(shape, re.flat[0] - re.flat[0], object)
    re, im = (np.concatenate([part, zeros], axis=axis) for part in (re, im))
    return (_balls(im, re, axis, n)[1],)


# --------------------------------------------------------------------- derivatives
def _applied(
    w: Writer, routine: str, shapes: Sequence[Any], given: list[Expr], *numbers: Expr
) -> list[Expr]:
    """A transform of arrays, some of which may be 0."""
    known = next((a for a in given if a is not ZERO), None)
    if known is None:
        return [ZERO for _ in shapes]
    shape = w.shape(known)
    filled = [w.build(shape, lambda *_: ZERO) if a is ZERO else a for a in given]
    return w.calls(routine, shapes, *filled, *numbers)


def _tangents(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    """The same map."""
    count = len(SUMS[s.routine][0])
    return _applied(w, s.routine, [t.shape for _, t in s.results], dots[:count], *s.args[count:])


def _dft_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    im, re = _applied(w, "dft", [t.shape for _, t in s.results], bars[::-1], s.args[-1])
    return [re, im, ZERO]


def _rdft_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    shape, axis = w.shape(s.args[0]), s.args[-1]
    n = shape[integer(axis) or 0]
    return [*_applied(w, "rdft_transposed", [shape], bars, n, axis), ZERO]


def _rdft_transposed_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    shapes = [w.shape(a) for a in s.args[:2]]
    return [*_applied(w, "rdft", shapes, bars, s.args[-1]), ZERO, ZERO]


TRANSFORMS = {
    "dft": Routine(_dft, _dft_balls, _tangents, _dft_vjp, "_dft({0}, {1}, {2})"),
    "rdft": Routine(
        _rdft, _rdft_balls, _tangents, _rdft_vjp,
        "_first_half(_dft({0}, np.zeros_like({0}), {1}), {1})",
    ),
    "rdft_transposed": Routine(
        _rdft_transposed, _rdft_transposed_balls, _tangents, _rdft_transposed_vjp,
        "_dft(_padded({1}, {2}, {3}), _padded({0}, {2}, {3}), {3})[1]",
    ),
}  # fmt: skip
"""The routines, by their names."""
