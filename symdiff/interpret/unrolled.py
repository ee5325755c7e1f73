"""A program with arrays and loops at given sizes, as formulas of the elements of its arguments.

Before:  for i: s = s + x[i]**2, for an x of two elements
After:   x[0]**2 + x[1]**2

So methods for functions of numbers (proven values, limits at points where a formula is
undefined) apply to it too. Loops whose number of iterations depends on real values, and
routines that choose an order, have no such formula; determinants and solutions are quotients of
minors.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.loops import Doubles, Numbers, evaluate, run
from symdiff.ir import Expr, Op, integer
from symdiff.ir.functions import ATAN2, COS, HYPOT, LOG, PI, SIN, domain
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.loop_program import FLOORDIV, MOD, LoopProgram, kind_of
from symdiff.ir.plain import Reading

ASIDE = 2.0**-6
"""How far from a point, relatively, loops are seen to go on."""


class TooLong(Exception):  # noqa: N818
    """There would be more operations than allowed."""


class Formulas(Numbers):
    """Arithmetic of expressions.

    Parameters
    ----------
    most : the most operations to create.
    """

    bits = 53

    def __init__(self, most: int) -> None:
        self.left = most
        self.signs: list[Expr] = []
        """Variables for numbers that are 1 or -1, on which nothing may depend."""
        self._reading = Reading()

    def real(self, value: Any) -> Expr:
        """A number as an expression."""
        if isinstance(value, Expr):
            return value
        if isinstance(value, bool | int | np.integer):
            return ir.const(int(value))
        exact = isinstance(value, Fraction) or math.isfinite(value)
        return ir.const(Fraction(value)) if exact else ir.const(float(value))

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        """An operation on reals, or on conditions."""
        self.left -= 1
        if self.left < 0:
            raise TooLong
        made = [ir.boolean(a) if isinstance(a, bool) else a for a in args]
        found = ir.apply(op, *made)
        if found.op is not op:
            found = self._where_defined(found, made)
        return found.value if found.op is ir.BOOL else found

    def _where_defined(self, found: Expr, args: Sequence[Expr]) -> Expr:
        """The simplified operation, nan where an argument that it no longer contains is nan."""
        within: set[Expr] = set()
        for a in args:
            condition = domain(a.op, a.args) if a.args and not found.op.boolean else ir.TRUE
            if condition is not ir.TRUE:
                within = within or set(ir.topological((found,)))
                if a not in within:
                    found = ir.where(condition, found, ir.NAN)
        return found

    def plainly(self, value: Any) -> Any:
        """A formula as computed in doubles: the defining sum of a name in a decision."""
        return self._reading.of(value) if isinstance(value, Expr) else value

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two values, or both with the condition."""
        if not isinstance(condition, Expr):
            return yes if condition else no
        if any(isinstance(v, bool) or (isinstance(v, Expr) and v.op.boolean) for v in (yes, no)):
            either = [ir.boolean(v) if isinstance(v, bool) else v for v in (yes, no)]
            return ir.or_(
                ir.and_(condition, either[0]), ir.and_(ir.not_(condition), either[1])
            )  # fmt: skip
        if yes is no or (isinstance(yes, int) and yes == no):
            return yes
        return self.apply(ir.WHERE, [condition, self.real(yes), self.real(no)])

    def decided(self, condition: Any) -> bool:
        """A condition that must not depend on real values."""
        if isinstance(condition, Expr):
            raise UnsupportedError("a condition on real values has no formula here")
        return bool(condition)

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds; one on real values does, as a call has checked it."""
        return True if isinstance(condition, Expr) else bool(condition)

    def whole(self, value: Any) -> Any:
        """An integer; a formula, if it depends on real values."""
        return value if isinstance(value, Expr) else int(value)

    def place(self, value: Any) -> int:
        """An integer that must not depend on real values."""
        if isinstance(value, Expr):
            raise UnsupportedError("an integer of real values has no formula here")
        return int(value)

    def element(self, a: Any, indices: Sequence[Any]) -> Any:
        """An element; where an index depends on real values, a choice among the elements of the
        axis."""
        for axis, i in enumerate(indices):
            if isinstance(i, Expr) and a.shape[axis]:
                rest = [*indices[:axis], 0, *indices[axis + 1 :]]
                found = None
                for k in reversed(range(a.shape[axis])):
                    rest[axis] = k
                    one = self.element(a, rest)
                    is_here = self.apply(ir.LE, [i, ir.const(k)])
                    found = one if found is None else self.choose(is_here, one, found)
                return found
        return super().element(a, indices)

    def make_room(self, count: int) -> None:
        """An array of more elements than operations that are left has no formula here."""
        if count > self.left:
            raise TooLong

    def routine(self, name: str, args: Sequence[Any]) -> Sequence[Any]:
        """The results of a routine of a library."""
        if name in SOLVERS:
            return SOLVERS[name](self, *(self._reals(a) if np.ndim(a) else a for a in args))
        if name != "matmul":
            raise UnsupportedError(f"{name} has no formula")
        a, b = args
        if 0 in (*a.shape, *b.shape):
            return (np.full((*a.shape[:-1], *b.shape[1:]), ir.ZERO, object),)
        self.left -= 2 * a.size * (b.size // len(b))
        if self.left < 0:
            raise TooLong
        return (a @ b,)

    def _reals(self, a: Any) -> Any:
        """A matrix of expressions, whose operations are counted."""
        made = np.empty(np.shape(a), object)
        for i in np.ndindex(*made.shape):
            made[i] = self.real(a[i])
        return made

    def dot(self, x: Any, y: Any) -> Expr:
        """The sum of products of two equally long sequences."""
        self.left -= 2 * len(x)
        if self.left < 0:
            raise TooLong
        products = (a * b for a, b in zip(x, y, strict=True))
        return functools.reduce(ir.add, products, ir.ZERO)

    def minors(self, a: Any) -> list[dict[tuple[int, ...], Expr]]:
        """For each k, the minors of the last k rows for all choices of k columns. Nothing is
        divided, so they are exact where the elements are."""
        n = a.shape[1]
        found: list[dict[tuple[int, ...], Expr]] = [{(): ir.ONE}]
        for row in a[::-1]:
            below = found[-1]
            found.append({
                columns: self.dot(
                    [row[j] if q % 2 == 0 else -row[j] for q, j in enumerate(columns)],
                    [below[columns[:q] + columns[q + 1 :]] for q in range(len(columns))],
                )
                for columns in itertools.combinations(range(n), len(found))
            })  # fmt: skip
        return found


class FormulasAt(Formulas):
    """Arithmetic of expressions with decisions taken at a point: how often loops run,
    and which elements are taken. Equalities that end loops there, but not near the point, are branches.

    Parameters
    ----------
    most : the most operations to create.
    point : the values of the variables.
    """

    def __init__(self, most: int, point: Mapping[str, float]) -> None:
        super().__init__(most)
        self._doubles, self._point = Doubles(), point
        self._known: dict[Expr, Any] = {}
        self._kinds: dict[Expr, str] = {}
        self._equalities: dict[Expr, bool] = {}
        rng = random.Random(6)
        steps = {
            n: ASIDE * rng.uniform(0.5, 1.0) * (x or 1.0) if math.isfinite(x) else 0.0
            for n, x in point.items()
        }
        self._near: list[tuple[Mapping[str, float], dict[Expr, Any]]] = [
            ({n: x + side * steps[n] for n, x in point.items()}, {}) for side in (1, -1)
        ]

    def decided(self, condition: Any) -> bool:
        """A condition at the point, or near it."""
        return any(self._truths(condition))

    def is_open(self, condition: Any) -> bool:
        """Whether a condition holds at the point only, or near it only."""
        return not all(self._truths(condition))

    def given(self, values: dict[str, Any], condition: Any, holds: bool) -> dict[str, Any]:
        """Values where a condition holds, or does not."""
        if not isinstance(condition, Expr) or not self._has_equality(condition):
            return values
        known = dict(_truths_of(condition, holds))
        return {n: _under(v, known) for n, v in values.items()}

    def _truths(self, condition: Any) -> list[bool]:
        """A condition at the point, and with its equalities on both sides in a general direction."""
        here = bool(self._at(condition))
        if not isinstance(condition, Expr) or not self._has_equality(condition):
            return [here]
        return [here, *(bool(self._beside(condition, *near)) for near in self._near)]

    def _beside(self, e: Expr, point: Mapping[str, float], known: dict[Expr, Any]) -> Any:
        """The value of an expression near the point, with inequalities as they are at the point."""
        with np.errstate(all="ignore"):
            for n in ir.topological((e,), known):
                inequality = n.op in (ir.LT, ir.LE) and any(self._is_real(a) for a in n.args)
                known[n] = self._at(n) if inequality else self._node(n, point, known)
        return known[e]

    def _has_equality(self, condition: Expr) -> bool:
        for n in ir.topological((condition,), found := self._equalities):
            found[n] = n.op is ir.EQ or any(found[a] for a in n.args)
        return found[condition]

    def _is_real(self, e: Expr) -> bool:
        return kind_of(e, self._kinds) == "f"

    def place(self, value: Any) -> int:
        """An integer at the point."""
        return int(self._at(value))

    def element(self, a: Any, indices: Sequence[Any]) -> Any:
        """An element, at the point; where a branch chooses an index, a choice of elements."""
        for axis, i in enumerate(indices):
            if isinstance(i, Expr) and i.op is ir.WHERE:
                condition, *sides = i.args
                both = (
                    self.element(a, [*indices[:axis], _whole(k), *indices[axis + 1 :]])
                    for k in sides
                )
                return self.choose(condition, *both)
        return Numbers.element(self, a, indices)

    def most(self, value: Any) -> int:
        """The larger count of both branches, where a condition chooses it."""
        if isinstance(value, Expr) and value.op is ir.WHERE:
            return max(map(self.most, value.args[1:]))
        return self.place(value)

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """One of two values, or of two arrays."""
        if isinstance(yes, np.ndarray) and isinstance(condition, Expr):
            made = np.empty(yes.shape, object)
            for i in np.ndindex(*made.shape):
                made[i] = super().choose(condition, yes[i], no[i])
            return made
        return super().choose(condition, yes, no)

    def apply(self, op: Op, args: Sequence[Any]) -> Any:
        """An operation; quotients of integers are those at the point."""
        if op in (FLOORDIV, MOD):
            args = [ir.const(self.place(a)) for a in args]
        return super().apply(op, args)

    def _at(self, e: Any) -> Any:
        if not isinstance(e, Expr):
            return e
        with np.errstate(all="ignore"):
            for n in ir.topological((e,), self._known):
                self._known[n] = self._node(n, self._point, self._known)
        return self._known[e]

    def _node(self, n: Expr, point: Mapping[str, float], known: Mapping[Expr, Any]) -> Any:
        if n.op is ir.VAR:
            return np.float64(point[n.value])
        if not n.args:
            return (
                n.value if n.op is ir.BOOL else self._doubles.real(evaluate(n, self._doubles, {}))
            )
        args = [known[a] for a in n.args]
        if n.op is ir.WHERE:
            return args[1] if args[0] else args[2]
        return self._doubles.apply(n.op, args)


def _whole(e: Expr) -> Any:
    number = integer(e)
    return e if number is None else number


def _under(value: Any, known: Mapping[Expr, Expr]) -> Any:
    """A value, or the elements of an array, with truth values that are known."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        made = np.empty(value.shape, object)
        for i, e in zip(np.ndindex(*value.shape), ir.substitute(value.flat, known), strict=True):
            made[i] = e
        return made
    if not isinstance(value, Expr):
        return value
    (found,) = ir.substitute((value,), known)
    return _whole(found) if kind_of(found) == "i" else found


