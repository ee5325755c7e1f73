"""What traced functions compute, by the slow reference, beside what Python does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from symdiff.frontend import capture
from symdiff.frontend.capture import ELEMENTWISE
from symdiff.interpret.loops import run
from symdiff.ir import NAN, Expr, where
from symdiff.ir.loop_program import LoopProgram, Parameter, Type
from symdiff.ir.program import Program, map_objects
from symdiff.pipeline.argument_shapes import shapes_of, stretched


def cases(
    *tables: Mapping[str, Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]]],
) -> list[Any]:
    """Functions, some with names, and the axes of their arguments, as in "x: n m, y: m, c:"."""
    found = []
    for spec, functions in (item for table in tables for item in table.items()):
        shapes = {
            a.strip(): axes.strip() for a, _, axes in (p.partition(":") for p in spec.split(","))
        }
        named = functions if isinstance(functions, Mapping) else {f.__name__: f for f in functions}
        found += [pytest.param(fun, shapes, id=name) for name, fun in named.items()]
    return found


def expected(
    fun: Callable[..., Any], args: list[Any], static: Mapping[str, Any] | None = None
) -> Any:
    """What Python makes of arguments, which it may change."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fun(*copies, **(static or {}))


def traced(program: Program | LoopProgram, args: list[Any]) -> Any:
    """What the traced program gives, nested as the function returns it."""
    if isinstance(program, Program):
        outputs = [masked(e, program.domain) for e in program.outputs]
        params = tuple(Parameter(n, Type()) for n in program.params)
        numbers = LoopProgram(program.name, params, (), tuple(outputs), program.tree)
        return elementwise(numbers, args)
    if program.taken == ELEMENTWISE:
        return elementwise(program, args)
    found = run(program, args)
    outputs = [np.asarray(v, float) if isinstance(v, np.ndarray) else v for v in found]
    return map_objects(outputs.__getitem__, program.tree)


def elementwise(numbers: LoopProgram, args: list[Any]) -> Any:
    """A program of numbers on every element, nan outside of its domain."""
    grid = np.broadcast_arrays(*args)
    rows = [run(numbers, row) for row in zip(*(g.ravel() for g in grid), strict=True)]
    columns = np.array(rows, float).reshape(*grid[0].shape, len(numbers.outputs))
    return map_objects(lambda k: columns[..., k], numbers.tree)


def masked(e: Expr, domain: tuple[Expr, ...]) -> Expr:
    for c in domain:
        e = where(c, e, NAN)
    return e


def agrees(
    program: Program | LoopProgram,
    fun: Callable[..., Any],
    args: list[Any],
    static: Mapping[str, Any] | None = None,
) -> None:
    """The traced program gives what Python gives, and leaves its arguments alone."""
    names = [getattr(p, "name", p) for p in program.params]
    if stretched(program.stretches, shapes_of(names, args), args) is not None:
        return  # a call with an axis of one element that is repeated has a program of its own
    held = [np.copy(a) for a in args]
    want, got = expected(fun, args, static), traced(program, args)
    alike(got, want)
    for a, b in zip(args, held, strict=True):
        np.testing.assert_array_equal(a, b)


def alike(got: Any, want: Any) -> None:
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            alike(g, w)
        return
    want, got = np.asarray(want, float), np.asarray(got, float)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


def agrees_on_sizes(
    fun: Callable[..., Any], shapes: Mapping[str, str], sizes: tuple[int, ...] = (5, 3, 2, 1, 0)
) -> None:
    """A function of arrays whose axes "n" have several sizes, and "m" has 3. Where Python
    raises an error, so does the program."""
    axes = {name: spec.split() for name, spec in shapes.items()}
    program = capture(fun, {}, {name: (len(a), "f") for name, a in axes.items()})
    for n in sizes:
        rng = np.random.default_rng(n)
        args: list[Any] = [
            rng.normal(size=[n if a == "n" else 3 for a in spec]) if spec else 0.7
            for spec in axes.values()
        ]
        try:
            expected(fun, args)
        except Exception:
            try:
                traced(program, args)
            except Exception:
                continue
            raise AssertionError(f"no error for the size {n}") from None
        agrees(program, fun, args)
