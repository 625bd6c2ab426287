"""Finds what a candidate's module must not hold: reads its text, without running it.

Reading the text is a filter that saves time. Facts that only a run shows are left to the worker, which sees what is
done.
"""
