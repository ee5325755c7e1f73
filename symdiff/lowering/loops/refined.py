"""Spectral routines by Newton's method, for kernels in balls: a library gives the first approximation, in doubles.

Before:  w, v = eigh(a)
After:   w, v = eigh(a), of doubles; STEPS times v = v + v e, with e from v' a v and v' v; w = (v' a v)[i, i]/(v' v)[i, i]

Ensures: the same results. Each step squares the error; what the last one changed is taken as the radius of the result,
which is more than the error that is left; that of eigenvalues is Gershgorin's. Eigenvalues that are equal leave
their vectors undefined.
Sources: T. Ogita, K. Aishima, Iterative refinement for symmetric eigenvalue decomposition, Japan J. Indust. Appl.
Math. 35 (2018); for inverses, G. Schulz, Z. angew. Math. Mech. 13 (1933).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
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
TWO, CLOSEST = const(2), const(Fraction(1, 2**40))
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
    shape: tuple[Expr, ...]


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
        return _Matrix(lambda *at: load(array(name), *at), shape)

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


def _vectors(w: _Writer, a: _Matrix, v: _Matrix) -> tuple[_Matrix, _Matrix]:
    """The eigenvectors of a symmetric matrix from approximations, and its eigenvalues."""

    def parts(v: _Matrix, closest: Expr) -> tuple[_Matrix, Element, Element]:
        """What is added to the vectors, the eigenvalues, and how far the matrix is from a diagonal one; vectors of
        eigenvalues that are nearer than `closest` are only made orthogonal."""
        g, s = w.product(_turned(v), v), w.product(_turned(v), w.product(a, v))

        def value(j: Expr) -> Expr:
            found: Expr = s.at(j, j) / g.at(j, j)
            return found

        def off(i: Expr, j: Expr) -> Expr:
            found: Expr = s.at(i, j) - value(j) * g.at(i, j)
            return ir.where(ir.eq(i, j), ZERO, found)

        def turn(i: Expr, j: Expr) -> Expr:
            gap, size = value(j) - value(i), ir.abs_(value(i)) + ir.abs_(value(j))
            turned = ir.where(ir.eq(off(i, j), ZERO), ZERO, off(i, j) / gap)
            if closest is not ZERO:
                near = ir.le(ir.abs_(gap), closest * size)
                turned = ir.where(near, -g.at(i, j) * HALF, turned)
            return ir.where(ir.eq(i, j), (ONE - g.at(i, j)) * HALF, turned)

        return w.product(v, w.array(g.shape, turn)), value, off

    def step(v: _Matrix) -> _Matrix:
        more, _, _ = parts(v, CLOSEST)
        return w.array(v.shape, lambda i, j: v.at(i, j) + more.at(i, j))

    found = w.repeated(v, step)
    more, value, off = parts(found, ZERO)
    made = w.array(v.shape, lambda i, j: WITHIN(found.at(i, j) + more.at(i, j), more.at(i, j)))

    def within(j: Expr) -> tuple[Expr, Statement]:  # Gershgorin's theorem
        total, loop = w.sum(v.shape[1], lambda i: ir.abs_(off(i, j)))
        return WITHIN(value(j), TWO * total), loop

    return made, w.array(v.shape[1:], within)


def _eigh(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """Of the lower triangle."""
    n, (a,) = known[name_of(s.args[0])].shape[0], s.args
    below = lambda i, j: ir.where(ir.lt(i, j), load(a, j, i), load(a, i, j))
    _, first = w.approximations(s)
    v, value = _vectors(w, w.array((n, n), below), first)
    (values, t), (vectors, of) = s.results
    w.array(t.shape, value.at, values)
    w.array(of.shape, v.at, vectors)
    return w.made


def _svd(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """By the eigenvectors of a' a, from approximations in its image."""
    a = _Matrix(lambda i, j: load(s.args[0], i, j), known[name_of(s.args[0])].shape)
    (left, lt), (sizes, st), (right, rt) = s.results
    _, size, first = w.approximations(s)
    square = w.product(_turned(a), a)
    image = w.product(square, _turned(first))
    fills = ir.eq(a.shape[1], st.shape[0])  # then nothing has to be brought into the image

    def start(i: Expr, j: Expr) -> Expr:
        inside = image.at(i, j) / size.at(j) ** TWO
        return ir.where(ir.or_(fills, ir.eq(size.at(j), ZERO)), first.at(j, i), inside)

    v, value = _vectors(w, square, w.array(image.shape, start))
    found = w.array(st.shape, lambda j: ir.sqrt(value.at(j)), sizes)
    images = w.product(a, v)
    w.array(lt.shape, lambda i, j: images.at(i, j) / found.at(j), left)
    w.array(rt.shape, lambda i, j: v.at(j, i), right)
    return w.made


def _pinv(w: _Writer, s: Call, known: Mapping[str, Type]) -> list[Statement]:
    """From x0' x0 x0' between a' and a', so that no step leaves the rows and columns of the inverse."""
    a = _Matrix(lambda i, j: load(s.args[0], i, j), known[name_of(s.args[0])].shape)
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
