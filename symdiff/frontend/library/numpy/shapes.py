"""NumPy's functions that rearrange arrays to new shapes or views. For a `SymArray` each maps the
slots to the source of the element."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import selecting, storing, symbolic
from symdiff.frontend.arrays.symbolic import SLOTS, formula, lazy, needs, placed
from symdiff.frontend.library.numpy.either import Array, rank_of, rearranged
from symdiff.frontend.trace import demands, scalars
from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.domains import by_side
from symdiff.frontend.trace.extents import (
    extent,
    fits,
    new_shape,
    nonnegative,
    product,
    repeated,
    same_size,
    shape_of,
)
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Refused,
    Scalar,
    SmallArray,
    SymArray,
    as_real,
    describe,
    dimensions,
)
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.integers import linear

Function = Callable[..., Any]


def axis_of(rank: int, axis: Any) -> int:
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise Refused(f"axis {shown(axis)} of an array of {dimensions(rank)}")
    return axis % rank


def shown(axis: Any) -> str:
    """An axis in the text of a refusal."""
    return str(_known(axis, "an axis")) if isinstance(axis, Scalar) else str(axis)


def _known(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        hint = demands.integer_hint(value, "it must be an integer known when traced")
        raise Refused(f"{what} is {describe(value)}", hint)
    return value


# ---------------------------------------------------------------------- reshaping
def divided(a: Expr, b: Expr) -> Expr:
    """`a // b` of integers, simplified where no division is needed."""
    if b is ONE:
        return a
    if a.op is ir.MUL and b in a.args:
        return a.args[1] if a.args[0] is b else a.args[0]
    return ir.apply(loop_program.FLOORDIV, a, b)


def _factors(shape: Sequence[Expr]) -> list[Expr]:
    """The factors of a size, the constant ones as one; in the order of their text."""
    known, rest = 1, list[Expr]()
    stack = list(shape)
    while stack:
        n = stack.pop()
        if n.op is ir.MUL:
            stack += n.args
        elif (k := ir.integer(n)) is not None:
            known *= k
        else:
            rest.append(n)
    return [ir.const(known), *sorted(rest, key=lambda n: repr(ir.encode((n,))))]


def _same_product(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return _factors(a) == _factors(b)


def _new_shape(t: Tracer, a: SymArray, shape: Any) -> tuple[Expr, ...]:
    """The shape to reshape to, with the size that is given as -1."""
    wanted = list(shape_of(shape))
    total = product(t, a.shape)
    open_axes = [k for k, n in enumerate(wanted) if n is ir.const(-1)]
    if len(open_axes) > 1:
        raise Refused("more than one size of a shape is -1")
    if open_axes:
        k = open_axes[0]
        others = [n for i, n in enumerate(wanted) if i != k]
        left = _quotient(a.shape, others)
        wanted[k] = left if left is not None else divided(total, product(t, others))
        if left is not None:
            return tuple(wanted)
    if not _same_product(a.shape, wanted):
        difference = linear(ir.sub(total, product(t, wanted)))
        if difference.op is ir.CONST and difference is not ZERO:
            raise Refused("an array is reshaped to another number of elements")
        same = ir.eq(total, product(t, wanted))
        t.require(same, "value", "an array is reshaped to another number of elements")
    return tuple(wanted)


def _quotient(shape: Sequence[Expr], others: Sequence[Expr]) -> Expr | None:
    """The product of a shape divided by others, if they are among its factors."""
    (c, *up), (d, *down) = _factors(shape), _factors(others)
    for n in down:
        if n not in up:
            return None
        up.remove(n)
    p, q = ir.integer(c), ir.integer(d)
    if not p or not q or p % q:
        return None
    left = ir.const(p // q)
    for n in up:
        left = ir.mul(left, n)
    return left


def _groups(
    old: Sequence[Expr], new: Sequence[Expr]
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The shortest runs of old and new axes with equal numbers of elements."""
    found = []
    i = j = 0
    while i < len(old) or j < len(new):
        ends = [
            (p, q)
            for p in range(i, len(old) + 1)
            for q in range(j, len(new) + 1)
            if (p, q) != (i, j) and _same_product(old[i:p], new[j:q])
        ]
        p, q = min(ends, key=lambda e: (e[0] - i + e[1] - j, e), default=(len(old), len(new)))
        found.append(((i, p), (j, q)))
        i, j = p, q
    return found


