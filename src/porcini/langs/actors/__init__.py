"""ABS: active objects, as far as common examples use it."""

from porcini.core.errors import InputError
from porcini.ir.steps import StepGraph
from porcini.langs.actors.lower import lower
from porcini.langs.actors.parser import parse


def load(source: str, file: str) -> StepGraph:
    """Parse, check and lower a program."""
    try:
        return lower(parse(source, file), file, source)
    except RecursionError:
        raise InputError("nested too deep", file=file) from None
