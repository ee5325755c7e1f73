"""Capture: a plain Python function of real numbers becomes a `Program`.

The tracer walks the function's syntax tree with real Python values where it can and
symbols where it must. For a condition on symbols it runs both sides and merges them; loops
over known values are unrolled; calls are inlined.

Before: `def f(x): y = 2*x if x > 0 else 0.0; return y + 1`
After: outputs `where(0 < x, 2*x, 0) + 1` of the one parameter `x`
Requires: a function with source whose static parameters have values
Ensures: `symdiff.ir.verify.scalar.faults` finds nothing in the program
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import Location, SizesDecideError, SymdiffError, UnsupportedError
from symdiff.frontend import captures, per_element, pytrees
from symdiff.frontend.arrays import casting, symbolic
from symdiff.frontend.interpreter import Interpreter
from symdiff.frontend.parameters import Arrays, Shapes
from symdiff.frontend.pytrees import Trees, class_of
from symdiff.frontend.scalarise import scalarise
from symdiff.frontend.signature import Parameters, python_function
from symdiff.frontend.source import Source
from symdiff.frontend.syntax import calls
from symdiff.frontend.trace.counted_truth import of_a_kind
from symdiff.frontend.trace.defined import masked, needed
from symdiff.frontend.trace.poles import denominators
from symdiff.frontend.trace.recorder import Retrace, active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.unify import unified
from symdiff.frontend.trace.values import (
    TRUTH_OF_ARRAY,
    Listed,
    Record,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    SymArray,
    Unlisted,
    as_real,
    describe,
    domains,
    join,
    of_integers,
    python_kind,
    readings,
    unsure,
)
from symdiff.frontend.trace.wide_integers import checked
from symdiff.ir import TRUE, Expr, functions, loop_program, prune
from symdiff.ir.loop_program import LoopProgram, Stretches
from symdiff.ir.plain import Reading
from symdiff.ir.program import NONE_OF_KIND, Made, Program, Tree, fields_of, nested
from symdiff.process.recursion import deep_recursion

ELEMENTWISE = "elementwise"
"""How a function that is proved elementwise takes arrays."""

SINGLE = "an array of one element has a truth in Python; pass a number, or use np.where"
"""The message where the shape or kind of a result depends on that."""

RECURSION_LIMIT = 40_000
"""Python frames that a trace may nest: calls inlined in calls, deep expressions."""


def capture(
    fun: Callable[..., Any],
    static: Mapping[str, Any] | None = None,
    shapes: Shapes | None = None,
    trees: Trees | None = None,
    wrt: Iterable[str | int] | None = None,
) -> Program | LoopProgram:
    """Trace a function of real scalars and arrays.

    Parameters
    ----------
    fun : a Python function whose source can be read; or a `functools.partial` of one, a
        bound method, an object with a Python `__call__`.
    static : values of its static parameters; those left out keep their default.
    shapes : dimensions and kinds of the real arguments of the call, and known sizes of axes.
        They decide the type of each parameter. If None, that is guessed from annotations
        and from how parameters are used.
    trees : for parameters that are containers, how they nest and the names of their leaves;
        `shapes` are then those of the leaves.
    wrt : parameters to differentiate by, which are real even with the default None.

    Returns
    -------
    The function as a DAG of exact real operations, specialised on `static`: a function of numbers,
    also if it is elementwise in arrays, or uses elements of arrays only. Otherwise, with arrays or
    loops, a `LoopProgram` program for all sizes.

    Raises
    ------
    UnsupportedError : at the place of Python that symdiff cannot see through.
    """
    given = dict(static or {})
    parameters = Parameters(fun, given, wrt)
    trees = trees or {}
    plan = Arrays.of_call(parameters, shapes, leaves(parameters, trees))
    with deep_recursion(RECURSION_LIMIT):
        while True:
            t = Interpreter()
            try:
                found = _capture(t, fun, parameters, given, plan, trees)
                return plan.noted(found)
            except UnsupportedError as error:
                if plan.loops:
                    plan = plan.after(Retrace(loops=False))
                    continue
                if t.decisive and shapes is not None:
                    sizes = Stretches((), plan.axes(), decisive=tuple(t.decisive))
                    raise SizesDecideError(error, sizes) from None
                if t.took_single:
                    raise UnsupportedError(
                        error.message, error.location, "; ".join(filter(None, (error.hint, SINGLE)))
                    ) from None
                known = t.numbers_only
                if error.message.startswith(TRUTH_OF_ARRAY):
                    known = "a condition", TRUTH_OF_ARRAY, True
                if known is None or not error.message.startswith(known[1]):
                    raise
                why, _, single = known
                place = error.location
                numbers = None if trees else plan.of_numbers(parameters, why, place, single)
                if numbers is None:
                    raise
                plan = numbers
            except Retrace as use:
                before, plan = plan, plan.after(use)
                if plan == before:
                    raise UnsupportedError(
                        ": ".join(filter(None, ("a value is not known to be an array", use.what))),
                        use.location,
                        ""
                        if shapes
                        else 'annotate parameters that are arrays, such as x: Array["n"]',
                    ) from None


def leaves(parameters: Parameters, trees: Trees) -> tuple[str, ...]:
    """The numbers and arrays that a call passes, in order: parameters, or leaves of them."""
    return tuple(
        leaf for name in parameters.real for leaf in (trees[name][1] if name in trees else (name,))
    )


def _capture(
    t: Tracer, fun: Callable[..., Any], parameters: Parameters, given: Mapping[str, Any],
    plan: Arrays, trees: Trees,
) -> Program | LoopProgram:  # fmt: skip
    """One attempt, with the arrays that are known so far."""
    frame, node = calls.function_frame(python_function(fun))
    captures.of_function(fun, python_function(fun))
    t.frame, t.at = frame, node
    real = leaves(parameters, trees)
    plan.prepare(t, (*parameters.names, *real))
    t.floats = parameters.numbers
    t.parameter_of = {leaf: name for name, (_, named) in trees.items() for leaf in named}
    values: dict[str, Any] = {}
    taken = plan.values(real)
    for name in parameters.names:
        if name in trees:
            nested, named = trees[name]
            values[name] = pytrees.traced(nested, map(taken.__getitem__, named))
            continue
        if name in parameters.real:
            values[name] = taken[name]
            continue
        if name not in given and name not in parameters.defaults:
            raise UnsupportedError(
                f"static parameter '{name}' of '{parameters.name}' has no value",
                frame.source.location(node),
                "give it a value in the call",
            )
        try:
            values[name] = t.wrap(given.get(name, parameters.defaults.get(name)))
        except Refused as refusal:
            message = f"static parameter '{name}': {refusal.message}"
            raise UnsupportedError(message, frame.source.location(node), refusal.hint) from None

    def run() -> Any:
        if parameters.direct:
            frame.env = values
            return calls.run(t, frame, node)
        return calls.call(t, fun, *parameters.arguments(values))

    token, whole, known = active.set(t), of_integers.set(plan.of_integers), domains.set({})
    divided, forms = denominators.set({}), readings.set(Reading())
    mixed = unsure.set(set() if plan.of_integers else None)
    try:
        value = _located(t, run)
        t.frame = frame
        last = node.body[-1] if isinstance(node.body, list) else node
        outputs: list[Any] = []
        kinds: list[str] = []
        try:
            if plan.lazy:
                value = t.resolve(t.wrap(value), "what it returns")
                numbers = per_element.of_numbers(t, value, plan.arrays)
                if t.rows_of_lists or numbers is None:
                    t.must_not_be_lazy()
                else:
                    for v in numbers[0]:
                        of_a_kind(t, v)
                    _no_short_integers(t, map(python_kind, numbers[0]))
                    return _elements(t, parameters.name, real, plan, numbers)
            tree = _flatten(t, value, outputs, kinds)
            if unsure.get() == {"mixed", "stored"}:
                raise Refused(casting.ROUNDED)
            _no_short_integers(t, kinds)
            if plan.of_integers:
                return Program(parameters.name, real, (), tree, kinds=_kinds(t, kinds))
            if plan.numbers is not None and _has_arrays(tree):
                raise Refused(f"an array; but {plan.why()}")
        except Refused as refusal:
            raise UnsupportedError(
                f"'{parameters.name}' returns {refusal.message}",
                frame.source.location(last),
                refusal.hint,
            ) from None
    finally:
        active.reset(token)
        of_integers.reset(whole)
        domains.reset(known)
        denominators.reset(divided)
        readings.reset(forms)
        unsure.reset(mixed)
    if plan.arrays or plan.whole_numbers or not all(map(_asserts, t.block)):
        if t.of_python is not None:
            raise t.of_python
        found = replace(
            _loop_program(t, parameters.name, real, plan, outputs, tree),
            kinds=tuple(kinds),
            by_rows=t.by_rows,
            changes=tuple(sorted(t.changes - {""})),
        )
        return found if plan.shapes is None or t.by_rows else _of_elements(t, found, plan)
    return _program(t, parameters.name, real, outputs, tree, kinds)


def _no_short_integers(t: Tracer, kinds: Iterable[str]) -> None:
    """Refuse to return integers where the function made some of 32 bits."""
    if t.narrowed is not None and any(k.endswith("i") for k in kinds):
        raise t.narrowed


def _kinds(t: Tracer, found: Iterable[str]) -> tuple[str, ...]:
    """The kinds of results of arguments that are traced as integers; plus an integer where only
    Python can decide whether a power of integers is an error."""
    return (*found, "i") if t.integer_powers else tuple(found)


def _located(t: Tracer, run: Callable[[], Any]) -> Any:
    """Run the function; any error names the user's line."""
    try:
        return run()
    except (SymdiffError, Retrace):
        raise
    except Refused as refusal:
        if isinstance(refusal, Unlisted):
            t.decisive.update(dict.fromkeys(t.parameter_sizes))
        raise t.error(refusal.message, refusal.hint) from None
    except RecursionError:
        raise t.error("this is nested too deeply to be traced") from None
    except Exception as error:
        text = str(error) or "no message"
        raise t.error(f"{type(error).__name__} when traced: {text}") from error


