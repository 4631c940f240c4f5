"""Variables to which nothing assigns are constants: machines write their values into code instead of looking them
up, and nobody has to wait for them to change."""

from __future__ import annotations

from porcini.ir.operations import variable_of
from porcini.ir.program import Program, targets_of


def mark_constants(program: Program) -> None:
    """Find out which variables are constants (`Variable.constant`)."""
    edges = (edge for template in program.templates for edge in template.edges)
    assigned = {variable_of(target) for edge in edges for target in targets_of(edge)}
    for expr, variable in program.declared.items():
        variable.constant = expr not in assigned
