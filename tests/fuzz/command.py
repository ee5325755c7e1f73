"""The command line that the fuzzers have in common."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def run(
    fuzz: Callable[..., Any],
    report: Callable[[Any], None],
    description: str | None,
    **options: tuple[str, dict[str, Any]],
) -> int:
    """Fuzz as the command line says, and report the tally; 1 if anything failed.

    Parameters
    ----------
    fuzz : takes the number of programs, the first seed, a folder, what to say findings with, and
        the options by name.
    report : prints a tally.
    description : what `--help` says.
    options : for each further one its flag, and what `add_argument` takes.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    for name, (flag, details) in options.items():
        parser.add_argument(flag, dest=name, **details)
    given = vars(parser.parse_args())
    count, seed = given.pop("programs"), given.pop("seed")
    with tempfile.TemporaryDirectory() as folder:
        tally = fuzz(count, seed, Path(folder), lambda s: print(s, flush=True), **given)
    report(tally)
    return 1 if tally.failures else 0


SHRINK: tuple[str, dict[str, Any]] = "--no-shrink", {"action": "store_false"}
"""Failures stay as long as they were drawn."""
