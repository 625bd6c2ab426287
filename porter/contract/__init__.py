"""Contracts say what must hold for every implementation of an operator: arguments, shapes, workloads, tolerance."""
