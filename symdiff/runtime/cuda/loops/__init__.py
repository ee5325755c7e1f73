"""Programs with arrays and loops on CUDA devices.

`kernel`     compiled when first called
`call`       arguments and results
`steps`      running the steps of the host
"""