# -------------------------------------------------------------------- the program
def _flatten(t: Tracer, value: Any, outputs: list[Any], kinds: list[str]) -> Tree:
    """Number the real values in the result of the function, and record their kinds in Python."""
    value = t.resolve(t.wrap(value), "what it returns")
    if isinstance(value, SymArray) and not value.shape:
        value = symbolic.element(value, ())
    if isinstance(value, (Scalar, int)):
        value = of_a_kind(t, value)
        outputs.append(as_real(value))
        kinds.append(python_kind(value))
        return len(outputs) - 1
    if isinstance(value, dict) and type(value) is not dict:
        raise Refused(describe(value), "return dict(...) of it")
    if isinstance(value, (tuple, list)):
        parts = [_flatten(t, v, outputs, kinds) for v in value]
        if hasattr(value, "_fields"):
            return Made.of(type(value), parts)
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Record) and (made_of := class_of(value)) is not None:
        parts = [_flatten(t, value.fields[n], outputs, kinds) for n in fields_of(made_of)]
        return Made.of(made_of, parts)
    if isinstance(value, dict):
        return {k: _flatten(t, v, outputs, kinds) for k, v in value.items()}
    if isinstance(value, SmallArray):
        first = len(outputs)
        outputs += [as_real(v) for v in value.items.ravel()]
        kinds += [value.kind] * value.items.size
        places = np.arange(first, len(outputs)).reshape(value.items.shape)
        return places if places.size else places.astype(NONE_OF_KIND.get(value.kind, places.dtype))
    nest = value.nest if isinstance(value, (Listed, Selected)) else ""
    if isinstance(value, (Listed, Selected)):
        value = value.items if isinstance(value, Listed) else symbolic.symbolic(t, value)
    if isinstance(value, SymArray):
        if not nest:
            symbolic.must_have_rows(t, value)
        outputs.append(symbolic.leaf_of(t, value))
        kinds.append(nest + value.kind if nest else value.kind)
        return len(outputs) - 1
    if value is None:
        raise Refused("nothing", "return a number, or a tuple, list, dict or array of numbers")
    raise Refused(describe(value), "return a number, or a tuple, list, dict or array of numbers")


