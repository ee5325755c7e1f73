"""Simplify the expressions of a program with arrays and loops, block by block.

Before:  for i in range(n): s = s + (exp(x[i]) - 1)/x[i]
After:   for i in range(n): s = s + completed(x[i])

Requires: a valid program.
Ensures: the same values wherever the program was defined. The real expressions of one
block are simplified together, as the outputs of a scalar program are: elements of
arrays and integers are variables. Integer expressions stay as they are. What
nothing depends on any more is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from symdiff import ir
from symdiff.ir import (
    SIGN,
    ZERO,
    Expr,
    rebuild,
    substitute,
    topmost,
    topological,
    transform,
    var,
    where,
)
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import SQUARES, UNIT
from symdiff.ir.names import Names
from symdiff.ir.pass_lists import Log, Pass, through, watch
from symdiff.ir.prune import pruned
from symdiff.loops.simplify.chosen_rows import of_chosen
from symdiff.loops.simplify.copies import without_copies
from symdiff.loops.simplify.deltas import contracted
from symdiff.loops.simplify.fixed_points import from_fixed_points, values_only
from symdiff.loops.simplify.forwarding import rewritten
from symdiff.loops.simplify.fuse import fused
from symdiff.loops.simplify.known_sizes import settled
from symdiff.loops.simplify.norm_slopes import without_slopes
from symdiff.loops.simplify.only_where_read import only_where_read
from symdiff.loops.simplify.promote import promoted
from symdiff.loops.simplify.repeated import shared
from symdiff.loops.simplify.rows_together import rows_together
from symdiff.loops.simplify.running_norms import marked
from symdiff.loops.simplify.scaled_sums import scaled_exponentials
from symdiff.loops.simplify.tabulate import gathered
from symdiff.loops.simplify.through import looked_through
from symdiff.loops.simplify.vanishing import Vanishing
from symdiff.passes.accuracy.absent_terms import with_gaps, without_absent
from symdiff.passes.accuracy.one_signed import Signed, never_negative
from symdiff.passes.accuracy.softmax import shared as shares
from symdiff.passes.cancel.branch_sides import decided_by_branches
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.cancel.signsquares import place, slopes_of, squares_of_signs
from symdiff.passes.complete.complete import closed_forms, complete, expand_completed, pinned_forms
from symdiff.passes.guards.guards import guards
from symdiff.passes.margins import inside_margins, with_margins
from symdiff.passes.stabilise import stabilise

Code = tuple[lp.Block, tuple[Expr, ...]]
"""A block and the expressions after it."""


@dataclass(frozen=True, slots=True)
class Around:
    """The knowledge of passes about the program around a block.

    Attributes
    ----------
    names : new names for the program.
    tapes : the tapes that are read elsewhere.
    types : of the parameters.
    late : after differentiation, when singularities have been filled already.
    """

    names: Names
    tapes: Iterable[str] = ()
    types: Mapping[str, lp.Type] = field(default_factory=dict)
    late: bool = False


def simplified(
    block: lp.Block,
    roots: Sequence[Expr],
    names: Names,
    *,
    late: bool = False,
    tapes: Iterable[str] = (),
    types: Mapping[str, lp.Type] | None = None,
    without: Container[str] = (),
    log: Log[Code] | None = None,
) -> Code:
    """A block and the expressions after it, simplified by the passes `EARLY` or `LATE`.

    Parameters
    ----------
    names, late, tapes, types : as in `Around`.
    without : passes that are switched off.
    log : the passes that ran.
    """
    around = Around(names, tapes, types or {}, late)
    return through(LATE if late else EARLY, (block, tuple(roots)), around, without, log)


def opened(block: lp.Block, roots: Sequence[Expr], log: Log[Code] | None = None) -> Code:
    """A block and the expressions after it, prepared for the differentiation of slopes of norms."""
    return through(OPEN, (block, tuple(roots)), None, log=log)


def final(block: lp.Block, roots: Sequence[Expr], log: Log[Code] | None = None) -> Code:
    """The form for emission, after the last differentiation: completed
    operations are written out, and sums and quotients keep their digits."""
    return through(FINISH, (block, tuple(roots)), None, log=log)


def closed(block: lp.Block, roots: Sequence[Expr]) -> Code:
    """The same with completed operations in closed form, undefined at their points."""
    return _with_passes(*values_only(block, roots), _closed)


def exact(block: lp.Block, roots: Sequence[Expr]) -> Code:
    """The closed forms, with their values at completed points."""
    return _with_passes(*values_only(block, roots), _pinned)


def _with_passes(
    block: lp.Block,
    roots: tuple[Expr, ...],
    passes: Callable[[tuple[Expr, ...]], tuple[Expr, ...]],
    of_integers: Callable[[tuple[Expr, ...]], tuple[Expr, ...]] | None = None,
) -> Code:
    new: dict[Expr, Expr] = {}
    for group in _groups(block, roots):
        todo = tuple(dict.fromkeys(e for e in group if e not in new and _is_real(e)))
        new.update(zip(todo, passes(todo), strict=True))
        rest = tuple(
            dict.fromkeys(e for e in group if e not in new and e.args and e.op is not lp.LOAD)
        )
        if of_integers is not None:
            new.update(zip(rest, of_integers(rest), strict=True))

    def one(e: Expr) -> Expr:
        return new.get(e, e)

    return lp.mapped_block(block, one), tuple(map(one, roots))


def _groups(block: lp.Block, roots: Iterable[Expr]) -> Iterator[list[Expr]]:
    """The expressions of each block, with those after it that belong to it."""
    yield [*(e for s in block for e in _outside(s)), *roots]
    for s in block:
        if isinstance(s, (lp.Build, lp.Loop)):
            yield from _groups(s.body, _inside(s))


def _outside(s: lp.Statement) -> tuple[Expr, ...]:
    """The expressions of a statement that are evaluated outside its block."""
    match s:
        case lp.Build():
            return ()
        case lp.Loop():
            return tuple(c.init for c in s.carried)
    return lp.expressions(s)


def _inside(s: lp.Build | lp.Loop) -> list[Expr]:
    """The expressions of a statement that are evaluated in its block."""
    outside = set(_outside(s))
    return [e for e in lp.expressions(s) if e not in outside]


def _is_real(e: Expr) -> bool:
    return bool(e.args) and e.op is not lp.LOAD and lp.kind_of(e) != "i"


# ------------------------------------------------------------------------ passes
@lru_cache(maxsize=512)
def _early(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    names = _abstraction(outputs)
    integers = frozenset(v for e, v in names.items() if lp.kind_of(e) == "i")
    outputs = decided_by_branches(substitute(outputs, names))
    outputs = guards(outputs, integers=integers)
    outputs = complete(stabilise(cancel(outputs), early=True))
    return substitute(outputs, _inverse(names))


def _without_slopes(block: lp.Block, roots: tuple[Expr, ...]) -> Code:
    """A block and the expressions after it with slopes of norms as functions of the norms."""
    known = Vanishing.of(block)

    def unit(n: Expr, args: tuple[Expr, ...]) -> Expr:
        made = rebuild(n, args)
        return where(known.where(n.args[1]), ZERO, made) if n.op is UNIT else made

    def passes(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        outputs = transform(outputs, unit)
        names = _abstraction(outputs)
        sums = [n.args[0] for n in topological(outputs) if n.op is SQUARES]
        made = substitute((*outputs, *sums), names)
        zero = dict(zip(made[len(outputs) :], map(known.where, sums), strict=True))
        return substitute(without_slopes(made[: len(outputs)], zero), _inverse(names))

    return _with_passes(block, roots, passes)


def _marked(block: lp.Block, roots: tuple[Expr, ...]) -> Code:
    """A block and the expressions after it, with operations that mark where they are defined."""
    signed = Signed(never_negative(block))
    return _with_passes(block, roots, lambda outputs: with_margins(outputs, signed.may_be_negative))


def _over_leaves(
    passes: Callable[[tuple[Expr, ...]], tuple[Expr, ...]],
) -> Callable[[tuple[Expr, ...]], tuple[Expr, ...]]:
    """Passes on expressions in which elements of arrays and integers are variables."""

    @lru_cache(maxsize=512)
    def run(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        names = _abstraction(outputs)
        return substitute(passes(substitute(outputs, names)), _inverse(names))

    return run


def _squared(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Derivatives in which squares of signs that are slopes of absolute values here are 1."""
    signs = {place(e.args[0])[0] for e in topological(outputs) if e.op is SIGN}
    return cancel(squares_of_signs(outputs, but=signs.difference(slopes_of(outputs, ()))))


