"""What concerns the process.

`progress`     a progress bar, for what takes long, on a terminal
"""
