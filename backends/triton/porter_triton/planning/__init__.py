"""The process that runs a candidate's host code on tensors without storage, and records what it asks of a device.

Nobody trusts this process: what leaves it is a plan (`porter.launch_plan`) and the text of kernels, both checked by
whoever carries them out.
"""
