"""Trees of `point_trees` as Python source, spelled in one of many ways.

A random generator draws the spellings: conditional expressions, `if` statements, early returns, helper functions,
`np.where`, masks, loops, `math` or `numpy`, and how parameters are packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.validation.point_trees import Node, free_names

MATH = {
    "sin": "sin", "cos": "cos", "exp": "exp", "expm1": "expm1", "tanh": "tanh", "arctan": "atan",
    "arctan2": "atan2", "hypot": "hypot",
}  # fmt: skip
"""Functions of `math` that raise nothing where NumPy's give nan."""
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


class Spelling:
    """Statements and helpers that were written so far."""

    def __init__(self, seed: int, packing: str, scalar: bool) -> None:
        self.rng = Random(seed)
        self.packing = packing
        self.module = self.rng.choice(["np", "np", "math"]) if scalar else "np"
        self.lines: list[str] = []
        self.helpers: list[str] = []
        self.depth = 1
        self.made = 0

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def either(self, *options: str) -> str:
        return self.rng.choice(options)

    # ------------------------------------------------------------- conditions
    def zero(self, v: Node) -> str:
        """`every zero` as a condition in Python."""
        s = self.expr(v)
        return self.either(
            f"np.all({s} == 0)", f"not np.any({s})", f"not {s}.any()" if v.op == "var" else f"np.all({s} == 0.0)",
            f"np.max(np.abs({s})) == 0", f"np.linalg.norm({s}) == 0", f"({s} == 0).all()",
            f"np.sum({s} * {s}) == 0", f"np.count_nonzero({s}) == 0",
        )  # fmt: skip

    def test(self, n: Node, arrays: bool) -> str:
        """A condition; with `arrays`, one that NumPy takes elementwise."""
        match n.op:
            case "compare":
                a, b = n.args
                zero = b.op == "num" and b.data == 0 and not arrays and n.rank == 0
                if zero and n.data == "==" and a.op == "var" and self.rng.random() < 0.2:
                    return f"not {self.expr(a)}"
                if zero and n.data == "!=" and a.op == "var" and self.rng.random() < 0.2:
                    return f"bool({self.expr(a)})"
                if self.rng.random() < 0.15 and not arrays:
                    return f"not ({self.expr(a)} {OPPOSITE[n.data]} {self.expr(b)})"
                return f"({self.expr(a)} {n.data} {self.expr(b)})"
            case "and" | "or":
                left, right = (self.test(x, arrays) for x in n.args)
                return f"({left} {({'and': '&', 'or': '|'}[n.op]) if arrays else n.op} {right})"
            case "not":
                inner = self.test(n.args[0], arrays)
                if arrays:
                    return f"(~{inner})" if n.rank else f"np.logical_not({inner})"
                return f"(not {inner})"
            case "band":
                return f"({self.expr(n.args[0])} < {n.data!r})"
            case "every zero":
                s = self.zero(n.args[0])
                if arrays:
                    return (
                        f"(~np.any({self.expr(n.args[0])}))" if s.startswith("not ") else f"({s})"
                    )
                return f"({s})"
        raise AssertionError(n.op)

    # ------------------------------------------------------------ expressions
    def expr(self, n: Node) -> str:
        match n.op:
            case "num":
                return repr(n.data) if n.data >= 0 else f"({n.data!r})"
            case "var":
                return str(n.data)
            case "get":
                return f"{self.expr(n.args[0])}[{n.data}]"
            case "element":
                k = f"+{n.data}" if n.data else ""
                return f"{self.expr(n.args[0])}[{self.expr(n.args[1])}{k}]"
            case "neg":
                return f"(-{self.expr(n.args[0])})"
            case "call":
                return self.function(n)
            case "vec":
                return f"np.array([{', '.join(map(self.expr, n.args))}])"
            case "reduce":
                return self.reduction(n)
            case "choose":
                return self.choice(n)
            case "chain":
                return self.chain(n)
            case "let":
                value = self.expr(n.args[0])
                self.write(f"{n.data} = {value}")
                return self.expr(n.args[1])
            case "total":
                index, count = n.data
                name = self.fresh("s")
                self.write(f"{name} = 0.0")
                self.write(f"for {index} in range({count}):")
                self.depth += 1
                body = self.expr(n.args[0])
                self.write(self.either(f"{name} += {body}", f"{name} = {name} + {body}"))
                self.depth -= 1
                return name
        if n.op == "**" and n.args[1].op == "num" and n.args[1].data == 2:
            return f"{self.expr(n.args[0])}**2"
        return f"({self.expr(n.args[0])} {n.op} {self.expr(n.args[1])})"

    def function(self, n: Node) -> str:
        args = [self.expr(a) for a in n.args]
        inner = ", ".join(args)
        if n.data == "abs":
            return self.either(f"abs({inner})", f"np.abs({inner})")
        if n.data in ("maximum", "minimum") and n.rank == 0:
            return self.either(f"np.{n.data}({inner})", f"{n.data[:3]}({inner})")
        if n.data == "hypot" and self.rng.random() < 0.4:
            return f"np.sqrt({args[0]}**2 + {args[1]}**2)"
        if n.data in MATH and self.module == "math" and n.rank == 0:
            return f"math.{MATH[n.data]}({inner})"
        return f"np.{n.data}({inner})"

    def reduction(self, n: Node) -> str:
        args = [self.expr(a) for a in n.args]
        s = args[0]
        match n.data:
            case "norm":
                return self.either(
                    f"np.linalg.norm({s})", f"np.sqrt(np.sum({s}**2))", f"np.sqrt(np.dot({s}, {s}))",
                    f"np.sum({s}**2)**0.5", f"np.sqrt({s} @ {s})",
                )  # fmt: skip
            case "dot":
                return self.either(
                    f"np.dot({s}, {args[1]})", f"({s} @ {args[1]})", f"np.sum({s} * {args[1]})"
                )
            case "logsumexp":
                return self.either(f"logsumexp({s})", f"np.logaddexp.reduce({s})")
            case "sum":
                return self.either(
                    f"np.sum({s})", f"{s}.sum()" if n.args[0].op == "var" else f"np.sum({s})"
                )
        return f"np.{n.data}({s})"

    # --------------------------------------------------------------- branches
    def inside(self, n: Node, end: str) -> list[str]:
        """The lines of a branch that ends in `end` with the value in it."""
        kept, self.lines = self.lines, []
        self.depth += 1
        value = self.expr(n)
        self.write(end.format(value))
        self.depth -= 1
        made, self.lines = self.lines, kept
        return made

    def branched(self, n: Node, end: str) -> None:
        """`if` and `else` with the same end in both."""
        test, a, b = n.args
        self.write(f"if {self.test(test, False)}:")
        self.lines += self.inside(a, end)
        self.write("else:")
        self.lines += self.inside(b, end)

    def choice(self, n: Node) -> str:
        test, a, b = n.args
        if n.rank:
            return self.mask(n)
        style = n.data or self.either("ternary", "if", "where", "helper", "assigned")
        if style in ("ternary", "where"):
            kept, self.lines = self.lines, []
            state = self.rng.getstate()
            t, x, y = self.test(test, style == "where"), self.expr(a), self.expr(b)
            kept, self.lines = self.lines, kept
            if not kept:
                return f"np.where({t}, {x}, {y})" if style == "where" else f"({x} if {t} else {y})"
            self.rng.setstate(state)
        if style == "helper" and not (free := free_names(n)) & INDICES:
            return self.helper(n, sorted(free))
        name = self.fresh("k")
        if style == "assigned":  # the value of one branch, then overwritten
            default = self.expr(a)
            self.write(f"{name} = {default}")
            self.write(f"if not ({self.test(test, False)}):")
            self.lines += self.inside(b, name + " = {}")
        else:
            self.branched(n, name + " = {}")
        return name

    def helper(self, n: Node, names: list[str]) -> str:
        name = self.fresh("part")
        kept, self.lines, depth, self.depth = self.lines, [], self.depth, 1
        test, a, b = n.args
        self.write(f"if {self.test(test, False)}:")
        self.lines += self.inside(a, "return {}")
        value = self.expr(b)
        self.write(f"return {value}")
        self.helpers.append(f"def {name}({', '.join(names)}):\n" + "\n".join(self.lines) + "\n")
        self.lines, self.depth = kept, depth
        return f"{name}({', '.join(names)})"

    def mask(self, n: Node) -> str:
        test, a, b = n.args
        plain = b.op == "num" and test.rank == 1 and a.rank == 1
        if plain and self.rng.random() < 0.4:
            m, out = self.fresh("m"), self.fresh("o")
            t, x = self.test(test, True), self.expr(a)
            like = self.expr(array_in(test))
            self.write(f"{m} = {t}")
            self.write(f"{out} = np.full(len({like}), {b.data!r})")
            self.write(f"{out}[{m}] = {x}[{m}]" if a.op == "var" else f"{out}[{m}] = ({x})[{m}]")
            return out
        return f"np.where({self.test(test, True)}, {self.expr(a)}, {self.expr(b)})"

    def chain(self, n: Node) -> str:
        *pairs, last = n.args
        tests, values = pairs[::2], pairs[1::2]
        name = self.fresh("c")
        for k, (t, v) in enumerate(zip(tests, values, strict=True)):
            self.write(f"{'elif' if k else 'if'} {self.test(t, False)}:")
            self.lines += self.inside(v, name + " = {}")
        self.write("else:")
        self.lines += self.inside(last, name + " = {}")
        return name

    def returned(self, n: Node) -> None:
        """The statements that return a tree."""
        while n.op == "let":
            self.write(f"{n.data} = {self.expr(n.args[0])}")
            n = n.args[1]
        if n.op == "choose" and n.rank == 0 and n.data in ("", "if") and self.rng.random() < 0.8:
            test, a, b = n.args
            self.write(f"if {self.test(test, False)}:")
            self.lines += self.inside(a, "return {}")
            self.returned(b)
            return
        self.write(f"return {self.expr(n)}")


