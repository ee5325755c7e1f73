"""Kernels on CUDA devices.

`driver`           NVIDIA's driver: devices, memory, modules, launches
`nvrtc`            NVIDIA's compiler: from CUDA C++ to PTX or machine code
`device_arrays`    arrays in device memory
`kernel`           functions of numbers
`call`             their arguments and results
`numba_device`     device functions that kernels of Numba-CUDA call
`loops/`           programs with arrays and loops
"""
