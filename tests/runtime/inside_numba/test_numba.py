"""Symbolic functions inside of functions that Numba compiles."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba import njit, prange
from numba.experimental import jitclass

from symdiff import DomainError, SymdiffError, symgrad
from symdiff.export.measured import flat
from symdiff.ir.loop_program import LoopProgram
from tests.corpus import CASES


@symgrad
def well(r):
    return (1 - math.exp(-1.5 * (r - 1))) ** 2


@symgrad
def ratio(x, y):
    return (1 - math.cos(x * y)) / x**2


@symgrad
def root(a, b, c):
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


@symgrad
def small(x):
    return (math.cos(x) + x * x / 2 - 1) * 1e30


POINTS = [(0.0, 2.0), (1e-9, 3.0), (-1e-5, 0.7), (1.3, -2.0), (1e-160, 1e5), (4.0, 1e-200)]


@pytest.mark.slow
def test_numbers_to_the_last_bit() -> None:
    every = lambda x, y: (ratio(x, y), ratio.grad(x, y), ratio.value_and_grad(x, y), ratio.hessian(x, y))  # fmt: skip
    compiled = njit(every)
    for p in POINTS:
        assert compiled(*p) == every(*p)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "args"), [
    (root, (1.0, 1e9, 1.0)),  # what double arithmetic loses
    (small, (1e-9,)), (small, (1e-12,)), (small, (3e-20,)),  # far beyond double-double: 1e-40 of the terms
    (ratio, (3, 2)),  # integers count as numbers
])  # fmt: skip
def test_all_tiers(f, args) -> None:
    assert njit(lambda *given: f(*given))(*args) == f(*map(float, args))
    assert f is not root or f(*args) == -1e-9


def in_threads(f):
    """f of each element or row, in threads that do not hold Python's lock."""

    @njit(parallel=True)
    def rows(x):
        out = np.empty_like(x)
        for i in prange(len(x)):
            out[i] = f(x[i])
        return out

    return rows


@pytest.mark.slow
def test_parallel_loops() -> None:
    slopes = in_threads(njit(lambda v: ratio.grad(v, 2.0)[0]))
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 2000) * 10.0 ** rng.integers(-20, 3, 2000)
    want = np.array([ratio.grad(float(v), 2.0)[0] for v in x])
    np.testing.assert_array_equal(slopes(x), want)  # balls, too, though threads wait for the lock


@pytest.mark.slow
def test_arrays_broadcast() -> None:
    @njit
    def call(x, y):
        return ratio.grad(x, y)

    x, y = np.linspace(0, 1, 4), np.array([[1.0], [2.0]])
    dx, dy = call(x, y)
    assert dx.shape == dy.shape == (2, 4)
    for i in range(2):
        for k in range(4):
            assert (dx[i, k], dy[i, k]) == ratio.grad(float(x[k]), float(y[i, 0]))


@pytest.mark.slow
def test_other_ways_to_compile() -> None:
    ufunc = numba.vectorize(["float64(float64)"])(lambda r: well.grad(r))
    assert ufunc(np.array([1.0, 2.0])).tolist() == [well.grad(1.0), well.grad(2.0)]
    c = numba.cfunc("float64(float64)")(lambda r: well.hessian(r))
    assert c.ctypes(1.5) == well.hessian(1.5)

    @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def rows(x, out):
        for i in range(len(x)):
            out[i] = well(x[i])

    assert rows(np.array([1.0, 3.0])).tolist() == [well(1.0), well(3.0)]


@pytest.mark.slow
def test_closures_arguments_and_the_dispatcher() -> None:
    def newton(f):
        @njit
        def run(x):
            for _ in range(20):
                x -= f.grad(x) / f.hessian(x)
            return x

        return run

    assert newton(well)(0.9) == pytest.approx(1.0, abs=1e-15)
    apply = njit(lambda f, x: f(x))
    assert apply(well, 2.0) == well(2.0)
    assert apply(well.grad, 2.0) == well.grad(2.0)
    assert well.grad.numba(2.0) == well.grad(2.0)


