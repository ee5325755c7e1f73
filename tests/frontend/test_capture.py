"""Capture agrees with running the plain Python function."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.frontend import Inlined, capture
from symdiff.ir.plain import is_plain, real_op
from symdiff.ir.program import Program, map_tree
from tests.corpus import CASES, Case
from tests.work import at_most

ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else mpmath.nan,
    "neg": lambda a: -a,
    "pow": lambda a, b: mpmath.nan if (a < 0 and b != int(b)) or (a == 0 and b < 0) else a**b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "abs": abs,
    "detached": lambda a: a,
    "round": lambda a: mpmath.mpf(round(a)),
    "trunc": lambda a: mpmath.mpf(int(a)),
    "copysign": lambda a, b: abs(a) if b >= 0 else -abs(a),
    "maximum": max,
    "larger": max,
    "smaller": min,
    "minimum": min,
    "log1p": lambda a: mpmath.log(1 + a),
    "log2": lambda a: mpmath.log(a, 2),
    "exp2": lambda a: mpmath.mpf(2) ** a,
    "sinc": mpmath.sincpi,
    "lgamma": mpmath.loggamma,
    "polygamma": lambda n, a: mpmath.psi(int(n), a),
    "logaddexp": lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)),
    "xlogy": lambda a, b: a * mpmath.log(b) if a else a,
    "pi": lambda: +mpmath.pi,
    "ln2": lambda: mpmath.log(2),
    "ln10": lambda: mpmath.log(10),
    "fmod": lambda a, b: a - b * int(a / b),
    "floor_quotient": lambda a, b: mpmath.floor(a / b),
}


def evaluate(roots: tuple[ir.Expr, ...], point: dict[str, float]) -> list:
    """Nodes at a point, in 60 digits; a side that is not taken may be anything."""
    value: dict[ir.Expr, object] = {}
    with mpmath.workdps(60):
        for e in ir.topological(roots):
            args = [value[a] for a in e.args]
            if e.op is ir.CONST:
                q = ir.rational(e)
                value[e] = (
                    mpmath.mpf(e.value) if q is None else mpmath.mpf(q.numerator) / q.denominator
                )
            elif e.op is ir.VAR:
                value[e] = mpmath.mpf(point[e.value])
            elif e.op is ir.BOOL:
                value[e] = e.value
            elif e.op is ir.WHERE:
                value[e] = args[1] if args[0] else args[2]
            elif any(isinstance(a, mpmath.mpf) and not mpmath.isfinite(a) for a in args):
                value[e] = False if e.op.boolean else mpmath.nan
            else:
                name = real_op(e.op).name
                f = ARITHMETIC.get(name) or getattr(mpmath, name)
                value[e] = _real(f(*args))
                if is_plain(e):
                    value[e] = mpmath.mpf(float(value[e]))
    return [value[r] for r in roots]


def _real(value: object) -> object:
    return (
        mpmath.nan
        if isinstance(value, mpmath.mpc) and value.imag
        else getattr(value, "real", value)
    )


def run(program: Program, *args: float) -> object:
    """What the captured function returns, or nan outside of its domain."""
    point = dict(zip(program.params, args, strict=True))
    if not all(evaluate(program.domain, point)):
        return math.nan
    values = evaluate(program.outputs, point)
    return map_tree(lambda i: float(values[i]), program.tree)


def assert_equal(got: object, want: object) -> None:
    assert type(got) is type(want) or np.isscalar(got) == np.isscalar(want)
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert_equal(g, w)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_agrees_with_python(case: Case) -> None:
    program = capture(case.fun, case.static)
    for args in case.samples:
        assert_equal(run(program, *args), case(*args))


def test_corpus_is_large_and_unique() -> None:
    assert len(CASES) >= 60
    assert len({c.name for c in CASES}) == len(CASES)


# ------------------------------------------------------------------ exact reals
def test_literals_are_exact() -> None:
    assert capture(lambda x: x * (1 / 3) * 3, {}).outputs == (ir.var("x"),)
    assert capture(lambda x: x + 0.1, {}).outputs == (ir.add(ir.var("x"), 0.1),)
    sine = ir.apply(ir.OPS["sin"], ir.const(0.3))
    assert capture(lambda x: x * np.sin(0.3), {}).outputs == (ir.mul(ir.var("x"), sine),)


def test_constant_comparisons_are_decided() -> None:
    def f(x):
        return x if math.exp(1.0) < 2.718281828459046 else -x

    assert capture(f, {}).outputs == (ir.var("x"),)


def test_integer_part_of_a_constant() -> None:
    def f(x):
        total = 0.0
        for i in range(int(math.sqrt(17)) + math.floor(math.pi)):
            total += x * i
        return total

    assert capture(f, {}).outputs == (ir.mul(21, ir.var("x")),)


# ---------------------------------------------------------------- domain of values
X = ir.var("x")
NONNEGATIVE = ir.le(0, X)


def masked_sum(x):
    delta = np.array((0, 1)) * x
    return np.sum((delta**0.5)[delta > 0])


@pytest.mark.parametrize(
    ("fun", "domain"),
    [
        (lambda x: np.sqrt(x) ** 2 / x, (NONNEGATIVE,)),
        (lambda x: np.where(x > 0, np.sqrt(x), 0), ()),
        (lambda x: math.log(x) if x > 0 else 0.0, ()),
        (lambda x: (x > 0) * np.log(x), (NONNEGATIVE,)),
        (masked_sum, ()),
        (lambda x: np.where(x > -1, np.sqrt(x), 0), (ir.or_(ir.le(X, -1), NONNEGATIVE),)),
        (lambda x: math.exp(math.log(x)), (NONNEGATIVE,)),
        (lambda x: x**0.5 * 0, (NONNEGATIVE,)),
        (lambda x: math.sqrt(1 + x * x) + math.log(math.exp(x)), ()),
        (lambda x: [math.asin(x), x][1], (ir.le(ir.functions.ABS(X), 1),)),
        (lambda x: np.where(np.isnan(np.log(x)), 0.0, np.log(x)), ()),
        (lambda x: sum(math.sqrt(v) for v in (x, -x) if v > 0), ()),
    ],
)
def test_domain(fun: object, domain: tuple[ir.Expr, ...]) -> None:
    found = capture(fun, {}).domain
    assert {_text(c) for c in found} == {_text(c) for c in domain}


def _text(c: ir.Expr) -> str:
    from symdiff.frontend.trace.implied import canonical

    parts = [_text(a) for a in c.args] if c.op is ir.OR else [repr(canonical(c))]
    return " | ".join(parts)


def test_domain_of_a_condition() -> None:
    """A branch decided by an undefined value is undefined."""

    def f(x):
        if math.log(x) > 0:
            return x
        return -x

    assert capture(f, {}).domain == (NONNEGATIVE,)


def test_assumptions_are_guarded_by_their_path() -> None:
    def f(x, y):
        if x > 0:
            assert y > 1
            return y
        assert x > -5 and y != 0
        return x

    y = ir.var("y")
    a, b = capture(f, {}).assumptions
    assert a is ir.or_(ir.not_(ir.lt(0, X)), ir.lt(1, y))
    assert set(b.args) == {ir.lt(0, X), ir.and_(ir.lt(-5, X), ir.ne(y, 0))}


def test_assumption_makes_a_domain_superfluous() -> None:
    def f(x):
        assert x > 0
        return math.log(x)

    program = capture(f, {})
    assert program.domain == () and program.assumptions == (ir.lt(0, X),)


# -------------------------------------------------------------------- structure
def test_locations_name_the_first_place() -> None:
    def f(x):
        y = math.sin(x)
        return y * abs(x) + math.sin(x)

    program = capture(f, {})
    line = f.__code__.co_firstlineno
    found = {e.op.name: (p.line - line, p.column) for e, p in program.locations.items()}
    assert found["sin"] == (1, 13)
    assert found["abs"] == (2, 20)
    assert found["add"] == found["mul"] == (2, 16)
    assert all(p.path == __file__ for p in program.locations.values())


def test_lambdas_on_one_line_are_told_apart() -> None:
    fs = [lambda x: x + 1, lambda x: x + 2, lambda x: x + 3]
    assert [capture(f, {}).outputs[0] for f in fs] == [ir.add(X, k) for k in (1, 2, 3)]


def test_custom_operation() -> None:
    def rule(x: float) -> float:
        raise NotImplementedError

    rule.__symdiff_op__ = ir.OPS["cosh"]
    assert capture(lambda x: rule(x) + 1, {}).outputs == (ir.add(ir.OPS["cosh"](X), 1),)


class Doubler:
    """An object that expresses itself, as a decorated function does."""

    def __symdiff_trace__(self, args: tuple, kwargs: dict) -> object:
        (a,) = args
        return (ir.mul(2, a), [ir.OPS["log"](a)])

    @property
    def grad(self) -> object:
        return Halver()


class Halver:
    def __symdiff_trace__(self, args: tuple, kwargs: dict) -> object:
        return Inlined(ir.div(args[0], 2), (ir.le(1, args[0]),))


def test_traced_objects_are_inlined() -> None:
    h = Doubler()

    def f(x):
        a, (b,) = h(x + 1)
        return a + b + h.grad(x)

    program = capture(f, {})
    assert set(program.domain) == {ir.le(0, ir.add(X, 1)), ir.le(1, X)}
    assert run(program, 2.0) == pytest.approx(6 + math.log(3) + 1)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.floats(-3, 3), st.floats(-3, 3))
def test_control_flow_agrees_everywhere(x: float, y: float) -> None:
    """Break, continue and return under conditions, mixed, against plain Python."""
    assert_equal(run(_control(), x, y), tangled(x, y))


def tangled(x, y):
    total, seen = 0.0, [0.0, 0.0]
    for i in range(4):
        if x * i > 3:
            seen[0] = total
            break
        for j in range(3):
            if y > j:
                continue
            if x + y < -4:
                return total - j
            total += x * j - y
            if total > 5:
                seen[1] = i + j
                break
        else:
            total -= 1
        if total < -6 and x < 0:
            return seen[1]
    else:
        seen[0] += 2
    return total + seen[0] * 10 + seen[1]


def _control(cache: list = []) -> Program:  # noqa: B006
    if not cache:
        cache.append(capture(tangled, {}))
    return cache[0]


# ------------------------------------------------------------------------- speed
@pytest.mark.slow
def test_branches_are_not_exponential() -> None:
    def f(x):
        y = x
        for i in range(60):
            if math.sin(y) > i:
                y = y * x
            elif y < -i:
                y = y + i
            else:
                y = y - x
            if y > 100 + i:
                return y
        return y

    with at_most(1_000_000):
        program = capture(f, {})
    assert len(ir.topological(program.outputs)) < 2000


@pytest.mark.slow
def test_deep_chains_are_fast() -> None:
    def f(x):
        v = x
        for _ in range(4):  # a longer loop would be kept as one
            for _ in range(4):
                for _ in range(4):
                    for _ in range(4):
                        for _ in range(4):
                            v = math.sin(v) + math.cos(v) / 3
                            v = math.sin(v) + math.cos(v) / 3
        return v

    with at_most(2_000_000):
        program = capture(f, {})
    assert len(ir.topological(program.outputs)) == 4 * 2048 + 2


@pytest.mark.slow
def test_tracing_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from symdiff.frontend import capture\n"
        "from tests.corpus import CASES\n"
        "capture(CASES[0].fun, {})\n"
        "print([m for m in ('sympy', 'numba') if m in sys.modules])"
    )
    root = __file__.partition("/tests/")[0]
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)  # fmt: skip
    assert out.stdout.strip() == "[]"
