"""Signals that come while something is compiled: afterwards other threads compile as before."""

import signal
import threading

import pytest

from symdiff import symgrad
from symdiff.process.locks import Lock


class Alarm(BaseException):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_no_lock_stays_taken():
    def handler(*_):
        raise Alarm

    made = [
        symgrad(lambda x, k=k: (x**3 - k) / (x * x + k), static="k", cache=False, verify=False)
        for k in range(2, 40)
    ]
    before = signal.signal(signal.SIGALRM, handler)
    interrupted = 0
    try:
        for n, f in enumerate(made):
            signal.setitimer(signal.ITIMER_REAL, 0.002 + 0.001 * n)
            try:
                f.grad(1.5)
            except Alarm:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted
    results = []
    thread = threading.Thread(
        target=lambda: results.extend(f.grad(1.5) for f in made[:6]), daemon=True
    )
    thread.start()
    thread.join(timeout=60)
    assert len(results) == 6


def test_locks_are_taken_in_c():
    lock = Lock()
    with lock, lock:
        assert lock._is_owned()
    assert not lock._is_owned()
    assert "__enter__" not in vars(Lock) and "__exit__" not in vars(Lock)
