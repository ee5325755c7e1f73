"""The pool that keeps memory of large arrays of kernels from one call to the next."""

import ctypes

import pytest

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.loops.memory import LARGE, POOLED, PRELUDE, SLOTS

AFTER = 4
"""Words after the pool that nothing may touch."""

CALLS = """
define i64 @beyond() {
  %p = getelementptr i64, ptr @pool, i64 SLOTS
  %p.i = ptrtoint ptr %p to i64
  ret i64 %p.i
}
define ptr @get(ptr %list, i64 %bytes) {
  %p = call ptr @take(ptr %list, i64 %bytes)
  ret ptr %p
}
define void @give(ptr %list) {
  call void @release(ptr %list, ptr null)
  ret void
}
define void @clear() {
  call void @unpool()
  ret void
}
"""


@pytest.fixture(scope="module")
def linked():
    pool = f"@pool = internal global [{SLOTS} x i64]"
    assert pool in PRELUDE
    text = PRELUDE.replace(pool, pool.replace(str(SLOTS), str(SLOTS + AFTER)))
    attributes = "\nattributes #0 = { nounwind }\nattributes #1 = { nounwind }\n"
    code = jit.compile_object(text + CALLS.replace("SLOTS", str(SLOTS)) + attributes)
    return jit.Linked(code, ())


def test_no_slot_beyond_the_pool_is_used(linked):
    """More arrays than slots are given back, and taken again: the rest is freed. What lies after the
    pool looks like an array that fits, and like an empty slot."""
    pointer, word = ctypes.c_void_p, ctypes.c_int64
    beyond = ctypes.CFUNCTYPE(word)(linked.address("beyond"))()
    after = (word * AFTER).from_address(beyond)
    get = ctypes.CFUNCTYPE(pointer, pointer, word)(linked.address("get"))
    give = ctypes.CFUNCTYPE(None, pointer)(linked.address("give"))
    clear = ctypes.CFUNCTYPE(None)(linked.address("clear"))
    malloc = ctypes.CDLL(None).malloc
    malloc.restype, malloc.argtypes = pointer, [ctypes.c_size_t]
    bait = malloc(2 * LARGE)
    assert bait is not None
    (word * 2).from_address(bait)[:] = [0, LARGE + 192]
    baits = [bait, 0, 0, 0]
    assert (SLOTS + AFTER) * (LARGE + 192) < POOLED
    for words in (baits, [0] * AFTER):
        after[:] = words
        for _ in range(3):
            kept = pointer()
            taken = {get(ctypes.byref(kept), LARGE) for _ in range(SLOTS + AFTER)}
            assert len(taken) == SLOTS + AFTER
            assert not any(0 <= p - bait < 2 * LARGE for p in taken)
            assert list(after) == words
            give(ctypes.byref(kept))
            assert kept.value is None
            assert list(after) == words
        clear()
        assert list(after) == words
