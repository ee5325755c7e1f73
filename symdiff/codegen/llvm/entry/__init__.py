"""Builtins that Python calls, and a handler that XLA calls, as LLVM IR.

`dispatch`       the dispatch stub that every call goes to
`binding`        the forms of calls: arguments brought to an entry, and its results nested
`objects`        Python's objects: what builtins take out of arguments, and give back
`sizes`          classes of sizes of axes, and the test for those that an entry serves
`elementwise`    kernels on arrays
`loops`          kernels of programs with arrays and loops
`custom_call`    kernels for XLA, which calls them without Python
"""
