"""Terms and modules as a person would write them in Maude."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from porcini.langs.maude.names import Names
from porcini.langs.maude.signature import Signature
from porcini.langs.maude.terms import (
    Apply,
    Fragment,
    MetaModule,
    Node,
    Operator,
    Statement,
    Variable,
    flattened,
    variables,
)
from porcini.langs.maude.terms import condition_variables as variables_of_condition

_LOOSE, _UNARY = 41, 15
"""The precedence of an operator that begins or ends with an argument, and of one with one argument only."""
_WIDEST_ARGUMENT = 95
"""What is looser needs brackets as an argument: `PREFIX_GATHER` in Maude."""
_SPECIAL = "[](){},"


class Printer:
    """Prints terms. Variables that were declared go by their names alone, others say their sorts.

    Where terms are written as a person would, Maude may read something else: a comma is an operator of the user's
    or the next argument. So whoever prints a module reads it back (`written`), and if it is not the same, prints
    it again, *plain*: every operator before its arguments, every variable with its sort.
    """

    def __init__(
        self, signature: Signature, declared: dict[str, str] | None = None, *, plain: bool = False
    ) -> None:
        self.signature = signature
        self.declared = declared or {}
        self.plain = plain

    def term(self, node: Node) -> str:
        return self._shown(node)[0]

    def argument(self, node: Node) -> str:
        """A term between brackets and commas, or between the words of an operator."""
        text, inner = self._shown(node)
        return f"({text})" if inner > _WIDEST_ARGUMENT or (inner and "," in _tokens_of(node)) else text

    def _shown(self, node: Node) -> tuple[str, int]:
        """A term and the precedence of what is outermost in it."""
        if isinstance(node, Variable):
            known = self.declared.get(node.name) == node.sort and not self.plain
            return (node.name if known else f"{node.name}:{node.sort}"), 0
        if not node.args:
            name = shown_name(node.op)
            return (f"({name}).{node.sort}" if self._ambiguous(node) else name), 0
        if self.plain:
            return self._before_arguments(node), 0
        if "_" not in node.op:
            return f"{shown_name(node.op)}({', '.join(map(self.argument, node.args))})", 0
        return self._mixfix(node)

    def _before_arguments(self, node: Apply) -> str:
        args = list(map(self.term, node.args))
        while len(args) > 2 and not self.signature.operators.get((node.op, len(args))):
            args[-2:] = [f"{node.op}({', '.join(args[-2:])})"]
        return f"{node.op}({', '.join(args)})"

    def _mixfix(self, node: Apply) -> tuple[str, int]:
        operators = self.signature.fitting(node) or self.signature.declared(node.op, len(node.args))
        flat = any(operator.flat for operator in operators)
        args: Sequence[Node] = flattened(node, node.op) if flat else node.args
        precedence = next(
            (o.attributes.precedence for o in operators if o.attributes.precedence is not None), None
        )
        if precedence is None:
            open_ended = node.op.startswith("_") or node.op.endswith("_")
            precedence = (_UNARY if len(args) == 1 else _LOOSE) if open_ended else 0
        if flat and node.op.count("_") == 2 and node.op.startswith("_") and node.op.endswith("_"):
            middle = " ".join(_tokens(node.op[1:-1]))
            parts = [self._within(arg, precedence) for arg in args]
            return (f" {middle} " if middle else " ").join(parts), precedence
        pieces: list[str] = []
        holes = list(args)
        tokens = _tokens(node.op)
        for number, token in enumerate(tokens):
            if token != "_":
                pieces.append(token)
            else:
                at_end = number in (0, len(tokens) - 1) or "_" in (tokens[number - 1], tokens[number + 1])
                hole = holes.pop(0)
                shared = set(_tokens_of(hole)) & set(tokens) - {"_"}
                if at_end or shared:
                    pieces.append(self._within(hole, precedence if at_end else 1))
                else:
                    pieces.append(self.argument(hole))
        return _joined(pieces), precedence

    def _within(self, node: Node, precedence: int) -> str:
        text, inner = self._shown(node)
        return f"({text})" if inner >= precedence or (inner and "," in _tokens_of(node)) else text

    def _ambiguous(self, node: Apply) -> bool:
        kinds = {self.signature.kind(o.range) for o in self.signature.operators.get((node.op, 0), [])}
        return len(kinds) > 1 or self.signature.elsewhere.get(node.op, node.sort) != node.sort

    def condition(self, condition: Iterable[Fragment]) -> str:
        return _condition(condition, self.side)

    def side(self, node: Node) -> str:
        """A side of a part of a condition."""
        return self._within(node, 69)

    def statement(self, statement: Statement, keyword: str) -> str:
        """An equation (`eq`) or a rule (`rl`)."""
        conditional = "c" if statement.condition else ""
        label = f"[{statement.label}] : " if statement.label else ""
        arrow = ":" if keyword == "mb" else "=>" if keyword == "rl" else "="
        right = shown_name(statement.right.op) if keyword == "mb" else self.term(statement.right)  # type: ignore[union-attr]
        left = self.term(statement.left)
        if not label and left.startswith("["):
            left = f"({left})"  # or it would be read as a label
        text = f"{conditional}{keyword} {label}{left} {arrow} {right}"
        if statement.condition:
            text += f" if {self.condition(statement.condition)}"
        flags = [name for name in ("owise", "nonexec") if getattr(statement, name)]
        return text + (f" [{' '.join(flags)}] ." if flags else " .")


class Filling:
    """Prints a text of ours with terms of the user's in it.

    A term is written as a mark, and put in its place when the text is complete: so our names can be told from
    theirs (`names`), and each term can be read back by itself.
    """

    def __init__(self, printer: Printer, names: Names) -> None:
        self.printer = printer
        self.names = names
        self.terms: list[tuple[str, Node]] = []
        self._texts: list[str] = []

    def filled(self, text: str) -> str:
        """The complete text: our names as they are called, and what belongs to the user as it was."""
        return _MARK.sub(lambda mark: self._texts[int(mark[1])], self.names.in_text(text))

    def kept(self, text: str) -> str:
        """A name or a sort of the user's."""
        self._texts.append(text)
        return f"\x01{len(self._texts) - 1}\x02"

    def kept_lines(self, lines: Iterable[str]) -> list[str]:
        return list(map(self.kept, lines))

    def term(self, node: Node) -> str:
        return self._recorded(self.printer.argument(node), node)

    def side(self, node: Node) -> str:
        return self._recorded(self.printer.side(node), node)

    def condition(self, condition: Iterable[Fragment]) -> str:
        return _condition(condition, self.side)

    def _recorded(self, text: str, node: Node) -> str:
        self.terms.append((text, node))
        return self.kept(text)