@pytest.mark.slow
def test_nested_results() -> None:
    @symgrad
    def several(x):
        return np.array([[x, x**2], [1.0, math.sin(x)]]), (x, [x + 1])

    matrix, (one, two) = njit(lambda x: several(x))(0.5)
    np.testing.assert_array_equal(matrix, [[0.5, 0.25], [1.0, math.sin(0.5)]])
    assert (one, list(two)) == (0.5, [1.5])


@pytest.mark.slow
def test_defaults_may_be_left_out() -> None:
    @symgrad
    def scaled(x, factor=2.0, power=3):
        return factor * x**power

    assert njit(lambda x: scaled(x))(3.0) == scaled(3.0) == 54.0
    assert njit(lambda x: scaled.grad(x, power=2))(3.0) == scaled.grad(3.0, power=2)


_factor = 2.0


@pytest.mark.slow
def test_what_was_captured_and_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Numba does it: what is compiled from now on has the new value."""

    @symgrad
    def scaled(x):
        return _factor * x

    before = njit(lambda x: scaled(x))
    assert before(1.0) == scaled.numba(1.0) == 2.0
    monkeypatch.setitem(globals(), "_factor", 3.0)
    assert scaled.numba(1.0) == njit(lambda x: scaled.grad(x))(1.0) == 3.0
    assert before(1.0) == 2.0


@pytest.mark.slow
def test_arguments_that_are_refused() -> None:
    @symgrad
    def positive(x):
        assert x > 0
        return x * x

    call = njit(lambda x: positive(x) + positive.grad(x))
    assert call(2.0) == 8.0
    with pytest.raises(DomainError, match="this does not hold"):
        call(-2.0)

    @symgrad
    def named(x):
        if x < 0:
            raise KeyError("negative")
        return math.sqrt(x)

    with pytest.raises(KeyError, match="negative"):
        njit(lambda x: named.grad(x))(-2.0)


@pytest.mark.slow
def test_errors_that_compiled_code_catches() -> None:
    @symgrad
    def positive(x):
        assert x > 0
        return x * x

    @njit
    def total(values):
        found, refused = 0.0, 0
        for v in values:
            try:
                found += positive(v)
            except Exception:
                refused += 1
        return found, refused

    for _ in range(2):
        assert total(np.array([1.0, -1.0, 2.0, -2.0])) == (5.0, 2)

    @njit(nogil=True)
    def without_lock(values):
        out = np.empty_like(values)
        for i, v in enumerate(values):
            out[i] = positive(v)
        return out

    with pytest.warns(RuntimeWarning, match="results are nan .*DomainError"):
        np.testing.assert_array_equal(without_lock(np.array([2.0, -2.0])), [4.0, np.nan])


@pytest.mark.slow
def test_stencils_and_compiled_classes() -> None:
    @numba.stencil
    def around(a):
        return well.grad(a[0]) + a[1]

    x = np.linspace(1.0, 2.0, 4)
    np.testing.assert_array_equal(
        around(x)[:3], [well.grad(float(a)) + b for a, b in itertools.pairwise(x)]
    )

    @jitclass([("scale", numba.float64)])
    class Particle:
        def __init__(self, scale):
            self.scale = scale

        def force(self, r):
            return -self.scale * well.grad(r)

    assert Particle(2.0).force(1.5) == -2.0 * well.grad(1.5)


def test_refused() -> None:
    named = symgrad(lambda x: {"a": x})
    with pytest.raises(SymdiffError, match="a result that is a dict"):
        named.numba(1.0)


def test_neither_package_imports_the_other() -> None:
    code = "import symdiff, sys; f = symdiff.symgrad(abs); assert 'numba' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", code.replace("f = symdiff.symgrad(abs); ", "")], check=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_corpus(case: object) -> None:
    f = symgrad(case.fun, static=list(case.static) or None)
    if case.static:
        return
    raw = f._source.raw(f._default_static())
    if isinstance(raw, LoopProgram):
        return
    try:
        found = [f.numba(*at) for at in case.samples]
    except SymdiffError as refusal:
        assert "dict" in str(refusal)
        return
    for at, result in zip(case.samples, found, strict=True):
        np.testing.assert_array_equal(flat(result), flat(f(*at)))