def _in_a_row(a: SymArray, i: int, p: int) -> bool:
    """Whether the elements of some axes are stored in memory like one axis."""
    axes = [k for k in range(i, p) if a.shape[k] is not ONE]
    if len(axes) < 2:
        return True
    if a.sides is not None:
        return all(_in_a_row(side, i, p) for side in a.sides[1:])
    if _counted_through(a, i, p):
        return True
    places = [c for k in axes for c, w in enumerate(a.where) if _steps(w, k, k == axes[0])]
    first = places[0] if places else 0
    return places == list(range(first, first + len(axes))) and all(
        a.shape[k] is a.memory.shape[c] for k, c in list(zip(axes, places, strict=True))[1:]
    )


def _counted_through(a: SymArray, i: int, p: int) -> bool:
    """Whether some axes run through one axis of memory, like those of a reshaped vector."""
    own = SLOTS[i:p]
    places = [w for w in a.where if any(n in own for n in ir.topological((w,)))]
    if len(places) != 1:
        return False
    count = ZERO
    for k in range(i, p):
        count = ir.add(ir.mul(count, a.shape[k]), ZERO if a.shape[k] is ONE else SLOTS[k])
    rest = linear(ir.sub(places[0], count))
    return not any(n in own for n in ir.topological((rest,)))


def _lies_by_rows(memory: Memory) -> bool:
    """Whether memory other than an argument's is stored by rows: if it is known to be, and for
    vectors."""
    return memory.by_rows or (len(memory.shape) == 1 and not memory.argument)


def _steps(w: Expr, k: int, from_anywhere: bool) -> bool:
    """Whether an index is that of an axis, or differs by an offset."""
    if w is SLOTS[k] or not from_anywhere:
        return w is SLOTS[k]
    return not any(n in SLOTS for n in ir.topological((linear(ir.sub(w, SLOTS[k])),)))


def _as_arguments(t: Tracer, memory: Memory) -> bool:
    """Whether memory is stored by rows if the arguments are: such as values computed from elements
    of arguments at the same indices."""
    if memory.leaf is not None and memory.element is ZERO:
        return False
    for n in ir.topological((memory.element,)):
        if n.op is loop_program.LOAD:
            order = [SLOTS.index(m) for i in n.args[1:] for m in ir.topological((i,)) if m in SLOTS]
            if loop_program.name_of(n.args[0]) not in t.array_parameters or order != sorted(order):
                return False
    return True


def reshaped(t: Tracer, a: SymArray, shape: Any) -> SymArray:
    """The same elements in the same order: a view where NumPy makes one, else a copy."""
    new = _new_shape(t, a, shape)
    at: list[Expr] = []
    view, joins = True, False
    for (i, p), (j, q) in _groups(a.shape, new):
        if p == i:
            continue
        view = view and _in_a_row(a, i, p)
        joins = joins or sum(n is not ONE for n in a.shape[i:p]) > 1
        place = ZERO
        for k in range(j, q):
            place = ir.add(ir.mul(place, new[k]), SLOTS[k])
        inner: list[Expr] = []
        for k in range(p - 1, i, -1):
            inner.append(
                ZERO if a.shape[k] is ONE else ir.apply(loop_program.MOD, place, a.shape[k])
            )
            place = divided(place, a.shape[k])
        at += [place, *reversed(inner)]
    if not view and (a.sides is not None or not joins):
        return symbolic.gathered(a, new, at)
    by_rows = _lies_by_rows(a.memory)
    if joins and a.sides is None and not (view and by_rows):
        known = by_rows or (view and a.memory.argument) or _as_arguments(t, a.memory)
        if known and (view or all(n.op is ir.CONST or n in t.parameter_sizes for n in a.shape)):
            a.memory.reshaped = not by_rows
            if view:
                return symbolic.viewed(a, new, at)
            for n in a.shape:
                if n.op is not ir.CONST:
                    t.stretch(n, ZERO)  # where it is 1, this is a view
            found = symbolic.gathered(a, new, at)
            found.memory.reshaped = a.memory.reshaped
            return found
        found = symbolic.gathered(a, new, at)  # a view or a copy, depending on the memory
        found.memory.may_show(a.memory)
        return found
    return symbolic.viewed(a, new, at)