def _condition(condition: Iterable[Fragment], side: Callable[[Node], str]) -> str:
    found = []
    for kind, left, right in condition:
        if kind == "=" and right == Apply("true", (), "Bool"):
            found.append(side(left))
        elif kind == ":":
            found.append(f"{side(left)} : {shown_name(right.op)}")  # type: ignore[union-attr]
        else:
            found.append(f"{side(left)} {kind} {side(right)}")
    return r" /\ ".join(found)


_MARK = re.compile("\x01(\\d+)\x02")


def _tokens_of(node: Node) -> list[str]:
    return _tokens(node.op) if isinstance(node, Apply) and node.args and "_" in node.op else []


def shown_name(op: str) -> str:
    """An operator's name without the backquotes of the meta-level, which tokens do not need in mixfix form."""
    return op.replace("`", "") if "_" in op else op


def _tokens(op: str) -> list[str]:
    """An operator's name as words and holes."""
    found: list[str] = []
    word = ""
    for character in op:
        if character in "_`" or character in _SPECIAL:
            if word:
                found.append(word)
            word = ""
            if character != "`":
                found.append(character)
        else:
            word += character
    return [*found, word] if word else found


def _joined(pieces: Sequence[str]) -> str:
    text = " ".join(pieces)
    return re.sub(r"(?<=[\[({]) | (?=[\])},])", "", text)


def operator_text(operator: Operator, printer: Printer) -> str:
    attributes = list(operator.attributes.flags)
    identity = operator.attributes.identity
    if identity is not None:
        attributes.append(f"{operator.attributes.identity_side}: {printer._within(identity, 1)}")
    if operator.attributes.precedence is not None:
        attributes.append(f"prec {operator.attributes.precedence}")
    if operator.attributes.gather:
        attributes.append(f"gather ({operator.attributes.gather})")
    domain = " ".join(operator.domain)
    shown = f" [{' '.join(attributes)}]" if attributes else ""
    return f"op {operator.name} : {domain}{' ' if domain else ''}-> {operator.range}{shown} ."


def variable_table(statements: Iterable[Statement]) -> dict[str, str]:
    """Names of variables that stand for one sort throughout, and can be declared."""
    sorts: dict[str, set[str]] = defaultdict(set)
    for statement in statements:
        right = () if statement.membership else (statement.right,)
        for each in variables(statement.left, *right) | variables_of_condition(statement.condition):
            sorts[each.name].add(each.sort)
    return {name: next(iter(found)) for name, found in sorted(sorts.items()) if len(found) == 1}


def module_text(module: MetaModule, signature: Signature, *, plain: bool = False) -> str:
    """A module as text."""
    statements = [*module.memberships, *module.equations, *module.rules]
    constants = {name for name, arity in signature.operators if arity == 0}
    declared = {name: sort for name, sort in variable_table(statements).items() if name not in constants}
    printer = Printer(signature, declared, plain=plain)
    lines = [f"mod {module.name} is"]
    lines += [f"  {how} {what} ." for how, what in module.imports]
    if module.sorts:
        lines += ["", f"  sorts {' '.join(module.sorts)} ."]
    lines += [f"  subsort {low} < {high} ." for low, high in module.subsorts]
    lines.append("")
    lines += [f"  {operator_text(operator, printer)}" for operator in module.operators]
    by_sort: dict[str, list[str]] = defaultdict(list)
    for name, sort in declared.items():
        by_sort[sort].append(name)
    lines += ["", *(f"  vars {' '.join(names)} : {sort} ." for sort, names in by_sort.items()), ""]
    lines += [f"  {printer.statement(each, 'mb')}" for each in module.memberships]
    lines += [f"  {printer.statement(each, 'eq')}" for each in module.equations]
    lines += ["", *(f"  {_rule(each, printer)}" for each in module.rules)] if module.rules else []
    return "\n".join([*lines, "endm", ""])


def _rule(statement: Statement, printer: Printer) -> str:
    """A rule on lines of its own: what it needs, what becomes of it, when."""
    text = printer.statement(statement, "rl")
    head, _, rest = text.partition(" => ")
    label, colon, left = head.partition(" : ")
    return f"{label} :\n      {left}\n    => {rest}" if colon else text
