"""Findings as SARIF 2.1.0, which code hosts show at the lines.

Reference: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from symdiff.cli.check.findings import (
    DECIDED,
    DIGITS_LOST,
    NOT_FINITE,
    UNDEFINED,
    WRONG_GUARD,
    Finding,
    others,
    shown_path,
)
from symdiff.version import __version__

RULES = {
    NOT_FINITE: ("not-finite", "A value or derivative is inf or nan where the true one is finite."),
    DIGITS_LOST: ("digits-lost", "A value or derivative loses more than half of its digits."),
    WRONG_GUARD: (
        "wrong-guard",
        "A guard around a singular point puts another value than the limit.",
    ),
    DECIDED: (
        "decided-by-rounding",
        "A comparison or an integer is decided by the rounding of its operands.",
    ),
    UNDEFINED: ("undefined", "A value is inf or nan at an ordinary array, where it has no limit."),
}
"""Of each kind of finding, what it is called and means."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(groups: Iterable[Sequence[Finding]]) -> dict[str, Any]:
    """The SARIF document of faults (`findings.merged`)."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.values()]
    driver = {"name": "symdiff", "version": __version__, "rules": rules}
    results = [_result(group[0], group[0].said(others(group))) for group in groups]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }


def _result(f: Finding, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": RULES[f.kind][0], "level": f.level, "message": {"text": text},
    }  # fmt: skip
    if f.location is not None:
        region = {"startLine": f.location.line, "startColumn": f.location.column}
        uri = quote(shown_path(f.location.path).replace("\\", "/"), safe="/:")
        place = {"artifactLocation": {"uri": uri}, "region": region}
        found["locations"] = [{"physicalLocation": place}]
    return found
