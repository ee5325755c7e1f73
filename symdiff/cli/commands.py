"""The command line: `symdiff diff | simplify | compile | check | plot | report | show | cache`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import click

from symdiff.errors import SymdiffError
from symdiff.process.progress import progress, turn_to
from symdiff.version import __version__

if TYPE_CHECKING:
    from fractions import Fraction

    from symdiff.cli.targets import Subject
    from symdiff.ir import Expr
    from symdiff.ir.program import Program
    from symdiff.passes.simplify.window_by_window import Short

FORMATS = ("text", "latex", "python", "c", "json")


class _Command(click.Command):
    """TARGET may start with a minus: `symdiff diff "-x**2"`. What takes long has a bar."""

    def invoke(self, ctx: click.Context) -> Any:
        with progress(str(ctx.params.get("target") or self.name)):
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._separated(ctx, args))

    def _separated(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with `--` before the TARGET if it could be taken for an option."""
        known = {
            name: p
            for p in self.get_params(ctx)
            if isinstance(p, click.Option)
            for name in (*p.opts, *p.secondary_opts)
        }
        places: list[int] = []
        i = 0
        while i < len(args):
            name, given, _ = args[i].partition("=")
            option = known.get(name)
            if option is not None:
                i += 1 if given or option.is_flag else 2
                continue
            if not args[i].startswith("-") or args[i] in ("-", "--"):
                return args
            if not args[i].startswith("--"):
                places.append(i)
            i += 1
        if not places:
            return args
        at = places[0]
        return [*args[:at], *args[at + 1 :], "--", args[at]]


class _Group(click.Group):
    """Errors about the user's input go to stderr, without a traceback, and exit with 2."""

    command_class = _Command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SymdiffError as error:
            click.echo(str(error), err=True)
            ctx.exit(2)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symdiff")
def main() -> None:
    """Derivatives that are simplified and cancelled before they are evaluated.

    TARGET is an expression such as "(x**2-4)/(x-2)", a function in a file,
    model.py:energy, or in a module, package.module:energy.
    """


_target = click.argument("target")
_wrt = click.option(
    "--wrt", metavar="X[,Y]", help="Variables to differentiate by; default: all of them."
)
_format = click.option(
    "--format", "style", type=click.Choice(FORMATS), default="text", show_default=True
)
_expanded = click.option("--expanded", is_flag=True, help="Without names for what formulas share.")
_dtype = click.option("--dtype", type=click.Choice(("float64", "float32")), default=None)


@main.command()
@_target
@_wrt
@click.option("--order", type=click.IntRange(min=1), default=1, show_default=True)
@_format
@_expanded
def diff(target: str, wrt: str | None, order: int, style: str, expanded: bool) -> None:
    """Print the simplified derivatives of TARGET."""
    from symdiff.cli.targets import resolve
    from symdiff.pipeline import readable_formulas as formulas
    from symdiff.pipeline import scalar as pipeline

    subject = resolve(target)
    program, names = subject.program, subject.variables(wrt)
    if subject.has_arrays:
        from symdiff.export.loops import printed
        from symdiff.pipeline.loops import of_order, real_names

        name, dtype = f"{program.name}_grad", subject.dtype or "float64"
        labels = [f"d/d{n}" for n in real_names(program, names)] if order == 1 else None
        click.echo(printed(of_order(program, names, order), name, style, dtype, labels), nl=False)
        return
    orders = list(combinations_with_replacement(names, order))
    shorts: list[Short] = []
    outputs: list[Expr] = []
    if style in ("python", "c"):
        outputs = [e for by in orders for e in pipeline.derivative(program, by).outputs]
    else:
        shown, given = formulas.shown(program), _literals(subject)
        shorts = [
            short for by in orders for short in formulas.short_derivative(shown, by, literals=given)
        ]
    count = len(program.outputs)
    labels = [
        _derivative_label(by) + (f" [{i}]" if count > 1 else "")
        for by in orders
        for i in range(count)
    ]
    suffix = "grad" if order == 1 else f"diff{order}"
    entries = [
        {"wrt": list(by)} | ({"output": i} if count > 1 else {})
        for by in orders
        for i in range(count)
    ]
    name = f"{program.name}_{suffix}"
    _print_results(
        subject, outputs, shorts, name=name, labels=labels, entries=entries, style=style,
        expanded=expanded,
    )  # fmt: skip


