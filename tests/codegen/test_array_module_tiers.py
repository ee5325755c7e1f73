"""Generated modules of programs with arrays and loops: what lost digits is computed again, in
double-double arithmetic and in balls, those of python-flint and those of Python's integers. Truth is the
same program run on balls of many bits, or known."""

from __future__ import annotations

import ast
import importlib.util
import math
import subprocess
import sys
import warnings
from pathlib import Path

import flint
import numpy as np
import pytest
from flint import arb, ctx

from symdiff import symgrad
from symdiff.codegen.source.modules import copied
from symdiff.errors import SymdiffError
from symdiff.export.measured import run

COPIED = Path(copied.__file__).parent
TIERS = ("all", "double-double", "integers")


def variance(x):
    return np.sum((x - np.sum(x) / x.shape[0]) ** 2) / x.shape[0]


def recurrence(x):
    s = 0.0
    for i in range(x.shape[0]):
        s = s * s - s + x[i]
    return s * s - x[x.shape[0] - 1] * x[x.shape[0] - 1]


def table(x):
    e = np.zeros(3) + 0 * x[0]
    for step in range(x.shape[0]):
        for k in range(3):
            e[k] = (e[k] - x[step]) * (e[k] + x[step]) + x[step]
    return np.sum(e) - 3 * x[x.shape[0] - 1]


def permuted(x):
    index = np.array([2, 0, 1])
    return np.sum((x[index] - x) * x)


def sides(x):
    total = 0 * x[0]
    for i in range(x.shape[0]):
        if x[i] > x[0]:
            total += x[i] * x[i] - x[0] * x[0]
        else:
            total -= x[0]
    return total


def products(x):
    a = np.outer(x, x) + np.eye(3)
    return np.sum((a @ x - x) ** 2) - np.sum(x * x) ** 3


def steps(x):
    v = 1.0
    while v * v < x[0]:
        v = v + x[1]
    return v * v - x[0]


CASES = [
    (variance, 1e8 + np.arange(4.0) / 7),
    (recurrence, np.array([1e-9, 2e-9, 3e-7])),
    (table, np.array([1e-9, 2.0, 1e-8])),
    (permuted, np.array([1e8, 1e8 + 1, 1e8 - 1.5])),
    (sides, np.array([1e8, 1e8 + 2.0**-20, 1.0])),
    (products, np.array([1e-3, 2.0, 1e-4])),
    (steps, np.array([2.0, 0.41421356237309515])),
]


def exactly(f, x) -> arb:
    """The same program run on balls of many bits."""
    return f(np.array([v if isinstance(v, arb) else arb(float(v)) for v in x], object))


def slopes(f, x: np.ndarray) -> list[arb]:
    """By central differences of balls."""
    h, found = arb(2) ** -600, []
    for k in range(x.size):
        ends = []
        for sign in (1, -1):
            moved = [arb(float(v)) for v in x]
            moved[k] += sign * h
            ends.append(exactly(f, moved))
        found.append((ends[0] - ends[1]) / (2 * h))
    return found


def close(got, truth: arb, ulps: float = 16) -> bool:
    return bool(abs(arb(float(got)) - truth) <= ulps * math.ulp(float(truth)))


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(3000):
        yield


def module(f, x, tmp_path, name=None) -> dict:
    g = symgrad(f)
    g(x)
    g.save(tmp_path / "k.py")
    return run((tmp_path / "k.py").read_text())


