"""Finds what a candidate's module must not hold, whoever wrote it: reads its text, without running it.

Reading the text is a filter that saves time. What only a run can tell is left to the worker, which sees what is done.
"""
