"""What a candidate's module must not hold, whoever wrote it: read from its text, without running it.

Text is a filter that saves time. What only a run can tell is left to the worker, which sees what is done.
"""
