"""The text of functions that are in no file here: `python -c`, `python < file`, the interactive prompt,
and functions that came from another process.

Before 3.13 Python keeps no text of these; since then, `linecache` has that of `python -c`, under a name
that code of `exec` has too. The text is searched for where it may still be, and used only if compiling it
makes the code object of the function, so that a wrong text is never read.
"""

from __future__ import annotations

import itertools
import linecache
import os
import stat
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

HISTORY = 2000
"""Lines of the prompt's history that are searched."""

AFTER = 8
"""Lines of a statement after the last one of a function in it, such as closing brackets."""

STDIN = "<stdin>"
COMMAND = "<string>"
SHARED = (STDIN, COMMAND)
"""Names that unrelated texts have."""

KEPT = 256
"""Texts from other processes that are remembered."""
_kept: dict[str, None] = {}
_FUTURE = 0x1FE0000
"""The flags of code objects that `from __future__` sets."""


def lines_of(fun: FunctionType) -> list[str]:
    """The lines of the text that holds a function, as `linecache` gives them; none if there is no
    such text."""
    code = fun.__code__
    for text in _texts(code):
        if _makes(text, code):
            return text.splitlines(True)
    return []


def keep(text: str) -> None:
    """Remember a text that came with a function from another process."""
    _kept.pop(text, None)
    _kept[text] = None
    while len(_kept) > KEPT:
        del _kept[next(iter(_kept))]


def why_not(fun: FunctionType) -> str:
    """What to do about a function without a text."""
    if fun.__code__.co_filename == STDIN:
        return "a program read from a pipe leaves no text; write it to a file and run that"
    if fun.__code__.co_filename == COMMAND:
        return "exec() keeps no text; put it into linecache.cache under a name of its own, or into a file"
    return "define the function in a file or a notebook cell; symdiff reads its source"


def _texts(code: CodeType) -> Iterator[str]:
    """Texts that may hold the code, the likeliest first."""
    yield from reversed(list(_kept))
    yield "".join(linecache.getlines(code.co_filename))
    if code.co_filename == COMMAND:
        words = sys.orig_argv[1:]
        yield from (after for word, after in itertools.pairwise(words) if _commands(word))
    elif code.co_filename == STDIN:
        yield from _redirected()
        yield from _remembered(code)


def _commands(word: str) -> bool:
    """Whether a word of the command line says that the next one is a program: `-c`, `-Ic`."""
    return word.startswith("-") and not word.startswith("--") and word.endswith("c")


def _redirected() -> Iterator[str]:
    """What stands in the file that is the standard input."""
    try:
        found = os.fstat(0)
        if stat.S_ISREG(found.st_mode):
            yield os.pread(0, found.st_size, 0).decode()
    except (OSError, UnicodeDecodeError, AttributeError):
        return


def _remembered(code: CodeType) -> Iterator[str]:
    """Stretches of the prompt's history that may be the statement of a code object, the latest
    first. Lines of a statement count from 1."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    count = readline.get_current_history_length()
    first = max(1, count - HISTORY + 1)
    lines = [readline.get_history_item(k) or "" for k in range(first, count + 1)]
    last = max((n for *_, n in code.co_lines() if n is not None), default=1)
    word = code.co_name.strip("<>")
    for start in reversed(range(len(lines))):
        for end in range(start + last, min(start + last + AFTER, len(lines)) + 1):
            if any(word in line for line in lines[start:end]):
                yield "".join(f"{line}\n" for line in lines[start:end])


def _makes(text: str, code: CodeType) -> bool:
    """Whether compiling a text makes this code object."""
    try:
        made = compile(text, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    todo = [made]
    while todo:
        found = todo.pop()
        if found == code:
            return True
        todo += [c for c in found.co_consts if isinstance(c, CodeType)]
    return False