@main.command()
@_target
@_format
@_expanded
def simplify(target: str, style: str, expanded: bool) -> None:
    """Print the simplified value of TARGET."""
    from symdiff.cli.targets import resolve
    from symdiff.pipeline import readable_formulas as formulas
    from symdiff.pipeline import scalar as pipeline

    subject = resolve(target)
    if subject.has_arrays:
        from symdiff.export.loops import printed
        from symdiff.pipeline.loops import value

        name, dtype = subject.program.name, subject.dtype or "float64"
        click.echo(printed(value(subject.program), name, style, dtype), nl=False)
        return
    program = subject.program
    count = len(program.outputs)
    labels = [f"[{i}]" for i in range(count)]
    entries: list[dict[str, Any]] = [{"output": i} if count > 1 else {} for i in range(count)]
    printed_as_code = style in ("python", "c")
    _print_results(
        subject,
        pipeline.value(program).outputs if printed_as_code else [],
        []
        if printed_as_code
        else formulas.short_value(formulas.shown(program), literals=_literals(subject)),
        name=program.name,
        labels=labels,
        entries=entries,
        style=style,
        expanded=expanded,
    )


@main.command("compile")
@_target
@click.option("-o", "--output", type=click.Path(), help="The module to write; default: stdout.")
@_wrt
@click.option("--target", "targets", default="cpu", show_default=True, metavar="CPU[,CUDA]")
@_dtype
@click.option(
    "--with", "extras", multiple=True, type=click.Choice(["hessian"]), help="Also generate this."
)
@click.option("--name", help="Name of the function, if TARGET is an expression; default: f.")
@click.option(
    "--accuracy", type=click.Choice(["high", "fast", "strict"]), default=None,
    help="fast: double arithmetic alone; strict: programs with arrays with their rounding errors; "
    "default: that of the function, high.",
)  # fmt: skip
@click.option(
    "--companion", default="symdiff_pairs", show_default=True, metavar="NAME|none",
    help="Module in the folder of OUTPUT for the functions that modules share; none: OUTPUT defines them.",
)  # fmt: skip
def compile_module(
    *,
    target: str,
    output: str | None,
    wrt: str | None,
    targets: str,
    dtype: str | None,
    extras: tuple[str, ...],
    name: str | None,
    accuracy: str | None,
    companion: str,
) -> None:
    """Write a standalone module with the kernels of TARGET.

    Printed on stdout it defines all that it uses.
    """
    from symdiff.cli.targets import resolve
    from symdiff.export.companions import check_companion, imported_as, write_module
    from symdiff.export.scalar import module_text

    subject, wanted = resolve(target, name), [t.strip() for t in targets.split(",")]
    beside = None if companion == "none" or output in (None, "-") else companion
    check_companion(beside)
    by, more, real = subject.variables(wrt), "hessian" in extras, dtype or subject.dtype
    if not subject.has_arrays:
        text = module_text(
            subject.program, by, hessian=more, dtype=real, targets=wanted,
            accuracy=accuracy or subject.accuracy, check_domain=subject.check_domain,
            face=subject.face, companion=imported_as(str(output), beside),
        )  # fmt: skip
    else:
        from symdiff.export.loops import array_module

        text = array_module(
            subject.program, by, hessian=more, dtype=real, targets=wanted, face=subject.face
        )
    if output in (None, "-"):
        click.echo(text, nl=False)
    else:
        write_module(str(output), text, beside)


