"""Parse a formula given as text, such as `(x**2 - 4)/(x - 2)`, into a `Program`.

The text is parsed with Python's expression grammar and restricted to whitelisted
constructs and names; nothing is ever evaluated as Python. Decimals are exact
(`0.3` is three tenths), `pi` and `e` are the exact constants, functions are those
of `symdiff.ir.functions`, and every other name is a real variable.
"""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import NoReturn

from symdiff.errors import Location, ParseError
from symdiff.frontend.formula.grammar import (
    COMPARISONS,
    CONSTANTS,
    FUNCTIONS,
    MASKS,
    MODULES,
    ONLY_FUNCTIONS,
    OPERATORS,
    QUALIFIED,
    explain,
)
from symdiff.ir import (
    AND,
    FALSE,
    NAN,
    ONE,
    OR,
    TRUE,
    WHERE,
    ZERO,
    Expr,
    and_,
    boolean,
    const,
    ne,
    neg,
    not_,
    or_,
    var,
    where,
)
from symdiff.ir.functions import domain
from symdiff.ir.program import Program
from symdiff.process.syntax_trees import parsed

MAX_LENGTH = 100_000
"""Longer texts are refused."""
MAX_DIGITS = 1000
"""Numbers with more digits, or a larger exponent of ten, are refused."""
MAX_SHOWN = 200
"""Error messages do not repeat longer texts."""

PATH = "<expression>"

_DEFINITION = re.compile(r"\s*with\s+([^\W\d]\w*)\s*=(?!=)")

Visit = Generator[ast.AST, Expr, Expr]


def parse(text: str, name: str = "f") -> Program:
    """The program that a formula denotes.

    Its parameters are the variables in order of first appearance. A tuple gives
    several outputs.

    Raises
    ------
    ParseError : with the column, and a hint where one is known.

    Examples
    --------
    >>> parse("x*sin(y)").params
    ('x', 'y')
    """
    return _Parser(text).program(name)


def parse_condition(text: str, params: Sequence[str]) -> Expr:
    """A condition on the given variables, such as `x > 0 and y != x`.

    Raises
    ------
    ParseError : as `parse`, and for a variable that is not among `params`.
    """
    return _Parser(text).condition(params)


