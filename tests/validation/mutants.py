"""Wrong signs and constants, planted one at a time: does validation catch them?

`python -m tests.validation.mutants` prints the table of docs/reliability.md. Each mutant lives in a
process of its own: a line of a pass is changed and the module run again, or an entry of a table
of rules and derivatives is. Then functions are derived, and some compiled, with the budget of
every day, until a `ValidationWarning` or a `VerificationError` says what is wrong; if nothing does, the
tests that are named for it are asked. With a number, as in `python -m tests.validation.mutants 50`, only as
many are tried, taken evenly from the list; with a kind, or a part of a name, those.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.validation import loop_mutants

acos, atan, cos, cosh, erf, exp, expm1 = math.acos, math.atan, math.cos, math.cosh, math.erf, math.exp, math.expm1  # fmt: skip
log, log1p, sin, sinh, sqrt, tan, tanh = math.log, math.log1p, math.sin, math.sinh, math.sqrt, math.tan, math.tanh  # fmt: skip
SECONDS = 240
"""Of processor time that a trial may take, so that a busy machine does not change what is found."""


@dataclass(frozen=True)
class Mutant:
    """What is planted: `old` in a module's text becomes `new`; or a call that plants it."""

    kind: str
    where: str
    old: str = ""
    new: str = ""
    plant: Callable[[], None] | None = None
    probes: tuple[Callable[..., Any], ...] = ()
    tests: str = ""

    @property
    def name(self) -> str:
        return f"{self.where}: {self.old.strip()} -> {self.new.strip()}" if self.old else self.where


# -------------------------------------------------------------------------- probes
FORMULAS: tuple[Callable[..., Any], ...] = (
    lambda x: (x**2 - 4) / (x - 2),
    lambda x: sin(x) / x + (1 - cos(x)) / x**2,
    lambda x, y: (x * x - y * y) / (x - y) + exp(x) * y,
    lambda x: np.where(x == 0, 1.0, np.expm1(x) / x),
    lambda x: (exp(x) - 1 - x) / x**2,
    lambda x, y: (exp(x) - exp(y)) / (x - y),
    lambda x: log(1 + exp(x)) - x * 0.5,
    lambda x: sqrt(x + 1) - sqrt(x) + log(x + 1) - log(x),
    lambda x, y: exp(log(x) + 2 * log(y)) / (exp(log(x) - log(y)) + 1),
    lambda x: abs(x) * x + abs(x - 1) ** 3,
    lambda x, y: max(x * y, x - y) * min(x, y * y),
    lambda x, y: (x / y - y / x) / (1 / x + 1 / y),
    lambda x: (1 / sinh(x) - 1 / x) * x + x / tanh(x),
    lambda x, y: sin(sqrt(x * x + y * y)) / sqrt(x * x + y * y),
    lambda x: (x**3 - 3 * x + 2) / (x - 1) ** 2,
    lambda x: (x - sin(x)) / x**3,
    lambda x: sqrt(1 + x) / (1 + x) ** 1.5 + (2 + x) ** (1 / 3),
    lambda x, y: x**y - y**x,
    lambda x: log(cosh(x)) / x**2 + acos(x / 3),
    lambda x: (atan(x) - x) / (x * x * x) + erf(x) / x,
    lambda x: (sqrt(1 + x * x) - 1) / x,
    lambda x, y: (x - y) / (log(x) - log(y)),
    lambda x: (tan(x) - x) / (x - sin(x)),
    lambda x: (1 + x) ** 0.5 / x - 1 / x,
    lambda x: x * x if x > 1 else sin(x),
    lambda x, y: sqrt(x * x + 3 * y * y),
    lambda x: 1 / (x - 1) - 2 / (x * x - 1),
    lambda x, y: (exp(x * y + 1) - exp(x * y)) / exp(x * y + log(y)),
    lambda x: exp(abs(x)) * abs(x) * abs(x) - abs(x) ** 3,
    lambda x: (abs(x) - x * x) ** 2 * -abs(x),
    lambda x: log(x) / (x - 1),
    lambda x, y: x / 4 + y / 0.5,
    lambda x, y: (sin(x) - sin(y)) / (x - y),
    lambda x: max(x, 0) + log1p(exp(-abs(x))),
    lambda x: abs(x) * sin(abs(x)) - (-abs(x)) ** 3,
    lambda x, y: (abs(x) + y) * (abs(x) * y - abs(x) ** 2) / (2 + y * y - abs(x) * exp(-abs(x))),
    lambda x: cos(abs(x) * exp(abs(x))) + 1 / (1 + abs(x) * exp(abs(x))),
    lambda x: (exp(x - 1) - x) / (x - 1) ** 2,
    lambda x: log(x / 3) / (x - 3) + (x - 2.5) / sin(2 * x - 5),
    lambda x, y: (exp(x * x) - exp(y)) / (x * x - y),
    lambda x, y: (erf(x) - erf(y)) / (x - y),
    lambda x, y: (x * exp(x) - y * exp(y)) / (x - y),
    lambda x: 1 / (1 + abs(x) * exp(abs(x))),
)
COMPILED: tuple[tuple[Callable[..., Any], tuple[float, ...]], ...] = (
    (lambda x: x**3 - 2 * x + 1.3 * x * x, (0.7,)),
    (lambda x, y: (x * y - 1.7) ** 2 / (x * x - y) + exp(x) * 0.3, (1.3, 0.6)),
    (lambda x, y: x * x + y * y - 1.1 * x * y - 0.3 * y, (0.4, 1.2)),
    (lambda x: sqrt(x * x + 1.5) - x * 0.9 + log(x * x + 0.1), (1.9,)),
    (lambda x, y: (x - y) * (x + y) / (x * y - 0.35) - sin(x) * cos(y), (0.8, 2.1)),
    (lambda x: exp(x) - 1.5 - x * x / 0.7 + expm1(x) * x, (0.6,)),
    (lambda x, y: x / 4 + sin(y) / 8 - y / 16, (0.8, 2.1)),
)


