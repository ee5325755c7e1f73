"""Signals that come while something is compiled: afterwards other threads compile as before."""

import signal
import subprocess
import sys
import threading

import pytest

from symdiff.process import locks
from symdiff.process.locks import Lock

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
