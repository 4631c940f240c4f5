"""Generated rewrite theories: languages rather than programs, and plain Maude as their judge."""
