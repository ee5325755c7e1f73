"""Arrays whose size is not known when traced: formulas of indices, and views of memory.

Elementwise operations and views make no statements: they compose formulas. What is
stored, reduced or given a name becomes statements of `symdiff.structure`. A formula keeps
the state of the memory that it was made from; a view sees what is stored later, as NumPy's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir, structure
from symdiff.frontend import scalars
from symdiff.frontend.tracer import Retrace, Tracer
from symdiff.frontend.values import (
    Cell,
    Cond,
    Real,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    SymArray,
    Whole,
    as_real,
    describe,
    is_number,
)
from symdiff.ir import ONE, TRUE, ZERO, Expr
from symdiff.structure import Build, Carried, Loop, Type, Update, array, index, load

MAX_RANK = 8
SLOTS = tuple(index(f"#{k}") for k in range(MAX_RANK))
"""Stand for the indices in formulas."""


def is_symbolic(key: Any) -> bool:
    """Whether an index is not known when traced."""
    parts = key if isinstance(key, tuple) else (key,)
    ends = [e for k in parts for e in ((k.start, k.stop, k.step) if isinstance(k, slice) else (k,))]
    return any(isinstance(e, (Whole, SymArray)) for e in ends)


def placed(e: Expr, indices: Sequence[Expr]) -> Expr:
    """A formula of the slots at given indices."""
    return ir.substitute((e,), dict(zip(SLOTS, indices, strict=False)))[0]


def scalar_of(e: Expr, kind: str) -> Any:
    """An element of an array of this kind as a traced value."""
    if kind == "b":
        return scalars.cond(e if e.op.boolean else ir.eq(e, ONE))
    return scalars.whole(e) if kind == "i" else Real(e)


def formula(a: SymArray) -> Expr:
    """The element of an array, as it is now, at the slots."""
    if a.element is not None:
        return a.element
    assert a.cell is not None
    e = load(a.cell.leaf, *a.where)
    return ir.eq(e, ONE) if a.kind == "b" else e


def element(a: SymArray, indices: Sequence[Expr]) -> Any:
    """The element at these indices, which must be in range."""
    return scalar_of(placed(formula(a), indices), a.kind)


def extent(t: Tracer, n: Expr) -> Expr:
    """The size of an axis; a slice may give a negative one, which means 0."""
    return n if nonnegative(t, n) else ir.where(ir.lt(n, ZERO), ZERO, n)


def size(t: Tracer, shape: Sequence[Expr]) -> Any:
    """The number of elements of an array."""
    total = ONE
    for n in shape:
        total = ir.mul(total, extent(t, n))
    return scalars.whole(total)


def dims(t: Tracer, shape: Sequence[Expr]) -> tuple[Any, ...]:
    """A shape as Python sees it: integers where they are known."""
    return tuple(scalars.whole(extent(t, n)) for n in shape)


# ------------------------------------------------------------------------ making
def from_formula(shape: Sequence[Expr], value: Any) -> SymArray:
    """The array whose element at the slots is a scalar."""
    if isinstance(value, (bool, Cond)):
        return SymArray(tuple(shape), "b", element=scalars.as_cond(value).expr)
    kind = "i" if scalars.is_whole(value) else "f"
    return SymArray(tuple(shape), kind, element=as_real(value).expr)


def symbolic(t: Tracer, value: Any) -> SymArray:
    """Any array, nested sequence or number as a symbolic array."""
    from symdiff.frontend.arrays import asarray

    if isinstance(value, SymArray):
        return value
    if is_number(value):
        return from_formula((), value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, SymArray) for v in value):
        return stacked(t, [symbolic(t, v) for v in value])
    return of_small(t, asarray(value))


def stacked(t: Tracer, rows: Sequence[SymArray]) -> SymArray:
    """Arrays of one shape as the rows of a new one."""
    shape = common_shape(t, [r.shape for r in rows])
    rows = [broadcast(r, shape) for r in rows]
    kind = "f" if any(r.kind == "f" for r in rows) else rows[0].kind
    value = placed(formula(rows[-1]), SLOTS[1:])
    for k in range(len(rows) - 2, -1, -1):
        here = placed(formula(rows[k]), SLOTS[1:])
        value = ir.where(ir.eq(SLOTS[0], ir.const(k)), here, value)
    return SymArray((ir.const(len(rows)), *shape), kind, element=value)


MAX_CHOICES = 64


def of_small(t: Tracer, small: SmallArray) -> SymArray:
    """A small array as a formula of its indices, or as memory."""
    items, shape = small.items, tuple(ir.const(n) for n in small.items.shape)
    flat = [
        scalars.as_cond(v).expr if small.kind == "b" else as_real(v).expr for v in items.ravel()
    ]
    if all(e is flat[0] for e in flat[1:]) and flat:
        return SymArray(shape, small.kind, element=flat[0])
    if len(flat) > MAX_CHOICES or (len(flat) > 4 and all(e.op is ir.CONST for e in flat)):
        return of_data(t, small)
    linear = ZERO
    for slot, n in zip(SLOTS, shape, strict=False):
        linear = ir.add(ir.mul(linear, n), slot)
    value = flat[-1] if flat else ZERO
    for k in range(len(flat) - 2, -1, -1):
        value = ir.where(ir.eq(linear, ir.const(k)), flat[k], value)
    return SymArray(shape, small.kind, element=value)


def of_data(t: Tracer, small: SmallArray) -> SymArray:
    """A small array in memory: data known when traced, and the elements that are not."""
    items, shape = small.items, tuple(ir.const(n) for n in small.items.shape)
    data = np.zeros(items.shape, float if small.kind == "f" else np.int64)
    rest = []
    for k, v in np.ndenumerate(items):
        e = as_real(v).expr
        if e.op is ir.CONST:
            data[k] = float(e.value)
        else:
            rest.append((k, e))
    leaf = constant(t, data, small.kind)
    kind = Type(shape, small.kind)
    for k, e in rest:
        name = t.names.fresh("elements")
        at = tuple(ir.const(i) for i in k)
        t.emit(Update(name, structure.name_of(leaf), kind, at, e))
        leaf = array(name, small.kind)
    return view_of(Cell(leaf, shape), small.kind)


def constant(t: Tracer, data: np.ndarray[Any, Any], kind: str) -> Expr:
    """Data known when traced, as an array."""
    for name, known in t.data.items():
        if known is data:
            return array(name, kind)
    name = t.names.fresh("data")
    t.data[name] = data
    return array(name, kind)


def view_of(cell: Cell, kind: str) -> SymArray:
    return SymArray(cell.shape, kind, cell=cell, where=SLOTS[: len(cell.shape)])


def build(
    t: Tracer, shape: Sequence[Expr], kind: str, value: Expr, name: str = "array"
) -> SymArray:
    """A new array in memory whose elements are a formula of the slots."""
    name = t.names.fresh(name)
    letters = tuple(t.names.fresh("ijklmnpq"[k]) for k in range(len(shape)))
    e = placed(value, [index(i) for i in letters])
    if kind == "b":
        e = ir.where(e, ONE, ZERO)
    t.emit(Build(name, Type(tuple(shape), kind), letters, e))
    return view_of(Cell(array(name, kind), tuple(shape)), kind)


def in_memory(t: Tracer, a: SymArray, name: str = "array") -> SymArray:
    """The array itself if it is all of its memory, else a copy in new memory."""
    if a.cell is not None and a.where == SLOTS[: len(a.shape)] and a.shape == a.cell.shape:
        return a
    return build(t, a.shape, a.kind, formula(a), name)


def leaf_of(t: Tracer, a: SymArray) -> Expr:
    """The array as a name of the block."""
    if not a.shape:
        raise Refused("an array without dimensions")
    cell = in_memory(t, a).cell
    assert cell is not None
    return cell.leaf


def settle(t: Tracer, a: SymArray, name: str) -> None:
    """A formula that is given a name is computed once, if it costs more than reading."""
    if a.cell is None and _costly(a.element):
        stored = build(t, a.shape, a.kind, formula(a), name)
        a.cell, a.where, a.element = stored.cell, stored.where, None


def _costly(e: Expr | None) -> bool:
    cheap = (
        *ir.ARITHMETIC[:5],
        ir.WHERE,
        ir.LT,
        ir.LE,
        ir.EQ,
        ir.NOT,
        ir.AND,
        ir.OR,
        structure.LOAD,
    )
    if e is None:
        return False
    inner = [n for n in ir.topological((e,)) if n.args]
    return len(inner) > 12 or any(n.op not in cheap for n in inner)


def own_memory(t: Tracer, a: SymArray) -> None:
    """Make a formula an array in memory, to be changed."""
    if a.cell is None:
        stored = build(t, a.shape, a.kind, formula(a))
        a.cell, a.where, a.element = stored.cell, stored.where, None


# ------------------------------------------------------------------ broadcasting
def common_shape(t: Tracer, shapes: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    """The shape of an elementwise result; axes of unknown size must agree when run."""
    rank = max(map(len, shapes))
    result: list[Expr] = []
    for k in range(rank):
        found = ONE
        for shape in shapes:
            n = shape[k - rank + len(shape)] if k - rank + len(shape) >= 0 else ONE
            if n is ONE or n is found:
                continue
            if found is ONE:
                found = n
                continue
            same_size(t, found, n)
            found = found if found.op is ir.CONST else n if n.op is ir.CONST else found
        result.append(found)
    return tuple(result)


def same_size(t: Tracer, a: Expr, b: Expr) -> None:
    """Two axes must have the same size; checked when run if it is not known."""
    if a is b or ir.sub(a, b) is ZERO:
        return
    if a.op is ir.CONST and b.op is ir.CONST:
        raise Refused(f"axes of sizes {a} and {b} do not fit together")
    t.require(ir.eq(a, b), "value", "the sizes of two axes do not fit together")


def broadcast(a: SymArray, shape: Sequence[Expr]) -> SymArray:
    """A formula of a larger shape."""
    offset = len(shape) - len(a.shape)
    at = [ZERO if n is ONE else SLOTS[k + offset] for k, n in enumerate(a.shape)]
    return SymArray(tuple(shape), a.kind, element=placed(formula(a), at))


def elementwise(t: Tracer, f: Callable[..., Any], *values: Any) -> Any:
    """A scalar function applied to arrays and numbers."""
    chosen = next((v for v in values if isinstance(v, Selected)), None)
    if chosen is not None:
        for v in values:
            if isinstance(v, Selected):
                if formula(v.present) is not formula(chosen.present):
                    raise Refused(
                        "elements selected by different conditions are combined",
                        "use np.where instead",
                    )
            elif not is_number(v):
                raise Refused("a selection is combined with an array", "use np.where instead")
        plain = [v.items if isinstance(v, Selected) else v for v in values]
        return Selected(elementwise(t, f, *plain), chosen.present)
    arrays = [symbolic(t, v) for v in values]
    shape = common_shape(t, [a.shape for a in arrays])
    parts = [broadcast(a, shape) for a in arrays]
    return from_formula(shape, f(*(scalar_of(formula(p), p.kind) for p in parts)))


# --------------------------------------------------------------------- indexing
def bounds(t: Tracer, e: Expr) -> tuple[Expr, Expr]:
    """An integer with the loops' indices at the ends of their ranges: (least, largest);
    itself where it is not linear in them."""
    low = high = e
    for leaf, count in reversed(t.ranges.items()):
        low, high = _ends(low, leaf, count)[0], _ends(high, leaf, count)[1]
    return low, high


def _ends(e: Expr, leaf: Expr, count: Expr) -> tuple[Expr, Expr]:
    if leaf not in set(ir.topological((e,))):
        return e, e
    at = [ir.substitute((e,), {leaf: ir.const(k)})[0] for k in (0, 1, 2)]
    step = ir.rational(linear(ir.sub(at[1], at[0])))
    if step is None or ir.rational(linear(ir.sub(at[2], at[1]))) != step:
        return e, e
    last = ir.substitute((e,), {leaf: ir.sub(count, ONE)})[0]
    return (at[0], last) if step >= 0 else (last, at[0])


def linear(e: Expr) -> Expr:
    """A sum of terms with like ones collected, if it is one; so that differences cancel."""
    terms: dict[Expr, Any] = {}
    stack = [(e, 1)]
    while stack:
        n, c = stack.pop()
        if n.op in (ir.ADD, ir.SUB):
            stack += [(n.args[0], c), (n.args[1], c if n.op is ir.ADD else -c)]
        elif n.op is ir.NEG:
            stack.append((n.args[0], -c))
        elif n.op is ir.MUL and (q := ir.rational(n.args[0])) is not None:
            stack.append((n.args[1], c * q))
        elif n.op is ir.MUL and n.args[0].op in (ir.ADD, ir.SUB):
            stack += [(ir.mul(n.args[0].args[0], n.args[1]), c),
                      (ir.mul(n.args[0].args[1], n.args[1]), c if n.args[0].op is ir.ADD else -c)]  # fmt: skip
        else:
            q = ir.rational(n)
            key, weight = (ONE, q) if q is not None else (n, 1)
            terms[key] = terms.get(key, 0) + c * weight
    result = ir.const(terms.pop(ONE, 0))
    for n, c in terms.items():
        result = ir.add(result, ir.mul(ir.const(c), n)) if c else result
    return result


def nonnegative(t: Tracer, e: Expr) -> bool:
    """Whether an integer is visibly not negative, given the ranges of the loops and
    that sizes are not."""
    low = linear(bounds(t, linear(e))[0])
    if (q := ir.rational(low)) is not None:
        return q >= 0
    if scalars.follows(ir.le(ZERO, low), t.facts) or scalars.follows(ir.le(ZERO, e), t.facts):
        return True
    stack = [low]
    while stack:
        n = stack.pop()
        if n.op in (ir.ADD, ir.MUL):
            stack += n.args
        elif n.op is structure.INDEX:
            if n not in t.sizes and n not in t.ranges:
                return False
        elif (q := ir.rational(n)) is None or q < 0:
            return False
    return True


def position(t: Tracer, i: Any, n: Expr, checked: bool = True) -> Expr:
    """An integer index as one that counts from the start, checked to be in range."""
    if isinstance(i, bool) or not scalars.is_whole(i):
        raise Refused(f"{describe(i)} is used as an index", "an index must be an integer")
    if isinstance(i, int):
        e = ir.const(i) if i >= 0 else ir.sub(n, ir.const(-i))
        enough = ir.const(i + 1 if i >= 0 else -i)
        if not nonnegative(t, ir.sub(n, enough)):
            t.require(ir.le(enough, n), "index", f"index {i} is out of range")
        return e
    e = i.expr
    if not nonnegative(t, e):
        t.require(ir.le(ir.neg(n), e), "index", "an index is out of range")
        e = ir.where(ir.lt(e, ZERO), ir.add(e, n), e)
    if not nonnegative(t, ir.sub(n, ir.add(i.expr, ONE))):
        t.require(ir.lt(i.expr, n), "index", "an index is out of range")
    return e


def _whole(value: Any) -> Expr:
    """An end of a slice."""
    if not scalars.is_whole(value) or isinstance(value, bool):
        raise Refused(f"{describe(value)} is the end of a slice", "use an integer")
    return as_real(value).expr


def _clipped(t: Tracer, value: Any, n: Expr, low: Expr, high: Expr) -> Expr:
    """An end of a slice, counted from the start of the axis and moved into a range."""
    e = _whole(value)
    if isinstance(value, int) and value < 0:
        e = ir.add(n, e)
    elif not nonnegative(t, e):
        e = ir.where(ir.lt(e, ZERO), ir.add(e, n), e)
    if not nonnegative(t, ir.sub(e, low)):
        e = ir.where(ir.lt(e, low), low, e)
    return e if nonnegative(t, ir.sub(high, e)) else ir.where(ir.lt(high, e), high, e)


def _slice(t: Tracer, s: slice, n: Expr) -> tuple[Expr, int, Expr]:
    """(first, step, count) of a slice of an axis of n elements; a negative count means
    that there are none."""
    step = 1 if s.step is None else s.step
    if not isinstance(step, int) or step == 0:
        raise Refused("the step of a slice must be an integer known when traced, and not 0")
    if step > 0:
        first = ZERO
        if isinstance(s.start, int) and s.start >= 0:
            first = _whole(s.start)
        elif s.start is not None:
            first = _clipped(t, s.start, n, ZERO, n)
        if s.stop is None:
            last = n
        elif isinstance(s.stop, int) and s.stop < 0:
            last = ir.add(n, _whole(s.stop))
        else:
            last = _clipped(t, s.stop, n, ZERO, n)
        span = ir.sub(last, first)
    else:
        top, below = ir.sub(n, ONE), ir.const(-1)
        first = top if s.start is None else _clipped(t, s.start, n, below, top)
        last = below if s.stop is None else _clipped(t, s.stop, n, below, top)
        span = ir.sub(first, last)
    span = linear(span)
    k = abs(step)
    if k > 1:
        span = ir.apply(structure.FLOORDIV, ir.add(span, ir.const(k - 1)), ir.const(k))
    return first, step, span


def subscript(t: Tracer, a: SymArray, key: Any) -> Any:
    """`a[key]`: an element, a view for integers and slices, a formula for arrays."""
    found = _select(t, a, key)
    if isinstance(found, SymArray) and not found.shape:
        return scalar_of(formula(found), found.kind)
    return found


def _select(t: Tracer, a: SymArray, key: Any) -> SymArray | Selected:
    keys = list(key) if isinstance(key, tuple) else [key]
    keys = [_array_key(t, k) for k in keys]
    if len(keys) == 1 and isinstance(keys[0], SymArray) and keys[0].kind == "b":
        mask = keys[0]
        if len(mask.shape) != len(a.shape):
            raise Refused("a mask and the array that it selects from differ in shape")
        shape = common_shape(t, [a.shape, mask.shape])
        return Selected(broadcast(a, shape), broadcast(mask, shape))
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > len(a.shape):
        raise Refused(f"{used} indices for an array of {len(a.shape)} dimensions")
    if Ellipsis not in keys:
        keys.append(Ellipsis)
    fill = len(a.shape) - used
    expanded: list[Any] = []
    for k in keys:
        expanded += [slice(None)] * fill if k is Ellipsis else [k]
    gathers = [k for k in expanded if isinstance(k, SymArray)]
    together = common_shape(t, [g.shape for g in gathers]) if gathers else ()
    shape: list[Expr] = []
    where: list[Expr] = []
    start: int | None = None
    axes = iter(a.shape)
    for k in expanded:
        if k is None:
            shape.append(ONE)
            continue
        n = next(axes)
        if isinstance(k, slice):
            first, step, count = _slice(t, k, n)
            slot = SLOTS[len(shape)]
            where.append(ir.add(first, ir.mul(ir.const(step), slot)))
            shape.append(count)
        elif isinstance(k, SymArray):
            if start is None:
                start = len(shape)
                shape += together
            elif start + len(together) != len(shape):
                raise Refused("index arrays that are not next to each other")
            g = broadcast(k, together)
            e = placed(formula(g), SLOTS[start:])
            if not (nonnegative(t, e) and nonnegative(t, ir.sub(n, ir.add(e, ONE)))):
                _check_all(t, broadcast(k, together), n)
            where.append(e if nonnegative(t, e) else ir.where(ir.lt(e, ZERO), ir.add(e, n), e))
        else:
            where.append(position(t, k, n))
    if a.cell is not None:
        at = tuple(placed(w, where) for w in a.where)
        return SymArray(tuple(shape), a.kind, cell=a.cell, where=at)
    return SymArray(tuple(shape), a.kind, element=placed(formula(a), where))


def _check_all(t: Tracer, indices: SymArray, n: Expr) -> None:
    """Every element must be an index of an axis of n elements."""
    letters = [t.names.fresh("ijklmnpq"[k]) for k in range(len(indices.shape))]
    e = placed(formula(indices), [index(i) for i in letters])
    inside = ir.and_(ir.le(ir.neg(n), e), ir.lt(e, n))
    location = t.frame.source.location(t.at)
    found: structure.Statement = structure.Check(
        ir.or_(ir.not_(t.path), inside), "index", "an index is out of range", location
    )
    for letter, count in zip(reversed(letters), reversed(indices.shape), strict=True):
        found = Loop(letter, count, (), (found,), t.names.fresh("trips"))
    t.emit(found)


def _array_key(t: Tracer, k: Any) -> Any:
    if isinstance(k, (list, SmallArray, np.ndarray)):
        k = symbolic(t, k)
    if isinstance(k, SymArray) and k.kind == "f":
        if k.cell is not None and (t.shapes is None or t.shapes.get(str(k.cell.leaf.value[0]), (0, ""))[1] == "i"):  # fmt: skip
            if k.cell.leaf.value[0] in t.array_parameters:
                raise Retrace(str(k.cell.leaf.value[0]), integers=True)
        raise Refused("an array of real numbers is used as an index")
    if isinstance(k, Scalar) and not isinstance(k, Whole):
        raise Refused(f"{describe(k)} is used as an index", "an index must be an integer")
    return k


# ---------------------------------------------------------------------- storing
def store(t: Tracer, a: SymArray, key: Any, value: Any) -> None:
    """`a[key] = value`."""
    own_memory(t, a)
    target = _select(t, a, key)
    if isinstance(target, Selected):
        old, new = target.items, value
        if isinstance(value, Selected):
            if formula(value.present) is not formula(target.present):
                raise Refused("elements selected by another condition are stored")
            new = value.items
        new = broadcast(symbolic(t, new), old.shape)
        chosen = ir.where(formula(target.present), _cast(new, a.kind), formula(old))
        _write(t, a, SymArray(a.shape, a.kind, element=chosen))
        return
    new = symbolic(t, value)
    if len(new.shape) > len(target.shape):
        raise Refused("an array is stored in fewer dimensions than it has")
    for n, m in zip(reversed(new.shape), reversed(target.shape), strict=False):
        if n is not ONE:
            same_size(t, m, n)
    _write(t, target, broadcast(new, target.shape))


def _cast(new: SymArray, kind: str) -> Expr:
    if kind != "f" and new.kind == "f":
        raise Refused(
            "a real number is stored in an array of integers",
            "make the array one of floats, such as np.zeros(n)",
        )
    e = formula(new)
    return ir.where(e, ONE, ZERO) if new.kind == "b" and kind != "b" else e


def _write(t: Tracer, target: SymArray, new: SymArray) -> None:
    """Store a formula in a view, element by element or as a whole, under the path."""
    cell = target.cell
    assert cell is not None
    kind = cell.leaf.value[1]
    value = _cast(new, target.kind)
    if target.kind == "b":
        value = ir.where(value, ONE, ZERO)
    own = Type(cell.shape, kind)
    if target.shape and target.where == SLOTS[: len(cell.shape)] and target.shape == cell.shape:
        if t.path is not TRUE:
            value = ir.where(t.path, value, load(cell.leaf, *target.where))
        name = t.names.fresh(structure.name_of(cell.leaf))
        letters = tuple(t.names.fresh("ijklmnpq"[k]) for k in range(len(cell.shape)))
        e = placed(value, [index(i) for i in letters])
        t.emit(Build(name, own, letters, e))
        t.set_cell(cell, array(name, kind))
        return
    if target.shape and _reads(value, cell.leaf):  # as NumPy: all is read before it is stored
        copy = build(t, target.shape, target.kind, placed(formula(new), SLOTS))
        value = formula(copy) if target.kind != "b" else ir.where(formula(copy), ONE, ZERO)

    def nest(k: int, indices: tuple[Expr, ...], source: Expr) -> tuple[list[Any], Expr]:
        name = t.names.fresh(structure.name_of(cell.leaf))
        if k == len(target.shape):
            at = tuple(placed(w, indices) for w in target.where)
            step = Update(name, structure.name_of(source), own, at, placed(value, indices), t.path)
            return [step], array(name, kind)
        letter, inside = t.names.fresh("ijklmnpq"[k]), t.names.fresh(name)
        body, last = nest(k + 1, (*indices, index(letter)), array(inside, kind))
        carried = Carried(inside, own, source, last, name)
        trips = t.names.fresh("trips")
        return [Loop(letter, target.shape[k], (carried,), tuple(body), trips)], array(name, kind)

    statements, last = nest(0, (), cell.leaf)
    for s in statements:
        t.emit(s)
    t.set_cell(cell, last)


def _reads(e: Expr, leaf: Expr) -> bool:
    return any(n is leaf for n in ir.topological((e,)))


# -------------------------------------------------------------------- reductions
def fold(
    t: Tracer,
    a: SymArray,
    axes: Sequence[int] | None,
    start: Expr,
    step: Callable[[Expr, Expr], Expr],
    name: str,
) -> Any:
    """Elements combined one after the other along axes: a number, or an array."""
    rank = len(a.shape)
    gone = sorted(k % rank for k in (range(rank) if axes is None else axes))
    kept = [k for k in range(rank) if k not in gone]
    value = formula(a)
    if a.kind == "b":
        value = ir.where(value, ONE, ZERO)
    outer = [index(t.names.fresh("ijklmnpq"[k])) for k in kept]
    inner = [index(t.names.fresh("ijklmnpq"[k])) for k in gone]
    at = [ZERO] * rank
    for k, leaf in zip((*kept, *gone), (*outer, *inner), strict=True):
        at[k] = leaf
    kind = "i" if a.kind in "ib" and structure.kind_of(start) == "i" else "f"
    number = Type((), kind)

    def nest(k: int, before: Expr) -> tuple[tuple[Any, ...], Expr]:
        if k == len(gone):
            return (), step(before, placed(value, at))
        inside = structure.scalar(t.names.fresh(name), kind)
        body, after = nest(k + 1, inside)
        result = t.names.fresh(name)
        carried = Carried(str(inside.value), number, before, after, result)
        loop = Loop(str(inner[k].value), a.shape[gone[k]], (carried,), body, t.names.fresh("trips"))
        return (loop,), structure.scalar(result, kind)

    body, total = nest(0, start)
    if not kept:
        for s in body:
            t.emit(s)
        return scalars.whole(total) if kind == "i" else Real(total)
    shape = tuple(a.shape[k] for k in kept)
    result = t.names.fresh(name)
    t.emit(Build(result, Type(shape, kind), tuple(str(i.value) for i in outer), total, body))
    return view_of(Cell(array(result, kind), shape), kind)


def matmul(t: Tracer, a: SymArray, b: SymArray) -> Any:
    """`a @ b` of vectors and matrices."""
    if not (1 <= len(a.shape) <= 2 and 1 <= len(b.shape) <= 2):
        raise Refused("'@' of arrays of more than two dimensions", "use np.einsum")
    same_size(t, a.shape[-1], b.shape[0])
    rows, columns = a.shape[:-1], b.shape[1:]
    rank = len(rows) + len(columns)
    k = SLOTS[rank]
    x = placed(formula(a), [*SLOTS[: len(rows)], k])
    y = placed(formula(b), [k, *SLOTS[len(rows) : rank]])
    product = SymArray((*rows, *columns, a.shape[-1]), "f", element=ir.mul(x, y))
    return fold(t, product, (-1,), ZERO, ir.add, "total")


def binary(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    if op is ast.MatMult:
        return matmul(t, symbolic(t, a), symbolic(t, b))
    return elementwise(t, lambda x, y: scalars.binary(op, x, y), a, b)
