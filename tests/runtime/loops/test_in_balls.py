"""Programs in compiled balls do what the reference interpreter does with 400 bits."""

from __future__ import annotations

import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

from symdiff import ir, symgrad
from symdiff.codegen.llvm.loops.in_balls import BallKernel
from symdiff.errors import UnsupportedError
from symdiff.interpret.loops import Precise, run
from symdiff.ir.loop_program import LoopProgram, Parameter, Type
from symdiff.pipeline.lowered.loops import LoweredProgram
from symdiff.runtime.loops import ball_program
from symdiff.runtime.loops.ball_program import BallProgram
from symdiff.runtime.loops.call import UnfinishedError
from symdiff.runtime.loops.program_keys import fingerprint
from symdiff.runtime.loops.recomputed import Recomputed
from tests.array_corpus import PROGRAMS, WITH_GRADIENT, Case, passed
from tests.loops.programs import as_floats
from tests.traced_corpus import gradient, value


def check(program: LoopProgram, case: Case, choices: tuple[int, ...]) -> None:
    tiers = LoweredProgram(program)
    made = tiers.in_balls()
    kernel = BallProgram(made, fingerprint(made), True)
    for seed, sizes in enumerate(case.sizes(choices)):
        for args in passed(program, case.arguments(sizes, seed)):
            want = run(tiers.exact, args, Precise(400))
            for got, w in zip(kernel(args, False, True), want, strict=True):
                close(got, w, sizes)


def close(got: ball_program.Result, want: Any, sizes: Any) -> None:
    numbers = as_floats(want)
    assert np.shape(got.value) == numbers.shape, sizes
    good = np.broadcast_to(got.good, numbers.shape)
    assert (good | ~np.isfinite(numbers)).all(), sizes
    np.testing.assert_allclose(np.asarray(got.value)[good], numbers[good], rtol=1e-15, atol=1e-100, err_msg=str(sizes))  # fmt: skip


FEW = PROGRAMS[::12]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", FEW, ids=lambda c: c.name)
def test_some_values(case: Case) -> None:
    check(value(case), case, (0, 2, 5))


@pytest.mark.slow
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c.name)
def test_values(case: Case) -> None:
    check(value(case), case, (0, 1, 2, 7))


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_GRADIENT, ids=lambda c: c.name)
def test_gradients(case: Case) -> None:
    check(gradient(case), case, (0, 2, 7))  # computed numbers that are equal leave kinks open


def moments(x):
    return np.log(np.mean(x * x) - np.mean(x) ** 2)


