"""From an optimized program to its kernel: the tiers of run time, and what calls go straight to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdiff.ir import FALSE, not_, or_
from symdiff.ir.program import OptimizedProgram, Tree, nesting, unnesting
from symdiff.pipeline.by_definition import ByDefinition
from symdiff.pipeline.lowered.scalar import lowered
from symdiff.pipeline.options import Options
from symdiff.runtime.dispatch import CompiledEntry
from symdiff.runtime.scalar.fallback import Demands, Tiered
from symdiff.runtime.scalar.kernel import Kernel

REMEDIES = ("refine", "correct", "compiled")
"""What may be left out of the tiers of a function whose machine code was found to be wrong:
sums rounded together or with their errors, elements computed again with all errors, and compiled
code at all."""


def tiered(
    optimized: OptimizedProgram,
    options: Options,
    without: str = "",
    demands: Demands = (),
    by_definition: ByDefinition | None = None,
) -> Tiered:
    """The tiers of run time: double arithmetic with tests, and balls. Elements that do
    not satisfy the demands are flagged, so that the last refuses them.

    Parameters
    ----------
    without : one of `REMEDIES`, or nothing.
    by_definition : the function by its definition: nan is flagged where guards act, and everything where
        they do at infinite arguments, or decide derivatives.
    """
    conditions = [c for c, _ in demands]
    guarded = FALSE if by_definition is None else by_definition.guarded
    special = FALSE if by_definition is None else or_(by_definition.beyond, by_definition.special)
    function = lowered(optimized, options, [*conditions, not_(special)], without, guarded)
    if options.engine == "numba":
        from symdiff.pipeline.kernels.generated import GeneratedKernel

        made = GeneratedKernel(function, optimized, options, conditions, by_definition)
        return Tiered(made, optimized.reference, demands=demands)
    kernel = Kernel(
        function, dtype=options.dtype, accuracy=options.accuracy,
        parallel=options.parallel, cache=options.cache,
    )  # fmt: skip
    always = options.accuracy == "certified" or without == "compiled"
    return Tiered(kernel, optimized.reference, always, demands)


def unsound(name: str, kernel: Tiered, trial: Callable[[], Any]) -> str | None:
    """What to leave out of a kernel, of which code is wrong that was compiled since this was
    asked last; None if all of it is right.

    Parameters
    ----------
    trial : the truth about its formulas, or None.
    """
    from symdiff.pipeline.validation.machine import accept, fault_in, new_code
    from symdiff.pipeline.validation.stages import warn

    if kernel.always:  # ball arithmetic computes every result
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


def nested(entry: Callable[..., Any], tree: Tree, count: int) -> CompiledEntry:
    """A compiled entry whose results nest as the tree has them."""
    if isinstance(tree, int) or is_flat(tree):
        return CompiledEntry(entry)
    if is_pair(tree, count):
        return CompiledEntry(entry, pair=True)
    nest = nesting(tree, count)

    def call(*args: Any) -> Any:
        result = entry(*args)
        if result is NotImplemented:
            return result
        return nest((result,) if count == 1 else result)

    return CompiledEntry(call)


def placed(entry: Callable[..., Any], optimized: OptimizedProgram) -> Callable[..., Any]:
    """A compiled entry that writes its results to arrays nested as the optimized program has them,
    which are its last argument."""
    if isinstance(optimized.tree, int):
        return entry
    return unnesting(entry, len(optimized.params), optimized.tree, len(optimized.outputs))


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
