"""Signals that come while something is compiled: afterwards other threads compile as before."""

import signal
import subprocess
import sys
import threading

import pytest

from symdiff.process import locks
from symdiff.process.locks import Lock
from symdiff.process.undisturbed import undisturbed

# In a process of its own: a signal may also come while an object of llvmlite is collected. Not
# while modules are imported: there CPython itself may keep the lock of all imports.
INTERRUPTED = """
import signal, threading
from symdiff import symgrad


class Alarm(BaseException):
    pass


def handler(*_):
    raise Alarm


def f(x, k):
    return (x**3 - k) / (x * x + k)


symgrad(f, static="k", cache=False).grad(1.5, k=1)  # what is imported at first use
made = [symgrad(f, static="k", cache=False, verify=False) for _ in range(38)]
signal.signal(signal.SIGALRM, handler)
interrupted = 0
for n, g in enumerate(made):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002 + 0.001 * n)
        try:
            g.grad(1.5, k=n + 2)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Alarm:
        interrupted += 1
assert interrupted
results = []
fresh = [symgrad(f, static="k", cache=False) for _ in range(6)]
thread = threading.Thread(
    target=lambda: results.extend(g.grad(1.5, k=n + 2) for n, g in enumerate(fresh)), daemon=True
)
thread.start()
thread.join(timeout=60)
assert len(results) == 6
"""


# Ctrl-C in the first call of a function, at several times after it began: the next call is as if it were the first.
BY_THE_USER = """
import math, signal
import numpy as np
from symdiff import symgrad


def of_numbers(c):
    def f(x):
        total = 0.0
        for k in range(1, 8):
            total = total + math.sin(k * x) / (c + x * x)
            if total > 0.5 * k:
                total = total / (1 + x * x)
        return total

    return f


def of_arrays(c):
    def f(x):
        s = np.zeros(len(x) + 1)
        for i in range(len(x)):
            s[i + 1] = s[i] * np.exp(-c * x[i]) + np.sin(x[i])
        return np.sum(s * s)

    return f


signal.signal(signal.SIGALRM, signal.default_int_handler)
interrupted = 0
for after in (0.05, 0.3):
    for f, x in ((of_numbers(after), 0.7), (of_arrays(after), np.array([0.3, 0.9]))):
        g = symgrad(f, cache=False).grad
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            try:
                g(x)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupted += 1
        step = 1e-6 if isinstance(x, float) else np.array([1e-6, 0.0])
        expected = (f(x + step) - f(x - step)) / 2e-6
        assert math.isclose(np.ravel(g(x))[0], expected, rel_tol=1e-7)
assert interrupted
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_function_whose_first_call_was_interrupted_is_usable(tmp_path):
    script = tmp_path / "by_the_user.py"
    script.write_text(BY_THE_USER, encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)


# A signal that comes in each call of one of llvmlite's functions, where it has done its work and
# that is not written down yet: in the main thread its text would be freed twice.
AT_EACH_CALL = """
import signal, sys
import numpy as np
from symdiff import symgrad
import llvmlite.binding.ffi as ffi


class Alarm(BaseException):
    pass


def handler(*_):
    raise Alarm


def run(c):
    def f(x):
        s = 0.0
        for i in range(len(x)):
            s = s * 0.5 + np.sin(c * x[i])
        return s

    return symgrad(f, cache=False, verify=False)(np.ones(3))


def interrupting(native):
    def call(*args):
        found = native(*args)
        signal.raise_signal(signal.SIGTERM)
        return found

    call.argtypes = native.argtypes
    return call


run(1.0)
table = ffi.lib._fntab
names = [n for n in table if n.startswith("LLVMPY_")]
assert len(names) > 10
signal.signal(signal.SIGTERM, handler)
interrupted = 0
for n, name in enumerate(names[int(sys.argv[1])::4]):
    native = table[name]
    try:
        try:
            table[name] = interrupting(native)
            run(n + 2.0)
        finally:
            table[name] = native
    except Alarm:
        interrupted += 1
assert interrupted > 1
signal.signal(signal.SIGTERM, signal.SIG_DFL)
assert abs(run(0.5) - 1.75 * np.sin(0.5)) < 1e-15
"""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_signals_in_each_call_of_the_compiler(tmp_path, part):
    script = tmp_path / "at_each_call.py"
    script.write_text(AT_EACH_CALL, encoding="utf-8")
    subprocess.run([sys.executable, str(script), str(part)], check=True, timeout=120)


@pytest.mark.slow
def test_what_is_undisturbed_ends_though_a_handler_raises():
    class Alarm(BaseException):
        pass

    def handler(*_):
        raise Alarm

    begun, ended = threading.Event(), threading.Event()

    def work():
        begun.wait(10)
        ended.set()

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with pytest.raises(Alarm):
            undisturbed(lambda: (signal.raise_signal(signal.SIGTERM), work()))
    finally:
        signal.signal(signal.SIGTERM, before)
    begun.set()
    assert ended.wait(10)
    assert undisturbed(lambda: 3) == 3
    with pytest.raises(KeyError):
        undisturbed(lambda: {}[1])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_no_lock_stays_taken(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED, encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)


def test_locks_are_taken_in_c():
    lock = Lock()
    with lock, lock:
        assert lock._is_owned()
    assert not lock._is_owned()
    assert "__enter__" not in vars(Lock) and "__exit__" not in vars(Lock)


def test_work_whose_owner_never_says_that_it_is_done_is_done_again(monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.05)
    once, done = locks.Once(), []
    thread = threading.Thread(target=once.__enter__)  # and never leaves
    thread.start()
    thread.join()
    with once:
        done.append(1)
    assert done
