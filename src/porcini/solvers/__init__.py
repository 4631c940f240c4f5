"""Solvers. The only place that imports z3."""
