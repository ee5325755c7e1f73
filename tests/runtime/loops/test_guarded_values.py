"""Arrays and loops are computed as accurately as functions of numbers: the second and third
tier inside of them, beside ball arithmetic."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest
from flint import arb
from hypothesis import HealthCheck, assume, given, settings

from symdiff import ir, symgrad
from symdiff.frontend import capture
from symdiff.interpret import Certified, exclusive, ulp_error
from symdiff.interpret.loops import Precise, run
from symdiff.ir import NAN, Expr, topological
from symdiff.ir.loop_program import LoopProgram, array, index
from symdiff.pipeline import loops as loop_pipeline
from symdiff.pipeline.lowered.loops import LoweredProgram
from symdiff.runtime.loops import fallback
from symdiff.runtime.loops.kernel import LoopKernel
from symdiff.runtime.scalar import compiled
from symdiff.runtime.scalar.fallback import AccuracyWarning
from tests.law.made import made
from tests.loops.programs import VECTOR, at, build, function
from tests.passes.expressions import EXPRESSIONS, POINTS, X, Y

LIMIT = 8
BITS = 1600
STEP = arb(2) ** -400
SMALLEST = 2.0**-1022


# --------------------------------------------------------------------- the truth
def precise(fun: Callable[..., Any], x: Any, bits: int = BITS) -> Any:
    """What a function of an array is with numbers of many bits."""
    raw = capture(fun, {}, {"x": (np.ndim(x), "f")})
    assert isinstance(raw, LoopProgram)
    return run(raw, [x], Precise(bits))[0]


def slopes(fun: Callable[..., Any], x: Any) -> list[Any]:
    """Its gradient by differences of many bits."""
    found = []
    with exclusive(BITS):
        for k in range(len(x)):
            ends = []
            for sign in (1, -1):
                moved = np.array([arb(float(v)) for v in x], object)
                moved[k] = moved[k] + sign * STEP
                ends.append(precise(fun, moved))
            found.append(((ends[0] - ends[1]) / (2 * STEP)).mid())
    return found


def worst(got: Any, want: Any) -> float:
    """The largest error in units in the last place of the truth."""
    values, truth = np.ravel(got), np.ravel(np.asarray(want, object))
    assert len(values) == len(truth)
    found = 0.0
    for value, true in zip(values, truth, strict=True):
        nearest = values.dtype.type(float(true))
        if not np.isfinite(nearest) or abs(nearest) < np.finfo(values.dtype).tiny:
            assert value == nearest or (abs(value) < 1e-30 and abs(nearest) < 1e-30)
        elif np.isfinite(value):
            unit = arb(float(np.spacing(abs(nearest))))
            found = max(found, abs(float((arb(float(value)) - true) / unit)))
        else:
            found = math.inf
    return found


def of_the_largest(got: Any, want: Any) -> float:
    """The largest error, of the largest element; what is beyond the largest double is infinite."""
    values, truth = np.ravel(got), np.ravel(np.asarray(want, object))
    finite = [math.isfinite(float(t)) for t in truth]
    assert [float(t) for t in truth[~np.array(finite)]] == list(values[~np.array(finite)])
    pairs = list(zip(values[finite], truth[finite], strict=True))
    size = max((abs(float(t)) for _, t in pairs), default=0.0)
    return max((abs(float(arb(float(v)) - t)) for v, t in pairs), default=0.0) / (size or 1.0)


# ------------------------------------------------- functions that give an array each
def stored(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if np.cos(x[i]) - x[i] < 1:
            y[i] = np.exp(x[i]) - 1 - x[i]
    return y


def nested(x):
    y = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i):
            y[i, j] = np.cosh(x[i]) - np.cos(x[j])
    return y.ravel()


ARRAYS = {
    "cosines": lambda x: (1 - np.cos(x[1:])) / x[1:] ** 2 + 1 - np.cos(x[:-1]),
    "exponentials": lambda x: (np.exp(x) - 1 - x)[::-1],
    "roots": lambda x: (np.sqrt(x * x + 1) - np.sqrt(x * x))[::-1],
    "differences": lambda x: x[1:] ** 3 - 2 * x[:-1] ** 2 + x[:-1],
    "logarithms": lambda x: np.log(x[1:] ** 2) - np.log(x[:-1] ** 2),
    "sines": lambda x: np.sin(x[1:]) * np.cos(x[:-1]) - np.cos(x[1:]) * np.sin(x[:-1]),
    "lengths": lambda x: np.sqrt(x[1:] ** 2 + x[:-1] ** 2),
    "products": lambda x: x[1:] * x[:-1] * x[1:] / x[:-1],
    "masked": lambda x: np.where(x[1:] > 0, np.log1p(x[1:]) - np.sin(x[1:]), x[1:] * x[1:]),
    "stored": stored,
    "nested": nested,
}
exponentials, differences, lengths = (ARRAYS[n] for n in ("exponentials", "differences", "lengths"))
RNG = np.random.default_rng(5)
DATA = {
    "ordinary": RNG.normal(size=9),
    "small": 1e-6 * RNG.normal(size=9),
    "near one": 1 + 1e-8 * RNG.normal(size=9),
    "large": 1e3 * RNG.normal(size=9),
    "huge": 1e200 * RNG.uniform(0.5, 2, size=9),
    "tiny": 1e-200 * RNG.uniform(0.5, 2, size=9),
}
OUTSIDE = {  # what is nowhere finite, or not of this size
    ("exponentials", "huge"), ("exponentials", "large"), ("nested", "large"),
    ("nested", "huge"), ("differences", "huge"), ("stored", "huge"), ("stored", "large"),
}  # fmt: skip
CASES = [(f, d) for f in ARRAYS for d in DATA if (f, d) not in OUTSIDE]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "data"), CASES)
def test_elements_are_as_accurate_as_functions_of_numbers(name, data) -> None:
    fun, x = ARRAYS[name], DATA[data]
    truth = precise(fun, x)
    assert worst(symgrad(fun, accuracy="strict")(x), truth) <= 2 * LIMIT
    assert of_the_largest(symgrad(fun)(x), truth) <= 2.0**-40


@pytest.mark.slow
def test_without_the_tiers_they_are_not() -> None:
    naive = dict.fromkeys(ARRAYS, 0.0)
    for name, data in CASES:
        fun, x = ARRAYS[name], DATA[data]
        error = worst(symgrad(fun, accuracy="fast")(x), precise(fun, x))
        naive[name] = max(naive[name], error)
    assert sum(error > 1e3 for error in naive.values()) >= 8


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["strict", "certified"])
@pytest.mark.parametrize("name", ["differences", "logarithms", "stored"])
def test_accuracies(name, accuracy) -> None:
    fun = ARRAYS[name]
    for data in ("ordinary", "near one"):
        got = worst(symgrad(fun, accuracy=accuracy)(DATA[data]), precise(fun, DATA[data]))
        assert got <= (0.51 if accuracy == "certified" else LIMIT)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["exponentials", "differences", "lengths"])
def test_single_precision(name) -> None:
    fun = ARRAYS[name]
    for data in ("ordinary", "near one"):
        x = DATA[data].astype("f4")
        got = symgrad(fun)(x)
        assert got.dtype == np.float32
        assert worst(got, precise(fun, x.astype(float))) <= LIMIT
    x = (1e25 * RNG.normal(size=9)).astype("f4")
    assert worst(symgrad(lengths)(x), precise(lengths, x.astype(float))) <= LIMIT


# ------------------------------------------------------------------------ gradients
def difference_sum(x):
    total = 0.0
    for i in range(len(x)):
        total = total + np.exp(x[i]) - 1 - x[i]
    return total


def pair_sum(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total = total + (np.cosh(x[i]) - np.cos(x[j]))
    return total


SUMS = {
    "rosenbrock": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "cosine_sum": lambda x: np.sum((1 - np.cos(x)) / x**2),
    "difference_sum": difference_sum,
    "log_sum": lambda x: np.sum(np.log(1 + np.exp(x)) - x),
    "masked_sum": lambda x: np.sum((x**0.5 - np.log1p(x))[x > 0]),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("data", ["ordinary", "small", "near one"])
def test_gradients(name, data) -> None:
    fun, x = SUMS[name], np.abs(DATA[data]) if name == "masked_sum" else DATA[data]
    truth = slopes(fun, x)
    assert worst(symgrad(fun, accuracy="strict").grad(x), truth) <= 2 * LIMIT
    assert of_the_largest(symgrad(fun).grad(x), truth) <= 2.0**-40


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [SUMS["cosine_sum"], difference_sum, pair_sum, SUMS["log_sum"]])
def test_sums_of_what_cancels(fun) -> None:
    """Terms of one sign: their sum is as accurate as they are."""
    for data in ("small", "near one"):
        x = np.abs(DATA[data])
        assert worst(symgrad(fun)(x), precise(fun, x)) <= 2 * LIMIT
        for accuracy in ("high", "strict"):
            assert symgrad(fun, accuracy=accuracy)(x) > 0


# ------------------------------------------------------------------------ recurrences
def settling(x):
    v = x[0]
    for i in range(1, len(x)):
        v = np.sqrt(v * v + 1) - v + x[i]
    return v


def swinging(x):
    v = 0.1
    for i in range(len(x)):
        v = np.sin(v) + x[i]
    return v


def nudged(x):
    v = 1.0
    for i in range(len(x)):
        v = np.sin(v) + (np.exp(x[i]) - 1 - x[i])
    return v


def flags(fun) -> list[str]:
    """The values of a function that are watched, in closed form."""
    program = loop_pipeline.value(capture(fun, {}, {"x": (1, "f")}))
    return [str(r.output) for r in LoweredProgram(program).double("float64", 0).references]


def test_steps_that_lose_digits_are_watched() -> None:
    x = np.array([1e8, 1e8, 0.0, 1e8, 0.0])
    assert worst(symgrad(settling)(x), precise(settling, x)) <= LIMIT
    assert worst(symgrad(settling, accuracy="fast")(x), precise(settling, x)) > 1e6


def test_steps_that_lose_no_more_than_their_numbers_have_are_not() -> None:
    assert flags(swinging) == []
    (part,) = flags(nudged)  # what does not depend on what is carried
    assert "state" not in part and "exp" in part


# ------------------------------------------------------------------- what costs nothing
def pairwise(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total = total + 1 / (1 + (x[i] - x[j]) ** 2)
    return total


def recurrence(step):
    return made("e = 0.0", "for i in range(len(x)):", f"    e = {step}", "return e")


PRODUCT = {"a": (2, "f"), "b": (2, "f")}
SURE = {
    "matrix_product": lambda a, b: a @ b,
    "powers": lambda x: np.sum(x**4 + 3 * x**2 + 1),
    "ewma": recurrence("0.5 * x[i] + 0.5 * e"),
    "blended": recurrence("(1 - e) * x[i] + e"),
    "rosenbrock": SUMS["rosenbrock"],
    "pairwise": pairwise,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", SURE)
def test_what_cannot_cancel_is_not_tested(name) -> None:
    shapes = PRODUCT if name == "matrix_product" else {"x": (1, "f")}
    program = loop_pipeline.value(capture(SURE[name], {}, shapes))
    found = LoweredProgram(program).double("float64", 0)
    assert not found.references
    text = tiered(program)._text("float64", 0)
    assert not re.search(r"@tested|@recompute\b|@recomputed", text)


def test_products_of_two_need_no_flags() -> None:
    program = loop_pipeline.value(capture(SURE["matrix_product"], {}, PRODUCT))
    assert not LoweredProgram(program).double("float64", 0).flags
    assert "@watched" not in tiered(program)._text("float64", 0)


# ------------------------------------------------------------------------ kernels
def tiered(program: LoopProgram, **options: Any) -> LoopKernel:
    tiers = LoweredProgram(program, options.get("accuracy", "high"))
    return LoopKernel(loop_pipeline.final(program), cache=False, tiers=tiers, **options)


def elementwise(e: Expr) -> LoopProgram:
    """e of the elements of two arrays."""
    (value,) = ir.substitute((e,), {X: at("x", index("i")), Y: at("y", index("i"))})
    return function({"x": VECTOR, "y": VECTOR}, [build("z", "i", value)], array("z"))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, POINTS)
def test_random_expressions(e: Expr, points: list[tuple[float, float]]) -> None:
    assume(all(n is not NAN for n in topological((e,))))  # comparing nan decides nothing
    x, y = (np.array(column) for column in zip(*points, strict=True))
    (got,) = tiered(elementwise(e), accuracy="strict")([x, y])  # which tests each decision
    reference = Certified(["x", "y"], [e])
    for point, value in zip(points, got, strict=True):
        (answer,) = reference.at_with_status(point)
        if answer.status == "domain":
            assert math.isnan(value), (e, point, value)
        elif answer.status == "exact" and math.isfinite(answer.value):
            if abs(answer.value) > SMALLEST:
                assert math.isfinite(value), (e, point, value, answer)
                assert ulp_error(value, answer.ball) <= LIMIT, (e, point, value, answer)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
def test_sizes(n: int) -> None:
    x = 1 + 2.0**-30 * RNG.normal(size=n)
    f = symgrad(differences)
    if n:
        assert worst(f(x), precise(differences, x)) <= LIMIT
    g = symgrad(difference_sum).grad(x)
    np.testing.assert_allclose(g, np.expm1(x), rtol=1e-15)


@pytest.mark.slow
def test_threads() -> None:
    n = 200_000
    x = np.where(np.arange(n) % 5000 == 3, 1e200, 1e-4) * RNG.uniform(1, 2, size=n)
    y = np.linspace(1e-5, 1.0, n)
    for fun, data in ((lengths, x), (exponentials, y)):
        alone = symgrad(fun, parallel=False, accuracy="strict")(data)
        shared = symgrad(fun, parallel=True, accuracy="strict")(data)
        np.testing.assert_array_equal(alone, shared)
        assert np.all(np.isfinite(shared))
        few = slice(0, n, n // 40)
        if fun is lengths:
            assert worst(shared[:20], precise(fun, data[:21])) <= LIMIT
        else:
            some = data[::-1][few][::-1]
            assert worst(shared[few], precise(fun, some)) <= LIMIT


@pytest.mark.slow
def test_flags_are_given_up_where_they_keep_being_raised() -> None:
    f = symgrad(lengths)
    x = np.array([1e200, 1e200, 1.0])
    for _ in range(20):
        assert worst(f(x), precise(lengths, x)) <= LIMIT
    (((_, kernel)),) = f._arrays._kernels.values()
    assert kernel.code("float64").tried < 10


def test_flagged_values_of_rows_go_to_balls() -> None:
    x = np.array([1e-13, 1e-300, 0.0, 3e-17])

    def fifth(x):
        return (np.exp(x) - 1 - x - x * x / 2 - x**3 / 6)[::-1]

    assert worst(symgrad(fifth)(x), precise(fifth, x)) <= LIMIT


def test_without_time_values_are_left_and_a_warning_is_given(monkeypatch) -> None:
    def fifth(x):
        return (np.sin(x) - x + x**3 / 6 - x**5 / 120)[::-1]

    monkeypatch.setattr(fallback, "WORK", -1)
    monkeypatch.setattr(fallback, "compiled_elements", lambda *args: None)
    with pytest.warns(AccuracyWarning, match="values are not proven") as told:
        symgrad(fifth, cache=False).map(np.array([[1e-9, 1e-8]]))  # rows have tests
    assert len(told) == 1  # not of the points where the compiler tries its code


def test_kernels_are_pickled_with_their_tiers() -> None:
    x = np.array([1e-5, 1.0])
    program = loop_pipeline.value(capture(exponentials, {}, {"x": (1, "f")}))
    kernel = tiered(program, accuracy="strict")
    (got,) = pickle.loads(pickle.dumps(kernel))([x])
    assert worst(got, precise(exponentials, x)) <= LIMIT


def test_from_the_disk_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))
    x = np.array([1e-5, 1.0])
    for _ in range(2):
        monkeypatch.setattr(compiled, "_linked", WeakValueDictionary())
        got = symgrad(exponentials, accuracy="strict")(x)
        assert worst(got, precise(exponentials, x)) <= LIMIT
        assert list(tmp_path.iterdir())
