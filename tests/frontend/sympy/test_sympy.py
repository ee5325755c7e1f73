"""SymPy expressions as functions, functions as SymPy expressions, and `lambdify`."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from symdiff import SymbolicFunction, UnsupportedError, lambdify, symgrad
from symdiff.errors import SymdiffError
from symdiff.ir import OPS
from tests.corpus import CASES

x, y, z = sp.symbols("x y z")
i, j, k, n = sp.symbols("i j k n", integer=True)
p = sp.Symbol("p", positive=True)
A, B = sp.IndexedBase("A"), sp.IndexedBase("B")

EXPRESSIONS = [
    (x**2 - 4) / (x - 2), sp.sin(x * y) / x + y, sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi),
    sp.sec(x) + sp.csc(y) * sp.cot(x), sp.sech(x) * sp.coth(y) - sp.csch(y), sp.atan2(y, x),
    sp.Max(x, y, x * y) - sp.Min(x, 1), sp.Abs(x - y) * sp.sign(x), sp.floor(x) + sp.ceiling(y),
    sp.Heaviside(x - 1) * x, sp.erf(x) * sp.erfc(y), sp.gamma(x + 3) + sp.loggamma(y + 4),
    sp.polygamma(1, x + 3), sp.factorial(x + 3), sp.binomial(x, 3), sp.beta(x + 2, y + 2),
    sp.Rational(1, 3) * x + sp.Rational(-2, 7) * y, x ** sp.Rational(-3, 2) * sp.sqrt(y),
    sp.acot(x) + sp.asinh(y), sp.Piecewise((x**2, x > y), (sp.sin(x), sp.Eq(x, y)), (y, True)),
    sp.Piecewise((x, sp.And(x > 0, y > 0)), (y, sp.Or(x < -1, sp.Not(y > 2))), (1, True)),
    sp.Mod(x, 2) + sp.frac(y), sp.EulerGamma * x + sp.Catalan * y + sp.GoldenRatio + sp.E**x,
    sp.Mul(x, x, evaluate=False) + sp.Add(y, y, evaluate=False), sp.sinc(x) * y,
    sp.Float("0.1", 40) * x, sp.log(x * x + 1, 10), sp.cosh(x) ** -2, sp.digamma(x + 2), x**y,
    sp.Sum(x**k / sp.factorial(k), (k, 0, 6)), sp.Product(x + k * y, (k, 1, 4)),
    sp.Sum(sp.Sum(x**k * y**j, (k, 0, j)), (j, 0, 4)), sp.Sum(x**k * j, (k, 0, j), (j, 0, 3)),
    sp.Sum(sp.sin(k * x), (k, 1, 3)) * sp.Sum(sp.cos(k * y), (k, 1, 3)), sp.Heaviside(x - 1, 1),
]  # fmt: skip
POINTS = [(0.7, 1.3), (1.9, 0.4), (0.31, 2.2)]


def truth(e: sp.Expr, at: dict[sp.Symbol, float]) -> float:
    """The value by SymPy and mpmath, of 40 digits."""
    exact = e.subs({s: sp.Rational(v) for s, v in at.items()}).doit()
    return float(sp.re(exact.evalf(40)))


@pytest.mark.sampled
@pytest.mark.parametrize("e", EXPRESSIONS, ids=str)
def test_value_and_gradient(e: sp.Expr) -> None:
    f = symgrad(e, params=(x, y))
    plain = f.__wrapped__
    for a, b in POINTS:
        value = f(a, b)
        assert value == pytest.approx(truth(e, {x: a, y: b}), rel=1e-13)
        assert float(plain(a, b)) == pytest.approx(value, rel=1e-11)
        for got, s in zip(f.grad(a, b), (x, y), strict=True):
            slope = mpmath.diff(
                lambda v, s=s, a=a, b=b: mpmath.mpf(truth(e, {x: a, y: b} | {s: float(v)})),
                a if s is x else b, h=1e-5,
            )  # fmt: skip
            assert got == pytest.approx(float(slope), rel=1e-4, abs=1e-4)


def test_the_class_of_functions_is_that_of_the_table() -> None:
    """Every function of the table that SymPy has comes back from SymPy."""
    args = sp.symbols("a b c d", real=True)
    for op in OPS.values():
        if op.sympy is None or not op.names or not op.arity:
            continue
        e = op.sympy(sp, *((sp.Integer(2), *args) if op.name == "polygamma" else args)[: op.arity])
        symgrad(e, params=args)


@pytest.mark.sampled
@pytest.mark.parametrize("case", [c for c in CASES if not c.static], ids=lambda c: c.name)
def test_round_trip(case: object) -> None:
    """`.expr` is a function again, of the same values."""
    f = symgrad(case.fun)
    try:
        expr, symbols = f.expr, f.symbols
    except SymdiffError as refusal:
        assert "no single expression" in str(refusal)
        return
    g = symgrad(expr, params=symbols)
    for at in case.samples:
        np.testing.assert_allclose(_flat(g(*at)), _flat(f(*at)), rtol=1e-12, atol=1e-300)


def _flat(value: object) -> list[float]:
    """The numbers in nested results, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return [v for part in value for v in _flat(part)]
    return [float(value)]


