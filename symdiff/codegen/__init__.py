"""Printers: from lowered programs to code and text.

`llvm/`       LLVM IR, and its compiler
`cuda/`       CUDA C++
`source/`     Python, C and standalone modules, for people
`sympy/`      SymPy, text and LaTeX
`common/`     temporaries, scopes and liveness, for several of them
"""
