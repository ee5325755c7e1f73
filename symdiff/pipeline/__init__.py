"""From a captured function to kernels, stage by stage.

`protocol`           what the two pipelines have in common: stages, and the log of them
`scalar`             functions of numbers: capture, assume, guards, cancel, complete, differentiate, ...
`loops`              loop programs: simplify, differentiate, select tapes, ...
`readable_formulas`  short forms for people, with the limits that guards replace
`single_passes`      single passes on a formula, for people
`argument_shapes`    what a program depends on in the shapes of its arguments
`refusals`           functions that are refused for arrays of any size, traced again for those of a call
`shared_memory`      arguments that share an array, one of which the function changes
`tracing`            from a Python function to where its programs come from
`keys`               the arguments of a call that a program was made for
`derivation`         programs and lowered programs of all derivatives, made when asked for and kept
`unknown_derivatives`  derivatives without a formula, refused at their line
`on_disk`            optimized programs, as they are kept on disk
`derived_on_disk`    what passes make of programs with arrays and loops, the same
`by_definition`      derivatives at points that kernels do not know, by the definition
`slopes_beside`      the same at many points, in compiled balls
`domain_checks`      what `domain=` demands of the arguments of loop programs, as checks
`lowered/`           what each tier of arithmetic computes and flags, made when asked for
`kernels/`           from lowered programs to kernels
`guard_messages`     what the report and warnings say of guards
`options`            the keyword arguments of `symgrad` that shape kernels
`samples`            points worth trying: ordinary, bit-uniform, near singular ones
`validation/`        what is compiled, compared with what was captured
"""
