"""What instrumented code calls beside the log (see `rewriting`), from the bottom up.

Each function takes the site's number, logs what will be read or written, and gives back the operand, so that
the operation itself stays where it was in the program: its order, its exceptions and its frames are the program's.

`entries` has the log; `values` says what is read of a value by operators and loops; `operators`, `iterating`,
`items` and `objects` are the statements and expressions that do so; `awaiting` is about what may be suspended.
"""