def _truths_of(condition: Expr, holds: bool) -> Iterator[tuple[Expr, Expr]]:
    """The truth values of a condition's parts that follow from its own."""
    if condition.op is ir.NOT:
        yield from _truths_of(condition.args[0], not holds)
    elif condition.op is (ir.AND if holds else ir.OR):
        for part in condition.args:
            yield from _truths_of(part, holds)
    else:
        yield condition, ir.boolean(holds)
        if condition.op is ir.EQ and condition.args[0].op is ir.WHERE:  # a flag
            (c, *sides), k = condition.args[0].args, condition.args[1]
            yes, no = (s is k for s in sides)
            if yes is not no and k.op is ir.CONST and all(s.op is ir.CONST for s in sides):
                yield from _truths_of(c, holds is yes)


# ------------------------------------------------------------------------ solvers
def _det(f: Formulas, a: Any) -> tuple[Any, ...]:
    return (f.minors(a)[-1][tuple(range(len(a)))],)


def _slogdet(f: Formulas, a: Any) -> tuple[Any, ...]:
    (d,) = _det(f, a)
    return f.apply(ir.SIGN, [d]), f.apply(LOG, [ir.abs_(d)])


def _cofactors(f: Formulas, a: Any) -> tuple[Any, ...]:
    """Laplace's expansion: minors of the rows above times those of the rows below."""
    n = len(a)
    below, above = f.minors(a), f.minors(a[::-1])
    made = np.empty(a.shape, object)
    for i, j in np.ndindex(n, n):
        columns = [k for k in range(n) if k != j]
        left, right = [], []
        for places in itertools.combinations(range(n - 1), i):
            rest = tuple(columns[k] for k in range(n - 1) if k not in places)
            turns = sum(places) - sum(range(i)) + i * (i - 1) // 2 + i + j
            minor = above[i][tuple(columns[k] for k in places)]
            left.append(minor if turns % 2 == 0 else -minor)
            right.append(below[n - 1 - i][rest])
        made[i, j] = f.dot(left, right)
    return (made,)


