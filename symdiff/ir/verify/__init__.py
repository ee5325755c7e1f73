"""Why a program is not valid; passes may assume that it is.

`scalar`     programs of numbers
`loops`      programs with arrays and loops
"""
