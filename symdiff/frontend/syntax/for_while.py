"""The statements `for` and `while`: unrolled over known values, else kept."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.frontend.loops import appended_lists, growth, sequences, slots
from symdiff.frontend.loops import kept as kept_loops
from symdiff.frontend.loops.appended_lists import Growing
from symdiff.frontend.syntax import containers, expressions, special_methods
from symdiff.frontend.syntax.expressions import evaluate
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.frames import Flow
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Cond, End, Masked, Refused
from symdiff.frontend.trace.values import Sequence as Unknown
from symdiff.ir import FALSE, ONE, TRUE, ZERO, loop_program

FEW, MANY, MOST = 4, 150, 1000
"""The most iterations of an unrolled loop, and the most statements that they may run: with arrays,
and of numbers only."""

MOST_PEELED = 12
"""The most iterations that are traced before a kept loop."""
TOO_FEW = "a loop makes too few iterations, in which a name would change its form"


def _run_block(t: Tracer, body: Sequence[ast.stmt]) -> None:
    t.run_block(body)


def _assign(t: Tracer, target: ast.expr, value: Any) -> None:
    t.assign(target, value)


def run_for(t: Tracer, node: ast.For) -> None:
    value = evaluate(t, node.iter)
    t.at = node.iter
    iterable = special_methods.iterated(t, value)
    if isinstance(iterable, Masked):
        raise Refused(
            "a loop over elements that a condition on real values selects",
            "loop over all of them, with the condition inside of the loop",
        )
    if (found := sequences.of(iterable)) is not None:
        _loop_or_peeled(t, node, found)
        return
    if isinstance(iterable, range) and _long(t, node, iterable):
        if _kept(t, node, sequences.of_range(iterable)):
            return
        if t.loops:
            raise Retrace(what="a loop cannot be kept", loops=False)
    if (
        isinstance(iterable, range)
        and len(iterable) > FEW
        and not t.lazy
        and _growing(t, node, iterable)
    ):
        return
    if isinstance(iterable, range) and appended_lists.conditional(t, node.body):
        try:
            with t.attempt():
                _iterate(t, node, iterable)
            return
        except (Refused, UnsupportedError):
            if _kept(t, node, sequences.of_range(iterable)):
                return
    t.at = node.iter
    _iterate(t, node, iterable)


def _loop_or_peeled(t: Tracer, node: ast.For, found: Unknown, peeled: int = 0) -> None:
    """A kept loop, after its first iterations if these give names their final form: a number for
    None, an array for 0."""
    try:
        with t.attempt():
            _loop(t, node, found)
        return
    except (Refused, UnsupportedError) as e:
        if e.hint not in slots.FORMS or peeled == MOST_PEELED:
            raise
        refused = e
    try:
        with t.attempt():
            _peeled(t, node, found, peeled)
    except (Refused, UnsupportedError):
        raise refused from None


def _peeled(t: Tracer, node: ast.For, found: Unknown, before: int) -> None:
    t.require(ir.lt(ZERO, found.count), "value", TOO_FEW)
    _assign(t, node.target, found.item(ZERO))
    _run_first(t, node.body)
    rest = ir.sub(found.count, ONE)
    after = Unknown(rest, lambda k: found.item(ir.add(k, ONE)))
    _loop_or_peeled(t, node, after, before + 1)


def _run_first(t: Tracer, body: Sequence[ast.stmt]) -> None:
    """The first iteration of a loop, before it."""
    _run_block(t, body)
    flow = t.frame.flow
    flow.continued = FALSE
    if ir.or_(flow.broken, flow.returned) is not FALSE:
        raise Refused("the first iteration may end the loop")


def _loop(t: Tracer, node: ast.For, found: Unknown) -> None:
    """A kept loop."""
    name = node.target.id if isinstance(node.target, ast.Name) else "i"
    grown = appended_lists.grown(t, node.body, found.count.op is ir.CONST)
    bind = lambda k: _assign(t, node.target, found.item(k))
    t.frame.flow.broken = _counted(t, node, found.count, grown, bind, name)
    _after_loop(t, node.orelse)


def _counted(
    t: Tracer, node: ast.For | ast.While, count: ir.Expr, grown: dict[ast.stmt, Growing],
    bind: Callable[[ir.Expr], None], name: str,
) -> ir.Expr:  # fmt: skip
    """A loop of so many iterations, in which lists may grow; the condition that it ended by a `break`."""
    before = {g.name: t.frame.env[g.name] for g in grown.values()}

    def start(k: ir.Expr) -> None:
        bind(k)
        appended_lists.begin(grown, t, k)

    def body() -> None:
        _run_block(t, node.body)
        t.frame.env.update(before)  # the lists are in memory, which is carried

    def run() -> ir.Expr:
        return kept_loops.trace_for(t, count, start, body, name)

    broken: ir.Expr = appended_lists.traced(t, count, grown, run) if grown else run()
    return broken


def _long(t: Tracer, node: ast.For, steps: range) -> bool:
    """Whether to keep a loop, since each iteration would be as much code as the first: it has many
    iterations, or some with array operations or many statements."""
    if len(steps) > t.unroll_limit:
        return True
    if len(steps) <= FEW:
        return False
    arrays = bool(t.array_parameters) and not t.lazy
    before, steps_before, elements = (t.block, len(t.block)), t.steps, t.elements
    try:
        with t.attempt():
            _assign(t, node.target, steps[0])
            _run_block(t, node.body)
            made = before[0][before[1] :]
            long = (t.steps - steps_before) * len(steps) > (MANY if arrays else MOST)
            if (t.elements - elements) * len(steps) > MOST and t.loops is not False:
                if t.loops is None:
                    raise Retrace(what="a long loop computes arrays", loops=True)
                long = True
            computed = arrays and any(not isinstance(s, loop_program.Check) for s in made)
            raise _Tried(long or computed)
    except _Tried as tried:
        return tried.keep
    except (Refused, UnsupportedError):
        return False


class _Tried(Exception):  # noqa: N818
    """The first iteration was traced only to see whether the loop is to be kept."""

    def __init__(self, keep: bool) -> None:
        super().__init__()
        self.keep = keep


def _kept(t: Tracer, node: ast.For, found: Unknown) -> bool:
    """Try to keep a long loop; return whether that was possible."""
    try:
        with t.attempt():
            _loop(t, node, found)
    except (Refused, UnsupportedError):
        return False
    return True


def _growing(t: Tracer, node: ast.For, steps: range) -> bool:
    """Keep a loop if its formula would grow with each iteration; return whether it does."""
    before, start = t.block, len(t.block)
    try:
        with t.attempt():
            _loop(t, node, sequences.of_range(steps))
            made = (s for s in before[start:] if isinstance(s, loop_program.Loop))
            if not any(map(growth.grows, made)):
                raise Refused("the loop is unrolled")
    except (Refused, UnsupportedError):
        return False
    return True


def _iterate(t: Tracer, node: ast.For, iterable: Any) -> None:
    at, used, left = containers.reader(t, iterable), len(t.spent), False
    for n in itertools.count():
        total = t.frame.flow
        skip = ir.or_(total.broken, total.returned)
        if skip is TRUE:
            break
        try:
            item = at(n)
        except End:
            break
        t.step(node)
        region = t.open(skip) if skip is not FALSE else None
        left = left or region is not None
        _assign(t, node.target, item)
        _run_block(t, node.body)
        t.frame.flow.continued = FALSE
        if region is not None:
            t.close(region)
    if left:
        t.spoil(used)
    _after_loop(t, node.orelse)


def run_while(t: Tracer, node: ast.While) -> None:
    """Unroll a loop while its end is known when traced, else keep it."""
    try:
        with t.attempt():
            if not _unrolled(t, node):
                raise _Kept
        _after_loop(t, node.orelse)
        return
    except _Kept:
        pass
    except (Refused, UnsupportedError):
        if not appended_lists.conditional(t, node.body):
            raise

    _while_or_peeled(t, node)


def _while_or_peeled(t: Tracer, node: ast.While, peeled: int = 0) -> None:
    """A kept `while`, after its first iterations if these give names their final form."""
    try:
        with t.attempt():
            _while(t, node)
        return
    except (Refused, UnsupportedError) as e:
        if e.hint not in slots.FORMS or peeled == MOST_PEELED:
            raise
        refused = e
    try:
        with t.attempt():
            t.require(_condition(t, node), "value", TOO_FEW)
            _run_first(t, node.body)
            _while_or_peeled(t, node, peeled + 1)
    except (Refused, UnsupportedError):
        raise refused from None


def _condition(t: Tracer, node: ast.While) -> ir.Expr:
    c = expressions.condition(t, node.test)
    t.at = node
    return scalars.as_cond(c).expr


def _while(t: Tracer, node: ast.While) -> None:
    if not node.orelse:
        _run_while(t, node, lambda: _condition(t, node))
        _after_loop(t, node.orelse)
        return
    ended = t.names.fresh("ended")
    t.frame.env[ended] = False

    def test() -> ir.Expr:
        condition = _condition(t, node)
        t.frame.env[ended] = Cond(ir.not_(condition))
        return condition

    _run_while(t, node, test)
    at_end = scalars.as_cond(t.frame.env.pop(ended)).expr
    t.frame.flow.broken = ir.and_(t.frame.flow.broken, ir.not_(at_end))
    _after_loop(t, node.orelse)


def _run_while(t: Tracer, node: ast.While, test: Callable[[], ir.Expr]) -> None:
    if grown := appended_lists.grown(t, node.body, counted=False):
        t.frame.flow.broken = _appending(t, node, grown, test)
    else:
        t.frame.flow.broken = kept_loops.trace_while(t, test, lambda: _run_block(t, node.body))


def _appending(
    t: Tracer, node: ast.While, grown: dict[ast.stmt, Growing], test: Callable[[], ir.Expr]
) -> ir.Expr:
    """A `while` that appends to lists: its iterations are counted first, for the lengths of the
    lists."""

    def counting(count: Callable[[], None]) -> None:
        def body() -> None:
            count()
            _run_block(t, node.body)

        kept_loops.trace_while(t, test, body)

    count = appended_lists.iterations(t, grown, counting)
    return _counted(t, node, count, grown, lambda k: None, "step")


class _Kept(Exception):  # noqa: N818
    """A loop is kept."""


def _unrolled(t: Tracer, node: ast.While) -> bool:
    """Run the iterations one by one; return whether the end was known when traced."""
    for _ in range(t.unroll_limit):
        total = t.frame.flow
        skip = ir.or_(total.broken, total.returned)
        if skip is TRUE:
            return True
        region = t.open(skip) if skip is not FALSE else None
        t.step(node)
        c = expressions.condition(t, node.test)
        if not isinstance(c, bool) or (c and skip is not FALSE):
            return False
        if c:
            _run_block(t, node.body)
            t.frame.flow.continued = FALSE
        if region is not None:
            t.close(region)
        if not c:
            return True
    return False


def _after_loop(t: Tracer, orelse: Sequence[ast.stmt]) -> None:
    """Run the loop's `else` where no `break` ended it."""
    flow = t.frame.flow
    broken = flow.broken
    t.frame.flow = Flow(flow.returned, value=flow.value)
    if not orelse or broken is TRUE or flow.returned is TRUE:
        return
    region = t.open(flow.returned) if flow.returned is not FALSE else None
    if broken is FALSE:
        _run_block(t, orelse)
    else:
        t.either(Cond(broken), lambda: None, lambda: _run_block(t, orelse))
    if region is not None:
        t.close(region)
