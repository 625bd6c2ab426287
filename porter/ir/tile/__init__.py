"""Kernels over tiles: what each program of a launch loads, computes and stores, and the launches of an operator.

It stands between schedules, which decide what a program does, and printers, which write it in a language.
"""
