"""Contracts say what must hold whoever implements the operator: arguments, shapes, workloads, tolerance."""
