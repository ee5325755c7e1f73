"""What is captured is what Python runs, or the first call says that it is not."""

import math
from dataclasses import replace

import numpy as np
import pytest

from symdiff import VerificationError, symgrad
from symdiff.pipeline.derivation import Source
from symdiff.pipeline.validation import firstcall
from symdiff.pipeline.validation.broken_off import TooLong
from symdiff.pipeline.validation.enclosures import enclosed
from symdiff.pipeline.validation.firstcall import STEPS, Verdict, verify


def _mistaken(f, **options):
    """A function whose captured program is another one."""
    g = symgrad(f, cache=False, **options)
    trace = g._source.trace

    def wrong(*args):
        program = trace(*args)
        return replace(program, outputs=tuple(2 * e for e in program.outputs))

    g._source.trace = wrong
    return g


def test_a_wrong_capture_raises_at_the_first_call():
    def f(x):
        return math.sin(x) + 1

    with pytest.raises(VerificationError, match=r"in plain Python, but the captured program"):
        _mistaken(f)(0.3)
    with pytest.raises(VerificationError, match="report"):
        _mistaken(f).grad(0.3)
    with pytest.raises(VerificationError):
        _mistaken(f)(np.array([0.3, 0.4]))
    assert _mistaken(f, verify=False)(0.3) == 2 * f(0.3)


def _captured(f):
    shapes = symgrad(f, verify=False)._source

    def program(values):
        return shapes.raw({}, shapes.shapes({}, values))

    return program


def _verified(f, values, program=None):
    return verify("f", _captured(program or f), values, lambda v: f(*v), None)


def test_shapes_are_compared():
    with pytest.raises(VerificationError, match="as a function of their elements"):
        _verified(lambda x: np.sum(x), [np.ones(3)], lambda x: x * 2.0)
    with pytest.raises(VerificationError, match="shape"):
        _verified(lambda x: np.zeros(4), [np.ones(3)], lambda x: np.array([x[0], x[1]]))


def test_values_are_compared_as_far_as_rounding_explains():
    big = np.array([1e16, 1.0, -1e16, 0.5])
    assert _verified(lambda x: np.sum(x), [big])  # 0.5 or 1.5 or 0: all explained
    with pytest.raises(VerificationError, match="rounding errors up to"):
        _verified(lambda x: np.sum(x), [np.arange(4.0)], lambda x: np.sum(x) + 1e-13)
    assert _verified(lambda x: (1 - math.cos(x)) / x**2, [1e-8])  # plain Python gives 0 for 0.5
    assert _verified(lambda x: np.linalg.inv(x), [np.vander(np.arange(1.0, 6.0))])


def test_what_python_raises_is_no_difference():
    f = symgrad(lambda x: (x**2 - 4) / (x - 2), cache=False)
    assert f(2.0) == 4.0
    assert np.isnan(symgrad(lambda x: math.log(x), cache=False)(-1.0))


def test_arguments_are_copied_and_what_is_printed_is_not_seen(capsys):
    seen = []

    def f(x):
        seen.append(x)
        print("called")
        x[0] = 7.0
        return np.sum(x * x)

    x = np.array([1.0, 2.0])
    verify("f", _captured(lambda x: 49.0 + x[1] * x[1]), [x], lambda v: f(*v), None)
    assert x[0] == 1.0 and seen[0] is not x and capsys.readouterr().out == ""


def test_long_computations_are_compared_at_smaller_sizes():
    sizes = []

    def f(x):
        sizes.append(len(x))
        total = 0.0
        for i in range(len(x)):
            total += x[i] * i
        return total

    assert _verified(f, [np.ones(STEPS)], lambda x: np.sum(x * np.arange(len(x))))
    assert sizes[-1] <= 5 and len(sizes) <= 2


