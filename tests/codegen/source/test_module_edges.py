"""Modules where formulas end: at guards, at infinite arguments, with names that modules use themselves.

Truth is the plain function, or a derivative that is written here. Texts run as plain Python.
"""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.export import measured
from symdiff.export.measured import flat, run
from symdiff.export.scalar import module_text
from tests.law.made import formula

NAN, INF = math.nan, math.inf


gauss = formula("gauss", "r, s", "math.exp(-((r / s) ** 2)) if s != 0 else 0.0")
hull_white = formula("hull_white", "a, t", "t if a == 0 else (1 - math.exp(-a * t)) / a")
well = formula("well", "r, s", "4 * ((s / r) ** 12 - (s / r) ** 6) if r else 0.0")
clayton = formula(
    "clayton", "u, v, th", "u * v if th == 0 else max(u**-th + v**-th - 1, 0) ** (-1 / th)"
)


def frank(u, v, th):
    if th == 0:
        return u * v
    return -math.log1p(math.expm1(-th * u) * math.expm1(-th * v) / math.expm1(-th)) / th


langevin = formula("langevin", "x", "x / 3 if abs(x) < 1e-6 else 1 / math.tanh(x) - 1 / x")
heavy = formula("heavy", "x", "1 / (1 + math.exp(-x))")


def cosine_of(x, y):
    n = math.sqrt(x * x + y * y)
    return x / n if n > 0 else 0.0


logarithmic_mean = formula("logarithmic_mean", "a, b", "a if a == b else (a - b) / math.log(a / b)")
itself = formula("itself", "x", "x**x")


def hidden(math, float, np):
    return (math * float - np * np + 1.0) / (float + 2) - math


flags = formula("flags", "flagged, found, sure, t0", "found * t0 - flagged + sure * sure")


CASES = [  # the point, and where they are known derivatives
    (gauss, (0.0, 0.0), (0.0, 0.0)),  # it jumps: the slope of the branch that is taken
    (gauss, (NAN, 0.0), None),
    (gauss, (1.0, INF), None),
    (hull_white, (1.0, INF), None),
    (hull_white, (0.0, INF), None),
    (well, (INF, 1.0), None),
    (well, (0.0, 1.0), (0.0, 0.0)),
    (clayton, (-1.0, 1.0, 0.0), None),
    (clayton, (-1.0, 2.0, 0.0), None),
    (frank, (2.0, 2.0, 0.0), (2.0, 2.0, NAN)),  # by th a limit, which modules do not look for
    (frank, (-1.0, 0.0, 0.0), (0.0, -1.0, NAN)),
    (frank, (0.5, 0.25, 0.0), (0.25, 0.5, NAN)),
    (langevin, (INF,), None),
    (langevin, (0.0,), (1 / 3,)),
    (heavy, (-800.0,), (0.0,)),
    (heavy, (INF,), None),
    (logarithmic_mean, (2.0, 2.0), (0.5, 0.5)),
]


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch):
    monkeypatch.setattr(measured, "measured", lambda *args: [])


def played(fun, **options):
    f = symgrad(fun, verify=False, **options)
    return run(module_text(f.raw_program, f._wrt(), accuracy=options.get("accuracy", "high")))


SLOW = ("frank", "clayton")
"""Functions whose limits take seconds."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "point", "slopes"),
    [pytest.param(*c, marks=[pytest.mark.slow] if c[0].__name__ in SLOW else []) for c in CASES],
)
def test_where_formulas_end(fun, point, slopes):
    scope, name = played(fun), fun.__name__
    try:
        want = fun(*point)
    except OverflowError:  # of Python's exp
        want = 0.0
    with np.errstate(all="ignore"):
        both = flat(scope[f"{name}_value_and_grad"](*map(np.float64, point)))
        alone = float(scope[name](*map(np.float64, point)))
    assert alone == pytest.approx(want, rel=4e-16, abs=5e-324)
    assert both[0] == alone
    if slopes is not None:
        assert both[1:] == pytest.approx(slopes, rel=4e-16, abs=5e-324, nan_ok=True)


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [gauss, hull_white, well])
def test_guards_in_double_arithmetic_alone(fun):
    scope = played(fun, accuracy="fast")
    for point in ((0.0, 0.0), (0.0, 2.0), (1.5, 0.25)):
        with np.errstate(all="ignore"):
            found = float(scope[fun.__name__](*map(np.float64, point)))
        assert found == pytest.approx(fun(*point), rel=1e-14)


@pytest.mark.slow
def test_arrays_at_guards_and_infinite_arguments():
    """The numbers' results, and nothing is said of nan."""
    x = np.array([0.0, INF, -INF, NAN, 1.0, 1e-9])
    for fun in (hull_white, well):
        scope = played(fun)
        with np.errstate(all="ignore"):
            found = flat(scope[f"{fun.__name__}_value_and_grad"](x, np.ones(6)))
            for k, a in enumerate(x):
                alone = flat(scope[f"{fun.__name__}_value_and_grad"](a, np.float64(1.0)))
                np.testing.assert_array_equal(found[k::6], alone)


