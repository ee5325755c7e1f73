"""Public functions of modules, called inside of functions that Numba compiles.

Before:  the kernel `_f_grad` with its error test, and `_f_wide`
After:   an overload of `f_grad` for numbers: the first two tiers, and balls in Python, for whose
         lock threads wait

Requires: a function whose results nest in tuples and lists.
Ensures: nothing is compiled before such a call is.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from symdiff.codegen.source.modules.again import Demands, Group
from symdiff.codegen.source.modules.face import Face, all_names, public_names, refusal
from symdiff.codegen.source.modules.helpers import stem
from symdiff.ir.program import Tree, tree_text

IMPORTS = "from numba.core.errors import TypingError\nfrom numba.extending import {names}\n"
NUMBERS = '''
_real, _single, _absolute, _infinite = float, np.float32, abs, math.inf  # as parameters may be called


def _only_numbers(*args):
    """Compiled functions call those of this module with numbers alone."""
    if any(hasattr(a, "ndim") for a in args):
        raise TypingError("arguments are numbers here: call it in a loop over the elements")
'''.lstrip("\n")


def nests(tree: Tree) -> bool:
    """Whether compiled functions can return such results."""
    if isinstance(tree, (tuple, list)):
        return bool(tree) and all(nests(t) for t in tree)
    return isinstance(tree, int)


def inside_source(
    full: str,
    params: Sequence[str],
    count: int,
    tree: Tree,
    group: Group | None,
    face: Face,
    main: str,
    demands: Demands,
    dtype: str,
    balls: bool,
) -> str:
    """The overload of a public function.

    Parameters
    ----------
    count : how many values there are.
    tree : how they nest.
    balls : whether there is a function of balls.
    """
    used = [
        f"_{stem(full)}",
        "_only_numbers",
        "_real",
        "_single",
        "_absolute",
        "_infinite",
        "objmode",
    ]
    if group is not None:
        used += [f"_{stem(group.name)}_wide", f"_{main}_broken"]
    every = public_names(all_names(face, params), used)
    local, fixed = every[: len(params)], every[len(params) :]
    shown = parameters(params, every, face)
    r, at, flagged, found, sure, broken, settle, in_balls, as_written = fresh(
        ("r", "at", "flagged", "found", "sure", "broken", "settle", "balls", "written"), every
    )
    single = dtype == "float32"
    real = "_single" if single else "_real"
    given = ", ".join(f"{real}({p})" for p in local)
    again = ", ".join(f"{at}{k}" for k in range(len(local)))
    numbers = ", ".join(f"_real({real}({p}))" for p in local) if single else given
    results = [f"{r}{k}" for k in range(count)]
    lines = [f"{', '.join(results)} = _{stem(full)}({given})"]
    if group is not None:
        lines = [f"{', '.join(results)}, {flagged} = _{stem(full)}({given})", f"if {flagged}:"]
        lines.append(f"    {again} = {numbers}")
        if demands:
            lines.append(f"    {broken} = _{main}_broken({again})")
            for k, (_, text) in enumerate(demands, 1):
                lines += [f"    if {broken} == {k}:", f"        raise ValueError({text!r})"]
        if group.checks.closed and group.columns[full]:
            lines.append(f"    {found}, {sure} = _{stem(group.name)}_wide({again})")
            for result, c in zip(results, group.columns[full], strict=True):
                value = f"_single({found}[{c}])" if single else f"{found}[{c}]"
                lines.append(f"    if {sure}[{c}] or _absolute({found}[{c}]) < _infinite:")
                lines.append(f"        {result} = {value}")
            if balls:
                names = (sure, settle, in_balls, as_written)
                odd = [*(f"{x} != {x}" for x in results)] if group.written else []
                places = range(len(local)) if group.written else ()
                odd += [f"not _absolute({at}{k}) < _infinite" for k in places]
                lines += _balls(names, odd, group.columns[full], results, again, dtype)
    for (p, known), given_as in zip(face.fixed, fixed, strict=True):
        differs = f"{given_as} is not None" if known in (None, "None") else f"{given_as} != {known}"
        lines[:0] = [f"if {differs}:", f"    raise ValueError({refusal(main, p, known)!r})"]
    lines.append(f"return {tree_text(tree, results.__getitem__, str)}")
    given_balls = ""
    if group is not None and balls and group.checks.closed:  # not global names: Numba looks for
        # those of Python code in `sys.modules`, where a module need not be
        written = f"_{stem(group.name)}_written" if group.written else "None"
        given_balls = (
            f"    {settle}, {in_balls} = _settled, _{stem(group.name)}_balls\n"
            f"    {as_written} = {written}\n"
        )
    return (
        f"@overload({full})\ndef _{stem(full)}_inside({shown}):\n"
        f"    _only_numbers({', '.join(local)})\n{given_balls}\n"
        f"    def call({shown}):\n" + indent("\n".join(lines), " " * 8) + "\n\n    return call\n"
    )


def _balls(
    names: Sequence[str],
    odd: Sequence[str],
    columns: Sequence[int],
    results: Sequence[str],
    point: str,
    dtype: str,
) -> list[str]:
    """The lines that ask Python for what is not sure, or where one of `odd` holds."""
    sure, settle, named, written = names
    unsure = " or ".join([*(f"not {sure}[{c}]" for c in columns), *odd])
    kinds = ", ".join(f'{r}="{dtype}"' for r in results)
    places = ", ".join(map(str, columns)) + ("," if len(columns) == 1 else "")
    targets = ", ".join(results) if len(results) > 1 else f"({results[0]},)"
    return [
        f"    if {unsure}:",
        f"        with objmode({kinds}):",
        f"            {targets} = {settle}(",
        f"                {named}, ({places}),",
        f"                [{point}], [{', '.join(results)}], {written},",
        "            )",
    ]


def parameters(params: Sequence[str], local: Sequence[str], face: Face) -> str:
    """Parameters with their defaults, in the order of the user's function."""
    names, fixed = all_names(face, params), {p: value or "None" for p, value in face.fixed}
    known = {p: k for k, (p, _, _) in enumerate(face.parameters)}
    given = {p: repr(default) for p, _, default in face.parameters if default is not None} | fixed
    both = list(zip(names, local, strict=True))
    if all(p in known for p in names):
        both.sort(key=lambda item: known[item[0]])
    else:
        given = fixed
    return ", ".join(f"{shown}={given[p]}" if p in given else shown for p, shown in both)


def fresh(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names that no parameter begins with."""
    found = []
    for name in names:
        while any(t.startswith(name) for t in taken):
            name += "_"
        found.append(name)
    return found


__all__ = ["IMPORTS", "NUMBERS", "fresh", "inside_source", "nests", "parameters"]
