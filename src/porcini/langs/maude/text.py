"""Terms and modules as a person would write them in Maude."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

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
_SPECIAL = "[](){},"


class Printer:
    """Prints terms. Variables that were declared go by their names alone, others say their sorts."""

    def __init__(self, signature: Signature, declared: dict[str, str] | None = None) -> None:
        self.signature = signature
        self.declared = declared or {}

    def term(self, node: Node) -> str:
        return self._shown(node)[0]

    def _shown(self, node: Node) -> tuple[str, int]:
        """A term and the precedence of what is outermost in it."""
        if isinstance(node, Variable):
            known = self.declared.get(node.name) == node.sort
            return (node.name if known else f"{node.name}:{node.sort}"), 0
        name = shown_name(node.op)
        if not node.args:
            return (f"({name}).{node.sort}" if self._ambiguous(node) else name), 0
        if "_" not in node.op:
            return f"{name}({', '.join(self.term(arg) for arg in node.args)})", 0
        operators = self.signature.declared(node.op, len(node.args))
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
                pieces.append(self._within(holes.pop(0), precedence) if at_end else self.term(holes.pop(0)))
        return _joined(pieces), precedence

    def _within(self, node: Node, precedence: int) -> str:
        text, inner = self._shown(node)
        return f"({text})" if inner >= precedence else text

    def _ambiguous(self, node: Apply) -> bool:
        kinds = {self.signature.kind(o.range) for o in self.signature.operators.get((node.op, 0), [])}
        return len(kinds) > 1

    def condition(self, condition: Iterable[Fragment]) -> str:
        return r" /\ ".join(self._fragment(each) for each in condition)

    def _fragment(self, fragment: Fragment) -> str:
        kind, left, right = fragment
        if kind == "=" and right == Apply("true", (), "Bool"):
            return self._within(left, 69)
        if kind == ":":
            return f"{self._within(left, 69)} : {shown_name(right.op)}"  # type: ignore[union-attr]
        return f"{self._within(left, 69)} {kind} {self._within(right, 69)}"

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


def module_text(module: MetaModule, signature: Signature, more: Sequence[str] = ()) -> str:
    """A module as text. `more` are lines to put before its variables."""
    statements = [*module.memberships, *module.equations, *module.rules]
    constants = {name for name, arity in signature.operators if arity == 0}
    declared = {name: sort for name, sort in variable_table(statements).items() if name not in constants}
    printer = Printer(signature, declared)
    lines = [f"mod {module.name} is"]
    lines += [f"  {how} {what} ." for how, what in module.imports]
    if module.sorts:
        lines += ["", f"  sorts {' '.join(module.sorts)} ."]
    lines += [f"  subsort {low} < {high} ." for low, high in module.subsorts]
    lines.append("")
    lines += [f"  {operator_text(operator, printer)}" for operator in module.operators]
    lines += more
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