def _has_infinities(block: lp.Block, roots: tuple[Expr, ...]) -> bool:
    """Whether a program has infinite constants, as arrays are padded with."""
    read = (e for s in lp.walk(block) for e in lp.expressions(s))
    return any(n in (ir.INF, -ir.INF) for n in topological((*read, *roots)))


_late = _over_leaves(lambda outputs: inside_margins(outputs, _squared))
_last = _over_leaves(lambda outputs: stabilise(expand_completed(outputs)))
_counted = _over_leaves(expand_completed)
"""Integers in comparisons of numbers count as numbers."""
_padded = _over_leaves(without_absent)
_closed = _over_leaves(closed_forms)
_pinned = _over_leaves(lambda outputs: with_gaps(shares(pinned_forms(outputs))))


def _abstraction(outputs: tuple[Expr, ...]) -> dict[Expr, Expr]:
    """Variables for the topmost elements of arrays and for integers."""
    return {e: var(f"leaf {k}") for k, e in enumerate(topmost(outputs, lp.LEAVES))}


def _inverse(names: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    return {v: e for e, v in names.items()}


def _in_rows(block: lp.Block, roots: tuple[Expr, ...]) -> Code:
    """A block and the expressions after it, with loops over the same rows merged."""
    names = _names_of(block, roots)
    made, roots = rows_together(block, roots, names)
    if made == block:
        return block, roots
    made, roots = rewritten(gathered(made, names), roots)
    return pruned(made, roots), roots


def _names_of(block: lp.Block, roots: tuple[Expr, ...]) -> Names:
    """Names that a block, and the expressions after it, do not have yet."""
    own = lp.own_names(block)
    tapes = {v.tape for s in lp.walk(block) if isinstance(s, lp.Loop) for v in s.saves}
    return Names(own | lp.free(block, roots) | tapes)


# ----------------------------------------------------------------- the lists of passes
_VALID, _BEFORE, _AFTER = "a valid program", "not differentiated yet", "no further derivatives"
_FORWARDING: Pass[Code, Around] = Pass(
    "forwarding", lambda p, _: rewritten(*p), _VALID, "what is read is what was written", suspicion=1,
)  # fmt: skip
_REPEATED: Pass[Code, Around] = Pass(
    "repeated", lambda p, _: shared(*p), _VALID,
    "what several statements compute is computed once", suspicion=1,
)  # fmt: skip
_PRUNE: Pass[Code, Around] = Pass(
    "prune", lambda p, around: (pruned(*p, around.tapes), p[1]), _VALID,
    "every statement is used", suspicion=1,
)  # fmt: skip
_FUSE: Pass[Code, Around] = Pass(
    "fuse", lambda p, around: (fused(*p, late=around.late), p[1]), "every statement is used",
    "elements that are read at one place are computed there", suspicion=1,
)  # fmt: skip
_KNOWN_SIZES: Pass[Code, Around] = Pass(
    "known_sizes", lambda p, around: settled(*p, around.types), _VALID,
    "comparisons of integers are decided where sizes and ranges say how", suspicion=1,
)  # fmt: skip
_TIDY: tuple[Pass[Code, Around], ...] = (
    _REPEATED,
    _PRUNE,
    Pass(
        "promote", lambda p, around: (promoted(p[0], around.names), p[1]), "every statement is used",
        "one element that a loop changes is carried as a number", suspicion=1,
    ),
    _PRUNE,
    _FUSE,
    Pass(
        "deltas", lambda p, _: contracted(*p), _VALID,
        "sums over Kronecker deltas are their terms", suspicion=1,
    ),
    Pass(
        "tabulate", lambda p, around: (gathered(p[0], around.names), p[1]), _VALID,
        "arrays that loops fill element by element are built from their indices", suspicion=1,
    ),
    _FORWARDING,
    _PRUNE,
    _FUSE,
)  # fmt: skip
EARLY: tuple[Pass[Code, Around], ...] = (
    _KNOWN_SIZES,
    _FORWARDING,
    _REPEATED,  # one name for one number, so that it cancels
    _PRUNE,  # what nothing reads is read under no condition
    Pass(
        "only_where_read", lambda p, _: (only_where_read(*p), p[1]), _BEFORE,
        "what only some branches read is 0 where others are taken", suspicion=1,
    ),
    Pass(
        "running_norms", lambda p, _: marked(*p), _BEFORE,
        "sums of squares under roots are marked `squares`", suspicion=1,
    ),
    Pass(
        "exponents", lambda p, around: scaled_exponentials(*p, around.names, _early), _BEFORE,
        "sums of exponentials in logarithms and quotients are scaled", suspicion=1,
    ),
    Pass(
        "through", lambda p, _: looked_through(*p, _early), _BEFORE,
        "singularities behind elements of arrays are in sight", suspicion=1,
    ),
    Pass(
        "formulas", lambda p, _: _with_passes(*p, _early), _BEFORE,
        "the formulas of each block are simplified and completed", suspicion=1,
    ),
    *_TIDY,
    Pass(
        "fixed_points", lambda p, around: from_fixed_points(*p, around.names, _late), _BEFORE,
        "distances from fixed points of recurrences are carried where they are read", suspicion=1,
    ),
    _PRUNE,
)  # fmt: skip
"""The passes on values before differentiation."""
OPEN: tuple[Pass[Code, None], ...] = (
    Pass(
        "norm_slopes", lambda p, _: _without_slopes(*p), "derivatives that are differentiated again",
        "slopes of norms are functions of the norms, that have derivatives where these are 0",
    ),
    Pass(
        "margins", lambda p, _: _marked(*p), "what is differentiated next",
        "derivatives are nan outside of the domains of operations",
    ),
)  # fmt: skip
"""The passes on derivatives before they are differentiated."""
LATE: tuple[Pass[Code, Around], ...] = (
    _FORWARDING,
    Pass(
        "slopes", lambda p, _: _with_passes(*p, _late), "derivatives by the chain rule",
        "no common factors in quotients", suspicion=1,
    ),
    Pass(
        "absent_terms", lambda p, _: _with_passes(*p, _padded) if _has_infinities(*p) else p,
        "derivatives by the chain rule", "terms that exponentials of -inf leave out are 0", suspicion=1,
    ),
    *_TIDY,
    _KNOWN_SIZES,
    Pass("copies", lambda p, _: without_copies(*p), _VALID, "no loop only copies", suspicion=1),
    _PRUNE,
)  # fmt: skip
"""The passes on derivatives."""
FINISH: tuple[Pass[Code, None], ...] = (
    Pass(
        "values_only", lambda p, _: values_only(*p), _AFTER,
        "no number is carried that only derivatives of fixed points read",
    ),
    Pass(
        "rows_together", lambda p, _: _in_rows(*p), _AFTER,
        "a loop that reads the rows which another wrote is one with it", suspicion=1,
    ),
    Pass(
        "chosen_rows", lambda p, _: (pruned(of_chosen(p[0], _names_of(*p)), p[1]), p[1]), _AFTER,
        "what is added for elements that are not chosen is left out", suspicion=1,
    ),
    Pass(
        "stabilise", lambda p, _: _with_passes(*p, _last, _counted), _AFTER,
        "completed functions are written out; sums and quotients keep their digits",
    ),
)  # fmt: skip
"""The passes before emission."""

watch(__name__)
