"""`symdiff.debug` prints in each call what plain Python has there, and changes nothing else."""

import pickle

import numpy as np
import pytest

import symdiff
from symdiff import symgrad


@symgrad
def shifted(x):
    y = x * x
    symdiff.debug("y = {}", y)
    return y + 1


@symgrad
def summed(v):
    s = 0.0
    for a in v:
        symdiff.debug("a = {a:.1f}", a=a)
        s = s + a * a
    return s


@symgrad
def sides(x):
    if x > 0:
        symdiff.debug("right")
        return x
    symdiff.debug("left")
    return -x


def test_each_call_prints_once(capsys):
    for k in range(8):
        assert shifted(float(k)) == k * k + 1
    assert capsys.readouterr().out.splitlines() == [f"y = {float(k * k)}" for k in range(8)]


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (lambda: shifted.grad(3.0), ["y = 9.0"]),
        (lambda: shifted.hessian(2.0), ["y = 4.0"]),
        (lambda: shifted.jvp((2.0,), (1.0,)), ["y = 4.0"]),
        (lambda: shifted(np.array([1.0, 2.0])), ["y = [1. 4.]"]),
        (lambda: symgrad(lambda x: 2 * shifted(x)).grad(2.0), ["y = 4.0"]),
        (lambda: summed.grad(np.array([1.0, 2.0])), ["a = 1.0", "a = 2.0"]),
        (lambda: sides.grad(np.array([1.0, -2.0])), ["right", "left"]),
    ],
)
def test_derivatives_arrays_loops_and_callers_print(capsys, call, lines):
    call()
    assert capsys.readouterr().out.splitlines() == lines
    call()
    assert capsys.readouterr().out.splitlines() == lines, "and so does the next call"


def test_values_are_those_without_it():
    plain = symgrad(lambda x: x * x + 1)
    for x in (0.3, np.array([0.1, 7.0])):
        np.testing.assert_array_equal(shifted(x), plain(x))
        np.testing.assert_array_equal(shifted.grad(x), plain.grad(x))
    assert str(shifted.expr) == "x**2 + 1"


def test_what_raises_prints_too(capsys):
    @symgrad(domain={"x": (0, 1)})
    def bounded(x):
        symdiff.debug("x = {}", x)
        return x

    for _ in range(2):
        with pytest.raises(symdiff.DomainError):
            bounded(2.0)
        assert capsys.readouterr().out == "x = 2.0\n"


def test_braces_alone_are_text(capsys):
    symdiff.debug("{set}")
    assert capsys.readouterr().out == "{set}\n"
    assert pickle.loads(pickle.dumps(symdiff.debug)) is symdiff.debug