def _cofactor_slopes(f: Formulas, a: Any, d: Any) -> tuple[Any, ...]:
    """Derivatives of minors, by one row after the other."""
    made = np.empty(a.shape, object)
    for i, j in np.ndindex(*a.shape):
        minor, slopes = (np.delete(np.delete(m, i, 0), j, 1) for m in (a, d))
        terms: list[Any] = []
        for k in range(len(minor)):
            changed = minor.copy()
            changed[k] = slopes[k]
            terms += _det(f, changed)
        made[i, j] = f.dot([ir.const((-1) ** (i + j))] * len(terms), terms)
    return (made,)


def _inv(f: Formulas, a: Any) -> tuple[Any, ...]:
    (cofactors,) = _cofactors(f, a)
    d = f.dot(a[0], cofactors[0])
    made = np.empty(a.shape, object)
    for i, j in np.ndindex(*a.shape):
        made[i, j] = f.apply(ir.DIV, [cofactors[j, i], d])
    return (made,)


def _solve(f: Formulas, a: Any, b: Any) -> tuple[Any, ...]:
    """A linear solution by Cramer's rule."""
    (cofactors,) = _cofactors(f, a)
    d = f.dot(a[0], cofactors[0])
    made = np.empty(b.shape, object)
    for i in np.ndindex(*b.shape):
        column = b[:, i[1]] if b.ndim > 1 else b
        made[i] = f.apply(ir.DIV, [f.dot(cofactors[:, i[0]], column), d])
    return (made,)


