"""Spectral routines by Newton's method, for kernels in balls: a library gives the first approximation, in doubles.

Before:  w, v = eigh(a)
After:   w, v = eigh(a), of doubles; STEPS times v = v + v e, with e from v' a v and v' v; w = (v' a v)[i, i]/(v' v)[i, i]

Ensures: the same results. Each step squares the error; what the last one changed is taken as the radius of the result,
which is more than the error that is left. Eigenvalues that are equal leave their vectors undefined.
Sources: T. Ogita, K. Aishima, Iterative refinement for symmetric eigenvalue decomposition, Japan J. Indust. Appl.
Math. 35 (2018); for inverses, G. Schulz, Z. angew. Math. Mech. 13 (1933).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import HALF, ONE, ZERO, Expr, Op, const
from symdiff.ir.loop_program import (
    REAL,
    Build,
    Call,
    Carried,
    Loop,
    Statement,
    Type,
    array,
    index,
    load,
    name_of,
)
from symdiff.ir.names import Names

WITHIN = Op("widened_by", 2, flint="arb_add_error", expand=lambda x, y: x)
"""The ball around x that has the radius |y| in addition."""
STEPS = 4
TWO = const(2)
Element = Callable[..., Any]
"""A formula of indices; with the loop that makes it, if it is a sum."""


def refined(s: Call, known: Mapping[str, Type], names: Names) -> list[Statement]:
    """The statements of a call. Raises UnsupportedError for other routines."""
    rule = _RULES.get(s.routine)
    if rule is None:
        raise UnsupportedError(f"{s.routine} has no version with more digits")
    return rule(_Writer(names), s, known)


class _Matrix(NamedTuple):
    """A matrix that is there, or formulas of its elements."""

    at: Element
    shape: tuple[Expr, Expr]


class _Writer:
    """Writes statements about matrices.

    Attributes
    ----------
    made : the statements.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.made: list[Statement] = []

    def array(self, shape: tuple[Expr, ...], value: Element, name: str = "") -> _Matrix:
        """An array of formulas of its indices."""
        places = [index(self.names.fresh("i")) for _ in shape]
        found, body = value(*places), ()
        if isinstance(found, tuple):
            found, body = found[0], found[1:]
        name = name or self.names.fresh("refined")
        self.made.append(Build(name, Type(shape), tuple(map(name_of, places)), found, body))
        return self.named(name, shape)

    def named(self, name: str, shape: tuple[Expr, ...]) -> _Matrix:
        """An array by its name."""
        return _Matrix(lambda *at: load(array(name), *at), shape)  # type: ignore[arg-type]

    def sum(self, count: Expr, term: Element) -> tuple[Expr, Statement]:
        """A sum, and the loop that makes it."""
        k, now, end = (self.names.fresh(n) for n in ("k", "sum", "sum"))
        carried = Carried(now, REAL, ZERO, ir.var(now) + term(index(k)), end)
        return ir.var(end), Loop(k, count, (carried,), (), self.names.fresh("trips"))

    def product(self, x: _Matrix, y: _Matrix) -> _Matrix:
        """x y."""
        shape = x.shape[0], y.shape[1]
        return self.array(shape, lambda i, j: self.sum(x.shape[1], lambda k: x.at(i, k) * y.at(k, j)))  # fmt: skip

    def repeated(
        self, start: _Matrix, step: Callable[[_Matrix], _Matrix], steps: int = STEPS
    ) -> _Matrix:
        """A matrix after some steps."""
        outside, self.made = self.made, []
        first = self.names.fresh("first")
        now, end = self.names.fresh("now"), self.names.fresh("last")
        after = step(self.named(now, start.shape))
        last = self.made[-1]
        assert isinstance(last, Build) and after is not None
        t = Type(start.shape)
        carried = Carried(now, t, array(first), array(last.name), end)
        loop = Loop(self.names.fresh("t"), const(steps), (carried,), tuple(self.made), self.names.fresh("trips"))  # fmt: skip
        self.made = outside
        self.array(start.shape, start.at, first)
        self.made.append(loop)
        return self.named(end, start.shape)

    def approximations(self, s: Call) -> list[_Matrix]:
        """What the library returns."""
        names = [(self.names.fresh(n), t) for n, t in s.results]
        self.made.append(Call(s.routine, tuple(names), s.args))
        return [self.named(n, t.shape) for n, t in names]


def _turned(x: _Matrix) -> _Matrix:
    return _Matrix(lambda i, j: x.at(j, i), (x.shape[1], x.shape[0]))


