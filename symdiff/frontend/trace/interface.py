"""The methods of the interpreter that a trace calls. `symdiff.frontend.interpreter` implements
them; so the files below name no file above them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from symdiff.frontend.trace.values import SymArray
from symdiff.ir import Expr


class Interface:
    """The evaluation of Python, for the files that trace single constructs."""

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression."""
        raise NotImplementedError

    def condition(self, node: ast.expr) -> Any:
        """Whether an expression counts as true; a bool if that is known here."""
        raise NotImplementedError

    def run_block(self, body: Sequence[ast.stmt]) -> None:
        """Run statements in order."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a target: a name, a pattern of targets, an element."""
        raise NotImplementedError

    def store(self, owner: Any, index: Any, value: Any) -> None:
        """`owner[index] = value`."""
        raise NotImplementedError

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of `function(*args, **kwargs)`."""
        raise NotImplementedError

    def inline(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a function's body here, on these arguments."""
        raise NotImplementedError

    def merge(self, c: Expr, a: Any, b: Any) -> Any:
        """One value that is `a` where the condition holds, else `b`."""
        raise NotImplementedError

    def attribute(self, owner: Any, name: str) -> Any:
        """`owner.name`."""
        raise NotImplementedError

    # ------------------------------------------- arrays whose size is not known when traced
    def elementwise(self, f: Callable[..., Any], values: Sequence[Any]) -> Any:
        """A scalar function applied to arrays, with broadcasting."""
        raise NotImplementedError

    def one_of_arrays(self, condition: Expr, a: Any, b: Any) -> Any:
        """The array that is one or the other; None if their dimensions differ."""
        raise NotImplementedError

    def array_of_data(self, values: Any) -> Any:
        """The user's data that is known when traced."""
        raise NotImplementedError

    def whole(self, value: Any, what: str) -> Any:
        """A rounded number as an integer of the program; `what` names it in a refusal."""
        raise NotImplementedError

    def compacted(self, chosen: Any) -> SymArray:
        """The elements that a condition selects as an array."""
        raise NotImplementedError
