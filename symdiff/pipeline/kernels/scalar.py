"""From an emission to its kernel: the tiers of run time, and what calls go straight to.

The passes that make a tier are imported when it is needed first, and what they find is kept
on disk (`derivation.kept`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.ir import POW, Expr, rational
from symdiff.ir.program import Emission, Tree, nesting, unnesting
from symdiff.pipeline.derivation import kept
from symdiff.pipeline.options import Options
from symdiff.runtime.dispatch import Way
from symdiff.runtime.scalar.fallback import Demands, Tiered
from symdiff.runtime.scalar.kernel import Kernel

REMEDIES = ("refine", "correct", "first", "compiled")
"""What may be left out of the tiers of a function whose machine code was found to be wrong:
sums rounded together or with their errors, elements computed again with all errors, double
arithmetic, and compiled code at all."""


LARGE_TIER = 200
"""Nodes up to which a module has outputs with the errors of all operations."""


class Written(NamedTuple):
    """What a module needs of an emission.

    Attributes
    ----------
    outputs : as arrays are computed first.
    doubt : where they may be wrong; at the level "fast", where demands are not met.
    corrected : the outputs with the errors of all operations; nothing if they cannot be, or
        where nothing is ever in doubt.
    still : where these may be wrong.
    closed : as double-double arithmetic takes them; nothing as above.
    """

    outputs: tuple[Expr, ...]
    doubt: Expr
    corrected: tuple[Expr, ...] = ()
    still: Expr = ir.TRUE
    closed: tuple[Expr, ...] = ()


def tiered(
    emission: Emission, options: Options, without: str = "", demands: Demands = ()
) -> Tiered:
    """The tiers of run time: double arithmetic with tests, double-double, balls. Elements that do
    not satisfy the demands stay in doubt in all of them, so that the last refuses them.

    Parameters
    ----------
    without : one of `REMEDIES`, or nothing.
    """

    def kernel(outputs: Sequence[Expr], **tiers: Any) -> Kernel:
        return Kernel(
            emission.name, emission.params, outputs, dtype=options.dtype,
            accuracy=options.accuracy, parallel=options.parallel, cache=options.cache,
            **tiers,
        )  # fmt: skip

    violated = ir.FALSE
    for condition, _ in demands:
        violated = ir.or_(violated, ir.not_(condition))
    found = wide = kernel(emission.reference, widen=functools.partial(_widen_in, violated))
    wanted = options.accuracy != "strict" or not always_wide(emission.reference)
    if wanted and without not in ("first", "compiled"):
        tested = options.accuracy in ("high", "strict")
        outputs = emission.outputs
        if options.accuracy == "fast":
            from symdiff.lowering.fast import hasten

            outputs = hasten(outputs)
        tiers: dict[str, Any] = {}
        if tested:
            tiers = {
                "suspect": functools.partial(_suspect_in, violated, options.cache),
                "refine": functools.partial(refine, options.cache),
                "second": wide,
            }
            if options.dtype != "float32":
                tiers["correct"] = functools.partial(correct, options.cache)
            tiers.pop(without, None)
        elif demands:
            tiers = {"suspect": violated}
        found = kernel(outputs, **tiers)
    always = options.accuracy == "certified" or without == "compiled"
    return Tiered(found, emission.reference, always, demands)


def written(emission: Emission, dtype: str, accuracy: str, demands: Sequence[Expr] = ()) -> Written:
    """The tiers of an emission as source code has them."""
    violated = ir.FALSE
    for condition in demands:
        violated = ir.or_(violated, ir.not_(condition))
    if accuracy == "fast":
        return Written(emission.outputs, violated)
    if all(map(_rounds_once, emission.outputs)):
        return Written(emission.outputs, violated)
    outputs = refine(True, emission.outputs, dtype, "array")
    found = _in_doubt(outputs, dtype)
    if found is ir.FALSE:
        return Written(emission.outputs, violated)
    from symdiff.passes.accuracy.far_constants import without_far_constants
    from symdiff.passes.accuracy.softmax import shared

    between = correct(True, emission.outputs) if dtype == "float64" else None
    if between is None or between == outputs or len(ir.topological(between)) > LARGE_TIER:
        between = ()
    return Written(
        outputs, ir.or_(violated, found),
        between, _in_doubt(between, dtype) if between else ir.TRUE,
        shared(without_far_constants(emission.reference)),
    )  # fmt: skip


def _rounds_once(e: Expr) -> bool:
    """Whether a node is an argument, a constant, or one operation that IEEE arithmetic rounds
    correctly, of doubles."""
    from symdiff.lowering.target import is_float

    if e.op is POW and e.args[1] is not ir.HALF:
        return False
    exact = all(a.op is ir.VAR or ((q := rational(a)) is not None and is_float(q)) for a in e.args)
    return not e.args or (exact and e.op in (ir.ADD, ir.SUB, ir.MUL, ir.DIV, ir.NEG, ir.ABS, POW))


def _in_doubt(outputs: Sequence[Expr], dtype: str) -> Expr:
    """Where double arithmetic may be wrong, without the processor's flags."""
    from symdiff.passes.accuracy.error_test import overflow

    return ir.or_(suspect(True, outputs, dtype, "lean"), overflow(outputs, dtype))