def _reshape(t: Tracer, value: Any, *shape: Any, order: Any = "C") -> Any:
    if order != "C":
        raise Refused(f"the order {order!r} of a reshaped array", "only 'C' is supported")
    wanted = shape[0] if len(shape) == 1 else shape
    a = symbolic.symbolic(t, value)
    return a if wanted == () and not a.shape else reshaped(t, a, wanted)


def ravel(t: Tracer, value: Any) -> SymArray:
    """All elements as a vector: a view if the memory allows it, else a copy."""
    a = symbolic.symbolic(t, value)
    found = a if len(a.shape) == 1 else reshaped(t, a, -1)
    if sum(n is not ONE for n in a.shape) > 1 or found.sides is not None:
        return found
    memory, steps = found.memory, _in_steps_of_one(found)
    known = _lies_by_rows(memory)
    if not known and found.shape[0] is not ONE:
        known = memory.reshaped = memory.argument or _as_arguments(t, memory)
    if steps and (known or found.shape[0] is ONE):
        return found
    if known:  # a copy, except of one element, or next to axes of one
        sizes = (found.shape[0], *memory.shape)
        known = t.parameter_sizes.issuperset(loop_program.leaves(sizes))
        for n in sizes if known else ():
            t.decides(n)
    found = symbolic.snapshot(found)
    found.memory.reshaped = memory.reshaped
    if not known:  # a view or a copy, depending on the memory
        found.memory.may_show(memory)
    return found


def contiguous(t: Tracer, a: SymArray) -> SymArray:
    """The array itself if its elements are contiguous in memory, by rows, else a copy."""
    whole = a.sides is None and _in_a_row(a, 0, len(a.shape)) and len(a.shape) > 1
    if whole and (a.memory.argument or _lies_by_rows(a.memory)):
        a.memory.reshaped |= a.memory.argument
        return a
    return reshaped(t, ravel(t, a), [scalars.whole(n) for n in a.shape] or 1)


def _in_steps_of_one(a: SymArray) -> bool:
    """Whether the elements of a vector are adjacent in memory that is stored by rows."""
    at = [w for w, n in zip(a.where, a.memory.shape, strict=True) if n is not ONE]
    if not at or a.shape[0] is ONE:
        return True
    *others, last = at
    step = linear(ir.sub(last, SLOTS[0]))
    return not any(SLOTS[0] in ir.topological((w,)) for w in (step, *others))


def flat(t: Tracer, a: SymArray) -> SymArray:
    """All elements as a vector, for stores."""
    if len(a.shape) == 1:
        return a
    place, at = SLOTS[0], list[Expr]()
    for n in reversed(a.shape[1:]):
        at.append(ir.apply(loop_program.MOD, place, n))
        place = divided(place, n)
    return symbolic.viewed(a, (product(t, a.shape),), [place, *reversed(at)])


# -------------------------------------------------------------------------- views
def viewed(a: SymArray, f: Function, args: Any, kwargs: Any, ones: Any = ()) -> SymArray:
    """The view that a NumPy function makes of an array. It is called with an array whose strides
    are names of its axes; the strides of the result give the source of each axis; `ones` are axes
    of size 1."""
    rank = len(a.shape)
    given = _leaves((*args, *kwargs.values()))
    for k in given:
        if not isinstance(k, int):
            raise Refused(f"axis {shown(k)} of an array of {dimensions(rank)}")
    sizes = [1 if n is ONE or k in ones else 2 for k, n in enumerate(a.shape)]
    strides = [16 ** (k + 1) for k in range(rank)]
    model = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), sizes, strides)
    try:
        found = f(model, *args, **kwargs)
    except np.exceptions.AxisError as error:
        raise Refused(f"axis {error.axis} of an array of {dimensions(error.ndim or 0)}") from None
    except ValueError as error:
        far = [k for k in given if not -rank <= k < rank]
        text = f"axis {far[0]} of an array of {dimensions(rank)}" if far else str(error)
        raise Refused(text) from None
    if found is model:
        return a
    if found.ndim > symbolic.MAX_RANK:
        raise Refused(f"an array of more than {dimensions(symbolic.MAX_RANK)}")
    at, shape = [ZERO] * rank, []
    for slot, size, stride in zip(SLOTS, found.shape, found.strides, strict=False):
        k = (
            None if size == 1 else strides.index(abs(stride))
        )  # an axis of size 1 may have any stride
        shape.append(ONE if k is None else a.shape[k])
        if k is not None:
            at[k] = slot if stride > 0 else ir.sub(ir.sub(a.shape[k], ONE), slot)
    return symbolic.viewed(a, shape, at)


