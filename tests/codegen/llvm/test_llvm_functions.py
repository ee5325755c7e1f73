"""Every entry of the table of functions, compiled, against ball arithmetic."""

import math

import flint
import numpy as np
import pytest

from symdiff.errors import UnsupportedError
from symdiff.ir import ABS, POW, SIGN, TRUE, ZERO, Op, const, integer, var
from symdiff.ir.functions import POLYGAMMA, TABLE
from symdiff.runtime.scalar.compiled import Spec
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel

SAMPLES = {
    "wide": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-12, 2.4, n),
    "ordinary": lambda rng, n: rng.uniform(-3, 3, n),
}
SCALAR_ULP = 2.0
SCALAR_ULP_OF = {
    # what glibc's manual states (2.36, x86_64), where that is more than 2
    "cbrt": 4.0, "erfc": 5.0, "gamma": 10.0, "lgamma": 4.0, "sinh": 2.5, "tanh": 2.5,
    "polygamma": 16.0,  # its expansion subtracts
    "asinh": 2.5, "atanh": 2.5, "acosh": 2.5, "log10": 2.5, "cosh": 2.5, "tan": 2.0,
}  # fmt: skip
VECTOR_ULP = 5.0
FLOAT32_ULP = 5.0
AMPLIFIED = {"polygamma", "logaddexp", "lgamma"}
"""Zeros of these (or of their expansion's terms) make the error relative to the
value unbounded in plain arithmetic; their error is measured against max(|f|, 1)."""


def truth(op: Op, args) -> flint.arb | None:
    with flint.ctx.workprec(400):
        try:
            ball = op.ball(*(flint.arb(float(a)) for a in args))
        except (ValueError, ZeroDivisionError):
            return None
        if not ball.is_finite() or (ball.rel_accuracy_bits() < 80 and not ball.is_exact()):
            return None
        return ball


def ulps(got, true: flint.arb, dtype: str, floor: float = 0.0) -> float:
    """The error in ulps of the true value; 0 outside the normal range."""
    t = abs(float(true.mid()))
    limits = np.finfo(dtype)
    if not float(limits.tiny) <= t <= float(limits.max) or (true.is_zero() and got == 0):
        return 0.0
    if not math.isfinite(got):
        return math.inf
    with flint.ctx.workprec(400):
        error = float(abs(flint.arb(float(got)) - true).mid())
    return error / float(np.spacing(np.dtype(dtype).type(max(t, floor))))


ORDERED = (
    "polygamma", "ellipk", "ellipe", "ellipf", "ellipeinc", "zeta", "faddeeva_real", "faddeeva_imag",
    "von_mises_arc",
)  # fmt: skip
"""Functions whose first argument is an order."""


def arguments(op: Op, rng: np.random.Generator, n: int) -> list[np.ndarray]:
    columns = []
    for _ in range(op.arity):
        parts = [make(rng, n // 2) for make in SAMPLES.values()]
        columns.append(rng.permutation(np.concatenate(parts)))
    if op.name in ORDERED:
        columns[0][:] = rng.integers(0, 3, n) if op.name != "polygamma" else 0.0
    if op.name.startswith("betainc"):
        columns = [np.abs(c) for c in columns]
        columns[2] = rng.uniform(0, 1, n)
    return columns


def kernel_of(op: Op) -> tuple[Kernel, int]:
    names = [f"x{k}" for k in range(op.arity)]
    args = [var(n) for n in names]
    if op.name == "polygamma":
        args[0] = ZERO
    return make_kernel((op(*args),), names), op.arity


ALL = [op for op in (*TABLE, ABS, SIGN, POW) if op.arity]


@pytest.mark.sampled
@pytest.mark.parametrize("op", ALL, ids=repr)
def test_function(op):
    """Scalars within libm's error, arrays within libmvec's, both dtypes."""
    if op.ball is None:
        assert op is POW
        ball = lambda a, b: a**b if a > 0 else flint.arb("nan")
    kernel, _ = kernel_of(op)
    rng = np.random.default_rng(1)
    count = 400 if "_by_" not in op.name else 100
    columns = arguments(op, rng, count)
    floor = 1.0 if op.name in AMPLIFIED else 0.0
    array = kernel(columns)[0]
    singles = [c.astype(np.float32) for c in columns]
    array32 = kernel(singles)[0]
    assert array.dtype == np.float64 and array32.dtype == np.float32
    checked = 0
    evaluate = op if op.ball is not None else type("P", (), {"ball": staticmethod(ball)})
    for k in range(count):
        point = [float(c[k]) for c in columns]
        true = truth(evaluate, point)
        if true is None:
            continue
        checked += 1
        bound = SCALAR_ULP_OF.get(op.name, SCALAR_ULP)
        assert ulps(kernel.fast(*point), true, "float64", floor) <= bound, point
        assert ulps(array[k], true, "float64", floor) <= max(VECTOR_ULP, bound), point
        point32 = [float(c[k]) for c in singles]
        if (true32 := truth(evaluate, point32)) is not None:
            assert ulps(array32[k], true32, "float32", floor) <= max(FLOAT32_ULP, bound), point32
    assert checked > 60 * count // 400


@pytest.mark.parametrize("op", [o for o in TABLE if not o.arity], ids=repr)
def test_named_constants(op):
    with flint.ctx.workprec(200):
        exact = op.ball()
    assert make_kernel((op(),), ()).fast() == float(exact.mid())


@pytest.mark.sampled
@pytest.mark.parametrize("op", [o for o in ALL if o.domain is not None], ids=repr)
def test_nan_outside_the_domain(op):
    kernel, _ = kernel_of(op)
    outside = [-5.5] * op.arity
    if op.domain(*map(const, outside)) is TRUE:
        outside = [5.5] * op.arity
    assert math.isnan(kernel.fast(*outside))
    assert np.isnan(kernel(tuple(np.full(9, v) for v in outside))[0]).all()


@pytest.mark.slow
def test_strict_calls_libm_on_arrays():
    """With accuracy="strict" an array gives bit for bit what scalars give."""
    rng = np.random.default_rng(2)
    for op in ALL:
        if op.arity != 1 or op.libm is None:
            continue
        kernel = make_kernel((op(var("x")),), ("x",), accuracy="strict")
        x = rng.uniform(-2, 2, 37)
        alone = np.array([kernel.fast(float(v)) for v in x])
        np.testing.assert_array_equal(kernel((x,))[0], alone)


def test_polygamma_of_unknown_order_is_refused():
    assert integer(POLYGAMMA(25, var("x")).args[0]) == 25
    with pytest.raises(UnsupportedError, match="polygamma of order 25 has no kernel"):
        Spec(("x",), (POLYGAMMA(25, var("x")),), None, "float64", "high", False).lowered()
