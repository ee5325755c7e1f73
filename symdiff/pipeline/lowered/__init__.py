"""Lowered programs: what each tier of arithmetic computes, and what it flags.

`scalar`     functions of numbers
`loops`      programs with arrays and loops
`modules`    functions of numbers in generated source

Passes run when a tier is requested, which is when its code is compiled.
"""
