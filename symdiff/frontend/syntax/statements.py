"""Running statements. Each handler takes the tracer and a node; statements without a handler are
refused."""

from __future__ import annotations

import ast
import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.frontend import captures
from symdiff.frontend.arrays import lists, selecting, storing, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library import of_numba, registry
from symdiff.frontend.library.complex_numbers import complex_calls
from symdiff.frontend.loops import appended_lists, slots
from symdiff.frontend.syntax import (
    containers,
    expressions,
    for_while,
    match_case,
    operators,
    records,
    special_methods,
    try_except,
)
from symdiff.frontend.syntax.expressions import evaluate
from symdiff.frontend.trace import closures, demands, extents, implied, raised, scalars
from symdiff.frontend.trace.aliases import shown
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    UNBOUND,
    UNREACHED,
    Axes,
    Cond,
    Integral,
    Listed,
    Masked,
    Record,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    SymArray,
    Whole,
    describe,
    is_array_pair,
    is_complex,
    nest_of,
)
from symdiff.ir import FALSE, TRUE, loop_program


def run_block(t: Tracer, body: Sequence[ast.stmt]) -> None:
    """Run statements in order; after one that may have left the block, the rest
    runs in a region."""
    open_regions = []
    for statement in body:
        t.step(statement)
        handler = STATEMENTS.get(type(statement))
        if handler is None:
            message, hint = REFUSED.get(type(statement), ("this statement is not supported", ""))
            t.refuse(message, hint)
        handler(t, statement)
        skip = t.frame.flow.skips()
        if skip is TRUE or statement is body[-1]:
            break
        if skip is not FALSE:
            open_regions.append(t.open(skip))
    for region in reversed(open_regions):
        t.close(region)


# ------------------------------------------------------------------ assignment
def _assign(t: Tracer, node: ast.Assign) -> None:
    value = _bound_to(t, node.value, node.targets)
    for target in node.targets:
        assign(t, target, value)


