"""Guarded commands (P0): `load` turns text into a program."""

from porcini.core.errors import InputError, Place
from porcini.ir.expr import Expr
from porcini.ir.program import Program
from porcini.langs.flat import FlatLanguage
from porcini.langs.gcl.lower import lower
from porcini.langs.gcl.names import Frame, Names, typed
from porcini.langs.gcl.parser import parse, parse_expression


def load(source: str, file: str) -> Program:
    """The program of a GCL text; bad text is an `InputError` with its place."""
    return lower(parse(source, file), file, source)


def proposition(program: Program, text: str, place: Place) -> Expr:
    """A boolean expression over the shared variables, for formulas; `place` is where it begins."""
    names = Names(Frame(-1), own={variable.name: variable.var for variable in program.variables})
    try:
        return typed(parse_expression(text, place), "bool", names)
    except InputError as problem:
        problem.place = place
        raise


LANGUAGE = FlatLanguage("gcl", "guarded commands", load, proposition)
