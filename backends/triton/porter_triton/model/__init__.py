"""Models what a program of a kernel does, from its PTX; what that costs says `porter.cost_model`.

ptx       the instructions of a kernel
lanes     what integer instructions compute, for all threads of a program at once
memory    the sectors that accesses touch
walk      one program, instruction by instruction: counts, and how long a warp waits
"""
