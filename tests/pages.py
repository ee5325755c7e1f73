"""Run the examples of a Markdown page, as its reader would.

- A `python` block runs after those before it, in one namespace; a line that ends in
  `# -> text` must be an expression whose `repr` is that text. A block that starts
  with a comment naming a file, `# model.py`, is that file. One that starts with
  `# error` raises a `SymdiffError`, whose message counts as printed.
- A `text` block is what the `python` block before it prints.
- A `console` block holds `$ symdiff ...` commands and what each prints.

Expected text may leave parts out as `...`; runs of blanks count as one.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import re
import shlex
import sys
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple

import click.testing

from symdiff.cli.commands import main
from symdiff.errors import SymdiffError

_FENCE = re.compile(
    r"^(?P<pad> *)```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=pad)```", re.M | re.S
)
_FILE = re.compile(r"# ([\w.]+\.py)\n")
_CHECKER = doctest.OutputChecker()
_LEFT_OUT = "left out"
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line of its first line."""

    language: str
    body: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        body = re.sub(f"^{match['pad']}", "", match["body"], flags=re.M)
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match["language"], body, line))
    return found


def run(page: Path, folder: Path, without: Set[str] = frozenset()) -> int:
    """Run a page in a folder; the number of things that were checked. Blocks of Python that import
    one of some packages are left out, with what they print."""
    namespace: dict[str, Any] = {"__name__": "page"}
    checked, printed = 0, None
    found = blocks(page)
    with contextlib.chdir(folder), _imports_from(folder):
        for block in found:
            where = f"{page.name}, line {block.line}"
            match block.language:
                case "python" if (name := _FILE.match(block.body)) is not None:
                    Path(name[1]).write_text(block.body, encoding="utf-8")
                case "python" if not without.isdisjoint(_imported(block.body)):
                    printed = _LEFT_OUT
                case "python":
                    count, printed = _run_python(block, namespace, where)
                    checked += count
                case "text" if printed is _LEFT_OUT:
                    printed = None
                case "text":
                    assert printed is not None, f"{where}: nothing was printed before this"
                    _compare(block.body, printed, where)
                    checked, printed = checked + 1, None
                case "console":
                    checked += _run_console(block, where)
    return checked


def _imported(text: str) -> Iterator[str]:
    """The packages that a block of Python imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@contextlib.contextmanager
def _imports_from(folder: Path) -> Iterator[None]:
    """Modules that the page writes can be imported, and are forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            module = sys.modules[name]
            written = str(getattr(module, "__file__", "")).startswith(str(folder))
            if written or type(module).__module__ == "symdiff.cli.stand_ins":
                del sys.modules[name]


def _run_python(block: Block, namespace: dict[str, Any], where: str) -> tuple[int, str]:
    """Run the block statement by statement; the checks made, and what it printed."""
    path = Path(f"line{block.line}.py")
    path.write_text(block.body, encoding="utf-8")
    lines = block.body.splitlines()
    output, checked = io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(output):
            for node in ast.parse(block.body).body:
                _, arrow, expected = lines[(node.end_lineno or 1) - 1].partition("  # -> ")
                if not arrow:
                    module = ast.Module([node], [])
                    exec(compile(module, str(path.resolve()), "exec"), namespace)
                    continue
                assert isinstance(node, ast.Expr), f"{where}: '# ->' needs an expression"
                code = compile(ast.Expression(node.value), str(path.resolve()), "eval")
                got = repr(eval(code, namespace))
                line = block.line + (node.end_lineno or 1) - 1
                _compare(expected, got, f"{where.rpartition(' ')[0]} {line}")
                checked += 1
    except SymdiffError as error:
        if not block.body.startswith("# error"):
            raise
        output.write(str(error))
    else:
        assert not block.body.startswith("# error"), f"{where}: no error was raised"
    return checked, output.getvalue()


def _run_console(block: Block, where: str) -> int:
    """Every `$ symdiff` command prints what follows it; a refusal exits with 2."""
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.body, flags=re.M)
    assert commands, f"{where}: no command"
    for command, expected in commands:
        program, *arguments = shlex.split(command)
        assert program == "symdiff", f"{where}: {program} is not symdiff"
        result = click.testing.CliRunner().invoke(main, arguments)
        unexpected = result.exception is not None and not isinstance(result.exception, SystemExit)
        assert not unexpected, f"{where}: {result.exception!r}"
        _compare(expected, result.output, where)
    return len(commands)


def _compare(expected: str, got: str, where: str) -> None:
    expected, got = expected.strip() + "\n", got.strip() + "\n"
    assert _CHECKER.check_output(expected, got, _FLAGS), (
        f"{where}\nexpected:\n{expected}\ngot:\n{got}"
    )