def limited(scope: dict, tier: str) -> None:
    """Leaves only one of the tiers beyond the first."""
    for key in [k for k in scope if k.endswith("_again") and k != "_computed_again"]:
        wide, balls = scope[key]
        scope[key] = (wide, None) if tier == "double-double" else (wide, balls)
    scope["flint"] = None if tier == "integers" else flint


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(("f", "x"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_lost_digits_are_computed_again(f, x, tier, tmp_path):
    scope = module(f, x, tmp_path)
    limited(scope, tier)
    name = f.__name__
    truths = [exactly(f, x), *slopes(f, x)]
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"), ctx.workprec(53):
        warnings.simplefilter("always")
        found = [scope[name](x), *scope[f"{name}_grad"](x)]
    assert all(map(close, found, truths)) or (told and tier == "double-double")
    assert tier == "double-double" or not told


@pytest.mark.parametrize(("f", "x"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_both_tiers_are_right_by_themselves(f, x, tmp_path):
    """Whatever the first one flags."""
    scope = module(f, x, tmp_path)
    name = f.__name__
    first = [scope[f"_{name}"](x)]
    truth = exactly(f, x)
    wide, balls = scope[f"_{name}_again"]
    (value,), (sure,) = wide(x)
    assert not sure or close(value, truth, 1)
    for library in (flint, None):
        scope["flint"] = library
        (value,) = scope["_in_balls"](balls, (x,), first, 3000)
        assert close(value, truth, 0.51)


def quotient(d):
    return np.sum(1 - np.cos(d)) / np.sum(d**2)


@pytest.mark.parametrize("tier", ["all", "integers"])
def test_limits_at_undefined_points(tier, tmp_path):
    scope = module(quotient, np.zeros(2), tmp_path)
    limited(scope, tier)
    with warnings.catch_warnings(), np.errstate(all="ignore"), ctx.workprec(53):
        warnings.simplefilter("error")
        assert scope["quotient"](np.zeros(2)) == 0.5
        if tier == "all":  # takes seconds with Python's integers
            assert [str(v) for v in scope["quotient_grad"](np.zeros(2))] == ["0.0", "0.0"]


def uniform(x):
    p = np.exp(x) / np.sum(np.exp(x))
    return np.sum((x.shape[0] * p - 1) ** 2)


def test_rounding_errors_of_sums_with_constants_are_kept(tmp_path):
    """1 + x - 1 is no x: what gives the rounding error of a sum must not be simplified."""
    x = 1e-12 * np.array([1.0, -0.5, 0.25, 0.125, 0.7])
    scope = module(uniform, x, tmp_path)
    with ctx.workprec(400):
        terms = [arb(v).exp() for v in x]
        total = sum(terms, arb(0))
        truth = sum(((5 * t / total - 1) ** 2 for t in terms), arb(0))
        value, wrong = scope["_uniform_corrected"](x)
        assert wrong or abs(arb(float(value)) - truth) < 1e-14 * truth
        assert abs(arb(float(scope["uniform"](x))) - truth) < 1e-14 * truth


def largest(x):
    return np.max(x) - np.log(np.sum(np.exp(x)))


def test_maxima_begin_with_infinity(tmp_path):
    x = np.array([1.0, 1.0 + 1e-12, 0.5])
    scope = module(largest, x, tmp_path)
    (value,), (sure,) = scope["_largest_again"][0](x)
    with ctx.workprec(300):
        truth = arb(x[1]) - sum((arb(v).exp() for v in x), arb(0)).log()
        assert sure
        assert abs(arb(float(value)) - truth) < 2e-16 * abs(truth)


def test_what_nothing_proves_is_said(tmp_path):
    scope = module(variance, 1e8 + np.arange(4.0) / 7, tmp_path)
    scope["_variance_again"] = None, None
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning, match="variance: 1 results may have lost digits"),
    ):
        scope["variance"](np.array([1e200, 2e200]))


def test_arguments_that_are_not_finite_are_as_in_doubles(tmp_path):
    scope = module(variance, np.arange(3.0), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(scope["variance"](np.array([1.0, math.nan])))


def test_names_of_modules_with_arrays():
    f = symgrad(lambda x: np.sum(x * x))
    f(np.ones(3))
    with pytest.raises(SymdiffError, match="not a name for a function"):
        f.save("nowhere.py")


def test_sizes_in_formulas_do_not_hang_on_the_order_of_imports(tmp_path):
    """A size is a leaf of a formula, whichever file of the package was imported first."""
    text = (
        "import numpy as np, symdiff\n"
        "def moments(x):\n"
        "    n = x.shape[0]\n"
        "    return np.sum((1 + x)**2)/n - (np.sum(1 + x)/n)**2\n"
        "f = symdiff.symgrad(moments)\n"
        "f(np.arange(3.0))\n"
        "f.save('k.py')\n"
    )
    (tmp_path / "m.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "m.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def mul(x):
    return (1 - math.cos(x)) / x**2 - 0.5


def evaluate(x):
    return np.sum(x * x) - x[0] * x[0]


@pytest.mark.parametrize(("f", "x"), [(mul, 1e-4), (evaluate, np.array([1e8, 1e-3]))])
def test_functions_may_be_called_as_helpers_are(f, x, tmp_path):
    scope = module(f, x, tmp_path)
    name = f.__name__
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(scope[name](x), symgrad(f)(x), rtol=1e-15)
        np.testing.assert_allclose(scope[f"{name}_grad"](x), symgrad(f).grad(x), rtol=1e-15)


def length(x):
    return np.sqrt(np.sum(x * x))


def test_squares_of_tiny_arguments(tmp_path):
    x = np.array([3e-300, 4e-300, 0.0])
    scope = module(length, np.ones(3), tmp_path)
    for scope["flint"] in (flint, None):
        with np.errstate(all="ignore"), ctx.workprec(53):
            np.testing.assert_allclose(scope["length"](x), 5e-300, rtol=4e-16)
            np.testing.assert_allclose(scope["length_grad"](x), [0.6, 0.8, 0.0], rtol=4e-16)


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


def test_derivatives_at_guards_that_are_understood_at_run_time(tmp_path):
    scope = module(turned, np.ones(3), tmp_path)
    with (
        np.errstate(all="ignore"),
        ctx.workprec(53),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        assert scope["turned"](np.zeros(3)) == 0.0
        np.testing.assert_allclose(scope["turned_grad"](np.zeros(3)), [1, 2, 3], rtol=1e-15)
        scope["turned_grad"](np.ones(3))


def weighted(x):
    n = x.shape[0] // 2
    return np.sum(x[:n] * x[n:]) / np.sum(x[n:])


def test_no_limit_of_many_coordinates(tmp_path):
    """Weights of either sign may add up to less than all else."""
    x = np.zeros(10)
    scope = module(weighted, np.arange(1.0, 11.0), tmp_path)
    for scope["flint"] in (flint, None):
        with (
            np.errstate(all="ignore"),
            ctx.workprec(53),
            pytest.warns(RuntimeWarning, match="weighted: 1 results may have lost digits"),
        ):
            assert math.isnan(scope["weighted"](x))


def of_powers(x, k):
    return np.sum(x) if k == 0 else (np.prod(1 + k * x) - 1) / k


def of_norms(x):
    s = np.linalg.norm(x)
    if s == 0:
        return 0.0
    return np.tanh(s) / s * (x[0] + 2 * x[1])


def in_a_band(x, t):
    return np.mean(x) if abs(t) < 1e-8 else np.log(np.mean(np.exp(t * x))) / t


def no_guard(x):
    return 3.0 if np.linalg.norm(x) == 0 else np.sum(x)


ONE_TWO = np.array([1.0, 2.0])


@pytest.mark.parametrize(("f", "at", "slopes", "told"), [
    (of_powers, (ONE_TWO, 0.0), [1.0, 1.0, 2.0], False),  # 3 + 2*k
    (of_norms, (np.zeros(2),), [1.0, 2.0], False),
    (in_a_band, (ONE_TWO, 3e-9), [0.5, 0.5, 0.125], False),
    (no_guard, (np.zeros(2),), [0.0, 0.0], True),
])  # fmt: skip
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_guards_that_only_a_run_shows(f, at, slopes, told, accuracy, tmp_path):
    g = symgrad(f, accuracy=accuracy)
    g(*at)
    g.save(tmp_path / "k.py")
    scope = run((tmp_path / "k.py").read_text())
    given = [np.float64(v) if isinstance(v, float) else v for v in at]
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        found = scope[f"{f.__name__}_grad"](*given)
        value, again = scope[f"{f.__name__}_value_and_grad"](*given)
    assert [w.category for w in said] == [RuntimeWarning] * 2 * told
    assert value == pytest.approx(f(*at), rel=1e-9)
    for gradient in (found, again):
        parts = gradient if isinstance(gradient, tuple) else (gradient,)
        got = [float(v) for part in parts for v in np.ravel(part)]
        assert got == pytest.approx(slopes, rel=1e-8)


def log_det(a):
    return np.linalg.slogdet(a)[1]


def inverted(a):
    return np.sum(np.linalg.inv(a) ** 2)


@pytest.mark.parametrize("f", [log_det, inverted])
def test_eliminations_are_not_flagged_where_nothing_is_lost(f, tmp_path):
    """The derivative of log|det(A)| is inv(A).T, that of sum(B**2) with B = inv(A) is -2 B.T B B.T."""
    a = np.random.default_rng(0).normal(size=(5, 5)) + 2 * np.eye(5)
    scope, exact = module(f, a, tmp_path), flint.arb_mat(a.tolist()).inv()
    turned = exact.transpose()
    truth = turned if f is log_det else turned * exact * turned * -2
    *_, wrong = scope[f"_{f.__name__}_corrected"](a)
    assert not wrong
    *found, wrong = scope[f"_{f.__name__}_grad_corrected"](a)
    assert not wrong
    assert all(close(found[0][i, j], truth[i, j], 4) for i in range(5) for j in range(5))


def scaled_quotient(abs, d, k=1.0):
    return k * np.sum(1 - np.cos(abs)) / np.sum(abs**2) * d[0]


@pytest.mark.slow
def test_calls_by_compiled_functions(tmp_path):
    """With a parameter called as what they use, defaults, digits that are lost, in threads, and refusals."""
    from numba import njit, prange
    from numba.core.errors import TypingError

    x, d = np.array([0.3, 0.2, 0.5]), np.array([2.0])
    made = symgrad(scaled_quotient)
    made(x, d)
    made.save(tmp_path / "k.py")
    spec = importlib.util.spec_from_file_location("k", tmp_path / "k.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    value, slopes = module.scaled_quotient, module.scaled_quotient_grad
    call = njit(lambda x, d: (value(x, d, k=2.0), slopes(abs=x, d=d)))
    for at in (x, 1e-9 * x, 1e-170 * x):
        found, expected = call(at, d), (value(at, d, k=2.0), slopes(at, d))
        assert found[0] == expected[0]
        for a, b in zip(found[1], expected[1], strict=True):
            np.testing.assert_array_equal(a, b)

    @njit(parallel=True)
    def rows(m, d):
        out = np.empty(len(m))
        for i in prange(len(m)):
            out[i] = value(m[i], d)
        return out

    found = rows(np.array([x, 1e-170 * x]), d)
    assert found.tolist() == [value(x, d), value(1e-170 * x, d)]
    with pytest.raises(TypingError, match="an array of float64 with 1 axes"):
        njit(lambda x, d: value(x, d))(x.astype(np.float32), d)


@pytest.mark.parametrize(("f", "x"), CASES[:2], ids=[f.__name__ for f, _ in CASES[:2]])
def test_no_name_of_a_module_is_bound_twice(f, x, tmp_path):
    made = symgrad(f)
    made(x)
    made.save(tmp_path / "k.py")
    names: list[str] = []
    for node in ast.parse((tmp_path / "k.py").read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    helpers = [
        n for path in COPIED.glob("*.py")
        for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
        for n in [node.name]
    ]  # fmt: skip
    assert len(names) == len(set(names))
    own = {n for n in names if n in ("_real", "_as_integer", "_absolute", "_must_be", "_any_tiny")}
    assert own and not own & set(helpers)