def _loop_program(
    t: Tracer, name: str, real: tuple[str, ...], plan: Arrays, outputs: list[Any], tree: Tree
) -> LoopProgram:
    """The program with its statements; of the numbers, only what arrays need."""
    roots = tuple(
        masked(v.expr, v.defined, t.facts) if isinstance(v, Scalar) else v for v in outputs
    )
    given = [plan.parameter(n) for n in real]
    params, block, roots, met = unified(given, list(t.checks.values()), tuple(t.block), roots)
    block = prune.pruned(block, roots)
    inside = (e for s in loop_program.walk(block) for e in loop_program.expressions(s))
    locations = met | _locate(_anywhere(t.locations), (*roots, *inside), _at_any_index)
    used = loop_program.free(block, roots)
    data = {n: v for n, v in t.data.items() if n in used}
    stretches = Stretches(tuple(t.stretches), plan.axes(), tuple(t.singles))
    found = LoopProgram(name, params, block, roots, tree, data, locations, stretches)
    return checked(replace(found, of_derivatives=t.of_derivatives, orders=t.orders, room=t.room))


def _asserts(s: loop_program.Statement) -> bool:
    """Whether a statement is an assertion; programs of numbers have assumptions instead."""
    return isinstance(s, loop_program.Check) and s.error == "domain"


