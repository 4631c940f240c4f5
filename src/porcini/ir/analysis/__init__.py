"""What can be told of a program from its points and edges alone."""