def test_once_for_a_source_and_kinds_over_processes(monkeypatch, tmp_path):
    monkeypatch.setenv("SYMDIFF_CACHE_DIR", str(tmp_path))
    calls = []

    def f(x):
        return x * x + 0.25

    counted = symgrad(f)
    monkeypatch.setattr(
        "symdiff.pipeline.validation.firstcall.verify", lambda *a: calls.append(a) or Verdict(True)
    )
    counted(2.0), counted(3.0), counted(np.ones(4)), counted(np.ones(5)), counted.grad(2.0)
    assert len(calls) == 2
    again = symgrad(f)
    again(2.0), again(np.ones(6))
    assert len(calls) == 2
    again(np.ones(3)), again(np.ones(3)), counted(np.ones(11)), again(np.ones(12))
    assert len(calls) == 4  # sizes that are new


def test_a_difference_is_an_error_every_time():
    g, values = _mistaken(lambda x: np.sum(x * x)), np.array([1.0, 2.0])
    for _ in range(3):
        with pytest.raises(VerificationError):
            g(values)
    with pytest.raises(VerificationError):
        g.grad(values)


def test_a_wrong_kernel_of_a_loop_is_an_error(monkeypatch):
    def wrong(self, *args, right=Source.shown):
        program = right(self, *args)
        return replace(program, outputs=program.outputs[::-1])

    monkeypatch.setattr(Source, "shown", wrong)

    def f(x):
        total, state = 0.0, 1.0
        for i in range(len(x)):
            state = 0.5 * state + x[i]
            total += state * state
        return total, state

    with pytest.raises(VerificationError, match="compiled code is wrong"):
        symgrad(f, cache=False, verify=False)(np.array([0.3, 0.7, 1.1]))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "x"),
    [
        (lambda x: x * x * 1e300 * 1e100, 1e-160),
        (lambda x: 1e300 / (x * x) * 1e100, 1e200),
        (lambda x: 1.0 if x * x > 0 else 2.0, 1e-200),
        (lambda x: x[0] * x[1] * 1e300, np.array([1e-160, 1e-160])),
        (lambda x: x * x * x * 1e30, np.array([1e-15, 1.0], np.float32)),
    ],
)
def test_what_underflows_or_overflows_in_plain_python_is_no_fault(fun, x):
    symgrad(fun)(x)


def test_numbers_below_the_normal_ones_are_compared():
    """Their errors widen the balls by what they are, not without bounds."""
    values = [1e10, 2.0**-1070, 2.0**1000]
    assert _verified(lambda x, y, z: x * y * z, values)
    with pytest.raises(VerificationError):
        _verified(lambda x, y, z: x * y * z * (1 + 1e-6), values, lambda x, y, z: x * y * z)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f", [lambda x: np.log(x**2), lambda x: np.sum(np.log2(x**2)), lambda x: np.log10(x * x) + x]
)
def test_logarithms_of_powers_near_one(f) -> None:
    """What Python rounds before the logarithm cancels in it."""
    x = np.array([0.999999993707119, 1.0000000040963783])
    np.testing.assert_allclose(symgrad(f)(x), f(x), rtol=1e-7)


def test_programs_with_routines_are_compared_within_a_budget() -> None:
    f = symgrad(lambda a: np.sum(a @ a))
    for n, is_open in ((5, False), (60, True)):
        a = np.ones((n, n))
        program = f._source.raw({}, f._source.shapes({}, [a]))
        if is_open:
            with pytest.raises(TooLong):
                enclosed(program, [a], 1.0)
        else:
            (ball,) = enclosed(program, [a], 1.0).outputs
            assert ball.contains(n**3)
            assert ball.rad() < 1e-9


def test_later_calls_that_agree_with_plain_python_are_not_enclosed(monkeypatch):
    def steps(a):
        x = 1.0
        while abs(x * x - a) > 1e-9:
            x = 0.5 * (x + a / x)
        return x

    found = []
    monkeypatch.setattr(firstcall, "enclosed", lambda *args: found.append(args) or enclosed(*args))
    made = symgrad(steps, cache=False)
    for a in (2.0, 3.0, 5.0, 7.0, 11.0):
        np.testing.assert_allclose(made(a), steps(a), rtol=1e-14)
    assert len(found) == 1
