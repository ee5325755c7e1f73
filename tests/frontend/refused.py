"""Functions that are given as text, and the exact messages of those that are refused."""

from __future__ import annotations

import linecache
import math
import operator
import pathlib
import random
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special

from symdiff.errors import UnsupportedError
from symdiff.frontend import capture


def names() -> dict[str, Any]:
    """What the functions find in their module."""
    return {
        "__name__": "model",
        "np": np,
        "math": math,
        "random": random,
        "time": time,
        "scipy": scipy,
        "COUNTER": operator.itemgetter(0),
        "PATH": pathlib.Path("model.txt"),
        "MODEL": SimpleNamespace(rate=1.0),
        "OUTER": [],
        "RNG": np.random.default_rng(0),
        "DATA": np.zeros(50),
    }


def define(text: str, path: str = "model.py", name: str = "f") -> Callable[..., Any]:
    """The function of a name in a source text."""
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    scope = names()
    exec(compile(text, path, "exec", dont_inherit=True), scope)
    found: Callable[..., Any] = scope[name]
    return found


def program(call: str, *statements: str) -> Callable[..., Any]:
    """A function of a few statements, by its parameters, or by its name and parameters: `x, y` or `name(x, y)`."""
    head = call if "(" in call else f"f({call})"
    body = "".join(f"    {s}\n" for s in statements)
    return define(
        f"def {head}:\n{body}", f"{call}: {'; '.join(statements)}", head.partition("(")[0]
    )


def refusals(text: str) -> dict[str, tuple[str, str]]:
    """Programs and their messages, by name, from entries such as

        # name
            return x << 2
        => 2:12: '<<' of a real number and an integer
        hint: it works on integers and truth values known when traced

    with the line and the column of the message. `def f(x):` is put before what is indented."""
    found = {}
    for entry in text.strip("\n").removeprefix("# ").split("\n# "):
        name, _, rest = entry.partition("\n")
        source, _, said = rest.partition("\n=> ")
        source = f"def f(x):\n{source}" if source.startswith(" ") else source
        found[name] = source + "\n", shown(source, said)
    return found


def shown(source: str, said: str) -> str:
    """A message with its line of the source, and a caret below the column."""
    line, column, words = said.split(":", 2)
    message, *hint = words.split("\n")
    text = source.splitlines()[int(line) - 1]
    indent = len(text) - len(text.lstrip()) - 4
    caret = " " * (int(column) - 1 - indent) + "^"
    return "\n".join([f"model.py:{line}:{column}:{message}", f"    {text.lstrip()}", caret, *hint])


def is_refused(source: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        capture(define(source), {})
    assert str(caught.value) == message
