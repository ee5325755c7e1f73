"""NumPy's functions with the arguments they take, beside plain Python: value, shape and kind; and a
derivative along a direction by differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

from symdiff import SymdiffError, symgrad
from tests.fuzz.law import difference

V = np.array([0.3, -0.7, 1.2, 0.9])
M = np.array([[0.3, -0.7, 1.2], [0.9, 0.2, -1.1]])
T = np.sin(np.arange(12.0) * 1.7 + 0.2).reshape(2, 2, 3)
Q = np.array([[2.3, -0.7, 0.2], [0.9, 3.2, -1.1], [0.4, 0.6, 1.7]])


def slope(plain: Callable[[Any], Any], x: Any, direction: Any) -> float:
    """The derivative of the sum of all results, by differences."""

    def total(h: float) -> Any:
        found = plain(x + h * direction)
        leaves = found if isinstance(found, (tuple, list)) else (found,)
        return sum(np.sum(v) for v in leaves if np.asarray(v).dtype.kind == "f")

    wide = (total(1e-4) - total(-1e-4)) / 2e-4
    narrow = (total(5e-5) - total(-5e-5)) / 1e-4
    return float((4 * narrow - wide) / 3)


def beside_python(f: Callable[[Any], Any], x: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = f(x.copy())
        traced = symgrad(f, accuracy="fast")
        got = traced(x)
        assert not difference(got, want)
        leaves = want if isinstance(want, (tuple, list)) else (want,)
        if not any(np.asarray(v).dtype.kind == "f" for v in leaves):
            return
        direction = np.where(np.arange(x.size).reshape(x.shape) % 2, 1.0, -0.5)
        _, moved = traced.jvp((x,), (direction,))
        parts = moved if isinstance(moved, (tuple, list)) else (moved,)
        found = float(sum(np.sum(v) for v in parts if v is not None))
        assert found == pytest.approx(slope(f, x, direction), rel=1e-6, abs=1e-6)


REDUCED = [
    lambda x: np.sum(x, axis=0, where=x > 0),
    lambda x: np.sum(x, axis=-1, keepdims=True, where=x > 0),
    lambda x: np.prod(x, axis=0, where=x > 0, initial=2.0),
    lambda x: np.prod(x, dtype=float),
    lambda x: np.mean(x, axis=0, where=[[True], [False]]),
    lambda x: np.mean(x, keepdims=True, where=np.array([True, False, True])),
    lambda x: np.mean(x, axis=-1, dtype=float),
    lambda x: np.std(x, axis=0, where=x > -0.6),
    lambda x: np.var(x, keepdims=True, where=x > 0),
    lambda x: np.std(x, axis=0, correction=1),
    lambda x: np.any(x > 0.25, axis=0, where=x > 0),
    lambda x: np.all(x > 0.25, axis=-1, keepdims=True, where=x > 0),
    lambda x: np.count_nonzero(x > 0, axis=1, keepdims=True),
    lambda x: x.max(initial=0.5),
    lambda x: x.min(axis=1, initial=0.1),
    lambda x: x.max(where=x < 1, initial=-9.0),
    lambda x: x.sum(axis=0, where=x > 0, initial=1.5),
    lambda x: x.prod(initial=2),
    lambda x: x.std(where=x > 0),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", REDUCED)
def test_reductions_of_what_a_condition_selects(f: Callable[[Any], Any]) -> None:
    beside_python(f, M)


SELECTED = [
    lambda x: np.sum(x[x > 0], keepdims=True),
    lambda x: np.mean(x[x > 0], axis=0, keepdims=True),
    lambda x: np.max(x[x > 0], keepdims=True),
    lambda x: np.var(x[x > 0], axis=0, keepdims=True),
    lambda x: np.sum(x[x[:, 0] > 0.5], axis=-1),
    lambda x: np.mean(x[x[:, 0] > 0.5], axis=1, keepdims=True),
    lambda x: np.std(x[x[:, 0] > 0.1], axis=-1),
    lambda x: np.max(x[x[:, 0] > 0.5], axis=0, keepdims=True),
    lambda x: np.mean(x[x[:, 0] > 0.5], axis=(0, 1)),
    lambda x: np.sum(x[x[:, 0] > 0.5], axis=-2),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", SELECTED)
def test_axes_of_a_selection_are_those_that_are_left(f: Callable[[Any], Any]) -> None:
    beside_python(f, M)


@pytest.mark.slow
def test_rows_of_matrices_that_are_selected_are_reduced_along_their_axes() -> None:
    beside_python(lambda x: np.mean(x[x[:, 0, 0] > -9], axis=-1), T)
    beside_python(lambda x: np.std(x[x[:, 0, 1] > 0], axis=0, keepdims=True), T)
    beside_python(lambda x: np.sum(x, axis=(0, 2), where=x > 0), T)


def test_integers_in_arrays_of_floats_are_floats() -> None:
    def stored(x: Any) -> Any:
        a = np.zeros(3)
        a[0], a[1] = len(x), bool(x[0] > 0) * 2
        return a[0], a[1], a

    beside_python(stored, V)
    beside_python(lambda x: np.array([0.5, len(x)])[1], V)
    beside_python(lambda x: np.rint(len(x)), V)
    beside_python(lambda x: np.rint(np.arange(3)), V)
    assert isinstance(symgrad(lambda x: np.rint(x))(3), float)


def test_piecewise_gives_what_the_argument_is() -> None:
    beside_python(lambda x: np.piecewise(x, [x < 0, x >= 0.5], [-1, 1, 0]), V)
    f = symgrad(lambda x: np.piecewise(x, [x < 0, x >= 2], [-1, 1.5, 0]))
    got = f(np.array([-1, 1, 3]))
    assert got.dtype == int and list(got) == [-1, 0, 1]


@pytest.mark.sampled
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[1.2, 0.5, 0.0], [0.0, 0.5, 1.2], [0.3]])
def test_digitize(bins: Any, right: bool) -> None:
    beside_python(lambda x: np.digitize(x, bins, right=right), V)


@pytest.mark.slow
def test_places_along_an_axis_count_from_the_end_and_are_checked() -> None:
    beside_python(lambda x: np.take_along_axis(x, np.array([[-1], [0]]), 1), M)
    beside_python(lambda x: np.take_along_axis(x, np.argsort(x, axis=0), 0), M)
    with pytest.raises(SymdiffError, match="index is out of range"):
        symgrad(lambda x: np.take_along_axis(x, np.array([[3], [0]]), 1))(M)
    with pytest.raises(SymdiffError, match="another number of axes"):
        symgrad(lambda x: np.take_along_axis(x, np.array([0, 1]), 1))(M)


def test_strict_zip_of_arrays() -> None:
    f = symgrad(lambda x, y: sum(a * b for a, b in zip(x, y, strict=True)))
    assert f(V, V) == pytest.approx(V @ V)
    with pytest.raises(ValueError, match="has the size"):
        f(V, V[:3])


@pytest.mark.slow
def test_diagonals_of_cubes_are_filled() -> None:
    def filled(x: Any) -> Any:
        y = x * 1.0
        np.fill_diagonal(y, 9.0)
        return y

    beside_python(filled, np.arange(8.0).reshape(2, 2, 2))
    beside_python(filled, np.arange(12.0).reshape(4, 3))
    with pytest.raises(ValueError, match="size"):
        symgrad(filled)(T)


@pytest.mark.slow
def test_norms_refuse_what_numpy_refuses() -> None:
    beside_python(lambda x: np.linalg.vector_norm(x, ord=1, keepdims=True), Q)
    beside_python(lambda x: np.linalg.vector_norm(x, axis=0), Q)
    for f in (lambda x: np.linalg.norm(x, "fro", axis=1), lambda x: np.linalg.norm(x, 1)):
        with pytest.raises(SymdiffError):
            symgrad(f)(T)


@pytest.mark.slow
def test_the_logarithm_of_gamma_is_complex_below_zero() -> None:
    x = np.array([-0.7, 0.3, 2.0])
    f = symgrad(lambda x: scipy.special.loggamma(x))
    np.testing.assert_allclose(f(x), scipy.special.loggamma(x), rtol=1e-14)
    np.testing.assert_allclose(f.grad(x)[1:], scipy.special.psi(x[1:]), rtol=1e-13)


def test_constants_that_python_rounds_are_no_difference() -> None:
    f = symgrad(lambda x: (np.sum(x), x * (1 + 1e-9) - x))
    np.testing.assert_allclose(f(V)[1], 1e-9 * V, rtol=1e-15)
    assert symgrad(lambda x: x * (1 + 1e-9) - x)(1.3) == 1.3e-9
    with pytest.raises(SymdiffError, match="integers"):
        symgrad(lambda x: np.sum(x, dtype=int))(V)


def test_objects_without_an_order_are_not_compared() -> None:
    from dataclasses import dataclass

    @dataclass
    class Pair:
        a: Any
        b: Any

    f = symgrad(lambda x: x if Pair(x, 1.0) == Pair(2.0, 1.0) else -x)
    assert f(2.0) == 2.0
    assert f(3.0) == -3.0
    with pytest.raises(SymdiffError, match="objects are compared"):
        symgrad(lambda x: Pair(x, 1.0) < Pair(x, 2.0))(2.0)


ROWS = np.array([[0.3, 2.7, -2.9], [1.1, -2.1, 3.1]])
REARRANGED = [
    lambda x: np.unwrap(x),
    lambda x: np.unwrap(x * 4, axis=0, discont=4.0),
    lambda x: np.unwrap(x, period=2.0),
    lambda x: np.modf(x),
    lambda x: np.modf(-x)[0] * np.ldexp(x, 2),
    lambda x: np.take(x, [5, -9], mode="wrap"),
    lambda x: np.take(x, [5, -9], axis=0, mode="clip"),
    lambda x: np.delete(x, [0, -1], axis=-1),
    lambda x: np.isneginf(x) | np.isposinf(-x) | np.isreal(x),
    lambda x: np.add.reduce(x, keepdims=True) * np.add.reduce(x, axis=-1, initial=2.0)[:, None],
    lambda x: np.maximum.reduce(x, axis=0, initial=0.5),
    lambda x: np.logical_and.reduce([x > 0, x < 1]),
    lambda x: np.add.reduceat(x, [0, 1]) * np.add.reduceat(x[0], [0, 2, 1]),
    lambda x: np.trapezoid(x, np.cumsum(np.ones(x.shape), axis=0) ** 2, axis=0),
    lambda x: x.compress([True, False], axis=0).sum() * x.conj(),
    lambda x: np.fromiter((v * 2 for v in x.ravel()), float),
    lambda x: np.insert(x[0], [1, 2], [5.0, 6.0]),
    lambda x: np.linalg.tensordot(x, x) + np.linalg.diagonal(x, offset=1).sum(),
    lambda x: np.linalg.outer(x[0], x[1]) @ np.linalg.cross(x[0], x[1]),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", REARRANGED)
def test_other_functions_of_numpy(f: Callable[[Any], Any]) -> None:
    beside_python(f, ROWS)


SERIES = [
    lambda x: np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 3.0, 0.5]),
    lambda x: np.polynomial.legendre.legval(x, np.array([1.0, 2.0, 3.0, 0.5])),
    lambda x: np.polynomial.hermite.hermval(x, [1.0, 2.0, 3.0, 0.5]),
    lambda x: np.polynomial.hermite_e.hermeval(x, [1.0, 2.0, 3.0, 0.5, -0.1]),
    lambda x: np.polynomial.laguerre.lagval(x, [1.0, 2.0, 3.0, 0.5]),
    lambda x: np.polynomial.laguerre.lagval(x, [1.0]),
    lambda x: np.polynomial.legendre.legval([0.3, 0.5], x),
    lambda x: np.polynomial.chebyshev.chebval(0.3, x),
    lambda x: np.polynomial.polynomial.polyder(x) + np.polynomial.polynomial.polyint(x)[:-2],
    lambda x: np.polynomial.polynomial.polyadd(x, [1.0, 2.0]),
    lambda x: np.polynomial.polynomial.polysub([1.0, 2.0], x),
    lambda x: np.polynomial.polynomial.polymul(x, [1.0, 2.0]),
    lambda x: np.polynomial.polynomial.polyvander(x, 2),
    lambda x: np.polyadd(x, [1.0, 2.0]) * np.polysub([1.0, 2.0], x) + np.polyint(x, k=3.0)[0],
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", SERIES)
def test_series_of_polynomials(f: Callable[[Any], Any]) -> None:
    beside_python(f, V)


KNOWN = [
    lambda x: np.sum(np.polynomial.legendre.leggauss(3)[1] * np.exp(x[0] * np.polynomial.legendre.leggauss(3)[0])),
    lambda x: np.hanning(4) * np.kaiser(4, 2.0) * x + np.blackman(5)[1:] * np.fft.fftfreq(4),
    lambda x: scipy.special.comb(5, 2) * scipy.special.roots_hermite(4)[0] * x,
    lambda x: np.linalg.eigvals(np.array([[2.0, 1.0], [1.0, 3.0]])) * x[:2],
    lambda x: np.zeros(np.broadcast_shapes((1, 2), (3, 1))) + x[0],
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", KNOWN)
def test_what_is_called_with_known_numbers_is_called_by_python(f: Callable[[Any], Any]) -> None:
    beside_python(f, V)


@pytest.mark.slow
def test_what_python_computes_may_be_changed() -> None:
    def f(x: Any) -> Any:
        a, b = np.hanning(4), np.hanning(4)
        a[1] = x[0]
        return a + b

    beside_python(f, V)
    with pytest.raises(SymdiffError, match="cannot be traced"):
        symgrad(lambda x: np.roots(x))(V)


def test_statistics_and_iterators() -> None:
    import itertools
    import math
    import operator
    import statistics

    def f(x: Any) -> Any:
        parts = [x, 2 * x, 0.5]
        found = [statistics.mean(parts), statistics.stdev(parts), statistics.median(parts)]
        found += itertools.starmap(operator.mul, [(x, 2), (2, x)])
        found += itertools.takewhile(lambda v: v < 1, [0.1, 0.2, 3])
        return (*math.modf(-2.5 * x), operator.abs(-x), operator.not_(x), *found)

    got, want = symgrad(f)(0.7), f(0.7)
    assert got == pytest.approx(want, rel=1e-14)
    assert list(map(type, got)) == list(map(type, want))


@pytest.mark.slow
def test_places_that_are_deleted_or_inserted_at_are_checked() -> None:
    for f in (
        lambda x: np.delete(x, 1), lambda x: np.delete(x, -1), lambda x: np.delete(x, [0, -2]),
        lambda x: np.insert(x, 1, 5.0), lambda x: np.insert(x, -1, 5.0), lambda x: np.insert(x, 4, 5.0),
        lambda x: np.insert(x, [0, 4], [5.0, 6.0]),
    ):  # fmt: skip
        beside_python(f, V)
    for f in (
        lambda x: np.delete(x, 4), lambda x: np.delete(x, -5), lambda x: np.delete(x, [0, 5]),
        lambda x: np.insert(x, 6, 5.0), lambda x: np.insert(x, [1, 6], 5.0),
    ):  # fmt: skip
        with pytest.raises((IndexError, SymdiffError)):
            symgrad(f)(V)