def _leaves(values: Any) -> list[Any]:
    """The numbers in arguments that refer to axes."""
    nested = (_leaves(v) if isinstance(v, (tuple, list)) else [v] for v in values if v is not None)
    return [k for part in nested for k in part]


def _viewing(f: Function) -> Function:
    """A function that makes a view, of arrays of either class."""

    def own(t: Tracer, value: Any, *args: Any, **kwargs: Any) -> SymArray:
        return viewed(symbolic.symbolic(t, value), f, args, kwargs)

    first, *others = inspect.signature(f).parameters.values()
    named: Any = own
    named.__signature__ = inspect.Signature([first.replace(name="t"), first, *others])
    return rearranged(f, own)


def _squeeze(t: Tracer, value: Any, axis: Any = None) -> Any:
    a = symbolic.symbolic(t, value)
    rank = len(a.shape)
    if axis is None:
        for n in a.shape:
            t.decides(n)
        gone = [k for k, n in enumerate(a.shape) if n is ONE]
    else:
        gone = [axis_of(rank, k) for k in (axis if isinstance(axis, tuple) else (axis,))]
        for k in gone:
            if a.shape[k] is not ONE:
                t.require(ir.eq(a.shape[k], ONE), "value", "an axis that is squeezed is not 1")
    found = viewed(a, np.squeeze, (tuple(gone),), {}, ones=gone)
    return found if found.shape else symbolic.element(found, ())


def shape_like(t: Tracer, a: Array, model: Array, axis: int) -> Any:
    """A vector along one axis of a model."""
    return expanded(t, a, tuple(k for k in range(rank_of(model)) if k != axis))


def _broadcast_to(t: Tracer, value: Any, shape: Any) -> Any:
    a, wanted = symbolic.symbolic(t, value), shape_of(shape)
    for n, m in zip(reversed(a.shape), reversed(wanted), strict=False):
        fits(t, n, m)
    offset = len(wanted) - len(a.shape)
    if a.sides is not None or offset < 0:
        return symbolic.broadcast(t, a, wanted)
    at = [
        ZERO if repeated(n, wanted[k + offset]) else SLOTS[k + offset]
        for k, n in enumerate(a.shape)
    ]
    return symbolic.viewed(a, wanted, at)


# ------------------------------------------------------------------------- copies
def _rolled(t: Tracer, value: Any, shift: Any, axis: Any = None) -> Any:
    a = symbolic.symbolic(t, value)
    if axis is None and len(a.shape) > 1:
        moved = _rolled(t, ravel(t, a), shift, 0)
        found = symbolic.snapshot(reshaped(t, moved, tuple(map(scalars.whole, a.shape))))
        found.memory.by_rows = True
        return found
    pairs = zip(shift, axis, strict=True) if isinstance(axis, tuple) else [(shift, axis or 0)]
    at: list[Expr] = list(SLOTS[: len(a.shape)])
    for s, k in pairs:
        k = axis_of(len(a.shape), k)
        s = t.whole(s, f"{describe(s)} is the shift of an array")
        at[k] = ir.apply(loop_program.MOD, ir.sub(at[k], as_real(s).expr), a.shape[k])
    return symbolic.gathered(a, a.shape, at)


