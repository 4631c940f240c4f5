"""Promela models as trees of lines: what SPIN and Porcini are both given, and how it is made smaller.

A line is text that nothing here understands, so that the generator can write anything that the language has. What
is made smaller need not be a model any more: SPIN says whether it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

INDENT = "  "
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """A statement without others in it, or a declaration among statements."""

    text: str

    def lines(self) -> list[str]:
        return [self.text]


@dataclass(frozen=True, slots=True)
class Labelled:
    label: str
    statement: Statement

    def lines(self) -> list[str]:
        return [f"{self.label}:", *self.statement.lines()]


@dataclass(frozen=True, slots=True)
class Choice:
    """`if` or `do`."""

    head: str
    options: tuple[Block, ...]

    def lines(self) -> list[str]:
        tail = {"if": "fi", "do": "od"}[self.head]
        return [self.head, *(line for option in self.options for line in _option(option)), tail]


@dataclass(frozen=True, slots=True)
class Braces:
    """`atomic`, `d_step`, `for` or nothing before a block; `escape` is what comes after `unless`."""

    head: str
    body: Block
    escape: Block = ()

    def lines(self) -> list[str]:
        closing = ["}"] if not self.escape else ["} unless {", *_indented(block_lines(self.escape)), "}"]
        return [f"{self.head} {{".lstrip(), *_indented(block_lines(self.body)), *closing]


Statement = Line | Labelled | Choice | Braces
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Proctype:
    head: str
    declarations: tuple[str, ...]
    body: Block

    def lines(self) -> list[str]:
        declared = [f"{each};" for each in self.declarations]
        return [f"{self.head} {{", *_indented([*declared, *block_lines(self.body)]), "}"]


@dataclass(frozen=True, slots=True)
class Model:
    """`formulas` are those of `ltl` blocks."""

    declarations: tuple[str, ...]
    proctypes: tuple[Proctype, ...]
    formulas: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [f"{each};" for each in self.declarations]
        lines += [line for proctype in self.proctypes for line in proctype.lines()]
        lines += [f"ltl {name} {{ {formula} }}" for name, formula in self.named_formulas()]
        return "\n".join(lines) + "\n"

    def named_formulas(self) -> list[tuple[str, str]]:
        return [(f"f{number}", formula) for number, formula in enumerate(self.formulas)]

    def without_assertions(self) -> Model:
        """SPIN goes on past a failed assertion if it is told to, and Porcini does not: an assertion that holds is
        the same for both."""

        def pass_over(line: Line) -> Line:
            return Line("assert(true)") if line.text.startswith("assert(") else line

        return replace(self, proctypes=tuple(replace(p, body=mapped(p.body, pass_over)) for p in self.proctypes))


def mapped(block: Block, change: Callable[[Line], Line]) -> Block:
    """A block with other lines in it."""

    def copy(statement: Statement) -> Statement:
        match statement:
            case Labelled(label, inner):
                return Labelled(label, copy(inner))
            case Choice(head, options):
                return Choice(head, tuple(mapped(option, change) for option in options))
            case Braces(head, body, escape):
                return Braces(head, mapped(body, change), mapped(escape, change))
            case Line():
                return change(statement)

    return tuple(map(copy, block))


_SEND = re.compile(r"\w+(\[.*\])?!")


def has_else_in_first_choice(block: Block) -> bool:
    """Does an option of a choice begin with another choice that has an `else`? For that, SPIN's verifier also
    looks at the options of the outer choice, and docs/promela.md says that Porcini does not. Or an escape with a
    choice that has one: there SPIN's verifier takes the `else` even where another option can be taken; with a
    send in a choice, or beside another escape, it goes on as if nothing had been possible when that send finds
    nobody to meet."""
    for statement in block:
        match statement:
            case Labelled(_, inner):
                found = has_else_in_first_choice((inner,))
            case Choice(_, options):
                found = any(begins_with_else(option) or has_else_in_first_choice(option) for option in options)
            case Braces(_, body, escape):
                found = has_else_in_first_choice(body) or has_else_in_first_choice(escape)
                found = found or (bool(escape) and (begins_with_else(escape) or _chooses_to_send(escape)))
                nested = bool(escape) and any(" unless {" in line for line in block_lines((*body, *escape)))
                found = found or (nested and _SEND.match(escape[0].lines()[0]) is not None)
            case _:
                found = False
        if found:
            return True
    return False


def _chooses_to_send(block: Block) -> bool:
    match block[0]:
        case Choice(_, options):
            return any(
                _chooses_to_send(option) or _SEND.match(option[0].lines()[0]) is not None for option in options
            )
        case Braces(_, body):
            return _chooses_to_send(body)
        case Labelled(_, inner):
            return _chooses_to_send((inner,))
    return False


def begins_with_else(block: Block) -> bool:
    """Does a block begin with a choice that has an `else`?"""
    match block[0]:
        case Choice(_, options):
            return any(option[0] == Line("else") or begins_with_else(option) for option in options)
        case Braces(_, body):
            return begins_with_else(body)
        case Labelled(_, inner):
            return begins_with_else((inner,))
    return False


def block_lines(block: Block) -> list[str]:
    """The statements of a block, with semicolons between them."""
    lines: list[str] = []
    for index, statement in enumerate(block):
        lines += statement.lines()
        if index < len(block) - 1:
            lines[-1] += ";"
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _option(option: Block) -> list[str]:
    first, *others = block_lines(option)
    return [f":: {first}", *(f"   {line}" for line in others)]


# Smaller models -------------------------------------------------------------------------------------------------


def smaller(model: Model) -> Iterator[Model]:
    """All models that are smaller by one thing, large things first."""
    for without in _without_one(model.formulas):
        yield replace(model, formulas=without)
    for without in _without_one(model.proctypes):
        yield replace(model, proctypes=without)
    for index, proctype in enumerate(model.proctypes):
        for less in _smaller_proctype(proctype):
            yield replace(model, proctypes=(*model.proctypes[:index], less, *model.proctypes[index + 1 :]))
    for without in _without_one(model.declarations):
        yield replace(model, declarations=without)
    for index, formula in enumerate(model.formulas):
        for less in _smaller_formula(formula):
            yield replace(model, formulas=(*model.formulas[:index], less, *model.formulas[index + 1 :]))


def _without_one(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    for index in range(len(items)):
        yield items[:index] + items[index + 1 :]


def _smaller_proctype(proctype: Proctype) -> Iterator[Proctype]:
    for body in smaller_block(proctype.body):
        if body:
            yield replace(proctype, body=body)
    for declarations in _without_one(proctype.declarations):
        yield replace(proctype, declarations=declarations)
    fewer = re.sub(r"active \[\d\] ", "active ", proctype.head)
    if fewer != proctype.head:
        yield replace(proctype, head=fewer)


def smaller_block(block: Block) -> Iterator[Block]:
    yield from _without_one(block)
    for index, statement in enumerate(block):
        for instead in _instead_of(statement):
            yield block[:index] + instead + block[index + 1 :]


def _instead_of(statement: Statement) -> Iterator[Block]:
    """Blocks that are smaller than a statement."""
    match statement:
        case Labelled(label, inner):
            yield (inner,)
            for less in _instead_of(inner):
                if less:
                    yield (Labelled(label, less[0]), *less[1:])
        case Choice(head, options):
            yield from options
            for fewer in _without_one(options):
                if fewer:
                    yield (Choice(head, fewer),)
            for index, option in enumerate(options):
                for less in filter(None, smaller_block(option)):
                    yield (Choice(head, (*options[:index], less, *options[index + 1 :])),)
        case Braces(head, body, escape):
            yield body
            for less in filter(None, smaller_block(body)):
                yield (Braces(head, less, escape),)
            for less in smaller_block(escape):
                yield (Braces(head, body, less),)
        case Line(text):
            yield from ((Line(less),) for less in _smaller_line(text))


def _smaller_line(text: str) -> Iterator[str]:
    """A number in place of what is assigned or sent; `true` in place of a condition."""
    if found := re.match(r"([\w.\[\]% ]+ = |\w+(?:\[\d\])?!)(?!\d$)([^,]+)$", text):
        yield f"{found[1]}1"
    elif re.search(r"[<>=!&|]", text) and not re.search(r"[?!] *\w|assert|\.\.| = ", text):
        yield "true"


def _smaller_formula(formula: str) -> Iterator[str]:
    """A formula with one of its propositions left out: propositions stand in brackets of their own."""
    for found in re.finditer(r"\{[^{}]*\}|\((?:[^()]|\([^()]*\))*\)", formula):
        if found[0] not in ("(true)", "(false)"):
            yield formula[: found.start()] + "(true)" + formula[found.end() :]
            yield formula[: found.start()] + "(false)" + formula[found.end() :]
