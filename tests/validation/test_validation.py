"""Planted faults are found, named and answered rightly; what is right raises no alarm."""

import math
import warnings

import numpy as np
import pytest

import symdiff
from symdiff import ValidationWarning, ir, symgrad
from symdiff.interpret import Certified
from symdiff.pipeline import scalar as pipeline
from symdiff.pipeline.scalar import Notes
from symdiff.pipeline.validation import stages
from symdiff.pipeline.validation.chain import Chain
from symdiff.pipeline.validation.oracle import Oracle
from symdiff.pipeline.validation.settings import mode


def called(f, *args):
    """The result, and the texts of the validation warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = f(*args)
    return result, [str(w.message) for w in seen if issubclass(w.category, ValidationWarning)]


KINDS = ("gradient", "value_and_gradient", "hessian", "jvp", "vjp", "hvp")
PATHS = [
    (), *(((kind, ("x", "y")),) for kind in KINDS), (("jacobian", ("y",)),), (("derivative", ("x", "y", "y")),),
    (("derivative", ("x",)), ("gradient", ("x", "y"))),
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS, ids=lambda p: "-".join(k for k, _ in p) or "value")
def test_the_chain_rule_has_the_outputs_of_the_pipeline(path):
    raw = symgrad(lambda x, y: math.sin(x * y) + x**y + max(x, y) / (1 + y * y)).raw_program
    program = raw
    for kind, by in path:
        program = getattr(pipeline, kind)(program, by)
    derived = Chain(raw).derived(path)
    assert derived.params == program.params
    outputs = [e() for e in derived.entries]
    assert len(outputs) == len(program.outputs)
    point = [0.7, 1.3, 0.4, -1.9][: len(program.params)]
    want = Certified(program.params, program.outputs).at(point)
    assert Certified(program.params, outputs).at(point) == want


MUTANTS = {
    "complete": lambda outputs, *_: tuple(ir.where(ir.lt(ir.ZERO, X), o, -o) for o in outputs),
    "cancel": lambda outputs, *_: tuple(o * ir.const(2) for o in outputs),
    "assume": lambda outputs, *_: tuple(o + ir.const(1) for o in outputs),
    "stabilise": lambda outputs, *_, **__: tuple(ir.where(ir.lt(X, ir.const(-3)), -o, o) for o in outputs),
}  # fmt: skip
X = ir.var("x")


@pytest.mark.sampled
@pytest.mark.parametrize("stage", MUTANTS)
def test_a_wrong_stage_is_named_and_switched_off(stage, monkeypatch):
    monkeypatch.setattr(pipeline, stage, MUTANTS[stage])
    f = symgrad(lambda x: x * math.cos(x) + math.exp(x), cache=False)
    for args in ((-4.0,), (np.array([-4.0, -5.0, 6.0]),)):
        value, texts = called(f, *args)
        np.testing.assert_allclose(value, args[0] * np.cos(args[0]) + np.exp(args[0]), rtol=1e-15)
        slope, _ = called(f.grad, *args)
        x = args[0]
        np.testing.assert_allclose(slope, np.cos(x) - x * np.sin(x) + np.exp(x), rtol=1e-15)
        assert all(repr(stage) in t and "report" in t for t in texts)
    assert called(symgrad(lambda x: 3 * x + math.sin(x), cache=False), 2.0)[1]


def test_a_wrong_derivative_of_the_pipeline_is_answered_by_the_plain_chain_rule(monkeypatch):
    monkeypatch.setattr(pipeline, "reverse", lambda output, wrt: tuple(output for _ in wrt))
    f = symgrad(lambda x: math.sin(x) * x, cache=False)
    slope, texts = called(f.grad, 2.0)
    assert slope == pytest.approx(math.sin(2) + 2 * math.cos(2), rel=1e-15)
    assert len(texts) == 1 and "simplifying and differentiating" in texts[0]


def test_wrong_machine_code_is_left_out(monkeypatch):
    from symdiff.runtime.scalar import compiled

    def wrong(self, lowered=compiled.Spec.lowered):
        roots = lowered(self)
        return roots[0] * ir.const(1 + 2**-30), *roots[1:]

    monkeypatch.setattr(compiled.Spec, "lowered", wrong)
    f = symgrad(lambda x: x * math.cos(x) + 0.137, cache=False)
    value, texts = called(f, 2.0)
    assert value == pytest.approx(2 * math.cos(2) + 0.137, rel=1e-15)
    assert texts and all("float64, numbers" in t for t in texts)
    again, texts = called(f, 2.0)
    assert again == value and not texts


def test_out_that_is_an_argument_is_right_too(monkeypatch):
    monkeypatch.setattr(pipeline, "cancel", MUTANTS["cancel"])
    f = symgrad(lambda x: x * math.cos(x) + 0.25, cache=False)
    x = np.array([1.0, 2.0, 3.0])
    want = x * np.cos(x) + 0.25
    with pytest.warns(ValidationWarning):
        f(x, out=x)
    np.testing.assert_allclose(x, want, rtol=1e-15)


QUIET = [
    lambda x: (x**2 - 4) / (x - 2),
    lambda x: np.where(x == 0, 1.0, np.expm1(x) / x),
    lambda x: 1.0 if abs(x) < 1e-4 else math.expm1(x) / x,
    lambda x: (x**2 - 0.09) / (x - 0.3),
    lambda x: np.sin(np.pi * x) / (x - 1),
    lambda x: abs(x) + abs(x - 1) * x,
    lambda x: max(x, 0) + np.log1p(np.exp(-abs(x))),
    lambda x, y: math.sqrt(x * x + y * y),
    lambda x, y: np.cos(np.hypot(x, y)),
    lambda x, y: max(x, y) * min(x, 2 * y),
    lambda x: np.clip(x, 0, 1) ** 2,
    lambda x: math.sqrt(x) ** 2 / x,
    lambda x: round(x) * x + math.floor(x / 3),
    lambda x: 0.0 if x > 1 else math.sqrt(1 - x),
    lambda x: 3.0 if x == 2 else x * x,
    lambda x: x**x,
    lambda x, y: (math.exp(x) - math.exp(y)) / (x - y),
    lambda x: math.atan(1 / x),
    lambda x, y: math.atan2(y, x),
    lambda x: np.sinc(x) + math.lgamma(x),
]


@pytest.mark.sampled
@pytest.mark.parametrize("f", QUIET, ids=range(len(QUIET)))
def test_no_false_alarm(f):
    g = symgrad(f)
    raw = g.raw_program
    paths = [(), (("gradient", raw.params),), (("hessian", raw.params),)]
    for path in paths:

        def emit(off, path=path):
            notes = Notes(without=off)
            program = raw if path else pipeline.value(raw, notes)
            for kind, by in path:
                program = getattr(pipeline, kind)(program, by, notes)
            return pipeline.optimized(program, notes), notes

        outcome = stages.checked(raw, path, emit)
        assert outcome.fault is None
        assert outcome.oracle is not None and len(list(outcome.oracle.seen())) >= 10


def test_settings(monkeypatch):
    assert mode() in ("quick", "full")
    with symdiff.options(validate="full"):
        assert mode() == "full"
        with symdiff.options(validate=False):
            assert mode() == "off"
        assert mode() == "full"
    monkeypatch.setenv("SYMDIFF_VALIDATE", "full")
    assert mode() == "full"
    with pytest.raises(ValueError, match="quick"):
        symdiff.options(validate="sometimes")


def test_off_is_off(monkeypatch):
    monkeypatch.setattr(pipeline, "cancel", MUTANTS["cancel"])
    with symdiff.options(validate=False):
        value, texts = called(symgrad(lambda x: x + math.cos(x), cache=False, verify=False), 2.0)
    assert value == pytest.approx(2 * (2 + math.cos(2))) and not texts


def test_the_outcome_is_kept_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))

    def f(x):
        return x * math.cos(x) - math.log(x)

    want = symgrad(f).grad(2.5)
    monkeypatch.setattr(Oracle, "__init__", lambda *_, **__: pytest.fail("validated again"))
    assert symgrad(f).grad(2.5) == want


def test_the_budget_counts_operations():
    f = symgrad(lambda x, y: math.exp(math.sin(x) * y) / (x - y))
    optimized = f._source.optimized({})
    oracles = [Oracle(f.raw_program, (), optimized.outputs) for _ in range(2)]
    seen = [[(s.point, s.limit) for s in t.seen()] for t in oracles]
    assert seen[0] == seen[1] and len(seen[0]) > 10
    assert oracles[0].budget.spent <= 1.5 * oracles[0].budget.most


def test_constants_in_single_precision_keep_their_errors():
    """Found by validation: sums with their errors split constants as doubles."""
    x = np.array([-1.11, -1.1100001, 0.5], np.float32)
    f = symgrad(lambda x: 4 * x * x / (1 + x / 1.11))
    result, texts = called(f, x)
    assert not texts
    np.testing.assert_allclose(result, f(x.astype(float)), rtol=1e-6)