@main.command()
@_target
@_wrt
@click.option("--order", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--stage", help="Only this stage, such as capture, cancel or emit, or a pass of it.")
@click.option("--timings", is_flag=True, help="Print how long each stage took instead.")
@click.option("--ir", "exact", is_flag=True, help="Print programs exactly, node by node.")
def show(
    target: str, wrt: str | None, order: int, stage: str | None, timings: bool, exact: bool
) -> None:
    """Print the program of TARGET after the stages of the pipeline."""
    import time

    from symdiff.cli.targets import resolve
    from symdiff.pipeline.derivation import pipeline_of

    subject = resolve(target)
    names, dtype = subject.variables(wrt), subject.dtype or "float64"
    done = pipeline_of(subject.program).stages(subject.program, names, order)
    last, start = done[-1].program, time.perf_counter()
    written: Callable[[Any], str] = _program_text
    if subject.has_arrays:
        from symdiff.export import loops as loop_export

        written, source = loop_export.program_text, loop_export.source(last.name, last, dtype)
    else:
        from symdiff.codegen.source.python import function_source

        source = function_source(last.name, last.params, last.outputs, dtype=dtype)
    if exact:
        from symdiff.ir.node_text import program_text as written
    texts = [(s.name, s.seconds, s.program) for s in done]
    if stage is not None and "/" in stage:
        texts = [(f"{s.name}/{p.name}", p.seconds, p.program) for s in done for p in s.inside]
    known = [*dict.fromkeys(name for name, _, _ in texts), "emit"]
    if stage is not None and stage not in known:
        raise SymdiffError(
            f"there is no stage '{stage}'", hint=f"the stages are {', '.join(known)}"
        )
    emitted = time.perf_counter() - start
    if timings:
        for name, seconds, _ in [*texts, ("emit", emitted, last)]:
            if stage in (None, name):
                click.echo(f"{name:<14}{1000 * seconds:10.2f} ms")
        return
    for name, _, program in texts:
        if stage in (None, name):
            click.echo(f"# {name}\n{written(program)}\n")
    if stage in (None, "emit"):
        click.echo(f"# emit\n{source}", nl=False)


@main.command()
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@_wrt
@click.option(
    "--format", "style", type=click.Choice(("text", "json", "sarif")), default="text",
    show_default=True,
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0), default=None,
    help="Time for each function; default: 2, with --all 10.",
)  # fmt: skip
@click.option(
    "--all", "everything", is_flag=True,
    help="Also notes: numbers of extreme size, other values of parameters than their defaults, "
    "digits lost by underflow, and where the arguments determine the result no better.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(("error", "warning", "note", "never")), default="warning",
    show_default=True, help="The exit code is 1 if there is anything as bad as this.",
)  # fmt: skip
@click.pass_context
def check(
    ctx: click.Context, targets: tuple[str, ...], wrt: str | None, style: str,
    seconds: float | None, everything: bool, fail_on: str,
) -> None:  # fmt: skip
    """Find where the plain chain rule is wrong for each TARGET, or all functions of a file.

    Lists the points and ranges where people compute and where the value or a derivative,
    computed as written, is inf or nan (an error) or loses more than half its digits (a warning),
    with the right value, what symdiff returns, and what it would write, at the line where the
    trouble starts. Lines with the comment `# symdiff: ignore` are left out.
    """
    from symdiff.cli.check.command import check as search
    from symdiff.cli.check.findings import LEVELS, is_ignored, lines, merged
    from symdiff.cli.check.sarif import document as sarif
    from symdiff.cli.targets import Skipped, functions, variables

    found = [f for target in targets for f in functions(target, several=len(targets) > 1)]
    skipped = [f for f in found if isinstance(f, Skipped)]
    chosen = [f for f in found if not isinstance(f, Skipped)]
    results = []
    for k, f in enumerate(chosen):
        turn_to(f"{f.__name__}, {k + 1} of {len(chosen)}")
        results.append(search(f, variables(f, wrt), seconds=seconds, everything=everything))
    ignored = sum(is_ignored(f) for r in results for f in r.findings)
    for r in results:
        r.findings = [f for f in r.findings if not is_ignored(f)]
    for s in skipped:
        click.echo(f"skipped {s.name}: {s.reason}", err=True)
    findings = [f for r in results for f in r.findings]
    groups = [group for r in results for group in merged(r.findings)]
    shown = [line for r in results for line in lines(r.findings)]
    if style == "json":
        document = {
            "functions": [r.to_dict() for r in results],
            "skipped": [{"name": s.name, "reason": s.reason} for s in skipped],
        }
        click.echo(json.dumps(document, indent=2))
    elif style == "sarif":
        click.echo(json.dumps(sarif(groups), indent=2))
    else:
        for line in shown:
            click.echo(line)
        late = [r.name for r in results if not r.complete]
        if late:
            click.echo(f"out of time (--seconds): {', '.join(late)}", err=True)
        click.echo(_summary([g[0].level for g in groups], len(results), ignored))
    bad = LEVELS[: LEVELS.index(fail_on) + 1] if fail_on in LEVELS else ()
    ctx.exit(1 if any(f.level in bad for f in findings) else 0)


