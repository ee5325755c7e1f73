"""Simplify a block."""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.ir import Expr
from symdiff.structure import Block, pruned


def simplified(
    block: Block, roots: Sequence[Expr], *, late: bool = False
) -> tuple[Block, tuple[Expr, ...]]:
    return pruned(block, roots), tuple(roots)
