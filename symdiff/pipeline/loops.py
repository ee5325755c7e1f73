"""The pipeline of programs with arrays and loops: from a program to those of its derivatives.

    simplify -> differentiate -> simplify

The analogue of `symdiff.pipeline.scalar`, with the same names and conventions: derivatives come in
the order of the parameters; the gradient by an array has its shape, a Jacobian the shape of
the output and then that of the parameter. Parameters that are integers are constants.
`final` is the last step before a program is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.ir import ONE, ZERO, Expr, eq, substitute, topological
from symdiff.ir.functions import ROOT_SLOPE, UNIT
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    REAL,
    Build,
    Check,
    Loop,
    LoopProgram,
    Parameter,
    Type,
    array,
    expressions_in,
    free,
    index,
    mapped_block,
    name_of,
    names_of,
    renamed,
    types,
    walk,
)
from symdiff.ir.names import Names, untaken
from symdiff.ir.pass_lists import Log, Stage, watch
from symdiff.ir.program import Tree, needs_one_value
from symdiff.ir.prune import pruned
from symdiff.loops.context import Context
from symdiff.loops.diff.checkpoint import Checkpoint
from symdiff.loops.diff.forward import Duals
from symdiff.loops.diff.reverse import Sweep
from symdiff.loops.diff.seeds import Seeds, fewer
from symdiff.loops.rows import rows as over_rows
from symdiff.loops.simplify import block_by_block
from symdiff.loops.simplify.block_by_block import Code, simplified
from symdiff.loops.simplify.fixed_points import values_only
from symdiff.loops.simplify.norm_slopes import has_slopes, settled
from symdiff.loops.trees import joined, of_gradient, of_jacobian
from symdiff.passes.margins import may_be_outside


def value(program: LoopProgram) -> LoopProgram:
    """The function itself."""
    return undifferentiated(_simplified(program))


def final(program: LoopProgram, log: Log[LoopProgram] | None = None) -> LoopProgram:
    """What to emit of a program that is not differentiated any more."""

    return _consisting(
        log,
        "stabilise",
        program,
        lambda own: block_by_block.final(program.block, program.outputs, own),
    )


def undifferentiated(program: LoopProgram) -> LoopProgram:
    """A program that is not differentiated any more, without what only its derivatives would use."""
    block, outputs = values_only(program.block, program.outputs)
    return program if block is program.block else replace(program, block=block, outputs=outputs)


def shown(program: LoopProgram) -> LoopProgram:
    """A simplified program that is not differentiated any more, whose completed operations are not
    written out."""
    program = undifferentiated(program)
    if not _has_slopes(program):
        return program
    given = {p.name for p in program.params}

    def one(e: Expr) -> Expr:
        return settled(e, given)

    block = mapped_block(program.block, one)
    return replace(program, block=block, outputs=tuple(map(one, program.outputs)))


def closed(program: LoopProgram) -> LoopProgram:
    """The program in closed forms, for arithmetic that finds limits by itself."""
    block, outputs = block_by_block.closed(program.block, program.outputs)
    return replace(program, block=block, outputs=outputs)


def exact(program: LoopProgram) -> LoopProgram:
    """The program in closed forms with the values at completed points, for ball arithmetic."""
    block, outputs = block_by_block.exact(program.block, program.outputs)
    return replace(program, block=block, outputs=outputs)


def gradient(
    program: LoopProgram,
    wrt: Sequence[str],
    checkpoint: Checkpoint = None,
    log: Log[LoopProgram] | None = None,
) -> LoopProgram:
    """d f/d wrt of a scalar function, or of each element: one output per parameter named in wrt."""
    if program.by_element and isinstance(program.tree, int):
        found = slopes_of_elements(_simplified(program, log), wrt)
        return _derived(lambda: (found, found.outputs, of_gradient(len(wrt))), log)
    base = _simplified(_scalar(program, "grad"), log)

    def swept() -> Derived:
        program, slopes = _slopes(_opened(base, log), wrt, checkpoint)
        return program, slopes, of_gradient(len(wrt))

    return _derived(swept, log)


def value_and_gradient(
    program: LoopProgram, wrt: Sequence[str], checkpoint: Checkpoint = None
) -> LoopProgram:
    """(f, d f/d wrt), sharing one kernel."""
    if program.by_element and isinstance(program.tree, int):
        base = _simplified(program)
        found = slopes_of_elements(base, wrt)
        return _beside(base, found, found.outputs, of_gradient(len(wrt)))
    base = _simplified(_scalar(program, "value_and_grad"))
    swept, slopes = _slopes(_opened(base), wrt, checkpoint)
    return _beside(base, swept, slopes, of_gradient(len(wrt)))


def derivative(program: LoopProgram, names: Sequence[str]) -> LoopProgram:
    """The mixed partial derivative by each name in turn, of every output."""
    shapes = {p.name: p.type.shape for p in program.params}
    for name in names:
        if shapes.get(name) and not program.by_element:
            raise SymdiffError(
                f"diff is by numbers, but '{name}' of {program.name} is an array",
                hint="use jacobian or hessian for derivatives by arrays",
            )
    result = _simplified(program)
    for name in names:
        pushed, tangents = _pushed_by_element(_opened(result), name)
        result = _finished(pushed, tangents, result.tree)
    return result


def slopes_of_elements(base: LoopProgram, wrt: Sequence[str]) -> LoopProgram:
    """The derivatives of each element of an output by that element of each parameter; those by arrays
    that it does not read are zeros of their shape."""
    known = {p.name: p.type for p in base.params}
    read, made = free(base.block, base.outputs), replace(base, by_element=False)
    outputs: list[Expr] = []
    for name in wrt:
        if known[name].shape and name not in read:
            statement = _filled(known[name], ZERO, names_of(made))
            made = replace(made, block=(*made.block, statement))
            outputs.append(array(statement.name))
            continue
        pushed, tangents = _pushed_by_element(_opened(base), name)
        copy, new = renamed(pushed.block, names_of(made))
        made = replace(made, block=(*made.block, *copy))
        outputs += substitute(tangents, new)
    return replace(made, outputs=tuple(outputs))


def _pushed_by_element(base: LoopProgram, name: str) -> tuple[LoopProgram, tuple[Expr, ...]]:
    """The program with the tangents of its outputs by a number, or by each element of an array."""
    type = next(p.type for p in base.params if p.name == name)
    if not type.shape:
        return _pushed(base, {name: ONE})
    ones = _filled(type, ONE, names_of(base))
    return _pushed(replace(base, block=(ones, *base.block)), {name: array(ones.name)})


def _filled(type: Type, value: Expr, names: Names) -> Build:
    """An array of one number."""
    indices = tuple(names.fresh("i") for _ in type.shape)
    return Build(names.fresh("filled"), type, indices, value)


def rows(program: LoopProgram, which: Sequence[bool]) -> LoopProgram | None:
    """The program for each row of the parameters that `which` says; see `loops.rows`."""
    found = over_rows(program, which)
    return None if found is None else _finished(found, found.outputs, program.tree)


def jvp(program: LoopProgram, wrt: Sequence[str]) -> LoopProgram:
    """(value, tangent); the tangents are further parameters, see `tangent_names`."""
    base = _simplified(program)
    dots = _tangents(program, wrt)
    seeds = {n: p.leaf for n, p in zip(wrt, dots, strict=True)}
    taken = replace(base, params=(*base.params, *dots))
    pushed, tangents = _pushed(_opened(taken), seeds)
    return _beside(base, pushed, tangents, base.tree)


def vjp(program: LoopProgram, wrt: Sequence[str], checkpoint: Checkpoint = None) -> LoopProgram:
    """(value, cotangents of wrt); the outputs' cotangents are further parameters."""
    base = _simplified(program)
    bars, checks = _cotangents(base)
    taken = replace(base, params=(*base.params, *bars), block=(*base.block, *checks))
    swept, slopes = _swept(_opened(taken), wrt, [p.leaf for p in bars], checkpoint)
    return _beside(base, swept, slopes, of_gradient(len(wrt)))