@pytest.mark.slow
def test_shared_nodes_stay_shared() -> None:
    """60 levels that use the last twice: 2**60 nodes as a tree, one assignment each."""
    e = x
    for _ in range(60):
        e = sp.sin(e) + sp.cos(e) / 3
    f = symgrad(e)
    assert 60 <= len(inspect.getsource(f.__wrapped__).splitlines()) <= 200
    v = mpmath.mpf(0.4)
    with mpmath.workdps(40):
        for _ in range(60):
            v = mpmath.sin(v) + mpmath.cos(v) / 3
    assert f(0.4) == pytest.approx(float(v), rel=1e-15)
    replacements, _ = f.cse()
    assert len(replacements) >= 59


@pytest.mark.slow
def test_arrays() -> None:
    f = symgrad(sp.Sum(A[i] ** 2 * sp.exp(x), (i, 0, n - 1)), params=(A, x, n))
    a = np.arange(4.0)
    assert f(a, 0.5, 4) == pytest.approx(14 * np.exp(0.5))
    da, dx = f.grad(a, 0.5, 4)
    np.testing.assert_allclose(da, 2 * a * np.exp(0.5))
    assert dx == pytest.approx(14 * np.exp(0.5))
    two = symgrad(sp.Sum(A[i, j] * B[j], (j, 0, 2), (i, 0, 1)), params=(A, B))
    m, v = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 4.0])
    assert two(m, v) == np.sum(m @ v)
    M = sp.MatrixSymbol("M", 2, 2)
    assert symgrad(M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0])(np.array([[1.0, 2], [3, 4]])) == -2
    chosen = sp.Idx("l", (0, 3))
    assert symgrad(sp.Sum(A[chosen], chosen))(a) == 6.0


def test_containers_and_matrices() -> None:
    f = symgrad({"m": sp.Matrix([[x, y], [x * y, 1]]), "t": (x, [y, 2])})
    got = f(2.0, 3.0)
    np.testing.assert_array_equal(got["m"], [[2, 3], [6, 1]])
    assert got["t"] == (2.0, [3.0, 2.0])
    dx, dy = symgrad(sp.Matrix([x * y, x + y])).jacobian(2.0, 3.0)
    np.testing.assert_array_equal(dx, [[3.0], [1.0]])
    np.testing.assert_array_equal(dy, [[2.0], [1.0]])


def test_the_symbols_that_came_in_go_out() -> None:
    f = symgrad(sp.sqrt(p**2) * sp.log(p))
    assert f.symbols == (p,)
    assert f.grad.expr.free_symbols == {p}
    assert f.grad.expr.subs(p, 1) == 1
    plain = symgrad(_plain)
    assert plain.expr.subs({sp.Symbol("x"): 3}) == 9
    assert plain.grad.symbols == (sp.Symbol("x"),)