class _Parser:
    """Walks one formula. Visits are generators that yield the children they need,
    so that long formulas do not recurse."""

    def __init__(self, text: str) -> None:
        self.text = text = re.sub(r"\s", " ", text)
        if not text.strip():
            raise ParseError("the expression is empty", Location(PATH, 1, 1))
        if len(text) > MAX_LENGTH:
            raise ParseError(f"the expression is longer than {MAX_LENGTH} characters")
        self.start = len(text) - len(text.lstrip())
        self.source = text.strip()
        self.bytes = self.source.encode()
        self.guard = TRUE  # the condition under which the current visit is reached
        self.noted: set[tuple[Expr, Expr]] = set()
        self.domain: list[Expr] = []
        self.locations: dict[Expr, Location] = {}
        self.params: dict[str, None] = {}
        self.named: dict[str, ast.expr] = {}  # the definitions of `with t = ...:`
        self.busy: set[str] = set()

    def program(self, name: str) -> Program:
        root = self._tree()
        several = isinstance(root, ast.Tuple | ast.List)
        items = root.elts if isinstance(root, ast.Tuple | ast.List) else [root]
        outputs = tuple(self._evaluate(item) for item in items)
        for item, e in zip(items, outputs, strict=True):
            if e.op.boolean:
                self._fail(item, "this is a condition, not a number", "use where(condition, a, b)")
        return Program(
            name=name,
            params=tuple(self.params),
            outputs=outputs,
            tree=tuple(range(len(outputs))) if several else 0,
            domain=tuple(dict.fromkeys(self.domain)),
            locations=self.locations,
        )

    def condition(self, params: Sequence[str]) -> Expr:
        root = self._tree()
        result = self._evaluate(root)
        for name in self.params:
            if name not in params:
                self._fail(
                    root, f"'{name}' is not a parameter", f"the parameters are {', '.join(params)}"
                )
        if not result.op.boolean:
            self._fail(root, "this is a number, not a condition", "compare it, as in x > 0")
        return result

    # ------------------------------------------------------------------ syntax
    def _tree(self) -> ast.expr:
        at = 0
        while (found := _DEFINITION.match(self.source, at)) is not None:
            end = self._end_of(found.end())
            self.named[found[1]] = self._parsed(found.end(), end)
            at = end + 1
        return self._parsed(at, len(self.source))

    def _end_of(self, at: int) -> int:
        """The colon after a definition."""
        depth = 0
        for i in range(at, len(self.source)):
            depth += (self.source[i] in "([{") - (self.source[i] in ")]}")
            if depth == 0 and self.source[i] == ":":
                return i
        raise ParseError(
            "a definition ends with a colon", self._location(at), "with t = x**2: t + 1"
        )

    def _parsed(self, at: int, end: int) -> ast.expr:
        """A part of the source, parsed; places are those in the whole source."""
        source = self.source[:end]
        if at:
            source = "(" + " " * (len(self.source[:at].encode()) - 1) + self.source[at:end] + ")"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return parsed(source, mode="eval").body
        except SyntaxError as error:
            column = min(error.offset or len(self.source) + 1, len(self.source) + 1)
            message, hint, column = explain(str(error.msg), self.source, column)
            raise ParseError(message, self._location(column - 1), hint) from None
        except (RecursionError, MemoryError):
            raise ParseError(
                "the expression is nested too deeply", Location(PATH, 1, 1), "use a Python file"
            ) from None
        except ValueError as error:
            raise ParseError(str(error), Location(PATH, 1, 1)) from None

    def _location(self, column: int) -> Location:
        """The place of a column of the stripped source, counted from 0."""
        shown = self.text if len(self.text) <= MAX_SHOWN else ""
        return Location(PATH, 1, column + self.start + 1, shown)

    def _column(self, offset: int) -> int:
        """Characters before a byte offset."""
        return len(self.bytes[:offset].decode())

    def _fail(self, node: ast.AST, message: str, hint: str = "", offset: int = -1) -> NoReturn:
        if offset < 0:
            offset = getattr(node, "col_offset", 0)
        raise ParseError(message, self._location(self._column(offset)), hint)

    def _segment(self, node: ast.expr) -> str:
        return self.bytes[node.col_offset : node.end_col_offset].decode()

    # ----------------------------------------------------------------- walking
    def _evaluate(self, root: ast.AST) -> Expr:
        stack: list[tuple[ast.AST, Visit]] = [(root, self._visit(root))]
        value: Expr | None = None
        while stack:
            node, visit = stack[-1]
            try:
                child = visit.send(value)  # type: ignore[arg-type]
            except StopIteration as stop:
                stack.pop()
                made: Expr = stop.value
                value = made
                self._note(made, node)
            else:
                stack.append((child, self._visit(child)))
                value = None
        assert value is not None
        return value

    def _visit(self, node: ast.AST) -> Visit:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node, node.id)
            case ast.Attribute():
                return self._name(node, self._dotted(node), qualified=True)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._junction(node)
            case ast.IfExp():
                return self._branch(node.test, node.body, node.orelse)
            case ast.Call():
                return self._call(node)
            case ast.Tuple() | ast.List():
                self._fail(node, "a tuple can only be the whole expression")
            case ast.NamedExpr():
                self._fail(node, "assignments are not part of a formula")
            case ast.Subscript():
                self._fail(node, "indexing is not part of a formula", "use names such as x0, x1")
            case _:
                self._fail(node, "this is not part of a formula", "use a Python file")

    def _constant(self, node: ast.Constant) -> Visit:
        yield from ()
        value = node.value
        if isinstance(value, bool):
            return boolean(value)
        if isinstance(value, int):
            return const(value)
        if isinstance(value, float):
            text = self._segment(node).replace("_", "")
            mantissa, _, exponent = text.lower().partition("e")
            if (
                len(mantissa) > MAX_DIGITS
                or len(exponent) > 6
                or abs(int(exponent or 0)) > MAX_DIGITS
            ):
                self._fail(node, "the number is too long")
            return const(Fraction(text))
        if isinstance(value, complex):
            self._fail(node, "complex numbers are not supported", "write 2*x for a product")
        self._fail(node, f"{self._segment(node)} is not a number")

    def _name(self, node: ast.AST, name: str, qualified: bool = False) -> Visit:
        yield from ()
        if name in self.named and not qualified:
            if name in self.busy:
                self._fail(node, f"{name} is defined by itself")
            self.busy.add(name)
            value = yield self.named[name]
            self.busy.discard(name)
            return value
        known = QUALIFIED if qualified else CONSTANTS
        if name in known:
            return known[name]()
        if name in ONLY_FUNCTIONS or qualified:
            self._fail(
                node,
                f"{name} is a function",
                f"write {name}(...), or give the variable another name",
            )
        if name.startswith("__"):
            self._fail(node, f"{name} is no name for a variable")
        self.params.setdefault(name)
        return var(name)

    def _dotted(self, node: ast.expr) -> str:
        """The last part of `np.sin` and the like."""
        prefix = node.value if isinstance(node, ast.Attribute) else node
        while isinstance(prefix, ast.Attribute) and prefix.attr in MODULES:
            prefix = prefix.value
        known = isinstance(node, ast.Attribute) and (
            node.attr in FUNCTIONS or node.attr in QUALIFIED
        )
        if known and isinstance(prefix, ast.Name) and prefix.id in MODULES:
            return node.attr  # type: ignore[attr-defined, no-any-return]
        self._fail(
            node, f"{self._segment(node)} is not known", "attributes are not part of a formula"
        )

    def _unary(self, node: ast.UnaryOp) -> Visit:
        value = yield node.operand
        if isinstance(node.op, ast.Not | ast.Invert):
            if isinstance(node.op, ast.Invert) and not value.op.boolean:
                self._fail(node, "~ needs a condition", "use - for the negative")
            return not_(_condition(value))
        return neg(_number(value)) if isinstance(node.op, ast.USub) else _number(value)

    def _binary(self, node: ast.BinOp) -> Visit:
        kind = type(node.op)
        if kind not in OPERATORS and kind not in MASKS:
            start = node.left.end_col_offset or 0
            between = self.bytes[start : node.right.col_offset].decode()
            sign = between.strip(" ()")
            hint = "use ** for powers" if kind is ast.BitXor else ""
            self._fail(node, f"{sign} is not an operator here", hint, start + between.index(sign))
        left = yield node.left
        right = yield node.right
        if kind in MASKS:
            if not (left.op.boolean and right.op.boolean):
                self._fail(node, "& and | join conditions", "put the comparisons in parentheses")
            return MASKS[kind](left, right)
        return OPERATORS[kind](_number(left), _number(right))

    def _compare(self, node: ast.Compare) -> Visit:
        left = _number((yield node.left))
        result = TRUE
        for kind, item in zip(node.ops, node.comparators, strict=True):
            if type(kind) not in COMPARISONS:
                self._fail(item, "only <, <=, >, >=, == and != compare numbers")
            right = _number((yield item))
            result = and_(result, COMPARISONS[type(kind)](left, right))
            left = right
        return result

    def _junction(self, node: ast.BoolOp) -> Visit:
        """Short-circuits: an operand that is not reached cannot be undefined."""
        outer = self.guard
        conjunction = isinstance(node.op, ast.And)
        result = _condition((yield node.values[0]))
        for item in node.values[1:]:
            self.guard = and_(outer, result if conjunction else not_(result))
            value = _condition((yield item))
            result = and_(result, value) if conjunction else or_(result, value)
        self.guard = outer
        return result

    def _branch(self, test: ast.expr, body: ast.expr, other: ast.expr) -> Visit:
        outer = self.guard
        condition = _condition((yield test))
        self.guard = and_(outer, condition)
        a = yield body
        self.guard = and_(outer, not_(condition))
        b = yield other
        self.guard = outer
        if a.op.boolean != b.op.boolean:
            a, b = _number(a), _number(b)
        return where(condition, a, b)

    def _pieces(self, node: ast.Call) -> Visit:
        """SymPy's `Piecewise((a, condition), (b, True))`: the first whose condition holds."""
        outer, reached = self.guard, self.guard
        found: list[tuple[Expr, Expr]] = []
        if not node.args:
            self._fail(node, "Piecewise has no piece")
        for item in node.args:
            if not isinstance(item, ast.Tuple) or len(item.elts) != 2:
                self._fail(item, "a piece is a pair", "Piecewise((x, x > 0), (0, True))")
            self.guard = reached
            condition = _condition((yield item.elts[1]))
            self.guard = and_(reached, condition)
            found.append((condition, _number((yield item.elts[0]))))
            reached = and_(reached, not_(condition))
        self.guard = outer
        result = NAN
        for condition, value in reversed(found):
            result = where(condition, value, result)
        return result

    def _call(self, node: ast.Call) -> Visit:
        name = self._callee(node)
        builder, least, most = FUNCTIONS[name]
        if name == "Piecewise":
            return (yield from self._pieces(node))
        if node.keywords:
            self._fail(node, f"{name} takes no keyword arguments")
        if any(isinstance(a, ast.Starred) for a in node.args):
            self._fail(node, "* is not part of a call in a formula")
        count = len(node.args)
        if count < least or (most is not None and count > most):
            wanted = (
                f"{least}"
                if least == most
                else f"at least {least}"
                if most is None
                else f"{least} to {most}"
            )
            plural = "" if wanted.endswith(" 1") or wanted == "1" else "s"
            self._fail(node, f"{name} takes {wanted} argument{plural}, not {count}")
        if builder is where:
            return (yield from self._branch(*node.args))
        args = []
        for item in node.args:
            args.append(_number((yield item)))
        return builder(*args)

    def _callee(self, node: ast.Call) -> str:
        function = node.func
        if isinstance(function, ast.Attribute):
            name = self._dotted(function)
        elif isinstance(function, ast.Name):
            name = function.id
        else:
            self._fail(node, "only functions can be called", "write a*(b) for a product")
        if name in FUNCTIONS:
            return name
        if name in CONSTANTS or name in self.params or len(name) == 1:
            self._fail(node, f"{name} is not a function", f"write {name}*(...) for a product")
        close = [
            f
            for f in difflib.get_close_matches(name, FUNCTIONS, n=3, cutoff=0.75)
            if abs(len(f) - len(name)) <= 1 + len(name) // 4
        ]
        hint = f"did you mean {' or '.join(close)}?" if close else ""
        self._fail(node, f"the function {name} is not known", hint)

    def _note(self, made: Expr, node: ast.AST) -> None:
        """Record where new nodes come from, and the domain of each under its guard.

        Noted after every visit, because simplification may dissolve a node later:
        `sqrt(x)**2` is `x`, but defined only where `sqrt(x)` is.
        """
        stack = [(made, self.guard)]
        while stack:
            e, guard = stack.pop()
            if guard is FALSE or (TRUE, e) in self.noted or (guard, e) in self.noted:
                continue
            self.noted.add((guard, e))
            if e.args and e not in self.locations:
                self.locations[e] = self._location(self._column(getattr(node, "col_offset", 0)))
            condition = TRUE if e.op.boolean else domain(e.op, e.args)
            if guard is not TRUE:
                condition = or_(not_(guard), condition)
            if condition is not TRUE:
                self.domain.append(condition)
            guards = [guard] * len(e.args)
            if e.op is WHERE:
                guards[1:] = and_(guard, e.args[0]), and_(guard, not_(e.args[0]))
            elif e.op in (AND, OR):
                guards[1] = and_(guard, e.args[0] if e.op is AND else not_(e.args[0]))
            stack.extend(zip(e.args, guards, strict=True))


def _number(e: Expr) -> Expr:
    """A truth value counts as 0 or 1, as in NumPy."""
    return where(e, ONE, ZERO) if e.op.boolean else e


def _condition(e: Expr) -> Expr:
    """A number counts as true unless it is 0."""
    return e if e.op.boolean else ne(e, ZERO)
