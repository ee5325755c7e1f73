"""Derivatives of high order by one variable, node by node.

Before:  tanh(x), and the order 8
After:   the eighth derivative, in terms of the lower ones of every node: 60 nodes

The k-th derivative of a product is a sum over derivatives of its factors (Leibniz' rule), and the
same holds for f(u), as f(u)' = f'(u) * u' is a product. The derivatives of every node are stored,
so the formula grows with the square of the order, whereas repeated differentiation of a formula
doubles it each time. See Griewank and Walther, Evaluating Derivatives (2008), chapter 13.

Requires: nodes whose operations have a derivative (see `Op.partials`).
Ensures: the same function as `passes.differentiate.pushforward` gives, order times.
"""

from __future__ import annotations

import math

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, SUB, TRUE, WHERE, ZERO, Expr
from symdiff.passes.differentiate import local_partials


class Derivatives:
    """The derivatives of the nodes of a DAG by one variable, of every order."""

    def __init__(self, variable: Expr) -> None:
        self.variable = variable
        self._found: dict[Expr, list[Expr]] = {}
        self._partials: dict[Expr, list[tuple[Expr, Expr, Expr]]] = {}

    def of(self, e: Expr, order: int) -> Expr:
        """The derivative of an order."""
        for k in range(1, order + 1):  # lower orders first, and children: so recursion is shallow
            for n in ir.topological((e,)):
                self._of(n, k)
        return self._of(e, order)

    def _of(self, e: Expr, order: int) -> Expr:
        found = self._found.setdefault(e, [e])
        while len(found) <= order:
            found.append(self._next(e, len(found)))
        return found[order]

    def _next(self, e: Expr, k: int) -> Expr:
        args = e.args
        if e is self.variable:
            return ONE if k == 1 else ZERO
        if not args or e.op.boolean:
            return ZERO
        if e.op is ADD or e.op is SUB:
            a, b = (self._of(x, k) for x in args)
            return a + b if e.op is ADD else a - b
        if e.op is NEG:
            return -self._of(args[0], k)
        if e.op is WHERE:
            return ir.where(args[0], self._of(args[1], k), self._of(args[2], k))
        if e.op is MUL:
            return self._product(args[0], args[1], k, range(k + 1))
        if e.op is DIV:  # q*d = n, differentiated k times
            rest = self._product(args[1], e, k, range(1, k + 1))
            return (self._of(args[0], k) - rest) / args[1]
        if e not in self._partials:
            self._partials[e] = list(local_partials(e))
        total: Expr = ZERO
        for child, partial, counts in self._partials[e]:
            terms: Expr = ZERO
            for j in range(k):
                factors = self._of(partial, j) * self._of(child, k - j)
                terms = terms + ir.const(math.comb(k - 1, j)) * factors
            total = total + (terms if counts is TRUE else ir.where(counts, terms, ZERO))
        return total

    def _product(self, a: Expr, b: Expr, k: int, orders: range) -> Expr:
        """The terms of (a*b)^(k) with these orders of a."""
        total: Expr = ZERO
        for j in orders:
            total = total + ir.const(math.comb(k, j)) * (self._of(a, j) * self._of(b, k - j))
        return total
