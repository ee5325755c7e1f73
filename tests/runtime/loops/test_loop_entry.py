"""The builtin in front of kernels with arrays and loops: it gives what the general path does."""

from __future__ import annotations

import io
import sys
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, show_progress, symgrad
from symdiff.pipeline.validation.seen import MORE
from symdiff.runtime import builtin
from tests import array_corpus
from tests.kernels import at_once, compiled_entries
from tests.law.alike import alike
from tests.law.made import formula

pytestmark = pytest.mark.skipif(not builtin.arrays_are_known(), reason="another Python")

Vector = np.ndarray


def entries(f: Any) -> list[Any]:
    """The builtins of a function's programs with arrays or loops, if it has some."""
    found = compiled_entries(f).items()
    return [e for k, e in found if k.startswith("program") and e.__name__ == "kernel"]


chain = formula("chain", "x", "np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)")
fit = formula("fit", "w, X, y, scale", "scale * np.sum((X @ w - y) ** 2)")


def several(x: Vector) -> tuple[Any, ...]:
    total, count = 0.0, 0
    for v in x:
        if v > 0.5:
            total += v**3
            count += 1
    return total, count, count > 1, x * total


both = formula("both", "a, b", "np.sum(a * b)")
gathered = formula("gathered", "x, at", "np.sum(x[at] ** 2)")


X = np.random.default_rng(3).normal(size=(6, 3))
CALLS: list[tuple[Any, dict[str, Any], tuple[Any, ...]]] = [
    (chain, {}, (np.linspace(0, 1, 9),)),
    (fit, {}, (np.arange(3.0), X, np.ones(6), 0.5)),
    (fit, {}, (np.arange(3.0), X, np.ones(6), np.float64(2))),
    (fit, {}, (np.arange(3.0), X, np.ones(6), 3)),
    (several, {}, (np.linspace(0, 1, 5),)),
    (gathered, {}, (np.linspace(0, 1, 5), np.array([3, 0, 3]))),
    (both, {}, (np.arange(4.0), np.ones(4))),
]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return type(b) is tuple and len(a) == len(b) and all(map(same, a, b))
    return (
        type(a) is type(b)
        and np.array_equal(a, b)
        and getattr(a, "dtype", 0) == getattr(b, "dtype", 0)
    )


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(len(CALLS)))
@pytest.mark.parametrize("which", ["value", "value_and_grad"])
def test_the_same_as_the_general_path(case: int, which: str) -> None:
    fun, options, args = CALLS[case]
    f = symgrad(fun, **options)
    g = f if which == "value" else f.value_and_grad
    if fun is several and which != "value":
        g = f.jacobian
    for _ in range(1 + MORE):  # compared with plain Python
        expected = g._call(*args)
    made = entries(g)
    if g is f and fun is several:  # ints and truth values are made on the general path
        assert not made
    else:
        assert len(made) == 1
        assert made[0](*args) is not NotImplemented
    for _ in range(3):
        assert same(g(*args), expected)
    larger = tuple(np.concatenate([a, a]) if np.ndim(a) == 1 and fun is chain else a for a in args)
    assert same(g(*larger), g._call(*larger))


UNSTATIC = [c for c in array_corpus.CASES if not c.static]


@pytest.mark.sampled
@pytest.mark.parametrize("case", UNSTATIC[::5], ids=lambda c: c.name)
def test_the_corpus(case: array_corpus.Case) -> None:
    """What NumPy gives, through the builtin or not, for two sizes."""
    f = symgrad(case.fun)
    chosen = list(case.sizes((3, 6)))
    for sizes in (chosen[0], chosen[-1], chosen[0]):
        args = case.arguments(sizes)
        alike(f(*args), case.fun(*args), 1e-9, 1e-9, types="any")


def test_what_is_refused() -> None:
    f = symgrad(fit)
    w, y = np.arange(3.0), np.ones(6)
    for _ in range(3):  # the first calls are probed
        f(w, X, y, 0.5)
    (entry,) = entries(f)
    refused = [
        (), (w, X, y), (w, X, y, 0.5, 1), (list(w), X, y, 0.5), (w, X, y, True), (w, X, y, 2**60),
        (w.astype("f4"), X, y, 0.5), (w.astype(int), X, y, 0.5), (w[::-1], X, y, 0.5),
        (w, np.asfortranarray(X), y, 0.5), (w, X.T, y, 0.5), (w, X[:5], y, 0.5), (w[:2], X, y, 0.5),
        (w, X[None], y, 0.5), (0.5, X, y, 0.5), (w, X, y, np.ones(1)), (w, X, y, "a"), (w, X, y, None),
        (np.ma.array(w), X, y, 0.5), (np.ones(0), np.ones((6, 0)), y, 0.5), (w.astype(">f8"), X, y, 0.5),
    ]  # fmt: skip
    for args in refused:
        assert entry(*args) is NotImplemented, args
    assert entry(w, X, y, 0.5) == f._call(w, X, y, 0.5)


def test_axes_of_one_element_may_stretch() -> None:
    f = symgrad(both)
    a, one = np.arange(4.0), np.ones(1)
    f(a, a)
    (entry,) = entries(f)
    assert entry(a, one) is NotImplemented
    assert f(a, one) == 6.0
    assert f(one, one) == 1.0 and f(a, a) == 14.0


def test_errors_are_raised() -> None:
    f = symgrad(gathered)
    x, at, outside = np.arange(4.0), np.array([2, -1]), np.array([2, 7])
    assert f(x, at) == 13.0
    assert entries(f)
    held = sys.getrefcount(x)
    for _ in range(12):
        try:  # not pytest.raises, which keeps the frames of errors in a circle
            f(x, outside)
        except SymdiffError as e:
            message = str(e)
        else:
            message = "none"
        assert "range" in message
        assert f(x, at) == 13.0
    assert sys.getrefcount(x) == held


