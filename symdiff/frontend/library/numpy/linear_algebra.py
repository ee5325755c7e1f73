"""NumPy's products of arrays, linear algebra, and sorting."""

from __future__ import annotations

import ast
import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import folding, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays.folding import reals, routine
from symdiff.frontend.arrays.symbolic import SLOTS, as_kind, formula, lazy, placed
from symdiff.frontend.library.numpy.either import (
    arrays_of,
    rank_of,
    sizes_of,
    subscript,
)
from symdiff.frontend.library.numpy.joins import stack
from symdiff.frontend.library.numpy.making import eye
from symdiff.frontend.library.numpy.reductions import axes_of, total
from symdiff.frontend.library.numpy.shapes import (
    diagonals,
    divided,
    expanded,
    flattened,
    moved,
    ravel,
    taken_along,
    transpose,
)
from symdiff.frontend.loops import sequences
from symdiff.frontend.syntax.containers import elements
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.demands import used_as_array
from symdiff.frontend.trace.domains import by_side
from symdiff.frontend.trace.extents import same_size, stretched
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Masked,
    Refused,
    SmallArray,
    SymArray,
    describe,
    dimensions,
    is_number,
)
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.integers import linear

Function = Callable[..., Any]


def _arrays(t: Tracer, *values: Any) -> list[SymArray]:
    return [symbolic.symbolic(t, v) for v in values]


def matmul(t: Tracer, a: Any, b: Any) -> Any:
    for v in (a, b):
        if is_number(v):
            raise Refused(f"'@' of {describe(v)}")
    return _product(t, a, b)


def _product(t: Tracer, a: Any, b: Any) -> Any:
    if not sequences.involved((a, b)):
        return arrays.dot(a, b)
    return folding.matmul(t, *_arrays(t, a, b))


def dot(t: Tracer, a: Any, b: Any) -> Any:
    if isinstance(a, Masked) or isinstance(b, Masked):
        return arrays.dot(a, b)
    x, y = arrays_of(t, a, b)
    if not rank_of(x) or not rank_of(y):
        return arrays.elementwise(arrays.multiply, a, b)
    if isinstance(x, SmallArray) or (rank_of(x) <= 2 and rank_of(y) <= 2):
        return _product(t, x, y)
    return _tensordot(t, x, y, ((len(x.shape) - 1,), (max(len(y.shape) - 2, 0),)))


def _inner(t: Tracer, a: Any, b: Any) -> Any:
    x, y = arrays_of(t, a, b)
    if not rank_of(x) or not rank_of(y):
        return arrays.elementwise(arrays.multiply, a, b)
    if isinstance(x, SmallArray):
        return arrays.dot(x, SmallArray(y.items.T, y.kind))
    return _tensordot(t, x, y, ((len(x.shape) - 1,), (len(y.shape) - 1,)))


def _vdot(t: Tracer, a: Any, b: Any) -> Any:
    return _product(t, *(flattened(t, v) for v in arrays_of(t, a, b)))


def _outer(t: Tracer, a: Any, b: Any) -> Any:
    x, y = (flattened(t, v) for v in arrays_of(t, a, b))
    return arrays.elementwise(arrays.multiply, expanded(t, x, 1), y)


