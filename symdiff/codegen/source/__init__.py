"""Source for people, and for standalone modules.

`python`            Numba Python, of functions of numbers
`loops`             Numba Python, of programs with arrays and loops
`helpers_of_loops`  functions that such sources call
`cuda`              Numba-CUDA Python
`c`                 C99
`index_notation`    programs with arrays and loops as a person writes them
`modules/`          standalone modules
"""