def _has_arrays(tree: Tree) -> bool:
    """Whether numbers are returned in an array."""
    if isinstance(tree, dict):
        return any(map(_has_arrays, tree.values()))
    if isinstance(tree, (tuple, list)):
        return any(map(_has_arrays, tree))
    return isinstance(tree, np.ndarray)


def _elements(
    t: Tracer, name: str, real: tuple[str, ...], plan: Arrays, numbers: per_element.Numbers
) -> Program:
    """An elementwise function of arrays, as one of numbers."""
    outputs, tree, reads = numbers
    if plan.of_integers:
        return Program(name, real, (), tree, kinds=_kinds(t, map(python_kind, outputs)))
    noted = list(t.locations)
    known = dict(zip(ir.substitute(tuple(noted), reads), t.locations.values(), strict=True))
    t.slopes = dict.fromkeys(ir.substitute(tuple(t.slopes), reads))
    t.locations = known
    program = _program(t, name, real, outputs, tree, [python_kind(v) for v in outputs])
    stretches = Stretches(tuple(t.stretches), plan.axes(), tuple(t.singles))
    return replace(program, stretches=stretches, taken=ELEMENTWISE)


def _of_elements(t: Tracer, found: LoopProgram, plan: Arrays) -> Program | LoopProgram:
    """The program of numbers of an elementwise program; any other program unchanged."""
    if _has_arrays(found.tree) or nested(found.kinds):
        return found
    if not per_element.only_stretches(t, plan.arrays.values()):
        return found
    numbers = scalarise(found)
    if numbers is None:
        return replace(found, by_element=scalarise(_of_what_is_read(found)) is not None)
    numbers = replace(numbers, taken=ELEMENTWISE, changes=found.changes)
    if numbers.block or numbers.data:
        return numbers
    params = tuple(p.name for p in numbers.params)
    return Program(numbers.name, params, numbers.outputs, numbers.tree, (), tuple(t.assumptions),
                   numbers.locations, numbers.stretches, ELEMENTWISE, changes=found.changes,
                   of_derivatives=found.of_derivatives)  # fmt: skip


def _of_what_is_read(program: LoopProgram) -> LoopProgram:
    """The program without the arrays that it does not read."""
    used = loop_program.free(program.block, program.outputs)
    return replace(program, params=tuple(p for p in program.params if p.name in used))


