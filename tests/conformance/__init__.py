"""Outside judges: programs that engines are compared on, and semantics that share no code with `src`."""
