"""Wrong signs and constants in what makes and differentiates programs with arrays and loops.

`python -m tests.validation.mutants loops` plants them one at a time. What catches one is validation
when a probe is called, or, if that is silent, the tests that are named beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

REVERSE, FORWARD = "loops.diff.reverse", "loops.diff.forward"
SIMPLE = "loops.simplify."

EDITS: tuple[tuple[str, str, str, str], ...] = (
    (REVERSE, "accumulate(self.pending, child, deeper, bar * partial)", "accumulate(self.pending, child, deeper, -bar * partial)", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "var(start) + self.scalar(name)", "var(start) - self.scalar(name)", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "load(array(a), *at) + load(array(b), *at)", "load(array(a), *at) - load(array(b), *at)", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "Update(new, bar, s.type, s.index, ZERO, s.guard)", "Update(new, bar, s.type, s.index, ir.ONE, s.guard)", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "sweep.seed(s.value, load(array(bar), *at))", "sweep.seed(s.value, -load(array(bar), *at))", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "Update(new, source, t, place, bar, guard, add=True)", "Update(new, source, t, place, bar, guard, add=False)", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "path = () if s.guard is TRUE else (s.guard,)", "path: Path = ()", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "self.receive(c.init, bar.result)", "self.receive(c.init, bar.name)", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "reverse=not s.reverse", "reverse=s.reverse", "tests/loops/diff/test_derivatives.py"),
    (REVERSE, "else (s.guard,)", "else (ir.not_(s.guard),)", "tests/loops/diff/test_derivatives.py"),
    (FORWARD, "total = total + ir.where(counts, multiplied(dot, partial), ZERO)", "total = total - ir.where(counts, multiplied(dot, partial), ZERO)", "tests/loops/diff/test_derivatives.py"),
    (FORWARD, "of_branches(n, self.known.__getitem__)", "of_branches(n, lambda a: ZERO)", "tests/loops/diff/test_derivatives.py"),
    ("loops.diff.checkpoint", "{i: i + (s.count - ahead)}", "{i: i + s.count}", "tests/loops/diff/test_checkpoint.py"),
    ("loops.diff.checkpoint", "step = chunk * self.steps + i", "step = chunk * self.steps + i + ONE", "tests/loops/diff/test_checkpoint.py"),
    ("loops.diff.seeds", "ir.where(here, ONE, ZERO)", "ir.where(here, -ONE, ZERO)", "tests/loops/diff/test_derivatives.py"),
    ("loops.diff.sparse", "at = ir.sub(lp.index(letter), offset)", "at = ir.add(lp.index(letter), offset)", "tests/loops/test_signs_and_places.py"),
    ("loops.diff.sparse", "column = ir.add(ir.mul(column, size), i)", "column = ir.add(ir.mul(column, size), last)", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "deltas", "sums[result] = result + extra", "sums[result] = result - extra", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "deltas", "return right - shift, TRUE", "return right + shift, TRUE", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "deltas", "ir.and_(ir.le(ZERO, place), ir.lt(place, count))", "ir.and_(ir.lt(ZERO, place), ir.lt(place, count))", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "scaled_sums", "LOG(e): common + LOG(rest)", "LOG(e): common - LOG(rest)", "tests/loops/simplify/test_exponents.py"),
    (SIMPLE + "scaled_sums", "weight * EXP(u - m)", "weight * EXP(u + m)", "tests/loops/simplify/test_exponents.py"),
    (SIMPLE + "forwarding", "value = before.value + ir.where(s.guard, s.value, ZERO)", "value = before.value - ir.where(s.guard, s.value, ZERO)", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "forwarding", "value=before.value + s.value", "value=before.value - s.value", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "promote", "now = now + ir.where(guard, value, ZERO)", "now = now - ir.where(guard, value, ZERO)", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "tabulate", "value = value + ir.where(inside, change, ZERO)", "value = value - ir.where(inside, change, ZERO)", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "tabulate", "k - a.shift for a", "k + a.shift for a", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "tabulate", "var(start) + ir.where(guard, value, ZERO)", "var(start) - ir.where(guard, value, ZERO)", "tests/loops/test_signs_and_places.py"),
    (SIMPLE + "scaled_sums", "power(e.args[0] / unit, TWO)", "power(e.args[0] * unit, TWO)", "tests/loops/simplify/test_scaled_norms.py"),
    ("ir.linalg.routines", "return [w.minus(w.outer(right, x)), right]", "return [w.outer(right, x), right]", "tests/loops/test_routines.py"),
    ("ir.linalg.routines", "return [w.minus(w.times(w.times(t, bars[0]), t))]", "return [w.times(w.times(t, bars[0]), t)]", "tests/loops/test_routines.py"),
)  # fmt: skip
"""(module, text, what it becomes, the tests that are asked where validation is silent)"""


def recurrence(x: Any) -> Any:
    s = 0.3
    for i in range(len(x)):
        s = np.sin(s) * x[i] + np.exp(-s) * 0.5
    return s


def backwards(x: Any) -> Any:
    s, t = 1.0, 0.0
    for i in range(len(x) - 1, -1, -1):
        s = s * x[i] + 0.1
        t = t + s * s * x[i]
    return t


def overwritten(x: Any) -> Any:
    y = x * x
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1] + x[i]
    y[0] = x[1] * 3.0
    return np.sum(y * x)


def scattered(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i // 2] += x[i] * x[i]
        if x[i] > 0.7:
            y[i] += 2.0 * x[i] ** 3
    return np.sum(np.exp(-y))


def triangular(x: Any) -> Any:
    t = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i):
            t[i] += x[j] * x[i]
    return np.sum(np.tanh(t))


def smoothed(a: Any) -> Any:
    e = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            e[i] = 0.5 * e[i] + np.sin(a[i, j])
    return np.sum(e * e)


def softmax(x: Any) -> Any:
    w = np.exp(x - np.max(x))
    return np.log(np.sum(w)) + np.sum(w * x) / np.sum(w)


def likelihood(x: Any) -> Any:
    return np.log(np.sum(np.exp(3.0 * x))) - np.mean(x)


def norms(x: Any) -> Any:
    return np.sqrt(np.sum(x * x)) + np.linalg.norm(x[1:] - x[:-1])


def products(a: Any) -> Any:
    return np.sum((a @ a.T) * np.sin(a @ a.T)) + np.trace(a.T @ a)


def solved(a: Any) -> Any:
    m = a @ a.T + 3.0 * np.eye(a.shape[0])
    return np.sum(np.linalg.solve(m, a[:, 0])) + np.sum(np.linalg.inv(m) * m)


def differences(x: Any) -> Any:
    y = np.zeros(len(x))
    y[1:-1] = x[2:] - 2.0 * x[1:-1] + x[:-2]
    y[0] = x[0] * x[1]
    return y + np.cumsum(x**2)


def stretched(x: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x) - 2):
        y[i + 2] = x[i] * x[i + 1]
    for i in range(1, len(x)):
        y[i] += np.cos(x[i - 1])
    return np.sum(y * y)


ROW = np.array([0.7, 1.3, -0.4, 0.9, 1.1, 0.6])
TABLE = np.array([[0.4, 1.2, -0.6], [0.9, 0.3, 0.8], [1.1, -0.5, 0.7]])
PROBES: tuple[tuple[Callable[..., Any], Any], ...] = (
    *((f, ROW) for f in (recurrence, backwards, overwritten, scattered, triangular, softmax,
                         likelihood, norms, stretched)),
    *((f, TABLE) for f in (smoothed, products, solved)),
)  # fmt: skip


def caught() -> str:
    """What says that a planted fault is one, when the probes are called; "" if nothing does."""
    from symdiff import symgrad
    from symdiff.errors import ValidationWarning, VerificationError

    crash = ""
    for f, at in (*PROBES, (differences, ROW)):
        g = symgrad(f, cache=False)
        kinds = (g, g.grad) if f is not differences else (g, g.jacobian)
        for h in kinds:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", ValidationWarning)
                try:
                    h(at)
                except VerificationError as e:
                    return "validation of arrays" if "balls" not in str(e) else "the first call"
                except ValidationWarning:
                    return "formulas"
                except Exception as error:
                    crash = crash or f"a crash ({type(error).__name__})"
    return crash
