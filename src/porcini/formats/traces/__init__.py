"""Traces: runs as JSON lines, for other tools, and from them. `docs/traces.md` describes the format.

writing     a recording as text
reading     text as a recording, checked for everything that can be checked without its formulas
formulas    the formulas of a recording as labels, checked against its values
"""

FORMAT, VERSION = "porcini-trace", 1
LONGEST_NUMBER = 4_100
"""Digits: Python refuses to read more than 4,300 of them, and programs have constants of up to 4,000."""
