"""The judge of a little language that is a Maude theory, checked against plain Maude."""
