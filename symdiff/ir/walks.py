"""Walks over parts of a DAG that visit each node once.

Before:  a*b + a*c, through sums and products
After:   a*b + a*c, a*b, a, b, a*c, c

Requires: a function from a node to the nodes below it that matter.
Ensures: no walk recurses. For walks over everything below a node, use `nodes.topological`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from symdiff.ir.nodes import AND, Expr, Op

T = TypeVar("T", bound=Hashable)


def reached(roots: Iterable[T], below: Callable[[T], Sequence[T]]) -> Iterator[T]:
    """The roots and the nodes below them, each once and before those below it; `below` is called
    after a node was yielded."""
    stack = list(roots)[::-1]
    seen: set[T] = set()
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            yield e
            stack.extend(below(e)[::-1])


def children_first(
    roots: Iterable[T], below: Callable[[T], Sequence[T]], known: Container[T] = ()
) -> list[T]:
    """The same nodes, each after those below it; without the known ones."""
    order: list[T] = []
    done: set[T] = set()
    stack = [(e, False) for e in roots][::-1]
    while stack:
        e, ready = stack.pop()
        if ready:
            order.append(e)
        elif e not in done and e not in known:
            done.add(e)
            stack.append((e, True))
            stack.extend([(a, False) for a in below(e)[::-1]])
    return order


def through(*ops: Op) -> Callable[[Expr], tuple[Expr, ...]]:
    """For nodes with these operations, the arguments; for others, nothing."""
    return lambda e: e.args if e.op in ops else ()


def topmost(roots: Iterable[Expr], ops: Container[Op]) -> list[Expr]:
    """The nodes with one of these operations that are below no other such node."""
    nodes = reached(roots, lambda e: () if e.op in ops else e.args)
    return [e for e in nodes if e.op in ops]


def has_at_most(count: int, roots: Iterable[Expr]) -> bool:
    """Whether at most so many nodes are reachable from the roots, these included."""
    return next(islice(reached(roots, lambda e: e.args), count, None), None) is None


def conjuncts(*conditions: Expr) -> Iterator[Expr]:
    """The conditions that all hold where these do, each once."""
    return (c for c in reached(conditions, through(AND)) if c.op is not AND)