def caught_by(m: Mutant) -> str:
    """What catches a mutant; "" if nothing does."""
    from symdiff import symgrad
    from symdiff.errors import ValidationWarning, VerificationError
    from symdiff.ir.program import Program
    from symdiff.pipeline import scalar as pipeline
    from symdiff.pipeline.validation.stages import checked, named

    warnings.simplefilter("ignore")
    if m.kind == "loops":
        return loop_mutants.caught()
    crash = ""
    for f in m.probes or FORMULAS:
        g = symgrad(f, cache=False, verify=False)
        raw = g._source.raw({}, None)
        if not isinstance(raw, Program):
            continue
        for path in ((), (("gradient", raw.params),), (("hessian", raw.params),)):

            def emit(off: frozenset[str], path: Any = path, raw: Any = raw) -> Any:
                notes = pipeline.Notes(without=off)
                program = raw if path else pipeline.value(raw, notes)
                for kind, by in path:
                    program = pipeline.derive(program, kind, by, notes)
                return pipeline.optimized(program, notes), notes

            try:
                outcome = checked(raw, path, emit)
            except VerificationError:
                return "the chain rule against differences"
            except Exception as error:
                crash = crash or f"a crash ({type(error).__name__})"
                continue
            if outcome.fault is not None:
                return named(outcome.without)
    for f, point in COMPILED if not m.probes else ():
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            g = symgrad(f, cache=False)
            try:
                for h in (g, g.grad):
                    h(*point)
                    h(*(np.full(3, x) for x in point))
                    near = [np.linspace(x - 1, x + 1, 4001) for x in point]
                    h(*near)
                    h(*(np.full(3, x, np.float32) for x in point))
                for r in _roots(g, point):
                    g(*r), g.grad(*r)
            except VerificationError:
                return "the first call"
            except Exception as error:
                crash = crash or f"a crash ({type(error).__name__})"
        for w in seen:
            if issubclass(w.category, ValidationWarning):
                return "machine code" if "compiled code" in str(w.message) else "formulas"
    return crash


