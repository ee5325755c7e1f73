"""Traced functions with arrays and loops do what Python and NumPy do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from symdiff.frontend import capture
from symdiff.interpret.blocks import run
from symdiff.ir import NAN, Expr, where
from symdiff.program import Program, map_objects
from symdiff.structure import Parameter, Structured, Type
from tests.array_corpus import CASES, Case


def expected(case: Case, args: list[Any]) -> Any:
    """What Python makes of arguments, which it may change."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.fun(*copies, **(case.static or {}))


def traced(program: Program | Structured, args: list[Any]) -> Any:
    """What the traced program gives, nested as the function returns it."""
    if isinstance(program, Program):
        return elementwise(program, args)
    found = run(program, args)
    outputs = [np.asarray(v, float) if isinstance(v, np.ndarray) else v for v in found]
    return map_objects(outputs.__getitem__, program.tree)


def elementwise(program: Program, args: list[Any]) -> Any:
    """A program of numbers on every element, nan outside of its domain."""
    outputs = [masked(e, program.domain) for e in program.outputs]
    params = tuple(Parameter(n, Type()) for n in program.params)
    numbers = Structured(program.name, params, (), tuple(outputs), program.tree)
    grid = np.broadcast_arrays(*args)
    rows = [run(numbers, row) for row in zip(*(g.ravel() for g in grid), strict=True)]
    columns = np.array(rows, float).reshape(*grid[0].shape, len(outputs))
    return map_objects(lambda k: columns[..., k], program.tree)


def masked(e: Expr, domain: tuple[Expr, ...]) -> Expr:
    for c in domain:
        e = where(c, e, NAN)
    return e


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_as_python(case: Case) -> None:
    program = capture(case.fun, case.static, case.kinds())
    for seed, sizes in enumerate(case.sizes()):
        args = case.arguments(sizes, seed)
        held = [np.copy(a) for a in args]
        want = np.asarray(expected(case, args), float)
        got = np.asarray(traced(program, args), float)
        assert got.shape == want.shape, sizes
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11, err_msg=str(sizes))
        for a, b in zip(args, held, strict=True):
            np.testing.assert_array_equal(a, b)