def hvp(program: LoopProgram, wrt: Sequence[str], checkpoint: Checkpoint = None) -> LoopProgram:
    """The Hessian times a vector, without the Hessian."""
    slopes = _opened(gradient(_scalar(program, "hvp"), wrt, checkpoint))
    dots = _tangents(program, wrt)
    seeds = {n: p.leaf for n, p in zip(wrt, dots, strict=True)}
    pushed, tangents = _pushed(replace(slopes, params=(*slopes.params, *dots)), seeds)
    return _finished(pushed, tangents, slopes.tree)


def hessian(
    program: LoopProgram,
    wrt: Sequence[str],
    checkpoint: Checkpoint = None,
    log: Log[LoopProgram] | None = None,
) -> LoopProgram:
    """Second derivatives of a scalar function, forward over reverse: a row for each
    element of each parameter."""
    slopes = gradient(_scalar(program, "hessian"), wrt, checkpoint, log)

    def rows() -> Derived:
        program, outputs = _by_elements(_opened(slopes, log), wrt, first=True)
        n = len(wrt)
        tree = of_jacobian(of_gradient(n), n)
        return program, outputs, tree

    return _derived(rows, log)


def jacobian(
    program: LoopProgram,
    wrt: Sequence[str],
    checkpoint: Checkpoint = None,
    log: Log[LoopProgram] | None = None,
) -> LoopProgram:
    """The derivative of every output by every parameter named in wrt, forward or in
    reverse, whichever takes fewer sweeps."""
    base = _simplified(program, log)
    return _derived(lambda: _jacobian(base, wrt, checkpoint, log), log)


