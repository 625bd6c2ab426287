"""Runs a candidate's host code, in a process of its own, on tensors without storage, and records its requests.

The process is not trusted: only a plan (`porter.launch_plan`) and the text of kernels leave it, and both are checked
before they are carried out.
"""