def test_squares_that_underflow():
    scope = played(cosine_of)
    with np.errstate(all="ignore"):
        found = scope["cosine_of_value_and_grad"](np.float64(1e-300), np.float64(0.0))
        beyond = scope["cosine_of_value_and_grad"](np.float64(-1e-150), np.float64(0.0))
    assert flat(found) == [cosine_of(1e-300, 0.0), 0.0, 0.0]  # decided in doubles
    assert flat(beyond) == [-1.0, 0.0, 0.0]


def test_powers_of_large_integers():
    scope = played(itself)
    with np.errstate(all="ignore"):
        assert scope["itself"](np.float64(-1e160)) == 0.0
        assert math.isnan(scope["itself"](np.float64(-0.5)))


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [gauss, itself, hidden, flags])
def test_a_module_defines_a_name_once(fun):
    """Public functions, parts of them and copies."""
    f = symgrad(fun, verify=False)
    names = defined(module_text(f.raw_program, f._wrt()))
    assert len(names) == len(set(names))


def defined(text):
    """The names that a module binds, as often as it does."""
    names = []
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else []
        names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return names


@pytest.mark.sampled
@pytest.mark.parametrize("fun", [hidden, flags])
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_parameters_with_names_that_modules_use(fun, accuracy):
    scope = played(fun, accuracy=accuracy)
    point = [1.5, 0.75, 2.25, 3.0][: fun.__code__.co_argcount]
    grad = symgrad(fun, verify=False).grad(*point)
    with np.errstate(all="ignore"):
        numbers = list(map(np.float64, point))
        assert scope[fun.__name__](*numbers) == pytest.approx(fun(*point), rel=1e-15)
        assert flat(scope[f"{fun.__name__}_grad"](*numbers)) == pytest.approx(grad, rel=1e-15)


@pytest.mark.slow
def test_such_names_in_compiled_functions(tmp_path):
    from numba import njit

    from tests.codegen.source.test_module_tiers import loaded

    slopes = loaded(hidden, tmp_path).hidden_grad
    call = njit(lambda a, b, c: slopes(math=a, float=b, np=c))
    assert call(1.5, 0.75, 2.25) == slopes(1.5, 0.75, 2.25)


@pytest.mark.slow
def test_guards_inside_of_compiled_functions(tmp_path):
    from numba import njit

    from tests.codegen.source.test_module_tiers import loaded

    module = loaded(gauss, tmp_path)
    value, slopes = module.gauss, module.gauss_grad
    call = njit(lambda r, s: (value(r, s), slopes(r, s)))
    value_there, (slope_there, by_guarded) = call(0.0, 0.0)
    assert (value_there, slope_there, by_guarded) == (0.0, 0.0, 0.0)  # it jumps: what is taken
    assert call(1.0, INF) == (1.0, (0.0, 0.0))
    g = symgrad(gauss, engine="numba")
    assert g(0.0, 0.0) == 0.0
    assert g(np.array([0.0, 1.0]), np.array([0.0, INF])).tolist() == [0.0, 1.0]


remainder = formula("remainder", "x", "1 / x - 1 / np.tan(x)")


@pytest.mark.slow
def test_what_is_left_of_a_tiny_argument():
    scope = played(remainder)
    for x in (5e-324, 1e-300, -1e-160):
        with np.errstate(all="ignore"):
            value, slope = scope["remainder_value_and_grad"](np.float64(x))
        assert slope == 1 / 3
        assert value == pytest.approx(x / 3, rel=1e-15, abs=5e-324)