@pytest.mark.parametrize("there", [True, False])
def test_without_flints_symbols_formulas_serve(
    monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.setattr(ball_program, "is_there", lambda: there)
    made = []
    formula = Recomputed._formula
    monkeypatch.setattr(Recomputed, "_formula", lambda self, v: made.append(self) or formula(self, v))  # fmt: skip
    near = np.array([0.25, 3.0, 1.5, 7.0, 5.0])
    x, d = 1e8 + near, near - near.mean()
    f = symgrad(moments, verify=False)
    np.testing.assert_allclose(f(x), np.log(np.mean(d * d)), rtol=1e-15)
    np.testing.assert_allclose(f.grad(x), 2 * d / np.sum(d * d), rtol=1e-14)
    assert bool(made) != there


def program_of(fun, *args):
    source = symgrad(fun)._source
    return LoweredProgram(source.raw({}, source.shapes({}, args)))


def test_a_call_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(x):
        y = 0.3
        for v in x:
            y = v * y * (1 - y)
        return y

    x = np.full(1_000_000, 3.9)
    made = program_of(turned, x).in_balls()
    kernel = BallProgram(made, fingerprint(made), False)
    monkeypatch.setattr(ball_program, "WATCHES", 1)
    with pytest.raises(UnfinishedError):
        kernel([x], False, False)


def test_what_has_no_c_function_is_refused() -> None:
    x = np.ones(3)
    made = program_of(lambda x: np.sum(special.gammainc(x[:-1], x[1:])), x).in_balls()
    with pytest.raises(UnsupportedError, match="C function"):
        BallProgram(made, 1, False)


def test_what_decides_is_read_before_an_array_changes() -> None:
    def exchanged(x):
        y = x * 1.0
        total = 0.0
        for i in range(len(y) - 1):
            before = y[i]
            y[i] = y[i + 1] * 0.5
            total = total * 3 + (y[i + 1] if before < 0.5 else y[i])
        return total

    x = np.array([0.25, 3.0, 0.125, 7.0, 0.3])
    tiers = program_of(exchanged, x)
    made = tiers.in_balls()
    (got,) = BallProgram(made, fingerprint(made), False)([x], False, True)
    assert got.good
    assert got.value == pytest.approx(exchanged(x), rel=1e-15)


def test_radii_that_are_no_proofs_do_not_certify() -> None:
    made = program_of(lambda a: np.sum(np.linalg.eigvalsh(a)), np.eye(3)).in_balls()
    with pytest.raises(UnsupportedError, match="no proof"):
        BallProgram(made, 1, False, proves=True)


def iterated(x: float, r: float, n: int) -> float:
    for _ in range(n):
        x = r * x * (1 - x)
    return x


@pytest.mark.slow
def test_balls_that_grow_with_each_iteration() -> None:
    """The precision that all digits of a chaotic map need grows by half a bit a step, the radii of balls by 1.7."""
    x, r, n = 0.3, 3.9, 1500
    with mpmath.workprec(4000):
        value, by_x, by_r = mpmath.mpf(x), mpmath.mpf(1), mpmath.mpf(0)
        for _ in range(n):
            slope = mpmath.mpf(r) * (1 - 2 * value)
            by_x, by_r = slope * by_x, slope * by_r + value * (1 - value)
            value = mpmath.mpf(r) * value * (1 - value)
        want = float(value), float(by_x), float(by_r)
    f = symgrad(iterated, wrt=("x", "r"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, slopes = f.value_and_grad(x, r, n)
    np.testing.assert_allclose([found, *slopes], want, rtol=1e-14)


@pytest.mark.slow
def test_numbers_that_are_squared_again_and_again() -> None:
    """Their exponents would double with each iteration."""

    def squared(x: float, n: int) -> float:
        for _ in range(n):
            x = x * x
        return 1 / (1 + x)

    g = symgrad(squared)
    for x in (0.5, 1.5, -1.5):
        assert g(x, 100_000) == (1.0 if x == 0.5 else 0.0)
    assert g.grad(0.5, 100_000) == 0.0


def test_conditions_are_printed_once() -> None:
    """Each condition here has the one before it twice: as a tree the last has 2**20."""
    x, y = ir.var("x"), ir.var("y")
    total = ir.mul(x, y)
    passed = ir.lt(x, total)
    for k in range(20):
        one, two = (ir.lt(total, ir.add(y, ir.const(k + n))) for n in (0, 40))
        passed = ir.or_(ir.and_(passed, one), ir.and_(ir.not_(passed), two))
    params = tuple(Parameter(name, Type()) for name in ("x", "y"))
    program = LoopProgram("f", params, (), (ir.where(passed, x, y),))
    assert BallKernel(program).print().count("\n") < 2000


@pytest.fixture
def balls_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other tier serves."""

    def refused(self, *args):
        raise AssertionError("another tier was asked")

    monkeypatch.setattr(Recomputed, "_formula", refused)


@pytest.mark.usefixtures("balls_only")
def test_eliminations_of_hilbert_matrices() -> None:
    a = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
    with mpmath.workdps(60):
        m = mpmath.matrix(a.tolist())
        want = (mpmath.det(m) * m**-1).T
        truth = np.array([[float(want[i, j]) for j in range(8)] for i in range(8)])
    np.testing.assert_allclose(symgrad(lambda a: np.linalg.det(a)).grad(a), truth, rtol=4e-15)


def spread_of_middle(x):
    y = np.sort(x)
    m = y[1:-1]
    return np.mean(m * m) - np.mean(m) ** 2


@pytest.mark.usefixtures("balls_only")
def test_orders_are_those_of_the_call() -> None:
    g = symgrad(spread_of_middle).grad
    x = 1e8 + np.array([0.25, 3.0, 1.5, 7.0, 5.0])
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2], [0, 1, 2, 3, 4]):
        y = x[order]
        inner = np.argsort(y)[1:-1]
        want = np.zeros(5)
        d = y[inner] - 1e8
        want[inner] = 2 * (d - d.mean()) / 3
        np.testing.assert_allclose(g(y), want, rtol=1e-14)
