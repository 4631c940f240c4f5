"""Native code: a search in C that knows no program, and is filled with what the reference says.

runtime.c, *.h       the search: states, tables, what is missing
compiling            finds a compiler, keeps what it made
library              the functions of the compiled search, as Python calls them
"""
