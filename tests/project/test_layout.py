"""The layout of the package: layers, circles, names of files, their length.

import-linter checks the layers too; here imports inside of functions count, and files.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "symdiff"

MAX_LINES = 600
LONGER: dict[str, int] = {}
"""Files that may be longer."""

SHARED = {
    "scalar": "the stage of its folder, for functions of numbers",
    "loops": "the stage of its folder, for programs with arrays and loops",
    "cuda": "the stage of its folder, for CUDA devices",
    "kernel": "a kernel as a whole: its code, or the object that is called",
    "call": "from the arguments of a call to its results",
    "body": "the statements of a kernel of a program with arrays and loops",
    "scoped": "values of expressions, each in the outermost scope of a kernel that can",
    "tapes": "tapes in a kernel",
    "steps": "what the host does between kernels of a device",
    "matmul": "products of matrices: found, and as code",
    "printer": "functions of numbers in the language of its folder",
    "functions": "the elementary functions, an entry each",
    "arithmetic": "the four operations and roots: on nodes, on pairs of doubles",
    "fallback": "recomputation of flagged elements: the code of the branch, and what it calls",
    "dispatch": "the stub that a call meets first: its code, and its use",
    "elementwise": "a kernel over the elements of arrays: its code, and its use",
    "rows": "a program for each row of its arguments: as a program, and run by threads",
    "names": "which function of NumPy is which of ours",
    "by_definition": "derivatives at points that kernels do not know: of functions of numbers, of loops",
}
"""Names that several files have, and what they mean wherever they stand."""


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


STATEMENT = re.compile(r"^[ ]*((?:from [\w.]+ )?import (?:\([^)]*\)|[^(\n]*))$", re.MULTILINE)
COMMENT = re.compile(r"#.*$", re.MULTILINE)


def imported(text: str, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file imports, at its top, in functions and for types.

    Only these statements are parsed, as that of whole files takes seconds.
    """
    for statement in STATEMENT.findall(COMMENT.sub("", text)):
        try:
            (node,) = ast.parse(statement).body
        except SyntaxError:
            continue  # a line of prose that begins as one
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            for a in node.names:
                whole = f"{node.module}.{a.name}"
                if whole in known:
                    yield whole
                elif node.module in known:
                    yield str(node.module)


MODULES = modules()


@functools.cache
def texts() -> dict[str, str]:
    """What stands in the files."""
    return {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}


