"""Walks over parts of a DAG, in which each node is met once.

Before:  a*b + a*c, through sums and products
After:   a*b + a*c, a*b, a, b, a*c, c

Requires: what says which nodes are below a node, of those that matter.
Ensures: no walk recurses. Where everything below a node matters, `nodes.topological` is the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from symdiff.ir.nodes import AND, Expr, Op

T = TypeVar("T", bound=Hashable)


def reached(roots: Iterable[T], below: Callable[[T], Sequence[T]]) -> Iterator[T]:
    """The roots and what is below them, each once and before what is below it; `below` is asked
    after a node was taken."""
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
    """The same, each after what is below it; without what is known."""
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
    """Below nodes with these operations are their arguments, below others is nothing."""
    return lambda e: e.args if e.op in ops else ()


def topmost(roots: Iterable[Expr], ops: Container[Op]) -> list[Expr]:
    """The nodes with one of these operations that are below no other one."""
    nodes = reached(roots, lambda e: () if e.op in ops else e.args)
    return [e for e in nodes if e.op in ops]


def has_at_most(count: int, roots: Iterable[Expr]) -> bool:
    """Whether no more nodes than so many are below some, these included."""
    return next(islice(reached(roots, lambda e: e.args), count, None), None) is None


def conjuncts(*conditions: Expr) -> Iterator[Expr]:
    """The conditions that all hold where these do, each once."""
    return (c for c in reached(conditions, through(AND)) if c.op is not AND)
