"""Many threads meet the same cold function, expression or entry at once.

They change as often as Python lets them, so that a step which is not taken at once is seen.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.codegen.llvm.entry import dispatch
from symdiff.interpret import exclusive
from symdiff.process.locks import Lock, Once
from symdiff.runtime import threads
from symdiff.runtime.dispatch import CompiledEntry, DispatchStub
from tests.kernels import compiled_entries

MANY = 16


@pytest.fixture(autouse=True)
def _restless() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def at_once(work: Callable[[int], Any], count: int = MANY) -> list[Any]:
    """The results of all threads, which begin together."""
    start = threading.Barrier(count)
    results: list[Any] = [None] * count
    errors: list[BaseException] = []

    def run(k: int) -> None:
        start.wait()
        try:
            results[k] = work(k)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(count)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(120)
        assert not w.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]
    return results


# ------------------------------------------------------------------ expressions
@pytest.mark.parametrize("trials", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_equal_expressions_are_the_same_object(trials: int) -> None:
    for trial in range(trials):

        def build(_: int, trial: int = trial) -> list[ir.Expr]:
            x = ir.var(f"v{trial}")
            return [ir.raw(ir.ADD, (x, ir.const(Fraction(k, 7)))) for k in range(20)]

        built = at_once(build, 8)
        for nodes in zip(*built, strict=True):
            assert len(set(map(id, nodes))) == 1


def test_nodes_that_die_while_others_build_them() -> None:
    """What a dead node leaves in the table never hides a living one."""
    x = ir.var("x")

    def churn(_: int) -> None:
        for k in range(400):
            e = ir.raw(ir.MUL, (x, ir.const(k % 7)))
            assert ir.raw(ir.MUL, (x, ir.const(k % 7))) is e

    at_once(churn, 8)


# -------------------------------------------------------------------- functions
def makers() -> dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Any]]:
    def scalar() -> Any:
        return symgrad(lambda x: math.sin(x) * x / (1 + x * x), cache=False)

    def removable() -> Any:
        return symgrad(lambda x: (1 - math.cos(x)) / x**2, cache=False)

    def loop() -> Any:
        def total(x: Any) -> Any:
            s = 0.0
            for v in x:
                s = s + v * v * v
            return s

        return symgrad(total, cache=False)

    data = np.array([1.0, 2.0, 3.0])
    slope = (math.cos(0.5) * 0.5 + math.sin(0.5)) / 1.25 - math.sin(0.5) * 0.5 * 2 * 0.5 / 1.25**2
    return {
        "numbers": (scalar, lambda f: f.grad(0.5), slope),
        "a filled point": (removable, lambda f: f(0.0), 0.5),
        "arrays": (scalar, lambda f: f.grad(np.full(5, 0.5)), np.full(5, slope)),
        "loops": (loop, lambda f: f.grad(data), 3 * data**2),
        "pairs": (scalar, lambda f: f.value_and_grad(0.5)[1], slope),
    }


@pytest.mark.sampled
@pytest.mark.parametrize("which", list(makers()))
def test_a_cold_function(which: str) -> None:
    make, call, expected = makers()[which]
    f = make()
    for found in at_once(lambda _: call(f)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_cold_function_is_traced_and_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from symdiff.codegen.llvm import jit

    compiled: list[str] = []
    original = jit.compile_object
    monkeypatch.setattr(
        jit, "compile_object", lambda text, *a, **k: compiled.append(text) or original(text, *a, **k)
    )  # fmt: skip
    f = symgrad(lambda x: math.exp(x) * x + math.atan(x) / 3, cache=False)
    at_once(lambda _: f.grad(0.25))
    assert len(compiled) == len(set(compiled))
    assert len(f.grad._source.captured) == 1


@pytest.mark.slow
def test_all_ways_to_call_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, doubles, floats, keywords and `out=`: each opens an entry of its own while the
    others are in use."""

    def f(x: float, y: float) -> float:
        return x * y + math.sin(x)

    a, b = np.linspace(0.1, 1.0, 7), np.linspace(1.0, 2.0, 7)
    truth = a * b + np.sin(a), (b + np.cos(a), a)
    for _ in range(4):
        g = symgrad(f, cache=False).value_and_grad

        def call(k: int, g: Any = g) -> None:
            for _ in range(20):
                if k % 4 == 0:
                    value, (gx, gy) = g(0.5, 2.0)
                    assert (value, gx, gy) == (1.0 + math.sin(0.5), 2.0 + math.cos(0.5), 0.5)
                    continue
                kind = np.float32 if k % 4 == 1 else np.float64
                given = a.astype(kind), b.astype(kind)
                if k % 4 == 3:
                    out = np.empty(7), (np.empty(7), np.empty(7))
                    value, (gx, gy) = g(*given, out=out)
                else:
                    value, (gx, gy) = g(*given)
                rtol = 1e-5 if kind is np.float32 else 1e-13
                np.testing.assert_allclose(value, truth[0], rtol=rtol)
                np.testing.assert_allclose(gx, truth[1][0], rtol=rtol)
                np.testing.assert_allclose(gy, truth[1][1], rtol=rtol)

        at_once(call)
        assert len(compiled_entries(g)) <= dispatch.MOST