@functools.cache
def imports() -> dict[str, set[str]]:
    """The modules that each module imports."""
    return {name: set(imported(text, MODULES)) - {name} for name, text in texts().items()}


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of names that reach each other (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            if len(group) > 1:
                found.append(sorted(group))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_imports_are_found_wherever_they_stand():
    known = dict.fromkeys(("a.b", "a.c", "a.d"), ROOT)
    text = "from a import (\n    b,  # with a word (or two)\n    other,\n)\ndef f():\n    import a.c\nfrom a.d import x\n"
    assert set(imported(text, known)) == {"a.b", "a.c", "a.d"}


@pytest.mark.slow
def test_no_circle_of_files():
    assert circles(imports()) == []


def layers() -> dict[str, int]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    assert len(contract["layers"]) <= 12
    return {
        name.strip(): k for k, layer in enumerate(contract["layers"]) for name in layer.split("|")
    }


def test_imports_go_down_the_layers():
    level = layers()
    wrong = []
    for name, targets in imports().items():
        for target in sorted(targets):
            a, b = ([*x.split("."), ""][1] for x in (name, target))
            if a == b or name in ("symdiff", "symdiff.__main__") or b == "":
                continue
            if level[a] >= level[b]:
                wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_every_folder_is_a_layer():
    level = layers()
    for path in PACKAGE.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            assert path.name in level, path


def test_the_root_holds_the_public_face_and_little_else():
    files = {p.name for p in PACKAGE.iterdir() if p.is_file() and p.suffix == ".py"}
    assert len(files - {"__init__.py"}) <= 4, files


def test_files_are_short():
    for path in MODULES.values():
        length = len(path.read_text(encoding="utf-8").splitlines())
        rel = path.relative_to(PACKAGE).as_posix()
        assert length <= LONGER.get(rel, MAX_LINES), (rel, length)


def test_no_prefix_that_a_folder_could_carry():
    for folder in {p.parent for p in MODULES.values()}:
        first = defaultdict(list)
        names = [p.stem for p in folder.glob("*.py") if not p.stem.startswith("__")]
        for name in names:
            first[name.partition("_")[0]].append(name)
            longer = [n for n in names if n != name and n.startswith(name)]
            assert len(longer) < 2, (folder, name, longer)
        shared = [v for v in first.values() if len(v) > 1]
        assert shared == [], (folder, shared)


def test_one_name_one_meaning():
    """Files of one name mean the same; of what, `SHARED` says."""
    places = defaultdict(list)
    for path in MODULES.values():
        if not path.stem.startswith("__"):
            places[path.stem].append(path.relative_to(PACKAGE).as_posix())
    several = {name: found for name, found in places.items() if len(found) > 1}
    assert several.keys() == SHARED.keys(), several.keys() ^ SHARED.keys()


def test_every_folder_opens_with_its_contents():
    """The docstring of a folder names everything in it, and nothing else."""
    for name, path in MODULES.items():
        if path.name != "__init__.py" or path.parent == PACKAGE:
            continue
        text = ast.get_docstring(ast.parse(texts()[name])) or ""
        named = set(re.findall(r"^ *`(\w+/?)`", text, re.MULTILINE))
        there = {p.stem for p in path.parent.glob("*.py") if not p.stem.startswith("__")}
        there |= {f"{p.name}/" for p in path.parent.iterdir() if (p / "__init__.py").exists()}
        assert named == there, (path.parent.relative_to(ROOT).as_posix(), named ^ there)


def test_nothing_is_ordered_by_addresses():
    """An order of nodes by `id` or `hash` would be another one in each process: texts and keys of kernels too."""
    wrong = [name for name, text in texts().items() if re.search(r"\bkey=(id|hash)[,)\s]", text)]
    assert wrong == []


@pytest.mark.slow
def test_functions_of_passes_are_short() -> None:
    """A function of a pass, of loops or of a pipeline fits on a page."""
    long = [
        (name, node.name)
        for name, path in MODULES.items()
        if path.relative_to(PACKAGE).parts[0] in ("passes", "loops", "pipeline")
        for node in ast.walk(ast.parse(texts()[name]))
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 80
    ]
    assert long == []


DOORS = {
    "symdiff.interop.jax": "jax",
    "symdiff.interop.torch": "torch",
    "symdiff.interop.dask": "dask",
}
"""Modules that need an optional package, and which."""


def imported_at_once(node: ast.AST) -> Iterator[str]:
    """The packages that code imports when its module is imported."""
    match node:
        case ast.Import():
            yield from (alias.name.partition(".")[0] for alias in node.names)
        case ast.ImportFrom(level=0, module=str(module)):
            yield module.partition(".")[0]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            yield from (name for part in node.orelse for name in imported_at_once(part))
        case _:
            for part in ast.iter_child_nodes(node):
                yield from imported_at_once(part)


def test_imports_at_once_are_found() -> None:
    text = "import a.b\ntry:\n  from c.d import e\nexcept ImportError: pass\n"
    text += "if TYPE_CHECKING:\n  import f\nclass G:\n  import h\n  def i():\n    import j\nfrom . import k"
    assert list(imported_at_once(ast.parse(text))) == ["a", "c", "h"]


@pytest.mark.slow
def test_nothing_optional_is_imported_at_the_top() -> None:
    """What extras install is imported where it is needed; importing symdiff needs the core dependencies alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {r.partition(">=")[0].replace("python-flint", "flint") for r in project["dependencies"]}
    known = core | {"symdiff"} | sys.stdlib_module_names
    for name, text in texts().items():
        others = set(imported_at_once(ast.parse(text))) - known - {DOORS.get(name)}
        assert not others, (name, others)
