"""Laws that hold between calls: the bits of an element depend on its own arguments alone.

Not on how many there are, where they lie, what stands beside them, strides, threads or chunks.
Numbers, arrays and generated modules agree up to rounding.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff import AccuracyWarning, symgrad
from symdiff.errors import UnsupportedError
from tests.corpus import CASES, Case
from tests.law.made import loaded

HARD = [
    0.0, -0.0, 1e-300, -1e-300, 1e-30, -1e-8, 1e-4, 1.0, -1.0, np.pi, 1e8, -1e30, 1e300, np.inf,
    -np.inf, np.nan, 5e-324, 2.0, 0.5, 3.0,
]  # fmt: skip
"""Neighbours that raise every flag, and are computed again by every tier."""

ELEMENTWISE = [
    c for c in CASES
    if c.name not in ("array_mask", "array_where", "array_output", "asserted")
]  # fmt: skip
"""The last has an assertion, which does not hold for hard ones."""


def columns(case: Case) -> list[Any]:
    """Arguments in which ordinary elements stand beside hard ones."""
    rng = np.random.default_rng(5)
    samples = np.array(case.samples, float)
    return [
        rng.permutation(np.concatenate([c, HARD, rng.normal(size=9), 10 ** rng.uniform(-9, 9, 4)]))
        for c in samples.T
    ]


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for v in value for leaf in flat(v)]
    return [np.asarray(value, float)]


def same_bits(a: Any, b: Any) -> bool:
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return bool(np.all((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))))


def unaligned(a: Any) -> Any:
    moved = np.frombuffer(bytearray(8 * a.size + 8), np.float64)[1:]
    moved[:] = a
    return moved


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "what"),
    [
        pytest.param(c, what, id=f"{c.name}-{what}")
        for c in ELEMENTWISE
        for what in ("value", "gradient")
        if what == "value" or c.gives_a_number
    ],
)
def test_elements_do_not_depend_on_others(case: Case, what: str) -> None:
    f = symgrad(case.fun, static=tuple(case.static)) if case.static else symgrad(case.fun)
    g: Callable[..., Any] = f if what == "value" else f.grad
    args = columns(case)
    n = len(args[0])
    whole = flat(g(*args, **case.static))
    assert all(w.shape == (n,) for w in whole)

    def check(chosen: Any, moved: Callable[[Any], Any] = np.copy) -> None:
        found = flat(g(*(moved(a[chosen]) for a in args), **case.static))
        for w, v in zip(whole, found, strict=True):
            assert same_bits(w[chosen], v), chosen

    for chosen in (slice(1, 4), slice(3, 20), slice(0, n, 3), slice(None, None, -1)):
        check(chosen, lambda a: a)
    for k in range(0, n, 3):
        try:
            check(slice(k, k + 1))
        except UnsupportedError as refused:  # Python takes the truth of an array of one element
            assert "an array of one element has a truth" in str(refused)
            numbers = [a[k] for a in args]
            for w, v in zip(whole, flat(g(*numbers, **case.static)), strict=True):
                # numbers go through the C library, arrays through SIMD functions
                assert same_bits(w[k], v) or abs(w[k] - v) <= 2 * np.spacing(abs(v)), k
    check(slice(0, n), unaligned)
    with contextlib.suppress(AccuracyWarning), warnings.catch_warnings():
        warnings.simplefilter("error", AccuracyWarning)  # three times the balls of one call
        check(np.arange(3 * n) % n)


# ------------------------------------------------------------------- rows of arrays
def mirrored(m):
    return np.sin(m[:, ::-1]) + np.exp(m[:, ::-1]) * np.log(2 + m[:, ::-1] ** 2)


def sums_of_squares(m):
    return np.sum(m * m, axis=1)


def loops(m):
    t = np.zeros(m.shape[0])
    for i in range(m.shape[0]):
        s = 0.0
        for k in range(m.shape[1]):
            s += np.sin(m[i, k]) * m[i, k]
        t[i] = s
    return t


def with_a_vector(m):
    return m @ np.cos(np.arange(m.shape[1]) * 1.0)


def shares(m):
    e = np.exp(m - np.max(m, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


def lengths(m):
    return np.sqrt(np.sum(m**2, axis=1)) + np.mean(m, axis=1)


def shifted(m):
    t = np.zeros_like(m)
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            t[i, j] = 0.5 * t[i, j - 1] + np.tanh(m[i, j])
    return t


ROWS: dict[str, Callable[[Any], Any]] = {
    "mirrored": mirrored,
    "sums of exponentials": lambda m: np.sum(np.exp(m) * m, axis=1),
    "sums of squares": sums_of_squares,
    "loops": loops,
    "with a vector": with_a_vector,
    "with a matrix": lambda m: m @ np.outer(np.arange(m.shape[1]) * 0.3, [1.0, 2.0, -3.0, 0.7, 5.0, 1.1]),
    "shares": shares,
    "lengths": lengths,
    "running": lambda m: np.cumsum(np.sin(m), axis=1),
    "shifted": shifted,
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast", "strict"])
@pytest.mark.parametrize("fun", ROWS.values(), ids=ROWS)
def test_rows_do_not_depend_on_others(fun, accuracy) -> None:
    """Whether they are computed in lanes, several at a time or alone."""
    f = symgrad(fun, accuracy=accuracy)
    rng = np.random.default_rng(3)
    for m in (5, 37):
        x = rng.normal(size=(23, m))
        whole = f(x)
        for first, past in ((0, 4), (3, 10), (2, 23), *((k, k + 1) for k in range(23))):
            assert same_bits(f(x[first:past]), whole[first:past]), (m, first, past)
        assert same_bits(f(np.asfortranarray(x)), whole)


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [mirrored, sums_of_squares, with_a_vector, shares, lengths])
def test_rows_do_not_depend_on_threads(fun) -> None:
    x = np.random.default_rng(4).normal(size=(3001, 37))
    alone = symgrad(fun, parallel=False)(x)
    assert same_bits(symgrad(fun, parallel=True)(x), alone)
    assert same_bits(symgrad(fun, parallel=False)(x[1000:1010]), alone[1000:1010])


# ------------------------------------------------------------------ ways to compute
@pytest.mark.slow
@pytest.mark.parametrize("case", ELEMENTWISE[::3], ids=lambda c: c.name)
def test_numbers_arrays_and_modules_agree(case: Case, tmp_path: Path) -> None:
    """Numbers are within 4 units in the last place of the truth and arrays within 8: so within 12
    of each other, and of what generated modules have."""
    f = symgrad(case.fun, static=tuple(case.static)) if case.static else symgrad(case.fun)
    path = tmp_path / "kernels.py"
    numbers = [flat(f(*s, **case.static)) for s in case.samples]
    whole = flat(f(*np.array(case.samples).T, **case.static))
    f.save(str(path), companion=None, **case.static)
    module = loaded(path)
    for k, (sample, number) in enumerate(zip(case.samples, numbers, strict=True)):
        made = flat(getattr(module, case.name)(*sample))
        for a, b, c in zip(number, whole, made, strict=True):
            if b.shape == (len(case.samples),):
                np.testing.assert_array_max_ulp(a, b[k], 12)
            np.testing.assert_array_max_ulp(a, c, 12)
