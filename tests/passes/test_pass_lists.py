"""Passes that are replaced or switched off: what they make is kept under other keys than what the package makes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import symdiff
from symdiff import symgrad
from symdiff.ir import const
from symdiff.ir.pass_lists import replaced
from symdiff.loops.simplify import block_by_block
from symdiff.pipeline import loops, scalar
from symdiff.runtime import cache


def doubled(outputs, *_):
    return tuple(o * const(2) for o in outputs)


def test_nothing_is_replaced_as_a_rule():
    assert replaced() == []


PATCHES = {
    "function": (scalar, "cancel", doubled),
    "other function": (scalar, "cancel", lambda outputs, *_: tuple(o * const(3) for o in outputs)),
    "no pass": (scalar, "SIMPLIFY", scalar.SIMPLIFY[1:]),
    "other pass": (scalar, "FINISH", (replace(scalar.FINISH[0], run=lambda p, _: p),)),
    "pass of loops": (block_by_block, "EARLY", ()),
    "function of loops": (block_by_block, "_with_passes", lambda block, outputs, *_: (block, outputs)),
    "whole pipeline": (loops, "final", lambda program, log=None: program),
    "removed": (scalar, "stabilise", None),
}  # fmt: skip


def test_keys_tell_what_is_replaced(monkeypatch):
    keys = {"": cache.key("k")}
    for name, patch in PATCHES.items():
        with monkeypatch.context() as m:
            m.setattr(*patch)
            keys[name] = cache.key("k")
            assert cache.key("k") == keys[name]
    assert len(set(keys.values())) == len(PATCHES) + 1
    assert cache.key("k") == keys[""]


def with_default(factor):
    def run(outputs, *_, n=factor):
        return (n * outputs[0],)

    return run


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda factor: lambda outputs, *_: (factor * outputs[0],), id="closed"),
        with_default,
    ],
)
def test_functions_with_values_of_their_own_are_told_apart(monkeypatch, made):
    functions = [made(const(k)) for k in (2, 3)]
    found = set()
    for run in functions:
        with monkeypatch.context() as m:
            m.setattr(scalar, "cancel", run)
            found.add(cache.key("k"))
            assert cache.key("k") in found
    assert len(found) == 2


@pytest.mark.parametrize("first", ["wrong", "right"])
def test_results_of_a_replaced_pass_are_not_found_later(monkeypatch, first):
    def ask(patched: bool) -> float:
        scalar.forget()
        with monkeypatch.context() as m, symdiff.options(validate=False):
            if patched:
                m.setattr(scalar, "cancel", doubled)
            return symgrad(lambda x: x * math.sin(x) + 0.625, verify=False)(2.0)

    right, once = 2 * math.sin(2) + 0.625, first == "wrong"
    for patched in (once, not once, once):
        assert (ask(patched) == pytest.approx(right, rel=1e-15)) is not patched
