"""Public functions of modules, called inside of functions that Numba compiles.

Before:  the function `_f_repaired` of numbers
After:   an overload of `f_grad` for numbers

Requires: a function whose results nest in tuples and lists.
Ensures: nothing is compiled before such a call is.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent, wrap

from symdiff.codegen.common.temporaries import WIDTH
from symdiff.codegen.source.modules.face import Face, all_names, public_names, refusal
from symdiff.ir.program import Tree, tree_text

NUMBERS = "_real, _single = float, np.float32  # as parameters may be called\n"


def called(head: str, args: Sequence[str], indentation: int) -> str:
    """A call, its arguments in lines of their own if they are many."""
    line = f"{head}({', '.join(args)})"
    if len(line) + indentation <= WIDTH + 12:
        return line
    rows = wrap(", ".join(args) + ",", WIDTH - indentation, break_on_hyphens=False)
    inner = "\n".join(" " * (indentation + 4) + row for row in rows)
    return f"{head}(\n{inner}\n{' ' * indentation})"


def nests(tree: Tree) -> bool:
    """Whether compiled functions can return such results."""
    if isinstance(tree, (tuple, list)):
        return bool(tree) and all(nests(t) for t in tree)
    return isinstance(tree, int)


def inside_source(
    full: str,
    params: Sequence[str],
    columns: Sequence[int],
    tree: Tree,
    face: Face,
    main: str,
    function: str,
    again: bool,
    slopes: bool,
    dtype: str,
) -> str:
    """The overload of a public function.

    Parameters
    ----------
    columns : which results of what is called it returns; tree : how they nest.
    function : of numbers; again : whether it computes what is flagged again, or tells it.
    slopes : whether it returns slopes.
    """
    used = [function, "_only_numbers", "_real", "_single"]
    every = public_names(all_names(face, params), used)
    local, fixed = every[: len(params)], every[len(params) :]
    shown = parameters(params, every, face)
    (r,) = fresh(("r",), every)
    real = "_single" if dtype == "float32" else "_real"
    given = [*(f"{real}({p})" for p in local), "(1,)" if slopes else "()"]
    lines = []
    for (p, known), given_as in zip(face.fixed, fixed, strict=True):
        differs = f"{given_as} is not None" if known in (None, "None") else f"{given_as} != {known}"
        lines += [f"if {differs}:", f"    raise ValueError({refusal(main, p, known)!r})"]
    call = called("", given, 0)[1:-1]
    head = f"{function}({call})" + ("" if again else "[0]")

    def leaf(i: int) -> str:
        text = f"{head if isinstance(tree, int) else r}[{columns[i]}]"
        return f"_single({text})" if dtype == "float32" and again else text

    if not isinstance(tree, int):
        lines.append(f"{r} = {head}")
    lines.append(f"return {tree_text(tree, leaf, str)}")
    return (
        f"@overload({full})\ndef _{full}_inside({shown}):\n"
        f"    _only_numbers({', '.join(local)})\n\n"
        f"    def call({shown}):\n" + indent("\n".join(lines), " " * 8) + "\n\n    return call\n"
    )


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


__all__ = ["NUMBERS", "called", "fresh", "inside_source", "nests", "parameters"]