def _tiled(t: Tracer, value: Any, times: Any) -> Any:
    a, counts = symbolic.symbolic(t, value), list(new_shape(t, times))
    rank = max(len(a.shape), len(counts))
    counts = [ONE] * (rank - len(counts)) + counts
    sizes = (*[ONE] * (rank - len(a.shape)), *a.shape)
    shape = [ir.mul(c, n) for c, n in zip(counts, sizes, strict=True)]
    at = []
    for k, n in enumerate(sizes):
        if k >= rank - len(a.shape):
            at.append(SLOTS[k] if counts[k] is ONE else ir.apply(loop_program.MOD, SLOTS[k], n))
    return symbolic.gathered(a, shape, at)


def _repeated(t: Tracer, value: Any, times: Any, axis: Any = None) -> Any:
    a = symbolic.symbolic(t, value)
    if axis is None:
        a, axis = ravel(t, a), 0
    k = axis_of(len(a.shape), axis)
    (count,) = new_shape(t, times)
    shape, at = list(a.shape), list(SLOTS[: len(a.shape)])
    shape[k], at[k] = ir.mul(count, a.shape[k]), divided(SLOTS[k], count)
    return symbolic.gathered(a, shape, at)


def taken_along(t: Tracer, value: Any, indices: Any, axis: Any = -1) -> Any:
    """`np.take_along_axis`."""
    a, places = symbolic.symbolic(t, value), symbolic.symbolic(t, indices)
    k = axis_of(len(a.shape), axis)
    if len(places.shape) != len(a.shape):
        raise Refused("the indices of np.take_along_axis() have another number of axes")
    which = selecting.checked(t, formula(places), places, a.shape[k])
    at = [SLOTS[i] if i != k else which for i in range(len(a.shape))]
    at = [ZERO if n is ONE and i != k else e for i, (n, e) in enumerate(zip(a.shape, at, strict=True))]  # fmt: skip
    shape = tuple(
        m if i == k or n is ONE else n
        for i, (n, m) in enumerate(zip(a.shape, places.shape, strict=True))
    )
    return symbolic.gathered(a, shape, at)


def _taken(t: Tracer, value: Any, indices: Any, axis: Any = None) -> Any:
    a = symbolic.symbolic(t, value)
    if axis is None:
        a, axis = ravel(t, a), 0
    return selecting.subscript(t, a, (*[slice(None)] * axis_of(len(a.shape), axis), indices))


