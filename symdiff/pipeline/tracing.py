"""From a Python function to where the programs of its derivatives come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from symdiff.frontend import Captures, Parameters, Shapes, Trees, capture, noting
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.program import Program
from symdiff.pipeline.derivation import Source
from symdiff.pipeline.domain_checks import demanding
from symdiff.pipeline.options import Options, conditions


def source_of(
    fun: Callable[..., Any], options: Options, static: Iterable[str] | str | None,
    trees: Trees | None = None,
) -> Source:  # fmt: skip
    """The source of a function that is traced when it is first called.

    Parameters
    ----------
    trees : how containers among the arguments nest; then it is a function of their leaves.
    """
    parameters = Parameters(fun, static, options.wrt)
    if trees is not None:
        parameters = parameters.flattened([leaf for _, named in trees.values() for leaf in named])

    def trace(values: Mapping[str, Any], shapes: Shapes | None) -> Program | LoopProgram:
        with noting(captures):
            program = capture(fun, values, shapes, trees, options.wrt)
        if isinstance(program, LoopProgram):
            return demanding(program, options.domain, options.check_domain)
        facts = conditions(options.domain, program)
        return replace(program, assumptions=(*program.assumptions, *facts))

    captures = Captures()
    return Source(parameters.name, parameters, trace, keep=options.cache, captures=captures)
