"""The first line and the docstring of a public function of a module.

Before:  x, y with the default 2.0, and after a star k; a static n of 3
After:   def f(x, y=2.0, n=3, *, k=1.5):
             _check_fixed("f: this module is compiled for n=3; ...", n, 3)
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any, NamedTuple

from symdiff.codegen.source.python import docstring
from symdiff.errors import SymdiffError, TargetError


class Face(NamedTuple):
    """How a user's function is called.

    Attributes
    ----------
    parameters : name, kind (see `inspect.Parameter`) and default (None for none) of each, in
        order; nothing if all are plain.
    doc : its docstring.
    fixed : the parameters that have one value in the module, in order, and the texts of these;
        None for a value that is not written.
    changes : the parameters whose arrays the function changes: others must not share their memory.
    """

    parameters: tuple[tuple[str, Any, float | None], ...] = ()
    doc: str = ""
    fixed: tuple[tuple[str, str | None], ...] = ()
    changes: tuple[str, ...] = ()


PLAIN = Face()
TARGETS = ("cpu", "cuda")
_IMPORTED = {
    "math", "np", "njit", "cuda", "libdevice", "config", "warnings", "intrinsic", "overload",
    "TypingError", "ThreadPoolExecutor", "get_num_threads",
}  # fmt: skip


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a function of a module."""
    if not name.isidentifier() or keyword.iskeyword(name) or name in _IMPORTED:
        raise SymdiffError(
            f"'{name}' is not a name for a function of a module", hint="give the function a name"
        )


def check_targets(targets: Sequence[str]) -> None:
    """Raise a `TargetError` for a target that is not available."""
    for target in targets:
        if target not in TARGETS:
            raise TargetError(f"unknown target '{target}'", hint=" or ".join(TARGETS))


def all_names(face: Face, params: Sequence[str]) -> list[str]:
    """The parameters, and then those that are fixed."""
    return [*params, *(p for p, _ in face.fixed)]


def refusal(main: str, p: str, value: str | None) -> str:
    """What is said to another value of a fixed parameter."""
    known = f"{p}={value}" if value is not None else f"the default of {p}"
    how = f"for another value, change the default of {p} and compile again"
    return f"{main}: this module is compiled for {known}; {how}"


def fixed_checks(main: str, local: Sequence[str], face: Face) -> list[str]:
    """Lines that refuse other values of the fixed parameters, which are called `local`."""
    return [
        f"_check_fixed({refusal(main, p, value)!r}, {shown}, {value})"
        for (p, value), shown in zip(face.fixed, local, strict=True)
    ]


def sharing_checks(
    main: str, local: Mapping[str, str], arrays: Sequence[str], face: Face, test: str
) -> list[str]:
    """Lines that refuse arrays (`arrays` of the parameters, which are called `local`) that share memory
    with one that the function changes; `test` says so of two."""
    lines = []
    for k, q in enumerate(arrays):
        for p in arrays[:k]:
            if {p, q} & {*face.changes}:
                text = f"{main}: {p} and {q} share memory, and one of them is changed: pass a copy"
                lines += [f"if {test}({local[p]}, {local[q]}):", f"    raise ValueError({text!r})"]
    return lines


def def_line(name: str, params: Sequence[str], local: Sequence[str], face: Face) -> str:
    """`def name(...):`, with the parameters and the fixed ones (`all_names`) called `local`."""
    names = all_names(face, params)
    defaults = {p: value or "None" for p, value in face.fixed}
    known = {p: (kind, default) for p, kind, default in face.parameters}
    if any(p not in known for p in names):
        shown_as = [
            s if p not in defaults else f"{s}={defaults[p]}"
            for p, s in zip(names, local, strict=True)
        ]
        return f"def {name}({', '.join(shown_as)}):"
    parts: list[str] = []
    before: Any = None
    order = {p: k for k, (p, _, _) in enumerate(face.parameters)}
    for p, shown in sorted(zip(names, local, strict=True), key=lambda item: order[item[0]]):
        kind, default = known[p]
        if before is Parameter.POSITIONAL_ONLY and kind is not before:
            parts.append("/")
        if kind is Parameter.KEYWORD_ONLY and before is not kind:
            parts.append("*")
        given = defaults.get(p, None if default is None else repr(default))
        parts.append(shown if given is None else f"{shown}={given}")
        before = kind
    if before is Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return f"def {name}({', '.join(parts)}):"


def documented(summary: str, suffix: str, face: Face) -> str:
    """The docstring of a function: the summary, and of the value what the user says."""
    return docstring(f"{summary}\n\n{face.doc}" if face.doc and not suffix else summary)


def public_names(params: Sequence[str], used: Sequence[str]) -> list[str]:
    """The parameters' names; only one that hides what a function uses gets an underscore."""
    names: list[str] = []
    for p in params:
        name = p
        while name in used or name in names or (name != p and name in params):
            name += "_"
        names.append(name)
    return names


__all__ = [
    "PLAIN", "TARGETS", "Face", "all_names", "check_name", "check_targets", "def_line", "documented", "fixed_checks",
    "public_names", "refusal", "sharing_checks",
]  # fmt: skip
