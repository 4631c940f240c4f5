"""Propositions of formulas: conditions on fields of objects, which are named as in reports (`0.1.money`)."""

from __future__ import annotations

import re

from porcini.core.errors import InputError, Place
from porcini.core.pids import Pid
from porcini.ir.expr import Type, Var, var
from porcini.ir.objects import ObjectProposition
from porcini.ir.program import Program
from porcini.langs.gcl.names import Frame, Names, typed
from porcini.langs.gcl.parser import parse_expression

_FIELD = re.compile(r"(?<![\w.])(\d+(?:\.\d+)*)\.([^\W\d]\w*)")


def proposition(program: Program, text: str, place: Place) -> ObjectProposition:
    """A condition over fields that are numbers or booleans, in the expressions of guarded commands."""
    fields: dict[Var, tuple[Pid, str]] = {}

    def renamed(found: re.Match[str]) -> str:
        ref, field = found.groups()
        name = f"field_{ref.replace('.', '_')}_{field}"
        fields[var(name, _type_of(program, field, place))] = Pid(map(int, ref.split("."))), f"@{field}"
        return name

    plain = _FIELD.sub(renamed, text)
    names = Names(Frame(-1), own={variable.name: variable for variable in fields})
    try:
        test = typed(parse_expression(plain, place), "bool", names)
    except InputError as problem:
        problem.place, problem.hint = place, "a field is named with its object, as outcomes are: 0.1.money"
        raise
    return ObjectProposition(test, tuple((variable, *of) for variable, of in fields.items()))


def _type_of(program: Program, field: str, place: Place) -> Type:
    types = {v.type for class_ in program.classes for v in class_.fields if v.name == f"@{field}"}
    if not types:
        known = sorted({v.name[1:] for class_ in program.classes for v in class_.fields})
        raise InputError(f"no class has a field `{field}`", place=place, hint=f"known: {', '.join(known)}")
    if types not in ({"int"}, {"bool"}):
        raise InputError(f"formulas are about numbers and booleans, and `{field}` is neither", place=place)
    return types.pop()
