"""Translation validation: what is compiled is compared with what was captured.

The contract: before the first result of a kernel is handed out, its formulas are compared
with those of the program as captured (before guards, cancelling, completing and rewriting)
and the textbook's chain rule of it (`chain`), in ball arithmetic (`oracle`), at points chosen
to hurt (`points`); then its machine code is, on the same points. Where they are proven to
differ, the stage that did it is found by switching stages off (`stages`), stays switched off
for this function, and a `ValidationWarning` says so. The budget counts operations, and what
was found is kept on disk with the kernel. `settings` says how thoroughly.

    Ensures: no false alarm. A value counts only if its ball proves it, and where the contract
    gives formulas another meaning than their letters (guards, literals, filled points,
    kinks), that is what they are compared with.

`broken_off`    Plain Python that is broken off after so many steps, in the user's code alone
`chain`         The chain rule as a textbook has it: what the derivatives of kernels are compared with
`differences`   Compares the chain rule with differences of the captured values
`enclosures`    The captured program in balls as wide as plain arithmetic errs
`firstcall`     Compares a call of a function with plain Python
`kinds`         What a comparison is named by: the function and the kinds of its arguments
`loops`         Programs with arrays and loops at small sizes
`lost`          Values that were lost: where a kernel is undefined and the captured program is not
`machine`       Machine code against the truth: every piece that is compiled, before its first result
`points`        Points chosen to hurt: where a wrong rewrite shows, found without compiling
`rounding_modes`  What rounding, overflow and underflow may change in results of plain Python
`seen`          What compared calls have shown, and what they found wrong
`settings`      How thoroughly translations are validated: `symdiff.options(validate=...)`
`stages`        Which stage is at fault: switch one off after the other until what is left is right
`oracle`        True values of the captured program, in balls at points chosen to hurt
`tried_arguments`  Arguments of a first call: smaller ones of the same kind, and how they are passed
`untaken_branches`  Branches of a function of numbers that no compared call took
"""