def _annotated(t: Tracer, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(t, node.target, _bound_to(t, node.value, [node.target]))


def _bound_to(t: Tracer, value: ast.expr, targets: Sequence[ast.expr]) -> Any:
    """The assigned value; names may be None on some path."""
    names = all(isinstance(target, ast.Name) for target in targets)
    return expressions.undecided(t, value) if names else evaluate(t, value)


def assign(t: Tracer, target: ast.expr, value: Any) -> None:
    """Bind a target: a name, a pattern of targets, an element."""
    match target:
        case ast.Name():
            if isinstance(value, SymArray):
                value.memory.name = value.memory.name or target.id.strip("_")
            for a in slots.arrays(value):
                symbolic.write_down_costly(t, a, target.id)
            closures.bind(t, target.id, value)
        case ast.Tuple() | ast.List():
            _unpack(t, target, value)
        case ast.Subscript():
            owner = evaluate(t, target.value)
            index = evaluate(t, target.slice)
            t.at = target
            store(t, owner, index, value)
        case ast.Attribute():
            owner = evaluate(t, target.value)
            t.at = target
            if isinstance(owner, Record):
                records.assign(t, owner, target.attr, value)
                return
            no_such = isinstance(owner, (Scalar, SymArray, SmallArray, int))
            no_such = no_such and not hasattr(np.ndarray, target.attr)
            raise Refused(
                f"attribute '{target.attr}' is assigned",
                "a function to differentiate has no side effects; use local names",
                raises=AttributeError if no_such else None,
            )
        case _:
            t.refuse("this assignment is not supported", node=target)


def _unpack(t: Tracer, target: ast.Tuple | ast.List, value: Any) -> None:
    t.at = target
    starred = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
    wanted = len(target.elts)
    if starred and (parts := _around(t, value, starred[0], wanted - 1 - starred[0])) is not None:
        for e, v in zip(target.elts, parts, strict=True):
            assign(t, e.value if isinstance(e, ast.Starred) else e, v)
        return
    values = _parts(t, target, value)
    if starred and len(values) >= wanted - 1:
        i, extra = starred[0], len(values) - wanted + 1
        values = [*values[:i], t.own(values[i : i + extra]), *values[i + extra :]]
    if len(values) != wanted:
        if isinstance(value, Axes) and wanted > len(values):
            selecting.more_axes(t, value.of, wanted, "its shape is unpacked")
        t.refuse(f"{len(values)} values are unpacked into {wanted} names")
    for e, v in zip(target.elts, values, strict=True):
        assign(t, e.value if isinstance(e, ast.Starred) else e, v)


def _around(t: Tracer, value: Any, before: int, after: int) -> list[Any] | None:
    """Elements of an array of unknown size before and after a starred name, with a list of the
    others between them; None for other values."""
    owner = value
    if isinstance(value, (Listed, Selected)):
        value = value.items if isinstance(value, Listed) else symbolic.symbolic(t, value)
    if not isinstance(value, SymArray) or not value.shape or value.shape[0].op is ir.CONST:
        return None
    least = ir.const(before + after)
    t.require(ir.le(least, value.shape[0]), "value", "an array has too few elements to unpack")
    between = selecting.subscript(t, value, slice(before, -after if after else None))
    first = [containers.subscript(t, owner, k) for k in range(before)]
    last = [containers.subscript(t, owner, k) for k in range(-after, 0)]
    nest = "l" + nest_of(owner)[1:]
    return [*first, lists.copied(t, symbolic.snapshot(between), owner, nest=nest), *last]


def _parts(t: Tracer, target: ast.Tuple | ast.List, value: Any) -> list[Any]:
    """The values to unpack; for an array as many as there are names."""
    owner = value
    if isinstance(value, (Listed, Selected)):
        value = value.items if isinstance(value, Listed) else symbolic.symbolic(t, value)
    if not isinstance(value, SymArray) or not value.shape:
        return containers.elements(t, value)
    size, count = value.shape[0], len(target.elts)
    if size.op is ir.CONST:
        return containers.elements(t, owner)
    extents.same_size(t, size, ir.const(count))
    return [containers.subscript(t, owner, k) for k in range(count)]


def store(t: Tracer, owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    if is_complex(owner):
        complex_calls.store(t, owner, index, value)
        return
    if is_complex(value) and isinstance(owner, (SymArray, SmallArray)):
        raise Refused(
            "a complex number is stored in an array of real numbers",
            "make the array one of complex numbers, such as np.zeros(n, dtype=complex)",
        )
    if isinstance(owner, (SymArray, SmallArray)) and _is_slice(index):
        demands.array_in_call(value, "it is stored in a slice")
    if isinstance(owner, SymArray):
        storing.store(t, owner, index, value)
    elif isinstance(owner, SmallArray):
        demands.used_as_array(owner, "its element is assigned", containers.rank_of(index))
        if isinstance(value, (SymArray, Selected, Listed)):
            raise Retrace(what="an array is stored in a small array")
        if selecting.is_symbolic(index):
            raise Retrace(what="a small array is changed at an index not known when traced")
        t.mutate(owner)
        arrays.store(owner, index, value)
    elif isinstance(owner, Listed) and not isinstance(index, slice):
        lists.store(t, owner, index, value)
    elif isinstance(owner, Selected):
        raise Refused(
            "an element of a selection by a condition is assigned",
            "make an array of it first: np.array(...)",
        )
    elif isinstance(owner, (list, dict)):
        t.mutate(owner)
        if isinstance(owner, list) and isinstance(index, (Whole, Integral)):
            raise Refused(
                "an element of a list is assigned at an index that is not known when traced",
                "use an array",
            )
        key = containers.key(index) if isinstance(owner, dict) else containers.position(index)
        if isinstance(key, slice):
            value = containers.elements(t, value)
        owner[key] = value
    elif special_methods.special(t, owner, "__setitem__", index, value) is NotImplemented:
        demands.used_as_array(owner, "its element is assigned", containers.rank_of(index))
        raise Refused(
            f"an element of {describe(owner)} is assigned",
            raises=TypeError if isinstance(owner, Scalar) else None,
        )


def _is_slice(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(k is Ellipsis or isinstance(k, slice) for k in parts)


def _augmented(t: Tracer, node: ast.AugAssign) -> None:
    """`a += b`; lists and arrays change in place, as in Python."""
    target, op = node.target, type(node.op)
    if isinstance(target, ast.Name):
        old = expressions.load(t, target)
        value = evaluate(t, node.value)
        t.at = node
        if isinstance(old, Scalar) and _aliased(t, target.id, old):
            demands.changed_in_call(old)
        closures.bind(t, target.id, t.note(_changed(t, op, old, value), node))
        return
    assert isinstance(target, (ast.Subscript, ast.Attribute))
    owner = evaluate(t, target.value)
    if isinstance(target, ast.Attribute):
        if not isinstance(owner, Record):
            assign(t, target, None)
        old = records.attribute(t, owner, target.attr)
        value = evaluate(t, node.value)
        t.at = node
        if isinstance(old, Scalar) and _aliased(t, "", old):
            demands.changed_in_call(old)
        records.assign(t, owner, target.attr, t.note(_changed(t, op, old, value), node))
        return
    index = evaluate(t, target.slice)
    value = evaluate(t, node.value)
    t.at = node
    old = containers.subscript(t, owner, index)
    if isinstance(owner, Listed) and isinstance(old, SymArray):
        t.note(_changed(t, op, old, value), node)  # the element itself is changed
        return
    if isinstance(owner, (list, dict)) or special_methods.class_of(owner) is not None:
        if isinstance(old, Scalar) and _aliased(t, "", old):
            demands.changed_in_call(old)
        store(t, owner, index, t.note(_changed(t, op, old, value), node))
        return
    new = operators.binary(t, op, old, value)
    if not is_complex(new):
        storing.must_hold(t, old, new)
    store(t, owner, index, t.note(new, node))


def _changed(t: Tracer, op: type[ast.operator], old: Any, value: Any) -> Any:
    """The value of a name after `old op= value`: lists and arrays themselves, changed."""
    if isinstance(old, list) and op is ast.Add:
        more = containers.elements(t, value)
        t.mutate(old)
        old.extend(more)
        return old
    if isinstance(old, dict) and isinstance(value, dict) and op is ast.BitOr:
        t.mutate(old)
        old.update(value)
        return old
    if isinstance(old, (Selected, Masked)) and shown(t.frame, old) > 1:
        raise Refused(
            "a selection by a condition that another name shows is changed",
            "make another array of it: a = a + ...",
        )
    new = special_methods.in_place(t, op, old, value)
    if new is not NotImplemented:
        return new
    new = operators.binary(t, op, old, value)
    if is_complex(old):
        if not is_array_pair(old):
            return new
        complex_calls.store(t, old, Ellipsis, new)
        return old
    storing.must_hold(t, old, new)
    if isinstance(old, SymArray):
        storing.store(t, old, Ellipsis, new)
        return old
    if isinstance(old, SmallArray):
        demands.array_in_call(old, demands.CHANGED)
        t.mutate(old)
        arrays.store(old, Ellipsis, new)
        return old
    demands.note_change(t, old)
    return new


def _aliased(t: Tracer, name: str, value: Scalar) -> bool:
    """Whether another name has the value too."""

    def shows(v: Any) -> bool:
        return v is value or (isinstance(v, (list, tuple)) and any(map(shows, v)))

    frame, own = t.frame, name
    while True:
        if any(n != own and shows(v) for n, v in frame.env.items()):
            return True
        if frame.caller is None:
            return False
        frame, own = frame.caller[0], ""


# --------------------------------------------------------------------- branches
def _if(t: Tracer, node: ast.If) -> None:
    c = expressions.condition(t, node.test)
    if isinstance(c, bool):
        run_block(t, node.body if c else node.orelse)
        return
    t.either(c, lambda: run_block(t, node.body), lambda: run_block(t, node.orelse))


def _return(t: Tracer, node: ast.Return) -> None:
    _leave(t, None if node.value is None else expressions.undecided(t, node.value))


def _leave(t: Tracer, value: Any) -> None:
    """Return a value."""
    flow = t.frame.flow
    if t.path is not t.frame.path:
        value = t.freeze(value)
    flow.returned, flow.value = TRUE, value


def _break(t: Tracer, node: ast.Break) -> None:
    t.frame.flow.broken = TRUE


def _continue(t: Tracer, node: ast.Continue) -> None:
    t.frame.flow.continued = TRUE


def _assert(t: Tracer, node: ast.Assert) -> None:
    c = expressions.condition(t, node.test)
    t.at = node
    if raised.journal.get() is not None:
        raised.note(t, AssertionError, scalars.negate(c))
        t.facts = t.facts.union(implied.consequences(c.expr)) if isinstance(c, Cond) else t.facts
        return
    if c is False:
        if t.path is TRUE:
            t.refuse("this assertion is known to be false")
        c = Cond(FALSE)
    if c is True:
        return
    if all(e in t.parameter_sizes for e in loop_program.leaves((c.expr,))):
        t.require(c.expr, "value", f"this does not hold: {t.text(c.expr)}")
    else:
        message = f"this does not hold: {t.text(c.expr)}"
        held = ir.or_(ir.not_(t.path), c.expr)
        t.emit(t.check(held, "domain", message, node))
    t.assumptions.append(ir.or_(ir.not_(t.path), c.expr))
    t.facts = t.facts.union(implied.consequences(c.expr))


def _raise(t: Tracer, node: ast.Raise) -> None:
    """An error under a condition: it is raised in the call, like that of `assert`."""
    name = ""
    if node.exc is not None:
        exc = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = t.frame.source.segment(exc)
        if raised.journal.get() is not None and isinstance(kind := evaluate(t, exc), type):
            raised.note(t, kind, True)
            t.frame.flow.returned, t.frame.flow.raised, t.frame.flow.value = TRUE, True, UNREACHED
            return
    if t.path is TRUE and not t.levels:
        said = _said(t, node)
        text = f"the function raises {name}".rstrip() + " when traced" + (said and f": {said}")
        t.refuse(text, "the error does not depend on the values of real arguments")
    leaves = loop_program.leaves((t.path,))
    kind = "value"
    if not leaves or any(e.op is ir.VAR for e in leaves):
        kind = "domain"
    elif "IndexError" in name:
        kind = "index"
    fine = ir.not_(t.path)
    t.emit(t.check(fine, kind, _said(t, node) or name or "an error", node))
    t.assumptions.append(fine)
    t.locations[fine] = t.users(node)
    t.frame.flow.returned, t.frame.flow.raised = TRUE, True


def _said(t: Tracer, node: ast.Raise) -> str:
    """The message of an error; if it is unknown when traced, its source."""
    if not isinstance(node.exc, ast.Call) or not node.exc.args:
        return ""
    given = node.exc.args[0]
    if not isinstance(given, ast.JoinedStr):
        return _known_text(t, given) or ""
    parts = [(v, _known_text(t, ast.copy_location(ast.JoinedStr([v]), v))) for v in given.values]
    return "".join(t.frame.source.segment(v) if text is None else text for v, text in parts)


def _known_text(t: Tracer, node: ast.expr) -> str | None:
    """The text of a message; None if it depends on values unknown when traced."""
    count, at = len(t.block), t.at
    try:
        found = evaluate(t, node)
    except (SymdiffError, Refused, Retrace):
        found = None
    del t.block[count:]
    t.at = at
    return str(found) if isinstance(found, (str, int, float)) else None


# ------------------------------------------------------------------------ others
def _expression(t: Tracer, node: ast.Expr) -> None:
    if (grown := t.growing.get(node)) is not None:
        assert isinstance(node.value, ast.Call)
        appended_lists.append(t, grown, evaluate(t, node.value.args[0]))
        return
    if not isinstance(node.value, ast.Constant):
        evaluate(t, node.value)


def _pass(t: Tracer, node: ast.Pass) -> None:
    pass


def _function(t: Tracer, node: ast.FunctionDef) -> None:
    decorators = [_decorator(t, d) for d in node.decorator_list]
    made: Any = closures.Closure.make(t, node)
    for at, decorator in reversed([*zip(node.decorator_list, decorators, strict=True)]):
        t.at = at
        made = made if decorator is None else t.call(decorator, (made,), {})
    closures.bind(t, node.name, made)


_LEAVE = (functools.cache, functools.lru_cache, functools.wraps)
"""Decorators, or their makers, that return an equivalent function."""


def _decorator(t: Tracer, node: ast.expr) -> Any:
    """A decorator; None for one that returns an equivalent function, whatever its arguments."""
    maker = node.func if isinstance(node, ast.Call) else node
    if isinstance(maker, (ast.Name, ast.Attribute)):
        found = evaluate(t, maker)
        if of_numba.leaves(found) or found in _LEAVE:
            return None
    return evaluate(t, node)


def _import(t: Tracer, node: ast.Import) -> None:
    for alias in node.names:
        module = _module(t, alias.name)
        if alias.asname is None:
            module = importlib.import_module(alias.name.partition(".")[0])
        closures.bind(t, alias.asname or alias.name.partition(".")[0], module)


def _import_from(t: Tracer, node: ast.ImportFrom) -> None:
    module = _module(t, "." * node.level + (node.module or ""))
    for alias in node.names:
        if not hasattr(module, alias.name):
            t.refuse(f"cannot import '{alias.name}' from '{node.module}'")
        found = getattr(module, alias.name)
        captures.attribute(module, alias.name, found)
        closures.bind(t, alias.asname or alias.name, t.wrap(found))


def _module(t: Tracer, name: str) -> Any:
    """A module that a function imports, imported as Python does when it runs."""
    if name.partition(".")[0] in registry.MODULE_HINTS:
        t.refuse(f"'{name}' is imported inside of the function", "import it at the top of the file")
    try:
        return importlib.import_module(name, t.frame.outer("__package__") or None)
    except ImportError as error:
        t.refuse(f"ImportError when traced: {error}")


def _try(t: Tracer, node: ast.Try) -> None:
    try_except.attempt(t, node, run_block)


_MANAGERS = (np.errstate, np.printoptions, warnings.catch_warnings)
"""Context managers of a 'with' that change no number in its block."""


def _with(t: Tracer, node: ast.With) -> None:
    for item in node.items:
        call = item.context_expr
        manager = evaluate(t, call.func) if isinstance(call, ast.Call) else None
        if manager not in _MANAGERS or item.optional_vars is not None:
            t.refuse(*REFUSED[ast.With], node)
    run_block(t, node.body)


def _delete(t: Tracer, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            expressions.load(t, target)  # refused if not bound
            closures.bind(t, target.id, UNBOUND)
            continue
        owner = evaluate(t, target.value) if isinstance(target, ast.Subscript) else None
        if isinstance(target, ast.Subscript) and special_methods.method(owner, "__delitem__"):
            special_methods.special(t, owner, "__delitem__", evaluate(t, target.slice))
            continue
        if not isinstance(owner, (list, dict)):
            t.refuse("'del' of what is no name and no element of a list or dict", node=target)
        assert isinstance(target, ast.Subscript)
        index = evaluate(t, target.slice)
        key = containers.position(index) if isinstance(owner, list) else containers.key(index)
        if isinstance(owner, dict):
            containers.present(owner, key)
        t.mutate(owner)
        del owner[key]


Handler = Callable[[Tracer, Any], None]

STATEMENTS: dict[type[ast.stmt], Handler] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.Return: _return,
    ast.For: for_while.run_for,
    ast.While: for_while.run_while,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Expr: _expression,
    ast.Pass: _pass,
    ast.FunctionDef: _function,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.With: _with,
    ast.Try: _try,
    ast.Delete: _delete,
    ast.Nonlocal: closures.declare,
    ast.Global: closures.declare_global,
    ast.Match: lambda t, node: match_case.run(t, node, run_block),
}

REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.TryStar: try_except.REFUSED,
    ast.With: (
        "'with' is not supported",
        "only np.errstate and warnings.catch_warnings are; do I/O outside",
    ),
    ast.ClassDef: (
        "a class is defined inside of the function",
        "define it at the top of the file",
    ),
    ast.AsyncWith: ("'async' is not supported", ""),
    ast.AsyncFor: ("'async' is not supported", ""),
    ast.AsyncFunctionDef: ("'async' is not supported", ""),
}
"""Statements that are refused, with the reason and a hint."""