def _cholesky(f: Formulas, a: Any) -> tuple[Any, ...]:
    made = np.full(a.shape, ir.ZERO, object)
    for j in range(len(a)):
        for i in range(j, len(a)):
            left = a[i, j] - f.dot(made[i, :j], made[j, :j])
            made[i, j] = ir.sqrt(left) if i == j else f.apply(ir.DIV, [left, made[j, j]])
    return (made,)


def _eigh(f: Formulas, a: Any) -> tuple[Any, ...]:
    """The eigenvalues and vectors of a 2 by 2 matrix, by half the angle; the signs of vectors are
    unknown."""
    if len(a) != 2:
        raise UnsupportedError("eigenvalues of more than two rows have no formula")
    half = [
        f.apply(ir.DIV, [f.apply(op, [a[0, 0], a[1, 1]]), ir.const(2)]) for op in (ir.ADD, ir.SUB)
    ]
    root = f.apply(HYPOT, [half[1], a[1, 0]])
    angle = f.apply(ir.DIV, [f.apply(ATAN2, [a[1, 0], half[1]]), ir.const(2)])
    c, s = f.apply(COS, [angle]), f.apply(SIN, [angle])
    signs = [ir.var(f"sign {len(f.signs) + k}") for k in range(2)]
    f.signs += signs
    vectors = np.array([[-s * signs[0], c * signs[1]], [c * signs[0], s * signs[1]]], object)
    return np.array([half[0] - root, half[0] + root], object), vectors


