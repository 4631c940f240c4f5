"""What is known about a program from its points and edges alone."""