@main.command()
@_target
@_wrt
@click.option("-o", "--output", required=True, type=click.Path(), help="A .png or .svg file.")
@click.option("--at", metavar="X=1[,Y=2]", help="The point to look at; default: the bad ones.")
@click.option("--seconds", type=click.FloatRange(min=0), default=10.0, show_default=True)
def plot(target: str, wrt: str | None, output: str, at: str | None, seconds: float) -> None:
    """Draw value, derivative and their errors near the bad points of TARGET.

    Both as the plain chain rule computes them and as symdiff does, along the first
    variable; needs matplotlib.
    """
    from symdiff.cli.plot import plot as draw
    from symdiff.cli.targets import function, variables

    subject = function(target)
    click.echo(draw(subject, output, variables(subject, wrt), at=at, seconds=seconds))


@main.command()
@_target
@click.option("-o", "--output", type=click.Path(), help="An .html file; default: text.")
def report(target: str, output: str | None) -> None:
    """Print what is done with TARGET, or write it as a page.

    The page needs no other file: formulas before and after, singular points, errors of the plain
    chain rule and of symdiff, the graph of the computation, the generated code. It needs Jinja2
    and Pygments.
    """
    from pathlib import Path

    from symdiff.cli.targets import function
    from symdiff.export.files import write_text

    found = function(target).report()
    if output is None:
        click.echo(str(found))
        return
    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise SymdiffError(f"{output}: a report is written as HTML", hint="name it *.html")
    write_text(output, found.html())
    click.echo(f"{output}: {found.name}")


@main.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print what completes commands and options in a SHELL.

    For bash: symdiff completion bash > ~/.local/share/bash-completion/completions/symdiff
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "symdiff", "_SYMDIFF_COMPLETE").source())


@main.group()
def cache() -> None:
    """Compiled kernels kept on disk."""


@cache.command("info")
def cache_info() -> None:
    """Print where the cache is and how much it holds."""
    from symdiff.runtime import cache as store

    for name, value in store.info()._asdict().items():
        click.echo(f"{name}: {value}")


@cache.command("clear")
def cache_clear() -> None:
    """Delete every kernel in the cache."""
    from symdiff.runtime import cache as store

    click.echo(f"removed {store.clear()} files")


# --------------------------------------------------------------------- printing
def _summary(levels: Sequence[str], functions: int, ignored: int) -> str:
    """`2 errors and 1 warning in 3 functions`."""
    counts = {level: levels.count(level) for level in dict.fromkeys(levels)}
    parts = [f"{n} {level}{'' if n == 1 else 's'}" for level, n in counts.items()]
    found = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    more = f" ({ignored} ignored)" if ignored else ""
    return f"{found or 'no findings'} in {functions} function{'' if functions == 1 else 's'}{more}"


def _derivative_label(by: Sequence[str]) -> str:
    """`d/dx`, `d2/dx2`, `d3/dx2dy`."""
    counts = {name: by.count(name) for name in by}
    below = "".join(f"d{name}{n if n > 1 else ''}" for name, n in counts.items())
    return f"d{len(by) if len(by) > 1 else ''}/{below}"