def _transform(routine: str, f: Formulas, *args: Any) -> tuple[Any, ...]:
    """A discrete Fourier transform as sums; roots of unity that are 0, 1 or -1 are exact."""
    axis = args[-1]
    arrays = [np.moveaxis(a, axis, -1) for a in args if np.ndim(a)]
    *rows, width = arrays[0].shape
    n = args[-2] if routine == "rdft_transposed" else width
    count = width // 2 + 1 if routine == "rdft" else n
    f.make_room(2 * len(arrays) * len(SUMS[routine]) * arrays[0].size * count)
    angles = [ir.const(Fraction(2 * t, n)) * PI() for t in range(n)]
    waves = [[op(a) for a in angles] for op in (COS, SIN)]
    made = [np.empty((*rows, count), object) for _ in SUMS[routine]]
    for result, factors in zip(made, SUMS[routine], strict=True):
        terms = [
            (a, [ir.const(factor) * w for w in wave])
            for a, pair in zip(arrays, factors, strict=True)
            for factor, wave in zip(pair, waves, strict=True)
            if factor
        ]
        for *row, k in np.ndindex(*result.shape):
            left = [x for a, _ in terms for x in a[tuple(row)]]
            right = [wave[j * k % n] for _, wave in terms for j in range(width)]
            result[(*row, k)] = f.dot(left, right)
    return tuple(np.moveaxis(a, -1, axis) for a in made)


SIGNED = 16
"""Random points at which outputs are tested not to depend on a sign."""
SOLVERS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "cholesky": _cholesky,
    "cofactors": _cofactors,
    "cofactor_slopes": _cofactor_slopes,
    "det": _det,
    "eigh": _eigh,
    "inv": _inv,
    "slogdet": _slogdet,
    "solve": _solve,
    **{name: functools.partial(_transform, name) for name in SUMS},
}
"""Solvers of linear systems without pivots, for few rows, as there are 2**rows minors; and transforms."""


def unrolled(
    program: LoopProgram, shapes: Mapping[str, tuple[int, ...]], given: Sequence[Any], most: int
) -> tuple[list[str], list[Any]]:
    """Names of the elements of real parameters, and the outputs: expressions of them, and
    arrays of expressions.

    Parameters
    ----------
    shapes : of the real parameters.
    given : the arguments; only integers count.
    most : operations of the formulas, at most.

    Raises
    ------
    TooLong : if there are more.
    UnsupportedError : if control flow depends on real values other than by branches.
    """
    return unrolled_with(program, shapes, given, Formulas(most))


def unrolled_with(
    program: LoopProgram,
    shapes: Mapping[str, tuple[int, ...]],
    given: Sequence[Any],
    numbers: Formulas,
) -> tuple[list[str], list[Any]]:
    """The same with given arithmetic."""
    names: list[str] = []
    args: list[Any] = []
    for p, value in zip(program.params, given, strict=True):
        if p.type.kind != "f":
            args.append(value)
            continue
        elements = np.empty(shapes[p.name], object)
        for k in range(elements.size):
            names.append(f"{p.name} {k}")
            elements.flat[k] = ir.var(names[-1])
        args.append(elements if elements.ndim else elements[()])
    return names, _without_signs(run(program, args, numbers), numbers.signs)


def _without_signs(outputs: list[Any], signs: Sequence[Expr]) -> list[Any]:
    """Outputs that do not depend on unknown signs, as random numbers show."""
    rng = random.Random(7)
    for sign in signs:
        elements = [
            e for row in outputs for e in np.asarray(row, object).flat if isinstance(e, Expr)
        ]
        names = [v.value for v in ir.variables(elements)]
        points = [{n: np.float64(rng.uniform(0.5, 2.0)) for n in names} for _ in range(SIGNED)]
        for e in elements:
            pairs = [[_value(e, {**p, sign.value: z}) for z in (1.0, -1.0)] for p in points]
            known = [abs(x - y) <= 1e-9 * abs(x) for x, y in pairs if math.isfinite(x - y)]
            if not (known and all(known)):
                raise UnsupportedError("the signs of eigenvectors are those of a library")
        fixed = iter(ir.substitute(elements, {sign: ir.ONE}))
        outputs = [_mapped(row, fixed) for row in outputs]
    return outputs


def _value(e: Expr, scope: Mapping[str, float]) -> float:
    with np.errstate(all="ignore"):
        return float(evaluate(e, Doubles(), {n: np.float64(x) for n, x in scope.items()}))


def _mapped(row: Any, fixed: Iterator[Expr]) -> Any:
    made = np.array(row, object)
    for i in np.ndindex(*made.shape):
        made[i] = next(fixed) if isinstance(made[i], Expr) else made[i]
    return made if made.ndim else made[()]
