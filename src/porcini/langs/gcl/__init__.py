"""Guarded commands (P0): `load` turns text into a program graph."""

from porcini.ir.graph import Graph
from porcini.langs.gcl.lower import lower
from porcini.langs.gcl.parser import parse


def load(source: str, file: str) -> Graph:
    """The program graph of a GCL text; bad text is an `InputError` with its place."""
    return lower(parse(source, file), file, source)