INDICES = {"i", "j"}


def array_in(n: Node) -> Node:
    """An array that a condition compares."""
    if n.op in ("compare", "band"):
        return next(a for a in n.args if a.rank)
    return array_in(next(a for a in n.args if a.rank))


def spelled(tree: Node, params: Mapping[str, Any], seed: int, packing: str) -> str:
    """The source of a module with a function `f`.

    `packing` says how parameters are passed: "plain", "tuple", "dataclass" or "array" (numbers only).
    """
    scalar = not any(isinstance(v, (list, tuple)) for v in params.values())
    s = Spelling(seed, packing, scalar)
    s.returned(tree)
    names = ", ".join(params)
    head = ["import math", "", "import numpy as np"]
    if "logsumexp(" in "\n".join(s.lines + s.helpers):
        head += ["from scipy.special import logsumexp"]
    head += ["", ""]
    if packing == "dataclass":
        head[0:0] = ["from dataclasses import dataclass", "from typing import Any"]
        head += ["@dataclass", "class State:", *(f"    {n}: Any" for n in params), "", ""]
    body = {
        "plain": [f"def f({names}):"],
        "tuple": ["def f(args):", f"    {names}{',' * (len(params) == 1)} = args"],
        "array": ["def f(args):", *(f"    {n} = args[{k}]" for k, n in enumerate(params))],
        "dataclass": ["def f(state):", *(f"    {n} = state.{n}" for n in params)],
    }[packing]
    helpers = [line for h in s.helpers for line in (*h.splitlines(), "", "")]
    return "\n".join([*head, *helpers, *body, *s.lines]) + "\n"
