"""Where the functions that kernels call are defined: last in a module, or in a file in its folder.

Before:  {"_exp"}
After:   their texts, or `from symdiff_pairs import _exp` and the text of `symdiff_pairs.py`

Several modules share such a file: it holds all that any of them calls. In a package they
import `.symdiff_pairs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import indent, wrap

from symdiff.codegen.common.temporaries import WIDTH
from symdiff.codegen.source.modules.helpers import HELPER, all_helpers, closure

COMPANION = "symdiff_pairs"
_HEAD = """\"\"\"Functions that the generated modules in this folder import, written by symdiff {version}.

They compute with pairs of doubles, and with doubles and their rounding errors. A pair is the sum of
two doubles, of which the second is the rounding error of the first: a number to about 32 digits.
\"\"\"

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import get_num_threads, njit
from numba.core.errors import TypingError
from numba.extending import intrinsic
"""


def helper_section(used: Iterable[str], companion: str | None) -> tuple[str, list[str]]:
    """What a module imports of its companion, and what it defines last."""
    names = sorted(used)
    if not names:
        return "", []
    if companion is not None:
        return _imported(names, companion), []
    title = "What the functions above call"
    head = f"# {'-' * (97 - len(title))} {title}\n"
    texts = [h.text for h in closure(names).values()]
    made = [HELPER] if any("@_helper" in t for t in texts) else []
    return "", [head.rstrip("\n") + "\n", *made, *texts]


def _imported(names: list[str], companion: str) -> str:
    line = f"from {companion} import {', '.join(names)}\n"
    if len(line) > WIDTH + 12:
        rows = wrap(", ".join(names) + ",", WIDTH)
        line = f"from {companion} import (\n{indent(chr(10).join(rows), '    ')}\n)\n"
    return f"\n{line}"


def imports(text: str, companion: str) -> list[str]:
    """What the text of a module imports of its companion."""
    rest = text.partition(f"\nfrom {companion} import ")[2]
    found = rest.partition(")" if rest.startswith("(") else "\n")[0]
    return re.findall(r"\w+", found)


def is_companion(text: str) -> bool:
    """Whether a text was generated here."""
    return text.startswith(_HEAD[:60])


def companion_source(version: str) -> str:
    """The text of a companion: all that any module calls, so that in a process with modules of several folders
    the one that is imported first serves all."""
    texts = [HELPER, *(h.text for h in closure(all_helpers()).values())]
    return _HEAD.format(version=version) + "".join(f"\n\n{t}" for t in texts)


__all__ = ["COMPANION", "companion_source", "helper_section", "imports", "is_companion"]
