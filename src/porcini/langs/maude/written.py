"""Generated modules, read back: what Maude has understood must be what was meant.

A module of ours is text, and text can be read in more than one way: operators of the user's may look like
commas, brackets or keywords. Two things make sure that it is read as it is meant. Maude says where a statement has
several readings, and then it is refused; so each statement has one. And what was meant is one: each statement of
the marked theory is read back and compared, term by term. In the others, terms of the user's stand between
brackets and commas of ours, with names that no operator of theirs has (`names`); these terms are read back and
compared one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from porcini.langs.maude import bindings
from porcini.langs.maude.signature import Signature
from porcini.langs.maude.terms import (
    Apply,
    MetaModule,
    Node,
    Operator,
    Statement,
    Variable,
    read_module,
    read_term,
)


@dataclass(frozen=True, slots=True)
class Written:
    """A module of ours as text, and what it should mean: all of it, or the terms in it."""

    text: str
    signature: Signature
    module: MetaModule | None = None
    terms: Sequence[tuple[str, Node]] = ()
    name: str = ""


def enter(written: Written) -> str | None:
    """Load a module; what is wrong with it, if anything."""
    wrong = [each for each in bindings.enter(written.text) if bindings.is_fatal(each) or is_ambiguous(each)]
    if wrong:
        return wrong[0].message
    if written.module is not None:
        return _difference(
            written.module, read_module(bindings.meta_module(written.module.name)), written.signature
        )
    module = bindings.module(written.name)
    for text, node in dict.fromkeys(each for each in written.terms if isinstance(each[1], Apply)):
        found = bindings.read_back(module, text)
        if found is None or normal(read_term(found), written.signature) != normal(node, written.signature):
            return f"`{text}` is not read as it was meant"
    return None


def is_ambiguous(warned: bindings.Warned) -> bool:
    return bool(_AMBIGUOUS.search(warned.message))


_AMBIGUOUS = re.compile(r"ambiguous|multiple distinct parses|arbitrarily", re.IGNORECASE)


def _difference(meant: MetaModule, found: MetaModule, signature: Signature) -> str | None:
    for one, two in (
        (meant.memberships, found.memberships),
        (meant.equations, found.equations),
        (meant.rules, found.rules),
    ):
        wanted = Counter(_statement(each, signature) for each in one)
        lost = wanted - Counter(_statement(each, signature) for each in two)
        if lost or len(one) != len(two):
            return f"a statement is not read as it was meant: {next(iter(lost), '')}"[:200]
    operators = Counter(_operator(each, signature) for each in meant.operators)
    lost_operators = operators - Counter(_operator(each, signature) for each in found.operators)
    if lost_operators:
        return f"an operator is not read as it was meant: {next(iter(lost_operators))}"[:200]
    return None


def _operator(operator: Operator, signature: Signature) -> object:
    attributes = operator.attributes
    identity = None if attributes.identity is None else normal(attributes.identity, signature)
    domain = tuple(map(_type, operator.domain))
    flags = frozenset("frozen" if flag.startswith("frozen") else flag for flag in attributes.flags)
    return operator.name, domain, _type(operator.range), flags, identity


def _type(sort: str) -> str:
    """A sort; a kind has several names."""
    return "[]" if sort.startswith("[") else sort


def _statement(statement: Statement, signature: Signature) -> object:
    condition = tuple(
        (kind, normal(left, signature), right if kind == ":" else normal(right, signature))
        for kind, left, right in statement.condition
    )
    left = normal(statement.left, signature)
    right = statement.right if statement.membership else normal(statement.right, signature)
    return left, right, condition, statement.label, statement.owise, statement.nonexec


def normal(node: Node, signature: Signature) -> Node:
    """A term up to associativity, commutativity and identity, of those declarations that it can be of."""
    if isinstance(node, Variable):
        return Variable(node.name, _type(node.sort))
    if not node.args:
        return Apply(node.op, (), signature.kind(node.sort))
    operators = signature.fitting(node) or signature.declared(node.op, len(node.args))
    if not operators or not all(operator.flat for operator in operators):
        args = [normal(arg, signature) for arg in node.args]
    else:
        args = [each for arg in node.args for each in _parts(normal(arg, signature), node.op)]
        units = [o.attributes.identity for o in operators if o.attributes.identity is not None]
        without = [each for each in args if each not in [normal(unit, signature) for unit in units]]
        if len(without) < 2:
            return without[0] if without else args[0]
        args = without
    if operators and all(operator.commutes for operator in operators):
        args.sort(key=repr)
    return Apply(node.op, tuple(args))


def _parts(node: Node, op: str) -> Sequence[Node]:
    return node.args if isinstance(node, Apply) and node.op == op and len(node.args) > 1 else (node,)
