"""The parallel language (P3): `load` turns text into a program."""

from porcini.ir.program import Program
from porcini.langs import gcl
from porcini.langs.flat import FlatLanguage
from porcini.langs.par.lower import lower
from porcini.langs.par.parser import parse


def load(source: str, file: str) -> Program:
    """The program of a text; bad text is an `InputError` with its place."""
    return lower(parse(source, file))


LANGUAGE = FlatLanguage("par", "parallel programs", load, gcl.proposition)
