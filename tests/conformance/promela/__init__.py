"""The judge of Promela, checked against SPIN."""