def _jacobian(
    base: LoopProgram,
    wrt: Sequence[str],
    checkpoint: Checkpoint,
    log: Log[LoopProgram] | None = None,
) -> Derived:
    """The derivatives of every output, how they nest, not simplified."""
    base, known = _opened(base, log), types(base)
    inputs = [known[n] for n in wrt]
    results = [_type(e, known) for e in base.outputs]
    if fewer(results, inputs):
        swept, outputs = _by_outputs(base, wrt, checkpoint)
    else:
        swept, columns = _by_elements(base, wrt, first=False)
        count = len(base.outputs)
        outputs = tuple(columns[j * count + i] for i in range(count) for j in range(len(wrt)))
    return swept, outputs, of_jacobian(base.tree, len(wrt))


def tangent_names(program: LoopProgram, wrt: Sequence[str]) -> list[str]:
    """Names of the parameters that carry the tangents of `wrt`."""
    taken = types(program)
    return [untaken(f"{n}_dot", taken) for n in wrt]


# ------------------------------------------------------------------------- sweeps
def _slopes(
    base: LoopProgram, wrt: Sequence[str], checkpoint: Checkpoint
) -> tuple[LoopProgram, tuple[Expr, ...]]:
    """The program with the derivatives of its one output, in reverse; or forward, by the only
    number there is, if in reverse a loop that ends by a condition would keep its states. (Along loops of
    known length tangents gather more rounding than adjoints.)"""
    swept, slopes = _swept(base, wrt, (ONE,), checkpoint)
    loops = [s for s in walk(swept.block) if isinstance(s, Loop)]
    kept = any(s.saves and s.count is None for s in loops)
    if not kept or checkpoint is not None or len(wrt) > 1:
        return swept, slopes
    type = next(p.type for p in base.params if p.name == wrt[0])
    if any(n is not ONE for n in type.shape):
        return swept, slopes
    pushed, (tangent,) = _pushed_by_element(base, wrt[0])
    if not type.shape:
        return pushed, (tangent,)
    filled = _filled(type, tangent, names_of(pushed))
    return replace(pushed, block=(*pushed.block, filled)), (array(filled.name),)


def _swept(
    base: LoopProgram, wrt: Sequence[str], cotangents: Sequence[Expr], checkpoint: Checkpoint
) -> tuple[LoopProgram, tuple[Expr, ...]]:
    """The program with the reverse sweep, and the cotangents of the parameters."""
    context = Context(base, wrt)
    sweep = Sweep(context, base.block, wrt, base.outputs, checkpoint=checkpoint)
    for output, bar in zip(base.outputs, cotangents, strict=True):
        sweep.cotangent(output, bar)
    sweep.run()
    known = {p.name: p.type for p in base.params}
    slopes = tuple(sweep.bar(n, known[n]) for n in wrt)
    return replace(base, block=(*sweep.forward, *sweep.out)), slopes


def _pushed(base: LoopProgram, seeds: dict[str, Expr]) -> tuple[LoopProgram, tuple[Expr, ...]]:
    """The program with tangents, and those of its outputs."""
    duals = Duals(Context(base, seeds), seeds)
    block = list(duals.block(base.block))
    known = types(base)
    tangents = tuple(duals.dense(e, _type(e, known), block) for e in base.outputs)
    return replace(base, block=tuple(block)), tangents


