"""`engine="numba"`: everything by generated source that Numba compiles, without LLVM of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numba import njit

from symdiff import DomainError, SymdiffError, symgrad
from symdiff.codegen.llvm import jit
from symdiff.export.measured import flat
from symdiff.pipeline.kernels import generated
from symdiff.runtime import cache, generated_modules
from tests.array_corpus import CASES as ARRAY_CASES
from tests.corpus import CASES
from tests.law.alike import differences
from tests.law.made import formula

SAMPLED = ("rational_quotient", "exact_constants", "augmented", "rounding")
"""Cases that are run by default."""


def few(cases: Iterable[Any]) -> Callable[[Any], Any]:
    """A test of all cases, of which few are run by default."""
    marks = lambda c: [] if c.name in SAMPLED else pytest.mark.slow
    given = [pytest.param(c, marks=marks(c), id=c.name) for c in cases]
    return lambda test: pytest.mark.sampled(pytest.mark.parametrize("case", given)(test))


@pytest.fixture
def without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own compiler must not be called, where no element is flagged."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("LLVM is used directly")

    monkeypatch.setattr(jit, "compile_object", refuse)
    monkeypatch.setattr(jit.Linked, "__init__", refuse)


ratio = formula("ratio", "x, y", "(1 - math.cos(x * y)) / x**2")
spread = formula("spread", "d", "np.sum(1 - np.cos(d)) / np.sum(d**2)")


def positive(x):
    assert x > 0
    return math.log(x)


def ewma(d):
    e = np.zeros(d.shape[0])
    for row in range(d.shape[0]):
        for col in range(d.shape[1]):
            e[row] = 0.5 * d[row, col] + 0.5 * e[row]
    return np.sum(e)


@pytest.mark.slow
def test_a_short_function(without_llvm: None) -> None:
    f = symgrad(lambda x: x * x + 1, engine="numba")
    assert (f(3.0), f.grad(3.0)) == (10.0, 6.0)
    np.testing.assert_array_equal(f(np.arange(3.0)), [1.0, 2.0, 5.0])


@pytest.mark.slow
def test_numbers_and_arrays_of_them() -> None:
    f = symgrad(ratio, engine="numba")
    assert f(0.0, 2.0) == 2.0
    assert f.grad(1e-9, 3.0) == pytest.approx((-6.75e-9, 3.0), rel=4e-16)
    x = np.array([[0.0, 1e-9], [-0.5, 2.0]])
    value, (dx, dy) = f.value_and_grad(x, 2.0)
    for k in np.ndindex(2, 2):
        assert (value[k], (dx[k], dy[k])) == f.value_and_grad(float(x[k]), 2.0)
    out = np.empty((2, 2))
    assert f(x, 2.0, out=out) is out
    np.testing.assert_array_equal(out, f(x, 2.0))
    np.testing.assert_array_max_ulp(out, value, 1)  # of another kernel, with the slopes
    single = f(x.astype(np.float32), np.float32(2))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, value, rtol=1e-6)
    np.testing.assert_array_equal(f.map(x[0], 2.0), value[0])


@pytest.mark.slow
def test_lost_digits_and_limits() -> None:
    f = symgrad(spread, engine="numba")
    at = np.array([1e-9, 2e-9])
    np.testing.assert_allclose(f.grad(at), [7 / 3e11, -4.6e-10 / 3], rtol=1e-13)
    assert f(np.zeros(2)) == 0.5


@pytest.mark.slow
def test_loops_and_rows(without_llvm: None) -> None:
    f = symgrad(ewma, engine="numba")
    np.testing.assert_array_equal(f.grad(np.array([[0.4, 0.7, 0.1]])), [[0.125, 0.25, 0.5]])
    np.testing.assert_array_equal(f.map(np.ones((2, 1, 3))), [0.875, 0.875])
    place = np.empty((1, 3))
    assert f.grad(np.ones((1, 3)), out=place) is place
    np.testing.assert_array_equal(place, [[0.125, 0.25, 0.5]])


@pytest.mark.slow
def test_errors_are_the_same() -> None:
    f = symgrad(positive, engine="numba")
    with pytest.raises(DomainError, match=r"this does not hold.*x = -1.0"):
        f(-1.0)
    with pytest.raises(DomainError, match=r"this does not hold.*x = -2.0"):
        f(np.array([1.0, -2.0]))
    with pytest.raises(SymdiffError, match="axis 0 of b has another size"):
        symgrad(lambda a, b: np.sum(a * b), engine="numba")(np.ones(3), np.ones(4))


@pytest.mark.slow
def test_inside_of_compiled_functions() -> None:
    f = symgrad(ratio, engine="numba")
    assert njit(lambda x: f.grad(x, 2.0))(0.3) == f.grad(0.3, 2.0)
    assert f.numba(0.3, 2.0) == f(0.3, 2.0)


def test_refused() -> None:
    with pytest.raises(SymdiffError, match="unknown engine 'gcc'"):
        symgrad(ratio, engine="gcc")
    for more in ({"target": "cuda"}, {"accuracy": "certified"}):
        with pytest.raises(SymdiffError, match='engine="numba" with'):
            symgrad(ratio, engine="numba", **more)
    with pytest.raises(SymdiffError, match="no LLVM IR"):
        symgrad(ratio, engine="numba").source("llvm")


def test_modules_are_kept_and_trimmed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(generated_modules, "MOST", 8)
    for k in range(12):
        assert generated_modules.loaded(f"x = {k}\n", True).x == k
    folder = tmp_path / cache.MODULES
    assert 6 <= len(list(folder.glob("*.py"))) <= 9
    assert not folder.stat().st_mode & 0o077
    cache.clear()
    assert not folder.exists()


def test_what_was_changed_on_disk_is_written_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))
    module = generated_modules.loaded("x = 'kept'\n", True)
    del sys.modules[module.__name__]
    (tmp_path / cache.MODULES / f"{module.__name__}.py").write_text("x = 'changed'\n")
    assert generated_modules.loaded("x = 'kept'\n", True).x == "kept"


def compare(case: Any, points: list[tuple[Any, ...]], slopes: Any, **tolerance: float) -> None:
    """Values, and gradients where `slopes` says of a value that it has one, with those of the other engine."""
    options: dict[str, Any] = {"static": list(case.static or ()) or None, "verify": False}
    ours, other = symgrad(case.fun, **options), symgrad(case.fun, engine="numba", **options)
    static = dict(case.static or {})
    pairs = [(ours, other)]
    if slopes(flat(ours(*points[0], **static))):
        pairs.append((ours.grad, other.grad))
    wanted = [[flat(f(*at, **static)) for f, _ in pairs] for at in points]
    for at, values in zip(points, wanted, strict=True):
        for (_, g), value in zip(pairs, values, strict=True):
            found = flat(g(*at, **static))
            assert len(found) == len(value)
            np.testing.assert_allclose(found, value, **tolerance)


@few(CASES)
def test_the_corpus(case: Any) -> None:
    compare(case, case.samples, lambda v: len(v) == 1, rtol=2e-15, atol=0)


TOO_LONG = "gated_cells"
"""Its gradient is not compiled by Numba."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [c for c in ARRAY_CASES[::4] if c.name != TOO_LONG], ids=lambda c: c.name
)
def test_the_corpus_of_arrays(case: Any) -> None:
    args = case.arguments(next(iter(case.sizes((4,)))), 1)
    smooth = lambda v: case.smooth and len(v) == 1 and np.isfinite(v).all()
    compare(case, [args], smooth, rtol=1e-12, atol=1e-15)