def test_a_gate_takes_no_more_entries_than_it_has_room_for() -> None:
    made = DispatchStub(lambda *a: "general", 1, True)
    for k in range(dispatch.MOST):
        made.add(CompiledEntry(lambda *a, k=k: k))
    with pytest.raises(ValueError, match="entries"):
        made.add(CompiledEntry(lambda *a: -1))
    assert made.call(1.0) == dispatch.MOST - 1


def test_entries_that_are_added_while_others_run() -> None:
    """How results nest belongs to the entry that gave them, however the order changes."""

    def pairs(*args: Any) -> Any:
        return (1, 2, 3) if args[0] == "pairs" else NotImplemented

    def plain(*args: Any) -> Any:
        return (4, 5, 6) if args[0] == "plain" else NotImplemented

    def general(*args: Any) -> Any:  # of who finds that the entry was moved behind it
        return (1, (2, 3)) if args[0] == "pairs" else (4, 5, 6)

    for _ in range(20):
        made = DispatchStub(general, 1, True)
        made.add(CompiledEntry(pairs, pair=True))
        made.add(CompiledEntry(plain))

        def call(k: int, made: DispatchStub = made) -> None:
            if k == 0:
                made.add(CompiledEntry(lambda *a: NotImplemented, pair=True))
                made.add(CompiledEntry(lambda *a: NotImplemented))
            for j in range(50):
                if (j + k) % 2:
                    assert made.call("pairs") == (1, (2, 3))
                else:
                    assert made.call("plain") == (4, 5, 6)

        at_once(call, 6)


def test_functions_that_use_each_other_do_not_wait_in_a_circle() -> None:
    first, second = Once(), Once()
    inside = threading.Barrier(2, timeout=30)

    def work(k: int) -> str:
        mine, other = (first, second) if k else (second, first)
        with mine:
            inside.wait()
            with other:
                return "done"

    assert at_once(work, 2) == ["done", "done"]


def test_the_precision_of_balls_is_one_threads_at_a_time() -> None:
    from flint import ctx

    def hold(k: int) -> None:
        for _ in range(50):
            with exclusive(100 + k):
                assert ctx.prec == 100 + k

    at_once(hold)


# ------------------------------------------------------- parts that threads share
def test_all_parts_have_ended_when_one_fails() -> None:
    running = [0]
    lock = threading.Lock()

    def part(a: int, b: int) -> None:
        with lock:
            running[0] += 1
        try:
            if a == 0:
                raise ArithmeticError("one part")
            threading.Event().wait(0.005)
        finally:
            with lock:
                running[0] -= 1

    with pytest.raises(ArithmeticError, match="one part"):
        threads.run(part, 64 * 64, 4)
    assert running[0] == 0


def test_parts_of_parts_do_not_wait_for_each_other() -> None:
    done = []

    def inner(a: int, b: int) -> None:
        done.append((a, b))

    at_once(lambda _: threads.run(lambda a, b: threads.run(inner, 256, 3), 512, 3), 8)
    assert done


def test_parts_know_whose_they_are() -> None:
    def work(_: int) -> bool:
        me = threading.get_ident()
        found = []
        threads.run(lambda a, b: found.append(threads.caller()), 64 * 40, 4)
        return set(found) == {me}

    assert all(at_once(work, 8))


def test_errors_of_callbacks_reach_their_own_call() -> None:
    from symdiff.runtime.outcome import Outcome

    outcome = Outcome("f")

    def call(k: int) -> None:
        for j in range(50):
            if k % 2:
                outcome.fail(KeyError(f"{k} {j}"))
                with pytest.raises(KeyError, match=f"{k} {j}"):
                    outcome.finish()
            else:
                outcome.spend(1)
                assert outcome.spent == 1
                outcome.finish()

    at_once(call)
    assert outcome.used.value == 0


# ------------------------------------------------------------------------- forks
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def child(work: Callable[[], None]) -> int:
    """The exit code of a forked child; it is killed after a minute."""
    import signal

    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(60)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.sampled
@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("whole", [False, True])
def test_locks_are_free_in_a_child(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from symdiff.process import locks

    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    lock, once = Lock(whole), Once()
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with lock, once:
            held.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()

    def use() -> None:
        with lock, once:
            pass

    assert child(use) == 0
    leave.set()
    holder.join()
    with lock, once:
        assert child(use) == 0  # of the thread that forked, they stay


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("forks", [40])
def test_forks_while_other_threads_compile(forks: int) -> None:
    sys.setswitchinterval(5e-3)
    stop = threading.Event()
    errors: list[BaseException] = []

    def busy(k: int) -> None:
        n = 0
        while not stop.is_set():
            n += 1
            shift = float(1000 * k + n)
            try:
                f = symgrad(lambda x, shift=shift: math.sin(x + shift) * x, cache=False)
                f.grad(0.5)
                with exclusive(200):
                    pass
            except BaseException as error:
                errors.append(error)
                return

    def use() -> None:
        f = symgrad(lambda x: (1 - math.cos(x)) / x**2, cache=False)
        assert f(0.0) == 0.5 and f.grad(np.zeros(4)).tolist() == [0.0] * 4

    workers = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
    for w in workers:
        w.start()
    try:
        for k in range(forks):
            threading.Event().wait(0.003 * (k % 7))
            assert child(use) == 0
    finally:
        stop.set()
        for w in workers:
            w.join()
    assert not errors
