"""What concerns the process.

`progress`     a progress bar, for what takes long, on a terminal
`lazy_modules` modules that are imported when first used
`locks`        locks that outlive a fork, and never wait in a circle
`callers`      the user's line that called us, for warnings
`undisturbed`  work that no signal interrupts
`recursion`    Python's limit of recursion, raised while a thread needs it
`syntax_trees` syntax trees from text, by one thread at a time
`recent`       answers to the last questions, which calls with equal arguments ask again
"""