@pytest.mark.slow
def test_guards_of_arrays_are_asked_about(without_llvm: None) -> None:
    """Where values beside the point show that its derivatives are those of a smooth function."""

    def turned(w):
        total = 0.0
        for i in range(len(w)):
            total += w[i] * w[i]
        angle = np.sqrt(total)
        if angle < 1e-8:
            return 0.0
        r = 0.0
        for i in range(len(w)):
            r += (i + 1) * w[i] * np.sin(angle) / angle
        return r

    f = symgrad(turned, engine="numba", verify=False)
    assert f.grad(np.zeros(3)).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.slow
def test_kernels_that_numba_would_compile_for_long_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generated, "MOST_LINES", 5)
    text = "lines as a kernel, which Numba takes too long to compile"
    with pytest.raises(SymdiffError, match=text):
        symgrad(ewma, engine="numba").grad(np.ones((1, 3)))


def test_updates_in_a_row_share_what_they_do_not_change() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        y = x.copy()
        for i in range(1, len(x) - 1):
            y[i] = y[i - 1] * y[i + 1] + x[i] * x[i + 1]
            y[i + 1] = y[i - 1] * y[i + 1] + x[i] * x[i + 1] + y[i]
        return np.sum(y)

    x = np.array([0.5, 1.25, -0.75, 0.875, 1.125])  # all products of the sum are exact
    g = symgrad(f, engine="numba")
    assert g(x) == f(x)
    assert g.source().count("x[i + 1]*x[i + 2]") == 1
    np.testing.assert_allclose(g.grad(x), differences(f, (x,)), rtol=1e-9)
