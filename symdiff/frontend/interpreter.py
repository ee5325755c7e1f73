"""The tracer of all of Python that can be traced: it implements `Interface`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from symdiff.frontend.arrays import rounded, selecting, symbolic
from symdiff.frontend.syntax import attributes, calls, expressions, statements
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import SymArray
from symdiff.ir import Expr


class Interpreter(Tracer):
    """One capture in progress."""

    def evaluate(self, node: ast.expr) -> Any:
        return expressions.evaluate(self, node)

    def condition(self, node: ast.expr) -> Any:
        return expressions.condition(self, node)

    def run_block(self, body: Sequence[ast.stmt]) -> None:
        statements.run_block(self, body)

    def assign(self, target: ast.expr, value: Any) -> None:
        statements.assign(self, target, value)

    def store(self, owner: Any, index: Any, value: Any) -> None:
        statements.store(self, owner, index, value)

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return calls.call(self, function, args, kwargs)

    def inline(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return calls.inline(self, function, args, kwargs)

    def attribute(self, owner: Any, name: str) -> Any:
        return attributes.attribute(self, owner, name)

    def elementwise(self, f: Callable[..., Any], values: Sequence[Any]) -> Any:
        return symbolic.elementwise(self, f, *values)

    def whole(self, value: Any, what: str) -> Any:
        return rounded.as_whole(self, value, what)

    def one_of_arrays(self, condition: Expr, a: Any, b: Any) -> Any:
        return symbolic.merged(condition, a, b)

    def array_of_data(self, values: Any) -> Any:
        return symbolic.of_data(self, values)

    def compacted(self, chosen: Any) -> SymArray:
        return selecting.compacted(self, chosen)
