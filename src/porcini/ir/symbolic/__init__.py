"""Steps as formulas: labels, path conditions, symbolic states, and proofs that steps commute."""
