"""Promela models made smaller, for reporting what is wrong with one; and well-known models changed here and there.

Neither knows what a model does. So a changed model need not end: `judge.endless` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

from conformance.promela.tree import (
    Assign,
    Atomic,
    Block,
    Break,
    Cell,
    Do,
    DStep,
    Else,
    End,
    Expression,
    Goto,
    If,
    Labelled,
    Measure,
    Model,
    Name,
    Not,
    Num,
    Op,
    Poll,
    Proctype,
    Receive,
    Run,
    Select,
    Send,
    Statement,
    nodes,
)
from conformance.trees import parts

OPERATORS = ("==", "!=", "<", ">", "<=", ">=")
ALWAYS_KNOWN = {"_pid", "_nr_pr", "timeout"}


def smaller(model: Model) -> Iterator[Model]:
    """All models that are smaller by one thing: a process, a statement, an option, a part of an expression."""
    return (candidate for candidate in _smaller(model) if well_formed(candidate))


def _smaller(tree: Any) -> Iterator[Any]:
    """What could stand in place of a tree. In place of a statement that is a block: the ones inside of it."""
    if isinstance(tree, tuple):
        yield from _smaller_tuple(tree)
    elif is_dataclass(tree):
        yield from _reductions(tree)
        for field in fields(tree):
            value = getattr(tree, field.name)
            for less in _smaller(value):
                if isinstance(less, tuple) == isinstance(value, tuple):
                    yield replace(tree, **{field.name: less})


def _smaller_tuple(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for index in range(len(items)):
        yield items[:index] + items[index + 1 :]
    for index, item in enumerate(items):
        for less in _smaller(item):
            spliced = isinstance(less, tuple) and not isinstance(item, tuple)
            yield items[:index] + (less if spliced else (less,)) + items[index + 1 :]


def _reductions(tree: Any) -> Iterator[Any]:
    match tree:
        case Num(value) if value > 1:
            yield from (Num(0), Num(1))
        case Op(_, left, right):
            yield from (left, right, Num(0), Num(1))
        case Not(operand):
            yield from (operand, Num(0), Num(1))
        case Cell() | Name() | Measure() | Poll():
            yield from (Num(0), Num(1))
        case If(options) | Do(options):
            for option in options:
                yield tuple(each for each in option if not isinstance(each, Else | Break))
        case Atomic(body) | DStep(body):
            yield body
        case Labelled(_, inner):
            yield (inner,)
        case Proctype(active=active) if active > 1:
            yield replace(tree, active=active - 1)


def well_formed(model: Model) -> bool:
    """Is this a model, as far as names and places of statements go?"""
    if not any(p.active for p in model.proctypes) or not all(p.body for p in model.proctypes):
        return False
    return all(_known_names(model, p) and _placed(p.body) and _labels(p) for p in model.proctypes)


def _known_names(model: Model, proctype: Proctype) -> bool:
    scalars = {v.name for v in model.variables if v.size is None} | set(model.constants)
    scalars |= {v.name for v in (*proctype.parameters, *proctype.variables)} | ALWAYS_KNOWN
    arrays = {v.name for v in model.variables if v.size is not None}
    channels = {channel.name: channel for channel in model.channels}
    started = {p.name: p for p in model.proctypes}
    for node in nodes(proctype.body):
        match node:
            case Name(name):
                known = name in scalars
            case Cell(array):
                known = array in arrays
            case End(name, index):
                known = name in channels and (channels[name].size is None) == (index is None)
            case Send(channel, fields_) | Receive(channel, fields_) | Poll(channel, fields_):
                known = channel.name in channels and len(channels[channel.name].types) == len(fields_)
            case Run(name, arguments):
                known = name in started and len(started[name].parameters) == len(arguments)
            case Assign(place) | Select(place):
                known = isinstance(place, Cell) or (isinstance(place, Name) and place.name not in ALWAYS_KNOWN)
            case _:
                known = True
        if not known:
            return False
    return bool(proctype.body)


def _placed(block: Block, in_loop: bool = False) -> bool:
    """Is there no empty block, no `else` but at the start of one option, no `break` outside of a loop?"""
    if not block or any(isinstance(each, Else) for each in block):
        return False
    return all(_statement_placed(statement, in_loop) for statement in block)


def _statement_placed(statement: Statement, in_loop: bool) -> bool:
    match statement:
        case If(options) | Do(options):
            in_loop = in_loop or isinstance(statement, Do)
            others = [option for option in options if not (option and isinstance(option[0], Else))]
            rests = [option[1:] for option in options if option and isinstance(option[0], Else)]
            if not others or len(rests) > 1:
                return False
            return all(_placed(o, in_loop) for o in others) and all(_placed(r, in_loop) for r in rests if r)
        case Atomic(body) | DStep(body):
            return _placed(body, in_loop)
        case Labelled(_, inner):
            return _statement_placed(inner, in_loop)
        case Break():
            return in_loop
    return True


def _labels(proctype: Proctype) -> bool:
    labels = [node.label for node in nodes(proctype.body) if isinstance(node, Labelled)]
    wanted = {node.label for node in nodes(proctype.body) if isinstance(node, Goto)}
    return len(labels) == len(set(labels)) and wanted <= set(labels)


def mutate(random: Random, model: Model) -> Model:
    """A model changed in one to three places: statements twice, gone or swapped, other constants and tests."""
    left = random.randint(1, 3)
    while left:
        edit = random.choice([_twice, _gone, _swapped, _together, _constant, _test])
        changed = edit(random, model)
        if well_formed(changed):
            model, left = changed, left - 1
    return model


def _changed(random: Random, tree: Model, wanted: Callable[[Any], bool], edit: Callable[[Any], Any]) -> Model:
    """A tree with a change in one of the parts that are wanted, whichever."""
    many = sum(1 for part in parts(tree) if wanted(part))
    if not many:
        return tree
    left = [random.randrange(many)]

    def copy(part: Any) -> Any:
        if wanted(part):
            left[0] -= 1
            if left[0] == -1:
                return edit(part)
        if isinstance(part, tuple):
            return tuple(copy(each) for each in part)
        if is_dataclass(part):
            return replace(part, **{field.name: copy(getattr(part, field.name)) for field in fields(part)})
        return part

    return copy(tree)


def _is_block(part: Any) -> bool:
    return isinstance(part, tuple) and bool(part) and isinstance(part[0], Statement)


def _at_random(random: Random, model: Model, edit: Callable[[Block, int], Block]) -> Model:
    return _changed(random, model, _is_block, lambda block: edit(block, random.randrange(len(block))))


def _twice(random: Random, model: Model) -> Model:
    return _at_random(random, model, lambda block, at: (*block[: at + 1], *block[at:]))


def _gone(random: Random, model: Model) -> Model:
    return _at_random(random, model, lambda block, at: block[:at] + block[at + 1 :])


def _swapped(random: Random, model: Model) -> Model:
    return _at_random(
        random, model, lambda block, at: (*block[:at], *reversed(block[at : at + 2]), *block[at + 2 :])
    )


def _together(random: Random, model: Model) -> Model:
    """Two statements become one atomic block."""
    return _at_random(random, model, lambda block, at: (*block[:at], Atomic(block[at : at + 2]), *block[at + 2 :]))


def _constant(random: Random, model: Model) -> Model:
    return _changed(random, model, lambda part: isinstance(part, Num), lambda _: Num(random.randint(0, 3)))


def _test(random: Random, model: Model) -> Model:
    def other(test: Op) -> Expression:
        return random.choice([replace(test, operator=random.choice(OPERATORS)), Not(test), Op("||", test, Num(1))])

    return _changed(random, model, lambda part: isinstance(part, Op) and part.operator in OPERATORS, other)
