"""Models what a program of a kernel does, from its PTX, and what that costs on the device it is for; times nothing.

ptx       the instructions of a kernel
lanes     what integer instructions compute, for all threads of a program at once
memory    the sectors that accesses touch
walk      one program, instruction by instruction: counts, and how long a warp waits
estimate  from there to a whole launch
"""
