"""Translation validation: what is compiled is compared with what was captured.

The contract: before the first result of a kernel is handed out, its formulas are compared
with those of the program as captured (before guards, cancelling, completing and rewriting)
and the textbook's chain rule of it (`chain`), in ball arithmetic (`trial`), at points chosen
to hurt (`points`); then its machine code is, on the same points. Where they are proven to
differ, the stage that did it is found by switching stages off (`stages`), stays switched off
for this function, and a `ValidationWarning` says so. The budget counts operations, and what
was found is kept on disk with the kernel. `settings` says how thoroughly.

    Ensures: no false alarm. A value counts only if its ball proves it, and where the contract
    gives formulas another meaning than their letters (guards, literals, filled points,
    kinks), that is what they are compared with.
"""
