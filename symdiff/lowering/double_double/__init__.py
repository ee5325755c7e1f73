"""Double-double arithmetic: a real number as a pair of doubles.

`arithmetic`     + - * / and roots, as DAG nodes
`functions`      the elementary functions, a rule each
`pairs`          calls of them, as operations of the DAG
`scaled`         pairs with an exponent, which do not overflow
`pair_formulas`  formulas in that arithmetic
"""
