"""Objects and tasks: what actors are lowered to, how they run, and their steps as formulas."""
