"""Every function with its error against ball arithmetic, because it is in the table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from symdiff import ir
from symdiff.interpret.flat import Tape
from symdiff.ir import Op
from symdiff.lowering.compensated.functions import BITS, CORRECTED, LIGHT_BITS
from tests.kernels import make_kernel

SAMPLES = 400
PRECISION = 400
X = ir.var("x")


def samples() -> np.ndarray:
    """Doubles of any size, ordinary ones, and such near multiples of pi and log 2, near 0,
    1 and the borders of ranges."""
    rng = np.random.default_rng(7)
    sign = rng.choice([-1, 1], SAMPLES)
    parts = [
        rng.normal(size=SAMPLES),
        sign * rng.uniform(0, 8, SAMPLES),
        sign * rng.uniform(0, 700, SAMPLES),
        sign * 10 ** rng.uniform(-12, 5, SAMPLES),
        sign * 2.0 ** rng.uniform(-890, 890, SAMPLES),
        rng.integers(-40_000, 40_000, SAMPLES) * (math.pi / 2) * rng.choice([1, 0.5], SAMPLES),
        rng.integers(-800, 800, SAMPLES) * (math.log(2) / 2),
        1 + sign * 2.0 ** -rng.uniform(1, 53, SAMPLES),
        sign * 2 ** rng.uniform(-0.51, 0.51, SAMPLES),
        rng.uniform(-1, 1, SAMPLES),
        1 + 2.0 ** rng.uniform(-20, 20, SAMPLES),
        rng.integers(-200, 200, SAMPLES) / 16,
        np.nextafter(rng.integers(-8, 8, SAMPLES), sign * 100.0),
        np.array([0.0, 6.5, -6.5, 22, -22, 600, -600, 65536, math.pi / 4, -math.pi / 4]),
    ]
    return np.concatenate(parts)


def exactly(value: float) -> arb:
    return arb(fmpq(*value.as_integer_ratio()))


def _run(tape: Tape, x: arb) -> arb:
    return tape.run([x], PRECISION)[tape.roots[0]]


@pytest.mark.sampled
@pytest.mark.parametrize("light", [False, True], ids=["full", "light"])
@pytest.mark.parametrize("op", CORRECTED, ids=str)
def test_value_and_error(op: Op, light: bool) -> None:
    found = CORRECTED[op].build(X, light)
    bits = LIGHT_BITS if light else BITS
    outputs = [*found, ir.where(CORRECTED[op].inside(X), ir.ONE, ir.ZERO)]
    x = samples()
    value, error, slope, inside = make_kernel(outputs, ["x"])([x])
    assert inside.sum() > 3 * SAMPLES
    rows = np.stack([x, value, error, slope])[:, inside == 1].T.tolist()
    (derivative,) = (op.by_value or op.partials)(X)  # type: ignore[misc]
    tape = Tape([X], [derivative])
    with ctx.workprec(PRECISION):
        for point, v, e, s in rows:
            truth = op.ball(exactly(point))  # type: ignore[misc]
            if abs(truth) < arb(2) ** -900 and truth != 0:
                continue
            assert abs(e) <= 2 * math.ulp(v), point
            assert abs(exactly(v) + exactly(e) - truth) <= arb(2) ** -bits * abs(truth), point
            true_slope = _run(tape, truth if op.by_value else exactly(point))
            close = arb(2) ** -30 * abs(true_slope) + arb(2) ** -50 * abs(truth)
            assert abs(exactly(s) - true_slope) <= close, point


@pytest.mark.sampled
@pytest.mark.parametrize("op", CORRECTED, ids=str)
def test_numbers_and_registers_agree(op: Op) -> None:
    pair = make_kernel(list(CORRECTED[op].build(X, False))[:2], ["x"])
    x = np.array([0.1, 0.7, 0.9, 1.3, 2.9, 5.5])
    x = x[make_kernel([ir.where(CORRECTED[op].inside(X), ir.ONE, ir.ZERO)], ["x"])([x])[0] == 1]
    together = pair([x])
    for k, point in enumerate(x.tolist()):
        alone = pair([point])
        if any(n.op is op for n in ir.topological(CORRECTED[op].build(X, False))):
            # its first value is the library's
            assert sum(alone) == pytest.approx(together[0][k] + together[1][k], rel=1e-15)
        else:
            assert alone == [together[0][k], together[1][k]]
