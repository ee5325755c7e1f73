"""The twelve evaluations of GradBench (https://github.com/gradbench/gradbench), in symdiff.

Each file beside this one is one of them: the function as one writes it with NumPy, from the published description,
what its derivative is asked for, and how its input and output look as JSON. `python -m benchmarks.gradbench` answers
GradBench's requests on standard input; `compare` times the derivatives beside its C++ tool `manual`, and `validate`
runs its own programs, with their validators, against a checkout.
"""
