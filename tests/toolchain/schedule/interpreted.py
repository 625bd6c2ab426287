"""Calls functions of modules in Triton's interpreter: `python interpreted.py CALLS RESULTS`, both written by torch."""

import importlib.util
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

import torch

from porter_triton.device.libdevice import offer_libdevice


def main():
    offer_libdevice()  # which Triton's own interpreter has no functions of
    calls = torch.load(sys.argv[1], weights_only=True)
    results = []
    for path, arguments in calls:
        spec = importlib.util.spec_from_file_location("port", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        results.append(module.forward(*arguments))
    torch.save(results, sys.argv[2])


if __name__ == "__main__":
    main()