def _program(
    t: Tracer, name: str, params: tuple[str, ...], outputs: list[Scalar], tree: Tree,
    kinds: Sequence[str],
) -> Program:  # fmt: skip
    count = len(outputs)
    known = _of_reals((*(v.expr for v in outputs), *(v.defined for v in outputs), *t.assumptions))
    roots, assumptions = known[:count], tuple(dict.fromkeys(known[2 * count :]))
    executed = TRUE
    for held in t.executions:
        if {v.value for v in ir.variables((held,))} <= set(params):
            executed = join(executed, held)
    each = [needed(join(d, executed), assumptions) for d in known[count : 2 * count]]
    conditions = tuple(dict.fromkeys(c for own in each for c in own))
    alike = all(set(own) == set(conditions) for own in each)
    locations = _locate(t.locations, (*roots, *conditions, *assumptions))
    found = tuple(kinds) if set(kinds) != {"f"} else ()
    return Program(
        name, params, roots, tree, conditions, assumptions, locations, kinds=found,
        slopes=_of_reals(tuple(t.slopes)), of_derivatives=t.of_derivatives,
        of_python=t.of_python is not None,
        changes=tuple(sorted(t.changes - {""})),
        own=() if alike else tuple(tuple(map(conditions.index, own)) for own in each),
    )  # fmt: skip


def _of_reals(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Division of integers that are computed as real numbers: a // b as a quotient."""
    if not any(e.op in _QUOTIENTS for e in ir.topological(roots)):
        return roots

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        return _QUOTIENTS[e.op](*args) if e.op in _QUOTIENTS else ir.rebuild(e, args)

    return ir.transform(roots, rule)


_QUOTIENTS: dict[ir.Op, Callable[..., Expr]] = {
    loop_program.FLOORDIV: functions.FLOOR_QUOTIENT,
    loop_program.MOD: functions.COMPOSITES["numpy.remainder"],
}


_ANY = loop_program.index("#")


def _at_any_index(roots: tuple[Expr, ...]) -> dict[Expr, Expr]:
    """The nodes with one name for all integers: elements of arrays are traced at some indices,
    and computed at others."""
    found: dict[Expr, Expr] = {}

    def one(e: Expr, args: tuple[Expr, ...]) -> Expr:
        found[e] = _ANY if e.op is loop_program.INDEX else ir.raw(e.op, args, e.value)
        return found[e]

    ir.transform(roots, one)
    return found


def _anywhere(noted: Mapping[Expr, tuple[Source, Any]]) -> dict[Expr, tuple[Source, Any]]:
    """Places of nodes, whatever their indices."""
    found: dict[Expr, tuple[Source, Any]] = {}
    general = _at_any_index(tuple(noted))
    for e, place in noted.items():
        found.setdefault(general[e], place)
    return found


def _locate(
    noted: Mapping[Expr, tuple[Source, Any]],
    roots: tuple[Expr, ...],
    general: Callable[[tuple[Expr, ...]], Mapping[Expr, Expr]] = lambda _: {},
) -> dict[Expr, Location]:
    """First places of the nodes; a node made inside of another has its place. `general` maps nodes
    to those that were recorded. Constants that are not doubles, which Python computes with
    rounding, are kept even if they no longer occur."""
    known = general(roots)
    places: dict[int, Location] = {}
    inherited: dict[Expr, tuple[Source, Any]] = {}
    locations: dict[Expr, Location] = {}
    others = {e: at for e, at in noted.items() if ir.is_far(e) or ir.is_rounded(e)}
    for e, (source, node) in others.items():
        locations[e] = source.location(node)
    for e in reversed(ir.topological(roots)):
        place = noted.get(known.get(e, e)) or inherited.get(e)
        if place is None:
            continue
        found = places.get(id(place[1]))
        if found is None:
            found = places[id(place[1])] = place[0].location(place[1])
        locations[e] = found
        for a in e.args:
            if a.args:
                inherited.setdefault(a, place)
    return locations