def _print_results(
    subject: Subject,
    outputs: Sequence[Expr],
    shorts: Sequence[Short],
    *,
    name: str,
    labels: Sequence[str],
    entries: Sequence[dict[str, Any]],
    style: str,
    expanded: bool,
) -> None:
    from symdiff.codegen.sympy.text import formula_lines
    from symdiff.pipeline.scalar import expand_completed

    params, dtype = subject.params, subject.dtype or "float64"
    if style in ("python", "c"):
        outputs = expand_completed(outputs)
    else:
        if not expanded:
            shorts = _sharing_most(shorts)
        outputs = [short.formula for short in shorts]
    if style == "python":
        from symdiff.codegen.source.python import IMPORTS, function_source

        source = function_source(name, params, outputs, dtype=dtype)
        click.echo(f"{IMPORTS}\n\n{source}", nl=False)
        return
    if style == "c":
        from symdiff.codegen.source.c import c_source

        click.echo(c_source(name, params, outputs, dtype=dtype), nl=False)
        return
    definitions: list[str] = []
    if style == "latex":
        from symdiff import ir
        from symdiff.codegen.common.naming import named
        from symdiff.codegen.sympy.text import format_latex
        from symdiff.codegen.sympy.translate import to_sympy

        shared, outputs = ([], outputs) if expanded else named(outputs)
        names = [ir.var(n) for n, _ in shared]
        nodes = (*names, *(e for _, e in shared), *outputs)
        made = [format_latex(e) for e in to_sympy(nodes)]
        definitions = [f"{n} = {t}" for n, t in zip(made, made[len(names) :], strict=False)]
        definitions, texts = definitions[: len(names)], made[2 * len(names) :]
    else:
        given = _literals(subject)
        definitions, texts = formula_lines(outputs, expanded=expanded, literals=given)
    conditions = [" and ".join(f"{v.value} != 0" for v in short.nonzero) for short in shorts]
    if style == "json":
        results = [
            entry | {"text": text} | ({"where": where} if where else {})
            for entry, text, where in zip(entries, texts, conditions, strict=True)
        ]
        document = {
            "name": name,
            "params": list(params),
            "definitions": definitions,
            "results": results,
        }
        click.echo(json.dumps(document, indent=2))
        return
    for line in definitions:
        click.echo(line if style == "latex" else f"with {line}:")
    for label, text, where in zip(labels, texts, conditions, strict=True):
        if where:
            text += (
                rf" \quad ({where})".replace("!=", r"\neq").replace("and", r"\wedge")
                if style == "latex"
                else f"  # {where}"
            )
        click.echo(text if len(texts) == 1 else f"{label}: {text}")


def _literals(subject: Subject) -> tuple[Fraction, ...]:
    """The numbers that were written as decimals."""
    from symdiff.pipeline.readable_formulas import decimals_of, shown

    program = subject.program
    return decimals_of(program.outputs, shown(program).outputs, subject.text)


def _sharing_most(shorts: Sequence[Short]) -> Sequence[Short]:
    """Several results as the formulas that take fewer operations together: each as short as it
    gets, or as they were before, which may share more, with what they share made short."""
    from symdiff.codegen.common.naming import fewest, put_back
    from symdiff.passes.simplify.simplify import simplify

    if len(shorts) < 2:
        return shorts
    alone = [s.formula for s in shorts]
    before = [s.formula if s.start is None else s.start for s in shorts]
    choices = [alone, before, put_back(before, simplify)]
    chosen = fewest(*choices)
    if not chosen:
        return shorts
    return [replace(s, formula=e, nonzero=()) for s, e in zip(shorts, choices[chosen], strict=True)]


def _program_text(program: Program) -> str:
    """A program without rewriting, with names for shared nodes."""
    from symdiff.codegen.common.temporaries import statements
    from symdiff.codegen.sympy.text import TextWriter

    conditions = [*program.domain, *program.assumptions]
    assignments, texts = statements((*program.outputs, *conditions), TextWriter())
    count, known = len(program.outputs), len(program.domain)
    lines = [f"{program.name}({', '.join(program.params)})"]
    lines += [f"  {a.name} = {a.text}" for a in assignments]
    lines += [f"  [{i}] = {text}" for i, text in enumerate(texts[:count])]
    lines += [f"  domain: {text}" for text in texts[count : count + known]]
    lines += [f"  assumed: {text}" for text in texts[count + known :]]
    return "\n".join(lines)


if __name__ == "__main__":
    main(prog_name="python -m symdiff.cli.commands")