def _suspect_in(violated: Expr, keep: bool, outputs: Sequence[Expr], dtype: str, kind: str) -> Expr:
    """`suspect`, or where the arguments are not what they must be."""
    return ir.or_(violated, suspect(keep, outputs, dtype, kind))


def _widen_in(violated: Expr, outputs: Sequence[Expr]) -> tuple[tuple[Expr, ...], Expr]:
    """`widen`, in doubt also where the arguments are not what they must be."""
    found, doubt = widen(outputs)
    return found, ir.or_(violated, doubt)


def unsound(name: str, kernel: Tiered, trial: Callable[[], Any]) -> str | None:
    """What to leave out of a kernel, of which code is wrong that was compiled since this was
    asked last; None if all of it is right.

    Parameters
    ----------
    trial : the truth about its formulas, or None.
    """
    from symdiff.pipeline.validation.machine import accept, fault_in, new_code
    from symdiff.pipeline.validation.stages import warn

    if kernel.always:  # every result is that of ball arithmetic
        return None
    fresh = new_code(kernel.kernel, kernel.known)
    truth = trial() if fresh else None
    if truth is not None:
        for code in fresh:
            fault = fault_in(code, truth, kernel.kernel.accuracy)
            if fault is not None and kernel.without != REMEDIES[-1]:
                following = REMEDIES.index(kernel.without) + 1 if kernel.without else 0
                warn(name, fault, f"compiled code of the tier {code.spec.tier!r}")
                return REMEDIES[following]
    accept(kernel.kernel, fresh, kernel.known)
    return None


def suspect(keep: bool, outputs: Sequence[Expr], dtype: str, kind: str) -> Expr:
    """What makes an element go to the second tier; see `Kernel` for the kinds."""

    def compute() -> tuple[Expr]:
        from symdiff.lowering.target import ARRAY_CHAIN, MAX_CHAIN
        from symdiff.passes.accuracy.error_test import doubt

        scalar, lean = kind == "point", kind == "lean"
        chain = MAX_CHAIN if scalar else ARRAY_CHAIN
        return (doubt(outputs, None, dtype, fuses=True, strict=scalar, lean=lean, chain=chain),)

    return kept(f"doubt-{dtype}-{kind}", outputs, keep, compute)[0]


def refine(keep: bool, outputs: Sequence[Expr], dtype: str, kind: str) -> tuple[Expr, ...]:
    """The outputs as the first tier computes them, for one element or arrays."""

    def compute() -> tuple[Expr, ...]:
        from symdiff.passes.accuracy.compensate import first_tier

        corrected = functools.partial(correct, keep, outputs) if dtype == "float64" else None
        return first_tier(outputs, corrected, strict=kind == "point")

    return kept(f"refine-{dtype}-{kind}", outputs, keep, compute)


def correct(keep: bool, outputs: Sequence[Expr], light: bool = False) -> tuple[Expr, ...] | None:
    """The outputs computed with the errors of all operations."""

    def compute() -> tuple[Expr, ...]:
        from symdiff.passes.accuracy.compensate import compensate

        return compensate(outputs, light)

    return kept("light" if light else "correct", outputs, keep, compute) or None


def widen(outputs: Sequence[Expr]) -> tuple[tuple[Expr, ...], Expr]:
    """The second tier, imported when it is needed first."""
    from symdiff.passes.accuracy.widen import widen

    return widen(outputs)


def always_wide(outputs: Sequence[Expr]) -> bool:
    """Whether the second tier can be the only one before balls."""
    from symdiff.passes.accuracy.widen import has_rules

    return has_rules(outputs)


def nested(entry: Callable[..., Any], tree: Tree, count: int) -> Way:
    """A compiled entry whose results nest as the tree has them."""
    if isinstance(tree, int) or is_flat(tree):
        return Way(entry)
    if is_pair(tree, count):
        return Way(entry, pair=True)
    nest = nesting(tree, count)

    def call(*args: Any) -> Any:
        result = entry(*args)
        if result is NotImplemented:
            return result
        return nest((result,) if count == 1 else result)

    return Way(call)


def placed(entry: Callable[..., Any], emission: Emission) -> Callable[..., Any]:
    """A compiled entry that writes its results to arrays nested as the emission has them,
    which are its last argument."""
    if isinstance(emission.tree, int):
        return entry
    return unnesting(entry, len(emission.params), emission.tree, len(emission.outputs))


def is_flat(tree: Tree) -> bool:
    """Whether the result is the tuple of all outputs in order."""
    return (
        type(tree) is tuple
        and len(tree) > 1
        and all(isinstance(t, int) and t == i for i, t in enumerate(tree))
    )


def is_pair(tree: Tree, count: int) -> bool:
    """Whether the result is the first output, and the tuple of the others in order."""
    if not (type(tree) is tuple and len(tree) == 2 and isinstance(tree[0], int)):
        return False
    rest = tree[1]
    if type(rest) is not tuple or not all(isinstance(t, int) for t in rest):
        return False
    return (tree[0], *rest) == tuple(range(count))
