"""A trace's facts about conditions: whether they hold here, where they are defined, and their
text."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.trace import implied
from symdiff.frontend.trace.decisions import ALWAYS
from symdiff.frontend.trace.outside import from_outside, must_be_plain
from symdiff.frontend.trace.recorder import MAX_TEXT, Recorder
from symdiff.frontend.trace.values import (
    UNBOUND,
    UNREACHED,
    Choice,
    ComplexNumber,
    Cond,
    Maybe,
    Real,
    Record,
    Refused,
    SmallArray,
    Unusable,
    describe,
    join,
)
from symdiff.ir import TRUE, Expr

ALIKE = "both sides of a condition on real values must give numbers, or containers alike"
ASK = "ask first, in an 'if' of its own: if value is None: ..."


class Conditions(Recorder):
    """A trace that decides conditions."""

    def wrap(self, value: Any) -> Any:
        """A value from the user's world or from a container, ready to compute with."""
        kind = type(value)
        if kind is Real or kind is int:
            return value
        self.aliases.check(value)
        if kind is SmallArray:
            return value
        if kind is Choice:
            return self.resolve(value, "this value")
        if isinstance(value, (np.ndarray, np.generic)):
            self.numpy_numbers = True
        if isinstance(value, np.ndarray):
            found = self._outside.get(id(value))
            if found is None:
                found = self._outside[id(value)] = value, self._data(value)
            return found[1]
        return from_outside(value)

    def _data(self, value: np.ndarray[Any, Any]) -> Any:
        """The user's array that is known when traced."""
        must_be_plain(value)
        if value.dtype == np.complex128:
            parts = {"real": self._data(value.real.copy()), "imag": self._data(value.imag.copy())}
            return Record(ComplexNumber, parts)
        if value.size <= self.size_limit or not value.ndim:
            return from_outside(value)
        array = self.array_of_data(value)
        array.memory.fixed = (
            "an array that was not made in the function is changed",
            "change a copy; a function to differentiate has no side effects",
        )
        return array

    # --------------------------------------------------------------- conditions
    def known(self, value: Any, strictly: bool = False) -> bool | None:
        """A truth value if its form or the path decides it; `strictly`: for nan, too."""
        if not isinstance(value, Cond):
            return bool(value)
        if self.facts:
            if implied.follows(value.expr, self.facts, strictly):
                return True
            if implied.follows(ir.not_(value.expr), self.facts, strictly):
                return False
        return None

    def need(self, c: Cond) -> None:
        """Record where a deciding condition is defined."""
        if c.defined is not TRUE:
            for e in (c.expr, ir.not_(c.expr)):
                self._needs[e] = join(self._needs.get(e, TRUE), c.defined)

    def defined(self, condition: Expr) -> Expr:
        """Where all parts of a path condition are defined."""
        if not self._needs:
            return TRUE
        stack = [condition]
        while stack:
            e = stack[-1]
            parts = e.args if e.op in (ir.AND, ir.OR, ir.NOT) else ()
            missing = [a for a in parts if a not in self._needs]
            if e in self._needs or not missing:
                stack.pop()
                if e not in self._needs:
                    total = TRUE
                    for a in parts:
                        total = join(total, self._needs[a])
                    self._needs[e] = total
            else:
                stack += missing
        return self._needs[condition]

    def resolve(self, value: Any, name: str, hint: str = "") -> Any:
        """The side of a `Choice` that the path selects."""
        if value is UNBOUND:
            raise Refused(f"{name} is used before it is assigned")
        if isinstance(value, Maybe):
            self._check_bound(value, name)
            value = value.value
        if isinstance(value, Unusable):
            raise Refused(value.message, value.hint)
        whole = value
        value = self.left_open(value)
        if not isinstance(value, Choice):
            return value
        kinds = _kinds(whole)
        hint = hint or (ASK if "None" in kinds.split(" or ") else ALIKE)
        raise Refused(f"{name} is {kinds} depending on whether {self.text(value.condition)}", hint)

    def left_open(self, value: Any, given: Expr = TRUE) -> Any:
        """The remainder of a `Choice` here: one value, or a `Choice` of those that the path leaves open."""
        while isinstance(value, Choice):
            side = self.known(Cond(value.condition))
            if side is None:
                break
            value = value.then if side else value.other
        if not isinstance(value, Choice):
            return UNREACHED if given is not TRUE and self.certain(ir.not_(given)) else value
        c = value.condition
        then = self.left_open(value.then, ir.and_(given, c))
        other = self.left_open(value.other, ir.and_(given, ir.not_(c)))
        if then is value.then and other is value.other:
            return value
        if then is UNREACHED or other is UNREACHED:
            return other if then is UNREACHED else then
        return self.merge(c, then, other)

    def _check_bound(self, value: Maybe, name: str) -> None:
        """Refuse a name that is not bound on every path to this place."""
        bound = value.bound
        if self.certain(bound):
            return
        if self.certain(ir.not_(bound)):
            raise Refused(f"{name} is used before it is assigned")
        if value.checked:
            self.require(
                bound, "value", f"{name} is not assigned in any iteration of the loop before"
            )
            return
        raise Refused(
            f"{name} may be unbound here: it is assigned only when {self.text(bound)}",
            "assign it on every path",
        )

    def certain(self, condition: Expr) -> bool:
        """Whether a condition holds on every path to this place, given the assertions."""
        d = self._decisions
        node = d.of(condition)
        if node == ALWAYS:  # on all paths
            return True
        given = d.both(self._given(), d.of(self.path))
        if d.implies(given, node):
            return True
        for c in d.comparisons(node):
            if (known := self.known(Cond(c))) is not None:
                given = d.both(given, d.of(c if known else ir.not_(c)))
        return d.implies(given, node)

    def follows(self, condition: Expr, given: Expr) -> bool:
        """Whether a condition holds wherever another one does."""
        return self._decisions.implies(self._decisions.of(given), self._decisions.of(condition))

    def _given(self) -> int:
        """All assertions so far."""
        node, count = self._assumed
        for a in self.assumptions[count:]:
            node = self._decisions.both(node, self._decisions.of(a))
        self._assumed = node, len(self.assumptions)
        return node

    def text(self, condition: Expr) -> str:
        """A condition in the user's own words, if they are known; cut if long."""
        made: dict[Expr, str] = {}
        stack = [condition]
        while stack:
            e = stack[-1]
            parts = e.args if e.op in (ir.AND, ir.OR, ir.NOT) and e not in self.texts else ()
            missing = [a for a in parts if a not in made]
            if missing:
                stack += missing
                continue
            stack.pop()
            made[e] = ir.cut(self._text(e, [made[a] for a in parts]), MAX_TEXT)
        return made[condition]

    def _text(self, e: Expr, parts: list[str]) -> str:
        if e in self.texts:
            return self.texts[e]
        if e.op is ir.NOT:
            return f"not ({parts[0]})"
        if e.op in (ir.AND, ir.OR):
            inner = [
                f"({text})" if a.op in (ir.AND, ir.OR) and a.op is not e.op and a not in self.texts
                else text
                for a, text in zip(e.args, parts, strict=True)
            ]  # fmt: skip
            word = " and " if e.op is ir.AND else " or "
            again = inner[1] in inner[0].split(word)  # the same line again in a loop
            return inner[0] if again else word.join(inner)
        return ir.format_expr(e, MAX_TEXT)


def _kinds(value: Any) -> str:
    names: dict[str, None] = {}
    stack, seen = [value], set()
    while stack:
        v = stack.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        if isinstance(v, Choice):
            stack += [v.other, v.then]
        else:
            text = describe(v)
            names["another " + text.split(" ", 1)[-1] if text in names else text] = None
    return " or ".join(names)