def _by_elements(
    base: LoopProgram, wrt: Sequence[str], first: bool
) -> tuple[LoopProgram, tuple[Expr, ...]]:
    """Tangents of all outputs by each element of each parameter: `outputs` for the first
    parameter, then for the second, and so on.

    The axes of the parameter stand before those of the output if `first`, else after.
    """
    seeds = Seeds(base, first)
    outputs = [e for name in wrt for e in seeds.tangents(name)]
    return replace(base, block=(*base.block, *seeds.statements)), tuple(outputs)


def _by_outputs(
    base: LoopProgram, wrt: Sequence[str], checkpoint: Checkpoint
) -> tuple[LoopProgram, tuple[Expr, ...]]:
    """Cotangents of all parameters from each element of each output."""
    seeds = Seeds(base, True)
    outputs = [e for output in base.outputs for e in seeds.cotangents(output, wrt, checkpoint)]
    return replace(base, block=(*base.block, *seeds.statements)), tuple(outputs)


# ---------------------------------------------------------------------- parameters
def _tangents(program: LoopProgram, wrt: Sequence[str]) -> list[Parameter]:
    shapes = {p.name: p.type for p in program.params}
    names = tangent_names(program, wrt)
    return [Parameter(d, shapes[n]) for n, d in zip(wrt, names, strict=True)]


def _cotangents(program: LoopProgram) -> tuple[list[Parameter], list[Check]]:
    """Parameters for the cotangents of the outputs, and that their shapes fit."""
    known, names = types(program), names_of(program)
    bars, checks = [], []
    for i, e in enumerate(program.outputs):
        t = _type(e, known)
        name = names.fresh(f"cotangent_{i}")
        axes = []
        for k, size in enumerate(t.shape):
            if size.op.arity == 0 and (size.op is not INDEX or _is_size(size, program)):
                axes.append(size)
                continue
            axes.append(index(names.fresh(f"{name}_size{k}")))
            message = f"the cotangent of output {i} must have the shape of the output"
            checks.append(Check(eq(axes[-1], size), "value", message))
        bars.append(Parameter(name, Type(tuple(axes))))
    return bars, checks


def _is_size(e: Expr, program: LoopProgram) -> bool:
    return any(e in p.type.shape for p in program.params)


def _type(e: Expr, known: dict[str, Type]) -> Type:
    return known[name_of(e)] if e.op is ARRAY else REAL


# --------------------------------------------------------------------- whole programs
Derived = tuple[LoopProgram, Sequence[Expr], Tree]
"""A program with the statements of its derivatives, these, and how they nest."""


def _simplified(program: LoopProgram, log: Log[LoopProgram] | None = None) -> LoopProgram:
    def step(own: Log[Code] | None) -> Code:
        names = names_of(program)
        return simplified(program.block, program.outputs, names, types=types(program), log=own)

    return _consisting(log, "simplify-value", program, step)


def _consisting(
    log: Log[LoopProgram] | None,
    name: str,
    program: LoopProgram,
    step: Callable[[Log[Code] | None], Code],
) -> LoopProgram:
    """The program with the code of a stage that consists of passes on it."""
    if log is None:
        return _of_code(program, step(None))
    own = Log[Code]()
    found = log.run(name, lambda: _of_code(program, step(own)))
    inside = [Stage(s.name, _of_code(program, s.program), s.seconds) for s in own.stages]
    log.stages[-1] = replace(log.stages[-1], inside=tuple(inside))
    return found


def _of_code(program: LoopProgram, code: Code) -> LoopProgram:
    return replace(program, block=code[0], outputs=code[1])


def _derived(step: Callable[[], Derived], log: Log[LoopProgram] | None) -> LoopProgram:
    """The program of derivatives, simplified."""

    def differentiate() -> LoopProgram:
        program, outputs, tree = step()
        return replace(program, outputs=tuple(outputs), tree=tree)

    found = differentiate() if log is None else log.run("differentiate", differentiate)
    return _finished(found, found.outputs, found.tree, log)


def _opened(program: LoopProgram, log: Log[LoopProgram] | None = None) -> LoopProgram:
    """The program as it is differentiated: with slopes of norms that have no value
    at 0, and operations that say where they are defined."""
    every = topological((*expressions_in(program.block), *program.outputs))
    if not any(n.op in (ROOT_SLOPE, UNIT) or may_be_outside(n) for n in every):
        return program
    step = lambda own: block_by_block.opened(program.block, program.outputs, own)
    return _consisting(log, "open", program, step)


def _has_slopes(program: LoopProgram) -> bool:
    return has_slopes((*expressions_in(program.block), *program.outputs))


