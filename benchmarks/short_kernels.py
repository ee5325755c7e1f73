"""What short forms of values and slopes do to kernels of the twelve functions of `workloads.py`.

    python benchmarks/short_kernels.py [--size 100000] [--rounds 5]
    python benchmarks/short_kernels.py --families

Operations, divisions and calls of functions of a value with all its first derivatives, shared ones
counted once: by the chain rule as written, as symdiff compiles them, and with each of them in the
form that is printed. Times are of `"fast"` kernels of the second and the third over arrays, in turns,
on one thread, nanoseconds for each element. --families counts those of the programs of numbers in
`compile_time.py`, whose times stand there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from compile_time import PROGRAMS
from throughput import inputs
from timing import clock, race
from workloads import WORKLOADS, Workload

from symdiff import ir, symgrad
from symdiff.ir import Expr
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.passes.simplify.simplify import simplify
from symdiff.pipeline import readable_formulas as formulas
from symdiff.pipeline import scalar as pipeline


def counts(outputs: Iterable[Expr]) -> tuple[int, int, int]:
    """Operations, divisions and calls."""
    nodes = [n for n in ir.topological(outputs) if n.args and not n.op.boolean]
    divisions = sum(n.op is ir.DIV for n in nodes)
    return len(nodes), divisions, sum(n.op not in ir.ARITHMETIC for n in nodes)


def chain_rule(program: Program, names: Iterable[str]) -> tuple[Expr, ...]:
    """Values and slopes of the program as it was captured."""
    slopes = [pipeline.pushforward(program.outputs, {ir.var(n): ir.ONE}) for n in names]
    return (*program.outputs, *(d for row in slopes for d in row))


def derived(program: Program, names: list[str]) -> tuple[Expr, ...]:
    """Values and slopes as symdiff derives them."""
    if isinstance(program.tree, int):
        return pipeline.value_and_gradient(program, names).outputs
    return (*pipeline.simplified(program).outputs, *pipeline.jacobian(program, names).outputs)


def shortened(program: Program) -> Program:
    """The program with every output in the form that is printed."""
    closed = formulas.closed_for_people(program.outputs)
    return replace(program, outputs=simplify(closed))


def kernel(work: Workload, short: bool) -> Any:
    """The compiled function: value and gradient, or the Jacobian of several values."""
    original = pipeline.optimized

    def optimized(program: Program, notes: Any = None) -> OptimizedProgram:
        return original(shortened(program), notes)

    f = symgrad(work.fun, wrt=work.by, accuracy="fast", parallel=False, cache=False, verify=False)
    call = f.value_and_grad if work.outputs == 1 else f.jacobian.map
    pipeline.optimized = optimized if short else original
    try:
        call(*inputs(work, 2048))
    finally:
        pipeline.optimized = original
    return call


def families() -> None:
    """The operations of larger programs of numbers, by the chain rule, as compiled and shortened."""
    print("| program | chain rule | compiled | short forms |")
    print("|---|---|---|---|")
    for name in ("debye", "shock"):
        program = symgrad(PROGRAMS[name][0]).raw_program
        made = derived(program, list(program.params))
        forms = (
            chain_rule(program, program.params),
            made,
            simplify(formulas.closed_for_people(made)),
        )
        cells = [" / ".join(map(str, counts(outputs))) for outputs in forms]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--families", action="store_true")
    args = parser.parse_args()
    if args.families:
        families()
        return
    print("| function | chain rule | compiled | short forms | compiled, ns | short forms, ns |")
    print("|---|---|---|---|---|---|")
    for work in WORKLOADS:
        program = symgrad(work.fun).raw_program
        made = derived(program, list(work.by))
        forms = (
            chain_rule(program, work.by),
            made,
            simplify(formulas.closed_for_people(made)),
        )
        cells = [" / ".join(map(str, counts(outputs))) for outputs in forms]
        arrays = inputs(work, args.size)
        calls = {name: kernel(work, name == "short") for name in ("compiled", "short")}
        clocks = {
            name: clock(lambda call=call, arrays=arrays: call(*arrays))
            for name, call in calls.items()
        }
        seconds = race(clocks, args.rounds)
        cells += [f"{1e9 * seconds[name] / args.size:.2f}" for name in calls]
        print(f"| `{work.name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
