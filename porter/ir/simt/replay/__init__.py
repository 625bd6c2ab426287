"""Carries out a launch plan by the interpreter: `kernels.py` finds and builds what is launched, `arguments.py` reads
what it is passed, `executor.py` does the steps.
"""
