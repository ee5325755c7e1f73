"""Derivatives of programs with arrays and loops.

`reverse`            reverse mode
`forward`            forward mode: dual statements
`extremes`           loops that keep the largest or the least of their terms
`tape_selection`     which values of a forward loop its reverse uses, saved or recomputed
`checkpoint`         long loops in bounded memory (revolve, binomial checkpointing)
`seeds`              loops over unit directions: Jacobians and Hessians
`sparse`             the structurally nonzero entries of a Jacobian
"""
