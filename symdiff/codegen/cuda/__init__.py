"""CUDA C++.

`printer`         kernels of functions of numbers
`operations`      operations
`trigonometry`    sine, cosine and tangent of floats
`conversions`     copies of arrays of any layout and type
`thread_loop`     what a thread reads, computes and writes
`loops/`          programs with arrays and loops
"""