def test_values_out_of_range_are_computed_again() -> None:
    def ratio(x: Vector) -> float:
        return np.prod(x) / np.sum(x)

    f = symgrad(ratio)
    ordinary, large = np.array([1.0, 2.0, 3.0]), np.array([1e200, 1e200, 1e-200])
    assert f(ordinary) == 1.0
    expected = f._call(large)
    for _ in range(10):
        assert f(large) == expected
        assert f(ordinary) == 1.0


def test_single_precision_compiles_nothing_else() -> None:
    f = symgrad(chain)
    x = np.linspace(0, 1, 9, dtype=np.float32)
    f(x)
    ((_, kernel),) = f._arrays._kernels.values()
    assert entries(f) == [] and not kernel.is_compiled("float64")
    f(x.astype(float))
    assert len(entries(f)) == 1 and f(x).dtype == np.float32


def test_somebody_watches() -> None:
    f = symgrad(chain)
    x = np.linspace(0, 1, 9)
    expected = f(x)
    (entry,) = entries(f)
    with show_progress(io.StringIO()):
        assert entry(x) is NotImplemented and f(x) == expected
    assert entry(x) == expected


@pytest.mark.slow
def test_nothing_leaks() -> None:
    g = symgrad(fit).value_and_grad
    args = np.arange(3.0), X, np.ones(6), 0.5
    bad = np.arange(3.0), X, np.ones(6), True
    for _ in range(3):
        g(*args)
    (entry,) = entries(g)
    held = [sys.getrefcount(a) for a in (*args, np.dtype(float))]
    tracemalloc.start()
    try:
        entry(*args)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(500):
            entry(*args)
            entry(*bad)
        assert tracemalloc.get_traced_memory()[0] - before < 4000
    finally:
        tracemalloc.stop()
    now = [sys.getrefcount(a) for a in (*args, np.dtype(float))]
    assert all(abs(a - b) < 10 for a, b in zip(held, now, strict=True))


@pytest.mark.slow
def test_threads() -> None:
    g = symgrad(fit).value_and_grad
    args = np.arange(3.0), X, np.ones(6), 0.5
    expected = g(*args)
    found = at_once(4, lambda: all(same(g(*args), expected) for _ in range(2000)))
    assert found == [True] * 4


def test_flagged_elements_are_computed_again_and_finished() -> None:
    """Callbacks into Python from the kernel work behind the builtin, too."""

    def cancelling(x: Vector) -> float:
        total = 0.0
        for v in x:
            total += (1 - np.cos(v)) / v**2 - 0.5
        return total

    f = symgrad(cancelling)
    x = np.array([1e-3, 1e-5, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = f._call(x)
        for _ in range(5):
            assert f(x) == expected


spread = formula("spread", "x, s", "s * x**3, np.sum(x) * s")
line = formula("line", "x, y", "x * x * y")
pair = formula("pair", "x", "x**2, x**3")


A = np.linspace(0.5, 1, 4)
PRODUCTS = [
    (chain, "jvp", (A, A)), (chain, "hvp", (A, A)), (chain, "vjp", (A, 2.0)),
    (chain, "hvp", ((A,), (A,))),
    (spread, "jvp", ((A, 2.0), (A, 1.0))), (spread, "vjp", ((A, 2.0), (A, 1.0))),
    (line, "jvp", ((1.0, 2.0), (3.0, 4.0))), (line, "hvp", ((1, 2.0), (3.0, np.float64(4)))),
    (line, "vjp", ((1.0, 2.0), 3.0)), (line, "hvp", ((1.0, 2.0), np.array([3.0, 4.0]))),
    (pair, "vjp", (1.5, (1.0, 2.0))), (pair, "jvp", (1.5, 2.0)), (pair, "jvp", ((1.5,), (2.0,))),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("case", PRODUCTS, ids=lambda c: f"{c[0].__name__}-{c[1]}")
def test_products(case: tuple[Any, str, tuple[Any, Any]]) -> None:
    fun, name, (primals, vector) = case
    product = getattr(symgrad(fun), name)
    expected = product._call(primals, vector)
    assert compiled_entries(product)
    for _ in range(3):
        assert same(product(primals, vector), expected)
    assert product.__call__ != product._general
    with pytest.raises((SymdiffError, TypeError)):
        product(primals, "a vector")
    with pytest.raises((SymdiffError, TypeError)):
        product(primals)


def test_products_of_nested_results() -> None:
    product = symgrad(lambda x: {"a": x, "b": (x**2, x**3)}).vjp
    for _ in range(3):
        assert product(2.0, {"a": 1.0, "b": (10.0, 100.0)})[1] == 1241.0


@pytest.mark.sampled
@pytest.mark.parametrize("sizes", [(10, 2000), (2000, 10)])
def test_calls_of_many_numbers_go_to_their_kernel(sizes: tuple[int, int], monkeypatch: Any) -> None:
    """From the compiled entry, whichever of both kernels was compiled first."""
    from symdiff.runtime.loops.kernel import LoopKernel

    f = symgrad(fit, wrt="w")
    rng = np.random.default_rng(0)
    given = [(rng.random(3), rng.random((n, 3)), rng.random(n), 0.5) for n in sizes]
    expected = [[f.grad(*args) for _ in range(3)] for args in given]

    def refuse(*_: Any) -> Any:
        raise AssertionError("a Python frame ran")

    monkeypatch.setattr(LoopKernel, "_run", refuse)
    for args, before in zip(given, expected, strict=True):
        np.testing.assert_array_equal(f.grad(*args), before[0])