def _beside(
    base: LoopProgram, derived: LoopProgram, slopes: Sequence[Expr], tree: Tree
) -> LoopProgram:
    """The outputs of a program and derivatives of it, which nest as the tree says, simplified."""
    tree = joined(base.tree, len(base.outputs), tree)
    if not _has_slopes(base):
        return _finished(derived, (*base.outputs, *slopes), tree)
    copy, new = renamed(base.block, names_of(derived))
    whole = replace(derived, block=(*copy, *derived.block))
    return _finished(whole, (*substitute(base.outputs, new), *slopes), tree)


def _finished(
    program: LoopProgram,
    outputs: Sequence[Expr],
    tree: Tree,
    log: Log[LoopProgram] | None = None,
) -> LoopProgram:
    def step(own: Log[Code] | None) -> Code:
        block = pruned(program.block, outputs)
        names = names_of(replace(program, block=block))
        return simplified(block, outputs, names, late=True, log=own)

    return _consisting(log, "simplify", replace(program, tree=tree), step)


def _is_scalar(program: LoopProgram) -> bool:
    return isinstance(program.tree, int) and program.outputs[0].op is not ARRAY


def _scalar(program: LoopProgram, what: str) -> LoopProgram:
    if not _is_scalar(program):
        raise needs_one_value(
            program, what, "an array" if isinstance(program.tree, int) else "several"
        )
    return program


# --------------------------------------------------------------------- the protocol
def real_names(program: LoopProgram, wrt: Sequence[str]) -> tuple[str, ...]:
    """Those of the names whose parameters are real."""
    real = {p.name for p in program.params if p.type.kind == "f"}
    return tuple(n for n in wrt if n in real)


_ORDERS = {
    "gradient": 1, "value_and_gradient": 1, "jacobian": 1, "jvp": 1, "vjp": 1, "hessian": 2, "hvp": 2,
}  # fmt: skip
"""The orders of derivations; of a derivative as many as it has names."""
FORWARD = ("derivative", "jvp")
"""Derivations that reverse no loop."""


def derive(
    program: LoopProgram,
    kind: str,
    wrt: Sequence[str],
    notes: object = None,
    checkpoint: Checkpoint = None,
) -> LoopProgram:
    """The program of a derivative by those of the parameters that are real; see
    `symdiff.pipeline.protocol.Pipeline`."""
    real = real_names(program, wrt)
    if (kind == "derivative" and len(real) < len(wrt)) or (wrt and not real):
        name = next(n for n in wrt if n not in real)
        raise SymdiffError(
            f"'{name}' of {program.name} is an integer here: there is no derivative by it",
            hint="it is used as an index, a size or a count, or its kind decides what is computed; "
            "floats have derivatives",
        )
    wrt = real
    left = None if program.orders is None else program.orders - _ORDERS.get(kind, len(wrt))
    if left is not None and left < 0:
        raise UnsupportedError(
            f"derivatives of this order of {program.name}, which solves an equation"
        )
    found: LoopProgram
    if kind in FORWARD:
        found = _DERIVATIONS[kind](program, wrt)
    else:
        found = _DERIVATIONS[kind](program, wrt, checkpoint)
    return replace(found, by_element=program.by_element and kind == "derivative", orders=left)


_DERIVATIONS: dict[str, Callable[..., LoopProgram]] = {
    f.__name__: f
    for f in (gradient, value_and_gradient, jacobian, hessian, derivative, jvp, vjp, hvp)
}


def of_order(
    program: LoopProgram, wrt: Sequence[str], order: int, log: Log[LoopProgram] | None = None
) -> LoopProgram:
    """The gradient, or for several results the Jacobian; with order 2 the Hessian."""
    if order > 2 or (order == 2 and not _is_scalar(program)):
        raise SymdiffError(
            f"derivatives of order {order} of {program.name}, a function with arrays or loops, are "
            "not printed",
            hint="gradients and Jacobians are, and Hessians of functions with one result",
        )
    kind = hessian if order == 2 else gradient if _is_scalar(program) else jacobian
    return kind(program, real_names(program, wrt), None, log)


def stages(program: LoopProgram, wrt: Sequence[str], order: int = 1) -> list[Stage[LoopProgram]]:
    """The program after each stage that makes its gradient, or its Jacobian, or with order 2
    its Hessian."""
    log = Log[LoopProgram]()
    final(of_order(log.run("capture", lambda: program), wrt, order, log), log)
    return log.stages


watch(__name__)