def _vectors(w: _Writer, a: _Matrix, v: _Matrix) -> tuple[_Matrix, Element]:
    """The eigenvectors of a symmetric matrix from approximations, and its eigenvalues."""

    def parts(v: _Matrix) -> tuple[_Matrix, Element]:
        """What is added to the vectors, and the eigenvalues."""
        g, s = w.product(_turned(v), v), w.product(_turned(v), w.product(a, v))

        def value(j: Expr) -> Expr:
            found: Expr = s.at(j, j) / g.at(j, j)
            return found

        def turn(i: Expr, j: Expr) -> Expr:
            other = (s.at(i, j) - value(j) * g.at(i, j)) / (value(j) - value(i))
            return ir.where(ir.eq(i, j), (ONE - g.at(i, j)) * HALF, other)

        return w.product(v, w.array(g.shape, turn)), value

    def step(v: _Matrix) -> _Matrix:
        more, _ = parts(v)
        return w.array(v.shape, lambda i, j: v.at(i, j) + more.at(i, j))

    found = w.repeated(v, step)
    more, value = parts(found)
    made = w.array(v.shape, lambda i, j: WITHIN(found.at(i, j), more.at(i, j)))
    return made, value


def _eigh(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """Of the lower triangle."""
    n, (a,) = known[name_of(s.args[0])].shape[0], s.args
    below = lambda i, j: ir.where(ir.lt(i, j), load(a, j, i), load(a, i, j))
    _, first = w.approximations(s)
    whole = w.array((n, n), below)
    v, value = _vectors(w, whole, first)
    (values, t), (vectors, of) = s.results
    w.array(t.shape, value, values)
    w.array(of.shape, v.at, vectors)
    return w.made


def _svd(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """By the vectors of the smaller product of the matrix with itself."""
    m, n = known[name_of(s.args[0])].shape
    (left, lt), (sizes, st), (right, rt) = s.results
    a = _Matrix(lambda i, j: load(s.args[0], i, j), (m, n))
    u, _, vh = w.approximations(s)
    if st.shape[0] not in (m, n):
        raise UnsupportedError("a matrix whose smaller axis is not known")
    tall = st.shape[0] is n
    a, start = (a, _turned(vh)) if tall else (_turned(a), u)
    v, _ = _vectors(w, w.product(_turned(a), a), start)
    images = w.product(a, v)
    k = st.shape[0]
    size = w.array((k,), lambda j: _root(w, a.shape[0], images, j), sizes)
    others = w.array((a.shape[0], k), lambda i, j: images.at(i, j) / size.at(j))
    u, v = (others, v) if tall else (v, others)
    w.array(lt.shape, u.at, left)
    w.array(rt.shape, lambda i, j: v.at(j, i), right)
    return w.made


def _root(w: _Writer, count: Expr, x: _Matrix, j: Expr) -> tuple[Expr, Statement]:
    total, loop = w.sum(count, lambda i: x.at(i, j) ** TWO)
    return ir.sqrt(total), loop


def _pinv(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """From x0' x0 x0' between a' and a', so that no step leaves the rows and columns of the inverse."""
    a = _Matrix(lambda i, j: load(s.args[0], i, j), known[name_of(s.args[0])].shape)  # type: ignore[arg-type]
    first, *_ = w.approximations(s)

    def step(x: _Matrix) -> _Matrix:
        xax = w.product(x, w.product(a, x))
        return w.array(x.shape, lambda i, j: TWO * x.at(i, j) - xax.at(i, j))

    middle = w.product(_turned(first), w.product(first, _turned(first)))
    start = w.product(_turned(a), w.product(middle, _turned(a)))
    found = w.repeated(start, step, 2 * STEPS)
    last = step(found)
    (name, t), *_ = s.results
    w.array(t.shape, lambda i, j: WITHIN(last.at(i, j), last.at(i, j) - found.at(i, j)), name)
    return w.made


def _difference(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """y - a x."""
    y, a, x = s.args
    count = known[name_of(a)].shape[1]
    ((name, t),) = s.results

    def value(i: Expr, *j: Expr) -> tuple[Expr, Statement]:
        total, loop = w.sum(count, lambda k: load(a, i, k) * load(x, k, *j))
        return load(y, i, *j) - total, loop

    w.array(t.shape, value, name)
    return w.made


_RULES: Mapping[str, Callable[[_Writer, Call, Mapping[str, Type]], list[Statement]]] = {
    "eigh": _eigh, "svd": _svd, "pinv": _pinv, "difference": _difference,
}  # fmt: skip
REFINED = frozenset(_RULES)

__all__ = ["REFINED", "WITHIN", "refined"]