def _plain(x):
    return x**2


def test_assumptions_count_as_domain() -> None:
    assert symgrad(sp.Abs(x) * p, params=(p, x)).grad.expr[1] == p * sp.sign(x)
    q = sp.Symbol("q", positive=True)
    assert str(symgrad(sp.Abs(q, evaluate=False)).expr) == "q"
    assert "assert q > 0" in inspect.getsource(symgrad(q * 2).__wrapped__)


def test_names_that_are_no_identifiers() -> None:
    odd = sp.symbols(r"\lambda x' lambda 1a np")
    f = symgrad(sp.Add(*(s * (m + 1) for m, s in enumerate(odd))), params=odd)
    assert f(1.0, 1.0, 1.0, 1.0, 1.0) == 15.0
    assert f.grad.expr == (1, 2, 3, 4, 5)
    assert f.expr.free_symbols == set(odd)


def test_pickling() -> None:
    f = symgrad(sp.sin(x) / x, accuracy="strict")
    again = pickle.loads(pickle.dumps(f))
    assert isinstance(again, SymbolicFunction)
    assert again(0.0) == 1.0
    assert pickle.loads(pickle.dumps(f.grad))(0.5) == f.grad(0.5)


def test_relations_are_truth_values() -> None:
    for e, at, expected in [
        (x > y, (2.0, 1.0), True),
        (sp.And(x > y, x < 3), (4.0, 1.0), False),
        (sp.Or(x > y, sp.Not(x < 3)), (1.0, 2.0), False),
        (sp.Xor(x > y, x < 3), (1.0, 2.0), True),
    ]:
        assert symgrad(e)(*at) is expected
    found = symgrad([x > y, x * y])(np.array([3.0, 1.0]), np.ones(2))
    np.testing.assert_array_equal(found[0], [True, False])


def test_lambdify_takes_what_sympy_takes() -> None:
    assert lambdify(x, sp.sin(x), "numpy")(0.0) == 0.0
    assert lambdify(x, x + 1, modules=["scipy", "numpy"], cse=True)(2.0) == 3.0
    assert lambdify(x, 3)(2.0) == 3.0
    with pytest.raises(SymdiffError, match="'mpmath' is not computed in doubles"):
        lambdify(x, sp.sin(x), "mpmath")
    with pytest.raises(SymdiffError, match="is not computed in doubles"):
        lambdify(x, sp.sin(x), [{"sin": abs}, "numpy"])


def test_lambdify() -> None:
    assert lambdify((x, y), sp.sin(x * y) / x)(0.0, 2.0) == 2.0
    assert lambdify(x, x**3, derivatives=1)(2.0) == (8.0, 12.0)
    assert lambdify([x], x**3, derivatives=2)(2.0) == (8.0, 12.0, 12.0)
    assert lambdify((x, (y, z)), x * y + z)(1.0, [2.0, 3.0]) == 5.0
    value, (dx, _) = lambdify((x, y), sp.Matrix([x * y, x]), derivatives=1)(2.0, 3.0)
    np.testing.assert_array_equal(value, [[6.0], [2.0]])
    np.testing.assert_array_equal(dx, [[3.0], [1.0]])
    grid = np.linspace(-2, 2, 7)
    np.testing.assert_allclose(
        lambdify(x, sp.sin(x) ** 2)(grid), sp.lambdify(x, sp.sin(x) ** 2)(grid), rtol=1e-14
    )


REFUSED = [
    (lambda: sp.airyai(x), "symdiff does not know the function airyai"),
    (lambda: sp.Derivative(sp.Function("g")(x), x), "symdiff does not know Derivative of SymPy"),
    (lambda: sp.Integral(sp.exp(-(x**2)), (x, 0, y)), "symdiff does not know Integral of SymPy"),
    (lambda: sp.I * x, "symdiff does not know ImaginaryUnit of SymPy"),
    (lambda: sp.Function("g")(x), "symdiff does not know the function g"),
    (lambda: sp.Sum(x / k**2, (k, 1, sp.oo)), "the bounds 1 and oo of a Sum"),
    (lambda: A * x, "the array A is used as a whole"),
    (lambda: sp.Symbol("c", imaginary=True) * 2, "the symbol c is not real"),
]


