"""Steps of packed programs as formulas."""
