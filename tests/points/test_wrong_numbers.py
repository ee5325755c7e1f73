"""Programs of numbers that were wrong at some points: one class each, with siblings.

The truth is the plain chain rule on the source in arithmetic of hundreds of digits, with limits
from all sides where that has no value (`tests.fuzz.jets`).
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
from mpmath import mp, mpf

from symdiff import symgrad
from tests.fuzz.jets import Truth, compiled, truths
from tests.fuzz.scalars import INNER, QUOTIENTS, ROOTS, Program, faults, load

ULPS = 16.0


def misses(got: float, true: Truth) -> bool:
    """Whether an answer is not the truth."""
    with mp.workdps(60):
        if true.kind == "between":
            return not mpf(true.value) <= mpf(got) <= mpf(true.other)
        unit = mpf(math.ulp(float(true.value)))
        if true.kind == "limit" and true.value == 0:
            unit = mpf(10) ** -25
        return not (math.isfinite(got) and abs(mpf(got) - true.value) <= ULPS * unit)


def wrong(source: str, folder: Path, places: Any) -> Iterator[str]:
    """Values and slopes that are not the truth."""
    f, exact = symgrad(load(source, folder)), compiled(source)
    for x in places:
        for got, true in zip((f(x), f.grad(x)), truths(exact, (x,), 0), strict=False):
            if true.kind in ("exact", "limit", "between") and misses(got, true):
                yield f"{x}: {got}, {true}"


BESIDE = (0.0, 1e-30, -1e-30, 1e-9, -1e-9, -1e-3, 0.2, -0.7)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "core",
    [c if k < 8 else pytest.param(c, marks=pytest.mark.slow) for k, c in enumerate(ROOTS)],
)
def test_roots_of_even_order_are_positive_on_both_sides(core: str, tmp_path: Path) -> None:
    source = f"def f(u):\n    return {core}\n"
    assert list(wrong(source, tmp_path, BESIDE)) == []


def test_a_root_keeps_its_sign_in_two_variables() -> None:
    f = symgrad(lambda x, y: x * np.sqrt(1 + (y / x) ** 2))
    assert f(-0.001, -2.0) == pytest.approx(-math.hypot(0.001, 2.0), rel=1e-15)
    assert f(-0.001, 2.0) == -f(0.001, 2.0)
    g = symgrad(lambda x, y: np.sqrt((x - y) ** 2 * (1 + x * x)))
    assert (g(1.0, 1.0), g.grad(1.0, 1.0)) == (0.0, (0.0, 0.0))
    assert g.grad(1.0, 1.5)[1] == pytest.approx(math.sqrt(2.0), rel=1e-15)
    h = symgrad(lambda x, y: np.sqrt(3 * (x * x + y * y)))
    assert h.grad(0.0, 0.0) == (0.0, 0.0)


def test_what_jumps_is_not_filled() -> None:
    f = symgrad(lambda x: (x**2 + x**4) ** 0.5 / x)
    assert math.isnan(f(0.0))
    assert (f(-1e-30), f(1e-30)) == (-1.0, 1.0)


def test_kinks_have_the_mean_of_both_sides() -> None:
    f = symgrad(lambda x: np.sqrt(1 - np.cos(x)))
    assert (f(0.0), f.grad(0.0)) == (0.0, 0.0)
    x = np.array([-1e-30, 0.0, 1e-30, -2.0])
    want = np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5), math.sin(-2) / 2 / f(-2.0)])
    assert np.allclose(f.grad(x), want, rtol=1e-15)


# -------------------------------------------------------------------------- guards
STYLES = ("equal", "nonzero", "narrow", "band", "square")
FEW = [(INNER[9], QUOTIENTS[0], "equal"), (INNER[10], QUOTIENTS[1], "narrow"),
       (INNER[11], QUOTIENTS[3], "equal"), (INNER[12], QUOTIENTS[4], "band"),
       (INNER[14], QUOTIENTS[5], "square"), (INNER[15], QUOTIENTS[2], "nonzero")]  # fmt: skip
GRID = [c for c in itertools.product(INNER, QUOTIENTS, STYLES) if c not in FEW]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("inner", "quotient", "style"),
    [*FEW, *(pytest.param(*c, marks=pytest.mark.slow) for c in GRID[::13])],
)
def test_guards_of_any_quantity(
    inner: tuple[float, str], quotient: tuple[str, str], style: str, tmp_path: Path
) -> None:
    place, text = inner
    core, limit = quotient
    tree = (text.replace("{x}", "{0}"), "x")
    p = Program("guards", ("x",), tree, core, "v", place, ("u", style, limit))
    exact = compiled(p.source(guarded=False))
    true = truths(exact, (place,), 0)[1]
    f = symgrad(load(p.source(), tmp_path))
    assert not misses(f.grad(place), true)
    assert not misses(float(f.grad(np.array([place, place + 0.5]))[0]), true)


@pytest.mark.slow
def test_guards_inside_of_library_functions() -> None:
    f = symgrad(lambda x: scipy.special.exprel(np.sin(x - 3)))
    assert f.grad(3.0) == 0.5
    assert np.allclose(f.grad(np.array([3.0, 3.0 + 1e-9])), 0.5)
    g = symgrad(lambda x, y: scipy.special.boxcox1p(x, np.sinh(y - 1)))
    want = math.log(3.0), 1 / 3, math.log(3.0) ** 2 / 2
    assert (g(2.0, 1.0), *g.grad(2.0, 1.0)) == pytest.approx(want, rel=1e-15)
    h = symgrad(lambda x, y: scipy.special.boxcox(x, y**3 - y), accuracy="certified")
    assert h.grad(2.0, 1.0)[1] == pytest.approx(math.log(2.0) ** 2, rel=1e-15)


def test_a_quantity_that_is_singular_where_it_vanishes() -> None:
    def f(x):
        u = math.sqrt(x)
        return 1.0 if u == 0 else math.expm1(u) / u

    assert symgrad(f).grad(0.0) == math.inf  # of 1 + sqrt(x)/2

    def g(x):
        u = abs(x)
        return 1.0 if u == 0 else math.expm1(u) / u

    assert symgrad(g).grad(0.0) == 0.0


# ---------------------------------------------------------------------- deep, scaled
@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "certified"])
def test_values_under_deep_underflow(accuracy: str) -> None:
    f = symgrad(lambda x: (1 - np.cos(np.exp(-x * x))) / np.exp(-2 * x * x), accuracy=accuracy)
    g = symgrad(lambda x: np.expm1(np.exp(-x * x)) / np.exp(-x * x), accuracy=accuracy)
    h = symgrad(lambda x: scipy.special.exprel(np.exp(x)), accuracy=accuracy)
    for x in (30.0, 90.0, 100.0, 1e10, 1e50):
        assert (f(x), f.grad(x)) == (0.5, 0.0)
        assert g(x) == 1.0
        assert h(-x * x) == 1.0


@pytest.mark.slow
def test_elements_do_not_depend_on_how_many_there_are() -> None:
    f = symgrad(lambda n, theta, T, tau: n * theta * T / np.tanh(theta * T * tau))
    r = np.random.default_rng(1)

    def mixed() -> Any:
        wide = np.ldexp(r.uniform(0.5, 1, 64), r.integers(-1000, 1000, 64))
        return np.where(r.random(64) < 0.5, r.standard_normal(64), wide)

    arrays = [mixed() for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = f.grad(*arrays)
    for i in range(0, 64, 5):
        alone = f.grad(*(float(a[i]) for a in arrays))
        for row, one in zip(rows, alone, strict=True):
            assert row[i] == pytest.approx(one, rel=2e-15, abs=0) or math.isnan(one)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("text", "x", "want"),
    [
        ("(1e-200*x)**2", 1e150, 1e-100),
        ("(1e200*x)**2", 1e-150, 1e100),
        ("0.5*1e308*8*x", 1e-150, 4e158),
        ("x**2/1e-300*1e-200*1e-200", 1e150, 1e200),
        ("(x*1e200)**3/1e300/1e200", 1e-50, 1e-50),
        ("np.sqrt((x*1e200)**2 + 1e200**2)", 1.0, math.sqrt(2) * 1e200),
        ("x*(1e-200*1e-200) + 1e-200*1e-250", -1e-49, 0.0),
        ("1.0 if x < 1e200*1e200 else 2.0", 1e308, 1.0),
        ("1.0 if x < 1e-200*1e-200 else 2.0", 0.0, 2.0),  # which is 0 in Python
        ("1.0 if -1e-200*1e-200 < x else 2.0", 0.0, 2.0),
        ("(1e200*1e200)**x/1e10**x", 0.5, 1e195),
    ],
)
def test_constants_beyond_the_range_of_doubles(
    text: str, x: float, want: float, tmp_path: Path
) -> None:
    f = symgrad(load(f"import numpy as np\n\n\ndef f(x):\n    return {text}\n", tmp_path))
    assert f(x) == pytest.approx(want, rel=4e-16, abs=1e-320)
    assert f(np.array([x, x]))[0] == pytest.approx(want, rel=1e-15, abs=1e-320)
    f.grad(x)


# ------------------------------------------------------------------------- domains
def test_every_executed_operation_counts() -> None:
    def dead(x):
        t = math.log(x)  # noqa: F841 - that it is not used is the point
        return x

    def branch(x):
        if x > 0:
            math.sqrt(x - 1)
        return 2.0 * x

    f, g = symgrad(dead), symgrad(branch)
    assert math.isnan(f(-1.0)) and f(2.0) == 2.0
    assert math.isnan(g(0.5)) and (g(-1.0), g(2.0)) == (-2.0, 4.0)
    assert math.isnan(symgrad(lambda x, y: x % y)(1.0, 0.0))
    assert math.isnan(symgrad(lambda x: 0.0 * math.log(x - x))(1.0))


def test_no_nan_beside_a_filled_point() -> None:
    f = symgrad(lambda x, y: np.sinc(x) * scipy.special.polygamma(1, y))
    assert f.grad(0.0, 2.25)[0] == 0.0
    assert f.grad(0.0, 2.25)[1] == pytest.approx(scipy.special.polygamma(2, 2.25), rel=1e-14)


# ------------------------------------------------------------------------- fuzzing
@pytest.mark.slow
def test_two_minutes_of_random_programs(tmp_path: Path) -> None:
    from tests.fuzz.scalars import fuzz

    tally = fuzz(90, 2026, tmp_path, shrink=False)
    assert tally.failures == []
    assert not tally.refused


def test_the_fuzzer_sees_a_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a truth of another program, all that differs is a fault."""
    import tests.fuzz.scalars as fuzzing

    monkeypatch.setattr(fuzzing, "compiled", lambda s: compiled(s.replace("v*2.0", "v*2.000001")))
    p = Program("powers", ("x",), "x", "u**2", ("{0}*2.0", "v"), 1.0)
    assert next(faults(p, tmp_path, 0)).kind == "garbage"