# ---------------------------------------------------------------------- diagonals
def diagonal(t: Tracer, value: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> SymArray:
    """A view of the diagonals of two axes, which come last."""
    a = symbolic.with_rows(t, value)
    rank = len(a.shape)
    if rank < 2:
        raise Refused(f"the diagonal of an array of {dimensions(rank)}")
    i, j = axis_of(rank, axis1), axis_of(rank, axis2)
    shift = _known(offset, "the offset of a diagonal")
    rest = [k for k in range(rank) if k not in (i, j)]
    rows = ir.add(a.shape[i], ir.const(min(shift, 0)))
    columns = ir.sub(a.shape[j], ir.const(max(shift, 0)))
    same = linear(ir.sub(rows, columns)) is ZERO
    length = rows if same else _least(t, rows, columns)
    slot = SLOTS[len(rest)]
    at = [ZERO] * rank
    for new, old in enumerate(rest):
        at[old] = SLOTS[new]
    at[i], at[j] = ir.sub(slot, ir.const(min(shift, 0))), ir.add(slot, ir.const(max(shift, 0)))
    return symbolic.viewed(a, (*(a.shape[k] for k in rest), length), at)


def _fill_diagonal(t: Tracer, value: Any, number: Any) -> None:
    if isinstance(value, SmallArray):
        raise Retrace(what="np.fill_diagonal() of an array whose elements are traced one by one")
    a = symbolic.symbolic(t, value)
    if len(a.shape) > 2:  # of a cube
        for n in a.shape[1:]:
            same_size(t, n, a.shape[0])
        diagonals = symbolic.viewed(a, a.shape[:1], [SLOTS[0]] * len(a.shape))
    else:
        diagonals = diagonal(t, a)
    storing.store(t, diagonals, Ellipsis, number)


def _least(t: Tracer, a: Expr, b: Expr) -> Expr:
    if nonnegative(t, ir.sub(b, a)):
        return a
    return b if nonnegative(t, ir.sub(a, b)) else ir.where(ir.lt(a, b), a, b)


def _diag(t: Tracer, value: Any, k: Any = 0) -> Any:
    a = symbolic.symbolic(t, value)
    if len(a.shape) == 2:
        return diagonal(t, a, k)
    shift = _known(k, "the offset of a diagonal")
    n = ir.add(extent(t, a.shape[0]), ir.const(abs(shift)))
    row = ir.sub(SLOTS[0], ir.const(max(-shift, 0)))
    on = ir.eq(ir.sub(SLOTS[1], SLOTS[0]), ir.const(shift))
    e = ir.where(
        on, placed(symbolic.as_kind(a, a.kind), [row]), ir.FALSE if a.kind == "b" else ZERO
    )
    return lazy((n, n), a.kind, e, by_side(on, placed(needs(a), [row]), ir.TRUE))


def _triangle(upper: bool) -> Function:
    def implementation(t: Tracer, value: Any, k: Any = 0) -> Any:
        a = symbolic.symbolic(t, value)
        if len(a.shape) == 1:  # rows of a matrix
            a = symbolic.broadcast(t, a, (a.shape[0], a.shape[0]))
        rank = len(a.shape)
        shift = ir.sub(SLOTS[rank - 1], SLOTS[rank - 2])
        edge = ir.const(_known(k, "the offset of a triangle"))
        stays = ir.le(edge, shift) if upper else ir.le(shift, edge)
        e = ir.where(stays, symbolic.as_kind(a, a.kind), ir.FALSE if a.kind == "b" else ZERO)
        return lazy(a.shape, a.kind, e, by_side(stays, needs(a), ir.TRUE))

    return implementation


def _reshaped_items(items: Any, *shape: Any, order: Any = "C") -> Any:
    return items.reshape(*shape, order=order)


def _transposed_items(items: Any, *places: Any, axes: Any = None) -> Any:
    return items.transpose(*(places or (axes,)))


_VIEWS: dict[str, Function] = {
    "transpose": _transposed_items, "permute_dims": _transposed_items,
    "matrix_transpose": lambda x: np.swapaxes(x, -1, -2), "swapaxes": np.swapaxes,
    "moveaxis": np.moveaxis, "rollaxis": np.rollaxis, "expand_dims": np.expand_dims,
    "flip": np.flip, "flipud": lambda m: np.flip(m, 0), "fliplr": lambda m: np.flip(m, 1),
    "rot90": np.rot90, "atleast_1d": lambda a: np.atleast_1d(a),
    "atleast_2d": lambda a: np.atleast_2d(a), "atleast_3d": lambda a: np.atleast_3d(a),
}  # fmt: skip
"""Functions that make views by the strides of an array alone."""

_REARRANGING: tuple[tuple[str, Function, Function], ...] = (
    ("reshape", _reshaped_items, _reshape), ("ravel", np.ravel, ravel), ("squeeze", np.squeeze, _squeeze),
    ("broadcast_to", np.broadcast_to, _broadcast_to), ("roll", np.roll, _rolled),
    ("tile", np.tile, _tiled), ("repeat", np.repeat, _repeated),
    ("diag", np.diag, _diag), ("diagonal", np.diagonal, diagonal),
)  # fmt: skip
"""Names with NumPy's own function, for a `SmallArray`, and ours."""

TABLE: dict[str, Function] = {
    "numpy.take": _taken, "numpy.take_along_axis": taken_along,
    "numpy.fill_diagonal": _fill_diagonal,
    "numpy.triu": _triangle(True), "numpy.tril": _triangle(False),
    **{f"numpy.{name}": rearranged(f, own) for name, f, own in _REARRANGING},
    **{f"numpy.{name}": _viewing(f) for name, f in _VIEWS.items()},
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""

flattened, squeezed, diagonals, expanded, moved, transpose = (
    TABLE[f"numpy.{name}"]
    for name in ("ravel", "squeeze", "diagonal", "expand_dims", "moveaxis", "transpose")
)
at_least_1d, at_least_2d = TABLE["numpy.atleast_1d"], TABLE["numpy.atleast_2d"]
