"""Formulas of numbers in doubles at many points: `interpret.loops.Doubles`, prepared once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.interpret.loops import DOUBLE, Doubles, evaluate
from symdiff.ir import Expr
from symdiff.ir.loop_program import REAL_OF, name_of


class Program:
    """The values of formulas, and of all their nodes, at points.

    Parameters
    ----------
    roots : formulas of variables.
    """

    def __init__(self, roots: Iterable[Expr]) -> None:
        self.nodes = ir.topological(roots)
        index = {n: i for i, n in enumerate(self.nodes)}
        self._inputs = [(i, name_of(n)) for i, n in enumerate(self.nodes) if n.op is ir.VAR]
        self._start: list[Any] = [None] * len(self.nodes)
        self._code: list[tuple[int, Callable[..., Any], list[int]]] = []
        constant: set[Expr] = set()
        for i, n in enumerate(self.nodes):
            if n.op is not ir.VAR and constant.issuperset(n.args):
                constant.add(n)
                value = evaluate(n, _NUMBERS, {})
                self._start[i] = value if isinstance(value, bool) else _NUMBERS.real(value)
            elif n.args:
                self._code.append((i, function_of(n), [index[a] for a in n.args]))

    def at(self, point: Mapping[str, float]) -> list[Any]:
        """The value of each node; `np.float64` for numbers, `bool` for conditions."""
        values = self._start.copy()
        for i, name in self._inputs:
            values[i] = np.float64(point[name])
        with np.errstate(all="ignore"):
            for i, f, args in self._code:
                values[i] = f(*[values[k] for k in args])
        return values


_NUMBERS = Doubles()


def function_of(n: Expr) -> Callable[..., Any]:
    """The function of doubles that a node applies to the values of its arguments."""
    if n.op is ir.WHERE:
        return _NUMBERS.choose
    if n.op is REAL_OF:
        return _NUMBERS.real
    if n.op is ir.POW and (q := ir.rational(n.args[1])) is not None and q.denominator == 2:
        return functools.partial(_half_power, q.numerator)
    return DOUBLE.get(n.op) or functools.partial(_applied, n.op)


def _half_power(n: int, x: Any, _: Any) -> Any:
    return np.sqrt(x) ** n


def _applied(op: ir.Op, *args: Any) -> Any:
    return _NUMBERS.apply(op, args)


__all__ = ["Program", "function_of"]