def _trace(t: Tracer, value: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return total(t, diagonals(t, value, offset, axis1, axis2), -1)


# -------------------------------------------------------------------- contractions
def contracted(t: Tracer, parts: Sequence[tuple[str, SymArray]], output: str) -> Any:
    """The sum, over all letters except those of the output, of a product of elements, each at
    the indices of its letters."""
    sizes: dict[str, Expr] = {}
    for letters, a in parts:
        symbolic.must_have_rows(t, a)
        for c, n in zip(letters, a.shape, strict=True):
            if sizes.get(c, ONE) is ONE:
                sizes[c] = n
            elif n is not ONE:
                stretched(t, sizes[c], n)
    summed = [c for c in sizes if c not in output]
    order = [*output, *summed]
    shape = tuple(sizes[c] for c in order)
    spread = []
    for letters, a in parts:
        if len(set(letters)) < len(order):
            symbolic.reused(t, a)
        at = [ZERO if n is ONE else SLOTS[order.index(c)] for c, n in zip(letters, a.shape, strict=True)]  # fmt: skip
        spread.append(symbolic.gathered(a, shape, at))
    found = spread[0]
    for a in spread[1:]:
        found = symbolic.elementwise(t, arrays.multiply, found, a)
    if not summed:
        return symbolic.element(found, ()) if isinstance(found, SymArray) and not shape else found
    return folding.fold(t, found, range(len(output), len(order)), ZERO, ir.add, "total")


def _einsum(t: Tracer, subscripts: Any, *operands: Any, optimize: Any = None) -> Any:
    if not isinstance(subscripts, str):
        subscripts, operands = _lettered((subscripts, *operands))
    text = subscripts.replace(" ", "")
    if "." in text:
        text = _named_axes(text, [len(a.shape) for a in _arrays(t, *operands)])
    given = _arrays(t, *operands)
    if all(a.kind == "b" for a in given):
        return folding.any_of(t, _einsum(t, text, folding.counts(given[0]), *given[1:]))
    left, arrow, output = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise Refused(f"np.einsum() of {len(terms)} terms and {len(operands)} arrays")
    if not arrow:
        output = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    parts = list(zip(terms, _arrays(t, *operands), strict=True))
    for letters, a in parts:
        if len(letters) != len(a.shape):
            raise Refused(f"'{letters}' of np.einsum() is an array of {dimensions(len(a.shape))}")
    if not set(left + output) <= {",", *string.ascii_letters}:
        raise Refused(f"subscripts of np.einsum() are letters, not '{text}'")
    if len(set(output)) < len(output):
        raise Refused(f"the output '{output}' of np.einsum() has a letter twice")
    if any(c not in left for c in output):
        raise Refused(f"the output '{output}' of np.einsum() has a letter of its own")
    if len(parts) == 1 and set(output) == set(left.partition("->")[0]):
        return _rearranged(t, *parts[0], output)
    while len(parts) > 2:  # two at a time: fewer steps than all letters at once
        (p, a), (q, b), *rest = parts
        later = set(output).union(*(letters for letters, _ in rest))
        inner = "".join(dict.fromkeys(c for c in p + q if c in later))
        parts = [(inner, symbolic.symbolic(t, contracted(t, [(p, a), (q, b)], inner))), *rest]
    return contracted(t, parts, output)


def _rearranged(t: Tracer, letters: str, a: SymArray, output: str) -> SymArray:
    """A view with axes in another order, or diagonals: the case without sums."""
    first = [letters.index(c) for c in output]
    for k, c in enumerate(letters):
        same_size(t, a.shape[k], a.shape[letters.index(c)])
    return symbolic.viewed(
        a, tuple(a.shape[k] for k in first), [SLOTS[output.index(c)] for c in letters]
    )


def _lettered(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Subscripts and operands of `np.einsum(a, [0, 1], b, [1, 2], [0, 2])`."""

    def letters(axes: Any) -> str:
        if not isinstance(axes, (list, tuple)):
            raise Refused("np.einsum() without subscripts", "write them as a string: 'ij,jk->ik'")
        return "".join("..." if k is Ellipsis else chr(ord("a") + k) for k in axes)

    terms = ",".join(letters(axes) for axes in given[1::2])
    output = "->" + letters(given[-1]) if len(given) % 2 else ""
    return terms + output, given[: len(given) // 2 * 2 : 2]


def _named_axes(text: str, ranks: Sequence[int]) -> str:
    """Subscripts with letters in place of each ellipsis."""
    left, arrow, output = text.partition("->")
    terms = left.split(",")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    hidden = [n - len(s.replace("...", "")) for s, n in zip(terms, ranks, strict=False)]
    counts = [h if "..." in s else 0 for s, h in zip(terms, hidden, strict=False)]
    if any(c < 0 for c in counts) or max(counts) > len(free):
        raise Refused("np.einsum() of an array of too few dimensions")
    letters = free[: max(counts)]
    named = [
        s.replace("...", "".join(letters[len(letters) - c :]))
        for s, c in zip(terms, counts, strict=False)
    ]
    if not arrow:
        single = (c for c in set(left) - set(",.") if left.count(c) == 1)
        return f"{','.join(named)}->{''.join(letters)}{''.join(sorted(single))}"
    return f"{','.join(named)}->{output.replace('...', ''.join(letters))}"


def _tensordot(t: Tracer, a: Any, b: Any, axes: Any = 2) -> Any:
    x, y = _arrays(t, a, b)
    if x.kind == y.kind == "b":
        return folding.any_of(t, _tensordot(t, folding.counts(x), y, axes))
    if isinstance(axes, int):
        rank = len(x.shape)
        axes = tuple(range(rank - axes, rank)), tuple(range(axes))
    first, second = ((k,) if isinstance(k, int) else tuple(k) for k in axes)
    letters = "abcdefghijklmnopqrstuvwxyz"
    p = list(letters[: len(x.shape)])
    q = list(letters[len(x.shape) : len(x.shape) + len(y.shape)])
    for i, j in zip(first, second, strict=True):
        q[j] = p[i]
    output = [c for c in p if c not in q] + [c for c in q if c not in p]
    return contracted(t, [("".join(p), x), ("".join(q), y)], "".join(output))


def _kron(t: Tracer, a: Any, b: Any) -> Any:
    x, y = _arrays(t, a, b)
    rank = max(len(x.shape), len(y.shape))
    x, y = (expanded(t, v, tuple(range(rank - len(v.shape)))) if len(v.shape) < rank else v for v in (x, y))  # fmt: skip
    shape = tuple(ir.mul(n, m) for n, m in zip(x.shape, y.shape, strict=True))
    over = [divided(SLOTS[k], n) for k, n in enumerate(y.shape)]
    rest = [ZERO if n is ONE else ir.apply(loop_program.MOD, SLOTS[k], n) for k, n in enumerate(y.shape)]  # fmt: skip
    return symbolic.elementwise(
        t, arrays.multiply,
        symbolic.gathered(symbolic.reused(t, x), shape, over),
        symbolic.gathered(symbolic.reused(t, y), shape, rest),
    )  # fmt: skip


def _are_threes(x: SmallArray, y: SmallArray, axis: int) -> bool:
    return all(a.items.ndim and a.items.shape[axis] == 3 for a in (x, y))


def _cross(t: Tracer, a: Any, b: Any, axis: Any = -1) -> Any:
    x, y = arrays_of(t, a, b)
    if isinstance(x, SmallArray) and not _are_threes(x, y, axis):
        raise Refused(f"np.cross() of arrays of shapes {x.items.shape} and {y.items.shape}")
    x, y = (moved(t, v, axis, 0) for v in (x, y))
    for v in (x, y):
        n = sizes_of(v)[0]
        if n is not ir.const(3):
            t.require(ir.eq(n, ir.const(3)), "value", "np.cross() of axes that are not 3")

    def minor(i: int, j: int) -> Any:
        rows = (subscript(t, v, k) for v, k in ((x, i), (y, j), (x, j), (y, i)))
        return arrays.elementwise(
            lambda p, q, r, s: scalars.binary(
                ast.Sub, arrays.multiply(p, q), arrays.multiply(r, s)
            ),
            *rows,
        )

    return stack(t, [minor(i, j) for i, j in ((1, 2), (2, 0), (0, 1))], axis)


def _convolve(t: Tracer, a: Any, v: Any, mode: Any = "full") -> Any:
    x, y = (symbolic.reused(t, s) for s in _arrays(t, a, v))
    if x.kind == y.kind == "b":
        return folding.any_of(t, _convolve(t, folding.counts(x), y, mode))
    kind = "f" if "f" in (x.kind, y.kind) else "i"
    n, m = x.shape[0], y.shape[0]
    least, most = ir.where(ir.lt(n, m), n, m), ir.where(ir.lt(n, m), m, n)
    for size in (n, m):
        t.require(ir.lt(ZERO, size), "value", "np.convolve() of an empty array")
    if mode not in ("full", "same", "valid"):
        raise Refused(f"the mode {mode!r} of np.convolve()")
    first, count = {
        "full": (ZERO, ir.sub(ir.add(n, m), ONE)),
        "same": (divided(ir.sub(least, ONE), ir.const(2)), most),
        "valid": (ir.sub(least, ONE), ir.add(ir.sub(most, least), ONE)),
    }[mode]
    k = ir.sub(ir.add(SLOTS[0], first), SLOTS[1])
    inside = ir.and_(ir.le(ZERO, k), ir.lt(k, n))
    product = ir.mul(placed(as_kind(x, kind), [k]), placed(as_kind(y, kind), [SLOTS[1]]))
    terms = lazy((linear(count), m), kind, ir.where(inside, product, ZERO))
    return folding.fold(t, terms, (1,), ZERO, ir.add, "total")


# --------------------------------------------------------------------- polynomials
def _polyval(t: Tracer, coefficients: Any, x: Any) -> Any:
    """By Horner's scheme."""
    if not sequences.involved((coefficients, x)):
        found: Any = 0
        for c in elements(t, coefficients):
            found = arrays.elementwise(
                lambda r, v, k: arrays.add(arrays.multiply(r, v), k), found, x, c
            )
        return found
    p, points = _arrays(t, coefficients, x)
    rank = len(points.shape)
    grid = lazy((*points.shape, p.shape[0]), "f", ZERO)
    c = placed(as_kind(symbolic.reused(t, p), "f"), [SLOTS[rank]])
    v = folding.numbers(symbolic.reused(t, points))

    def one(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Any], list[Expr]]:
        return [], [ir.add(ir.mul(now[0], placed(v, at)), placed(c, at))]

    (found,) = folding.reduce(t, grid, (rank,), [("value", loop_program.REAL, ZERO)], one)
    return found


# ------------------------------------------------------------------ linear algebra
def _matrix(t: Tracer, value: Any, what: str) -> SymArray:
    a = reals(symbolic.symbolic(t, value))
    if len(a.shape) != 2:
        raise Refused(f"{what} of an array of {dimensions(len(a.shape))}", "use one matrix")
    return a


def _square(t: Tracer, value: Any, what: str) -> SymArray:
    a = _matrix(t, value, what)
    same_size(t, a.shape[0], a.shape[1])
    if t.path is ir.TRUE:
        return a
    one = ir.where(ir.eq(SLOTS[0], SLOTS[1]), ONE, ZERO)  # on the side that is not taken
    e = ir.where(t.path, formula(a), one)
    square = (a.shape[0], a.shape[0])  # also where it need not be square
    return lazy(square, "f", e, by_side(t.path, symbolic.needs(a), ir.TRUE))


def _solve(t: Tracer, a: Any, b: Any) -> Any:
    used_as_array(b, "np.linalg.solve()")
    matrix, right = _square(t, a, "np.linalg.solve()"), reals(symbolic.symbolic(t, b))
    if not 1 <= len(right.shape) <= 2:
        raise Refused("np.linalg.solve() of an array of more than two dimensions")
    n = matrix.shape[0]
    same_size(t, n, right.shape[0])
    if t.path is not ir.TRUE and right.shape[0] is not n:
        e = ir.where(t.path, formula(right), ZERO)
        right = lazy((n, *right.shape[1:]), "f", e, by_side(t.path, symbolic.needs(right), ir.TRUE))  # fmt: skip
    return routine(t, "solve", [(right.shape, "f")], matrix, right)[0]


def _of_square(name: str, is_number: bool = False) -> Function:
    """A routine from a square matrix to a matrix, or to a number."""

    def implementation(t: Tracer, value: Any) -> Any:
        a = _square(t, value, f"np.linalg.{name}()")
        return routine(t, name, [(() if is_number else a.shape, "f")], a)[0]

    return implementation


_inverse = _of_square("inv")


SLOGDET: Any
EIGH: Any
SVD: Any
SLOGDET, EIGH, SVD = (
    type(f(np.ones((1, 1)))) for f in (np.linalg.slogdet, np.linalg.eigh, np.linalg.svd)
)
"""The named tuples that NumPy returns."""


def _slogdet(t: Tracer, value: Any) -> Any:
    a = _square(t, value, "np.linalg.slogdet()")
    return SLOGDET(*routine(t, "slogdet", [((), "f"), ((), "f")], a))


def _eigh(t: Tracer, value: Any, UPLO: Any = "L") -> Any:
    a = _square(t, value, "np.linalg.eigh()")
    if UPLO not in ("L", "l"):
        hint = "pass the transposed matrix; its vectors are the same up to sign"
        raise Refused("eigenvectors by the upper triangle", hint)
    return EIGH(*routine(t, "eigh", [(a.shape[:1], "f"), (a.shape, "f")], a))


def _eigvalsh(t: Tracer, value: Any, UPLO: Any = "L") -> Any:
    a = _square(t, value, "np.linalg.eigvalsh()")
    return _eigh(t, a if UPLO in ("L", "l") else transpose(t, a))[0]


def _least(n: Expr, m: Expr) -> Expr:
    if n is m:
        return n
    return ir.where(ir.lt(n, m), n, m)


LEAST = ir.const(1e-15)
"""NumPy's limit of singular values that count as 0."""


def _pinv(t: Tracer, value: Any, rcond: Any = None) -> Any:
    a = _matrix(t, value, "np.linalg.pinv()")
    if rcond is not None and not is_number(rcond):
        raise Refused(f"np.linalg.pinv() with {describe(rcond)}", "pass one number as its limit")
    limit = LEAST if rcond is None else formula(reals(symbolic.from_formula((), rcond)))
    least = lazy((ONE,), "f", limit)
    return routine(t, "pinv", [(a.shape[::-1], "f")], a, least)[0]


def _svd(t: Tracer, value: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    a = _matrix(t, value, "np.linalg.svd()")
    n, m = a.shape
    if compute_uv and full_matrices:
        if linear(ir.sub(n, m)).op is ir.CONST and n is not m:
            raise Refused("np.linalg.svd() with all vectors", "pass full_matrices=False")
        square = "np.linalg.svd() with all vectors is of square matrices: pass full_matrices=False"
        t.require(ir.eq(n, m), "value", square)
    k = _least(n, m)
    u, sizes, v = routine(t, "svd", [((n, k), "f"), ((k,), "f"), ((k, m), "f")], a)
    return SVD(u, sizes, v) if compute_uv else sizes


def _matrix_power(t: Tracer, value: Any, n: Any) -> Any:
    if not isinstance(n, int):
        raise Refused(f"np.linalg.matrix_power() with {describe(n)}", "the power must be known")
    a = _square(t, value, "np.linalg.matrix_power()")
    if n == 0:
        return eye(t, scalars.whole(a.shape[0]))
    if n < 0:
        a, n = _inverse(t, a), -n
    result: SymArray | None = None
    while n:
        if n & 1:
            result = a if result is None else folding.matmul(t, result, a)
        n >>= 1
        if n:
            a = folding.matmul(t, a, a)
    return result


def _multi_dot(t: Tracer, values: Any) -> Any:
    found, *rest = _arrays(t, *elements(t, values))
    for a in rest:
        found = folding.matmul(t, found, a)
    return found


# ------------------------------------------------------------------------- sorting
def argsort(t: Tracer, value: Any, axis: Any = -1, kind: Any = None) -> Any:
    a = symbolic.symbolic(t, value)
    if axis is None:
        a, axis = ravel(t, a), 0
    (k,) = axes_of(a, axis)
    if len(a.shape) == 1:
        return routine(t, "argsort", [(a.shape, "i")], reals(a))[0]
    rows = moved(t, a, k, -1)
    return moved(t, routine(t, "argsort_rows", [(rows.shape, "i")], reals(rows))[0], -1, k)


def sort(t: Tracer, value: Any, axis: Any = -1, kind: Any = None) -> Any:
    a = symbolic.reused(t, symbolic.symbolic(t, value))
    if axis is None:
        a, axis = ravel(t, a), 0
    if len(a.shape) > 1:
        return taken_along(t, a, argsort(t, a, axis), axis)
    order = argsort(t, a, axis)
    return symbolic.gathered(a, a.shape, [placed(formula(order), SLOTS)])


TABLE: dict[str, Function] = {
    "numpy.dot": dot, "numpy.vdot": _vdot, "numpy.inner": _inner, "numpy.outer": _outer,
    "numpy.matmul": matmul, "numpy.trace": _trace, "numpy.einsum": _einsum,
    "numpy.tensordot": _tensordot, "numpy.kron": _kron, "numpy.cross": _cross,
    "numpy.convolve": _convolve, "numpy.polyval": _polyval,
    "numpy.linalg.solve": _solve, "numpy.linalg.inv": _inverse, "numpy.linalg.det": _of_square("det", True),
    "numpy.linalg.slogdet": _slogdet, "numpy.linalg.cholesky": _of_square("cholesky"),
    "numpy.linalg.eigh": _eigh, "numpy.linalg.eigvalsh": _eigvalsh,
    "numpy.linalg.pinv": _pinv, "numpy.linalg.svd": _svd, "numpy.linalg.matrix_power": _matrix_power,
    "numpy.linalg.multi_dot": _multi_dot,
    "numpy.sort": sort, "numpy.argsort": argsort,
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""