@pytest.mark.parametrize("make, text", REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_refusals_name_what_is_not_known(make: object, text: str) -> None:
    with pytest.raises(UnsupportedError) as refusal:
        symgrad(make())
    assert str(refusal.value).splitlines()[0] == text


def test_parameters() -> None:
    with pytest.raises(UnsupportedError, match="y is not among the parameters"):
        symgrad(x * y, params=(x,))
    with pytest.raises(UnsupportedError, match="the parameter x is given twice"):
        symgrad(x, params=(x, x))
    with pytest.raises(SymdiffError, match="params= without a SymPy expression"):
        symgrad(_plain, params=(x,))
    with pytest.raises(SymdiffError, match="second derivatives of several values"):
        lambdify(x, [x, x**2], derivatives=2)
    assert symgrad(x, params=("x", "y")).grad(1.0, 5.0) == (1.0, 0.0)


def test_programs_print_as_assignments():
    def nested(x):
        for c in [3] * 60:
            x = np.sin(x) + np.cos(x) / c
        return x

    lines = str(symgrad(nested).program).splitlines()
    assert lines[0] == "nested(x)"
    assert lines[1] == "  t0 = sin(x) + cos(x)/3" or lines[1] == "  t0 = cos(x)/3 + sin(x)"
    assert len(lines) == 61
    scope = {"sin": np.sin, "cos": np.cos, "x": 0.7}
    for line in lines[1:]:
        name, text = line.strip().split(" = ")
        scope[name] = eval(text, scope)
    assert scope["[0]"] == pytest.approx(nested(0.7), rel=1e-14)
    t = symgrad(lambda t0: np.sqrt(t0) * np.sqrt(t0 + 1) + np.sqrt(t0 + 1))
    assert "  t1 = sqrt(t0 + 1)" in str(t.program).splitlines()


M, V = sp.MatrixSymbol("M", 2, 2), sp.MatrixSymbol("V", 2, 1)
TIME = sp.Symbol("t")
ANGLE = sp.Function("theta")(TIME)
SQUARE, COLUMN = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [2.0]])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("args", "expr", "values"),
    [
        (["x", "y"], "x*y + sin(x)", (2.0, 3.0)),
        ([x, y], "x*y", (2.0, 3.0)),
        ("x", "sqrt(x)", (2.0,)),
        ([x, y], ["x*y", "x + y"], (2.0, 3.0)),
        (ANGLE, ANGLE**2 + sp.sin(ANGLE), (2.0,)),
        ([TIME, ANGLE, ANGLE.diff(TIME)], TIME * ANGLE.diff(TIME) ** 2 - ANGLE, (0.5, 2.0, 3.0)),
        ([(TIME, ANGLE)], TIME * ANGLE, ((2.0, 3.0),)),
        ([M, V], M * V, (SQUARE, COLUMN)),
        ([x, M], x * M.T * M, (2.0, SQUARE)),
        ([M], M.I, (SQUARE,)),
        ([M], M[0, 1] * M[1, 0], (SQUARE,)),
    ],
)
def test_lambdify_of_texts_applied_functions_and_matrices(
    args: Any, expr: Any, values: Any
) -> None:
    wanted = sp.lambdify(args, expr)(*values)
    np.testing.assert_allclose(lambdify(args, expr)(*values), wanted, rtol=1e-14)


def test_lambdify_of_determinants_and_traces() -> None:
    f = lambdify([M], sp.det(M) + sp.Trace(M))
    assert f(SQUARE) == 3.0
    np.testing.assert_array_equal(f.grad(SQUARE), [[5.0, -3.0], [-2.0, 2.0]])
    assert lambdify("x, y", "x + y**2").grad(2.0, 3.0) == (1.0, 6.0)