def _roots(g: Callable[..., Any], point: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    """Points beside zeros on the line of the first variable, where terms cancel."""
    xs = np.linspace(-3, 3, 601)
    values = [g(x, *point[1:]) for x in map(float, xs)]
    for a, b, u, v in zip(xs, xs[1:], values, values[1:], strict=False):
        if u * v < 0:
            for _ in range(45):
                m = (a + b) / 2
                w = g(float(m), *point[1:])
                a, b = (m, b) if u * w > 0 else (a, m)
            yield (float(a), *point[1:])


# ------------------------------------------------------------------------- planting
def plant(m: Mutant) -> None:
    if m.plant is not None:
        m.plant()
        return
    module = import_module(f"symdiff.{m.where}")
    path = Path(str(module.__file__))
    text = path.read_text()
    assert text.count(m.old) >= 1, f"{m.name}: not there any more"
    before = dict(vars(module))
    with _operations_of(module):
        exec(compile(text.replace(m.old, m.new, 1), str(path), "exec"), vars(module))
    new = {id(v): vars(module)[k] for k, v in before.items() if not k.startswith("__")}
    same = {i: v for i, v in new.items() if id(v) != i}
    for other in list(sys.modules.values()):
        if not getattr(other, "__name__", "").startswith("symdiff"):
            continue
        for k, v in list(vars(other).items()):
            if id(v) in same and callable(v) and not isinstance(v, type):
                setattr(other, k, same[id(v)])
    for k, v in before.items():
        if isinstance(v, dict) and not k.startswith("__") and vars(module)[k] is not v:
            v.update(vars(module)[k])  # a table that others have imported
            setattr(module, k, v)
        if isinstance(v, type) and v.__module__ == module.__name__:
            _methods(v, vars(module)[k])
            setattr(module, k, v)


@contextmanager
def _operations_of(module: ModuleType) -> Iterator[None]:
    """Operations that a module defines stay the same objects when it is run again."""
    from symdiff.ir import nodes

    makers: dict[str, Any] = vars(nodes)["_makers"]
    own = {name: nodes.OPS[name] for name, where in makers.items() if where is vars(module)}
    held = {
        k: v for k, v in vars(module).items()
        if isinstance(v, nodes.Op) or (isinstance(v, tuple) and v and all(isinstance(o, nodes.Op) for o in v))
    }  # fmt: skip
    for name in own:
        del makers[name]
    yield
    vars(module).update(held)
    nodes.OPS.update(own)
    makers.update(dict.fromkeys(own, vars(module)))


def _methods(old: type, new: type) -> None:
    """Give a class the changed methods of another; those that name their class stay."""
    for name, method in vars(new).items():
        was, now = (getattr(m, "__code__", None) for m in (vars(old).get(name), method))
        if was is None or now is None or "__class__" in now.co_freevars:
            continue
        if (was.co_code, was.co_consts, was.co_names) != (now.co_code, now.co_consts, now.co_names):
            setattr(old, name, method)


def _rule(name: str) -> Mutant:
    def change() -> None:
        from symdiff import ir
        from symdiff.ir import identities

        rule = next(r for r in identities.RULES if r.name == name)
        after = rule.after

        def wrong(bound: Any) -> Any:
            found = after(bound)
            return None if found is None else -found

        object.__setattr__(rule, "after", wrong)
        assert ir is not None

    return Mutant("identity", f"rule {name}, the other sign", plant=change)


def _partial(name: str, probe: Callable[..., Any]) -> Mutant:
    def change() -> None:
        from symdiff import ir

        op = ir.OPS[name]
        partials = op.partials
        assert partials is not None
        object.__setattr__(
            op,
            "partials",
            lambda *a: tuple(None if p is None else 1.25 * p for p in partials(*a)),
        )

    return Mutant("derivative", f"slope of {name}, times 5/4", plant=change, probes=(probe,))


def _pattern(name: str) -> tuple[Callable[..., Any], ...]:
    return (RULED[name],)


RULED: dict[str, Callable[..., Any]] = {
    "log-exp-1": lambda x: log(exp(x * x) + 1),
    "log-exp": lambda x, y: log(exp(x) + exp(y)),
    "log-exp-3": lambda x, y: log(exp(x) + exp(y) + exp(x * y)),
    "log1p-exp": lambda x: np.log1p(exp(x)),
    "coth": lambda x: cosh(x) / sinh(x),
    "tanh": lambda x: sinh(x) / cosh(x),
    "log1p": lambda x: log(x + 1),
    "log1m": lambda x: log(1 - x),
    "logistic": lambda x: exp(x) / (exp(x) + 1),
    "softplus-v": lambda x, y: np.logaddexp(0, x) - y * x,
    "logistic-v": lambda x, y: 1 / (exp(x) + 1) - y,
    "expm1": lambda x: exp(x) - 1,
    "1-exp": lambda x: 1 - exp(x),
    "1-cos": lambda x: 1 - cos(x),
    "cos-1": lambda x: cos(x) - 1,
    "1-erf": lambda x: 1 - erf(x),
    "1+erf": lambda x: erf(x) + 1,
    "squares": lambda x, y: x**2 - y**2,
    "sqrt-sqrt": lambda x: sqrt(x + 1) - sqrt(x),
    "sqrt-c": lambda x: sqrt(x + 4) - 2,
    "c-sqrt": lambda x: 2 - sqrt(x + 4),
    "log-log": lambda x: log(x + 3) - log(x),
    "1/u-1/v": lambda x: 1 / (x + 1) - 1 / x,
}
SLOPES: dict[str, Callable[..., Any]] = {
    "exp": lambda x: exp(x), "log": lambda x: log(x), "exp2": lambda x: np.exp2(x),
    "expm1": lambda x: expm1(x), "log1p": lambda x: np.log1p(x), "log2": lambda x: np.log2(x),
    "log10": lambda x: np.log10(x), "cbrt": lambda x: np.cbrt(x), "sin": lambda x: sin(x),
    "cos": lambda x: cos(x), "tan": lambda x: tan(x), "asin": lambda x: np.arcsin(x),
    "acos": lambda x: acos(x), "atan": lambda x: atan(x), "sinh": lambda x: sinh(x),
    "cosh": lambda x: cosh(x), "tanh": lambda x: tanh(x), "asinh": lambda x: np.arcsinh(x),
    "acosh": lambda x: np.arccosh(x), "atanh": lambda x: np.arctanh(x), "erf": lambda x: erf(x),
    "atan2": lambda x, y: np.arctan2(x, y), "hypot": lambda x, y: np.hypot(x, y),
    "logaddexp": lambda x, y: np.logaddexp(x, y), "sinc": lambda x: np.sinc(x),
}  # fmt: skip


def _edits() -> Iterator[Mutant]:
    """(kind, module, old, new): wrong signs and constants in passes and series."""
    diff = "passes.differentiate"
    series, stream = "series.expansion", "series.laurent"
    rows = [
        ("differentiate", diff, "yield args[1], ir.const(-1), TRUE", "yield args[1], ONE, TRUE"),
        ("differentiate", diff, "yield args[0], ir.const(-1), TRUE", "yield args[0], ONE, TRUE"),
        ("differentiate", diff, "yield args[0], args[1], TRUE", "yield args[0], -args[1], TRUE"),
        ("differentiate", diff, "yield args[1], -(node / args[1]), TRUE", "yield args[1], (node / args[1]), TRUE"),
        ("differentiate", diff, "slope = exponent * ir.power(base, exponent - 1)", "slope = exponent * ir.power(base, exponent - 2)"),
        ("differentiate", diff, "slope = exponent * ir.power", "slope = (exponent + 1) * ir.power"),
        ("differentiate", diff, "slope = XLOGY(node, base)", "slope = -XLOGY(node, base)"),
        ("differentiate", diff, "(ONE, ir.not_(condition))", "(ONE, condition)"),
        ("differentiate", diff, "total = total + ir.where(counts, multiplied(tangent[child], partial), ZERO)", "total = total - ir.where(counts, multiplied(tangent[child], partial), ZERO)"),
        ("differentiate", diff, "weight * n / 2", "weight * n / 4"),
        ("cancel", "passes.cancel.rational", "return Factored(-a.unit, a.factors)", "return Factored(a.unit, a.factors)"),
        ("cancel", "passes.cancel.rational", "else a.unit * b.unit", "else a.unit * b.unit * 3"),
        ("cancel", "passes.cancel.rational", "return self.mul(a, self.pow(b, -1))", "return self.mul(a, self.pow(b, 1))"),
        ("cancel", "passes.cancel.rational", "total = self._expanded(a, common) + self._expanded(b, common)", "total = self._expanded(a, common) - self._expanded(b, common)"),
        ("cancel", "passes.cancel.rational", "reduced, n + 1", "reduced, n + 2"),
        ("exponentials", "passes.cancel.shared_exponential", "total = total * EXP(ir.const(c))", "total = total * EXP(ir.const(-c))"),
        ("exponentials", "passes.cancel.shared_exponential", "total = total * ir.power(base, ir.const(c))", "total = total * ir.power(base, ir.const(-c))"),
        ("exponentials", "passes.cancel.shared_exponential", "reduce(e.args[0] - other.args[0])", "reduce(other.args[0] - e.args[0])"),
        ("signs", "passes.cancel.signsquares", "return (b * d, b * c) if a is ZERO", "return (-b * d, b * c) if a is ZERO"),
        ("signs", "passes.cancel.signsquares", "return -parts[0][0], -parts[0][1]", "return -parts[0][0], parts[0][1]"),
        ("signs", "passes.cancel.signsquares", "combine(a, c), combine(b, d)", "combine(a, c), combine(d, b)"),
        ("series", stream, "return a + b if self.factor == 1 else a - b", "return a + b"),
        ("series", stream, "return self.c * self.a.coefficient(k)", "return self.a.coefficient(k) + self.c * 0"),
        ("series", stream, "- taken) * self.lead", "+ taken) * self.lead"),
        ("series", stream, "fmpq(j * p - (n - j) * d, d)", "fmpq(j * p + (n - j) * d, d)"),
        ("series", stream, "return total * self.lead * fmpq(1, n)", "return total * self.lead * fmpq(1, n + 1)"),
        ("series", stream, "return self.a.coefficient(k + 1) * fmpq(k + 1)", "return self.a.coefficient(k + 1) * fmpq(k + 2)"),
        ("series", stream, "return self._slope.coefficient(k - 1) * fmpq(1, k)", "return self._slope.coefficient(k - 1) * fmpq(-1, k)"),
        ("series", series, "return Scaled(fmpq(-1), a)", "return Scaled(fmpq(1), a)"),
        ("series", series, "return Sum(a, b, 1 if e.op is ADD else -1)", "return Sum(a, b, 1)"),
        ("series", series, "return Scaled(1 / b.coefficient(0), a)", "return Scaled(b.coefficient(0), a)"),
        ("series", series, "for _ in range(int(q) - 1):", "for _ in range(int(q)):"),
        ("complete", "passes.complete.removable", "c * fmpq(math.perm(k + order, order))", "c * fmpq(math.perm(k + order, order) + 1)"),
        ("complete", "passes.complete.removable", "self.germs.coefficient(self.node, k + order, side)", "self.germs.coefficient(self.node, k, side)"),
        ("complete", "passes.complete.removable", "total = total - ir.const(math.comb(k, j))", "total = total + ir.const(math.comb(k, j))"),
        ("complete", "passes.complete.removable", "partials=lambda x: (self.operation(order + 1)(x),)", "partials=lambda x: (-self.operation(order + 1)(x),)"),
        ("complete", "passes.complete.across", "total = c + h * total", "total = c - h * total"),
        ("bands", "passes.complete.bands", "total = ir.const(c) + z * total", "total = ir.const(c) - z * total"),
        ("bands", "passes.complete.bands", "h = t - ir.const(self.point)", "h = t + ir.const(self.point)"),
        ("bands", "passes.complete.bands", "total = ir.power(h, self.lead) * total", "total = ir.power(h, self.lead + 1) * total"),
        ("compensation", "lowering.compensated.evaluate", "own = ir.raw(ir.ADD, (ir.raw(ir.SUB, (a, ir.raw(ir.SUB, (s, t)))), ir.raw(ir.SUB, (b, t))))", "own = ir.raw(ir.SUB, (ir.raw(ir.SUB, (a, ir.raw(ir.SUB, (s, t)))), ir.raw(ir.SUB, (b, t))))"),
        ("compensation", "lowering.compensated.evaluate", "error = ir.raw(FMA, (a, b, _negative(p)))", "error = ir.raw(FMA, (a, b, p))"),
        ("compensation", "lowering.compensated.evaluate", "return ir.raw(FMA, (a, b, c)), _add(correction, dc)", "return ir.raw(FMA, (a, b, c)), _add(correction, _negative(dc))"),
        ("lowering", "lowering.lower", "return self.make(ir.MUL, ir.const(1 / c), other)  # by a power of two, which is exact", "return self.make(ir.MUL, ir.const(c), other)"),
    ]  # fmt: skip
    for kind, where, old, new in rows:
        yield Mutant(kind, where, old, new)


def by_tests(m: Mutant) -> str:
    """Which of the tests of every day catch a mutant that validation is silent about."""
    import pytest

    chosen = m.tests or TESTS.get(m.kind, "")
    if not chosen:
        return ""
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        failed = pytest.main(
            ["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *chosen.split()]
        )
    return (
        f"tests ({chosen.split('/')[-1].split()[0]})"
        if failed == pytest.ExitCode.TESTS_FAILED
        else ""
    )


TESTS = {
    "compensation": "tests/passes/accuracy/test_compensate.py tests/passes/accuracy/test_cancelling_sums.py",
    "complete": "tests/passes/complete/test_surfaces.py",
    "bands": "tests/passes/complete/test_complete.py",
}
"""Asked for kinds of mutants where validation is silent."""


def _pairs(name: str) -> Mutant:
    """A wrong sign in what double-double arithmetic is made of."""

    def change() -> None:
        from symdiff.lowering.double_double import arithmetic as dd

        right = getattr(dd, name)

        def wrong(a: Any, b: Any) -> Any:
            pair = right(a, b)
            return type(pair)(pair[0], dd.minus_of(pair[1]))

        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("symdiff"):
                if vars(module).get(name) is right:
                    setattr(module, name, wrong)

    return Mutant("double-double", f"error of {name}, the other sign", plant=change)


def mutants() -> list[Mutant]:
    """All of them."""
    found = [*_edits(), *map(_pairs, ("two_sum", "two_product", "fast_two_sum"))]
    for name, probe in RULED.items():
        rule = _rule(name)
        found.append(Mutant(rule.kind, rule.where, plant=rule.plant, probes=(probe,)))
    found += [_partial(name, probe) for name, probe in SLOPES.items()]
    for where, old, new, tests in loop_mutants.EDITS:
        found.append(Mutant("loops", where, old, new, tests=tests))
    return found


def _trial(m: Mutant, answer: Any) -> None:
    os.environ["SYMDIFF_CACHE_DIR"] = tempfile.mkdtemp()  # of kernels that may be wrong
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        plant(m)
    except Exception as error:
        answer.put(f"NOT PLANTED: {type(error).__name__}: {error}")
        return
    answer.put(caught_by(m) or by_tests(m))


def tried(m: Mutant) -> str:
    """What catches a mutant, found in a process of its own."""
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    process = context.Process(target=_trial, args=(m, answer))
    process.start()
    process.join(20 * SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
        return "nothing: it waits for ever"
    if not answer.empty():
        return answer.get()
    ended = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
    return "nothing within its time" if ended else "NOT TRIED: the process ended"


def prepare() -> None:
    """Import all that is read again when a fault is planted."""
    import symdiff
    from symdiff.pipeline.validation import machine, stages  # noqa: F401

    for name in (
        "passes.accuracy.widen",
        "passes.accuracy.compensate",
        "lowering.double_double.arithmetic",
        *dict.fromkeys(where for where, *_ in loop_mutants.EDITS),
    ):
        import_module(f"symdiff.{name}")
    symdiff.symgrad(lambda x: x * x, cache=False).grad(2.0)


def chosen(found: Sequence[Mutant], only: str) -> list[Mutant]:
    """As many as `only` says, taken evenly, or those of that kind or name; all for ""."""
    if only.isdecimal():
        count = min(int(only), len(found))
        return [found[k * len(found) // count] for k in range(count)]
    return [m for m in found if only in m.name or only == m.kind]


def main(only: str = "") -> int:
    prepare()
    for control in (Mutant("control", "nothing"), Mutant("loops", "nothing")):
        if (result := tried(replace(control, plant=lambda: None))) != "":
            print(f"without a planted fault: {result}")
            return 1
    counts: dict[str, list[int]] = {}
    missed = []
    for m in chosen(mutants(), only):
        result = tried(m)
        print(f"{m.kind:14} {result or 'NOT CAUGHT':44} {m.name}", flush=True)
        tally = counts.setdefault(m.kind, [0, 0, 0])
        tally[0] += 1
        good = bool(result) and not result.startswith(("nothing", "NOT"))
        tally[2 if result.startswith("tests") else 1] += good
        if not good:
            missed.append(m.name)
    print("\n| planted in | mutants | caught by validation | by tests |\n|---|---|---|---|")
    for kind, (count, good, tested) in counts.items():
        print(f"| {kind} | {count} | {good} | {tested} |")
    total = [sum(c[k] for c in counts.values()) for k in (0, 1, 2)]
    print(f"| all | {total[0]} | {total[1]} | {total[2]} |")
    for name in missed:
        print("missed:", name)
    return len(missed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
