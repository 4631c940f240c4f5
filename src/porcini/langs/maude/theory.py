"""A language given by its rewriting semantics: what P1's section 3.1 assumes of it, found in the real modules.

    Theory      the modules that know of threads, taken together, with their signature
    ThreadRule  a rule, split into its thread and what else it looks at

A state is a term with threads in it, as a rule a multiset (a "soup") of threads and other things. A rule that has
no thread, or more than two, is refused here, equations that do not leave threads alone in `assumptions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porcini.core.errors import InputError, Place
from porcini.langs.maude import bindings
from porcini.langs.maude.description import Description, wrong_value
from porcini.langs.maude.names import Names, names_for
from porcini.langs.maude.signature import Signature
from porcini.langs.maude.terms import (
    Apply,
    Fragment,
    MetaModule,
    Node,
    Operator,
    Statement,
    Variable,
    condition_variables,
    flattened,
    read_module,
    read_term,
    subterms,
    variables,
)
from porcini.langs.maude.text import Printer


@dataclass(frozen=True, slots=True)
class ThreadRule:
    """A rule of one thread. `around` and `around_after` are the other things of the soup, before and after."""

    label: str
    statement: Statement
    thread: Apply
    tid: Node
    around: tuple[Node, ...]
    after: Node | None
    """The thread afterwards; None if it is gone."""
    spawned: tuple[Node, ...]
    around_after: tuple[Node, ...]
    partner: Apply | None = None
    """Another thread that moves in the same step: a rendezvous, which is a step of `thread`."""

    @property
    def own_condition(self) -> tuple[Fragment, ...]:
        """The parts of its condition that the thread alone decides."""
        own = variables(self.thread)
        found = []
        for fragment in self.statement.condition:
            kind, left, right = fragment
            if kind == ":=" and variables(right) <= own:
                own = own | variables(left)
                found.append(fragment)
            elif condition_variables((fragment,)) <= own:
                found.append(fragment)
        return tuple(found)


@dataclass(slots=True)
class Theory:
    """The modules of a language and a program, with their description."""

    description: Description
    file: Path
    signature: Signature
    touched: list[MetaModule]
    """The modules that know of states, imported ones first."""
    below: list[MetaModule]
    """The user's other modules."""
    imports: list[tuple[str, str]]
    """What else they import."""
    soup: Operator | None
    """The operator that makes states of parts."""
    levels: list[tuple[Operator, int]]
    """From a state down to the soup: operators, and at which argument to go on."""
    initial: Node
    """The initial state as it is written."""
    equations: list[Statement]
    """All equations of all modules, with those of parameterized ones that were instantiated."""
    warned: list[bindings.Warned] = field(default_factory=list)
    rules: list[ThreadRule] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    """The labels of the rules as they are written."""
    places: dict[str, tuple[str, Place]] = field(default_factory=dict)
    names: Names = field(default_factory=lambda: Names({}, ""))
    """What our own names are called."""
    version: int = 1
    """Counts the transformed theories that a process has loaded: Maude does not always survive redefinitions."""

    # What terms are

    @property
    def thread_sort(self) -> str:
        return self.description.thread

    @property
    def has_rendezvous(self) -> bool:
        """Are there steps of two threads? Such a step changes a thread from outside, and threads are no locations:
        whoever may take one may touch anything."""
        return any(rule.partner is not None for rule in self.rules)

    @property
    def threads_by_membership(self) -> bool:
        """Is it a membership that makes a part of a state a thread, and no operator? Then threads without marks
        stay parts of states for Maude, too; we never make a state with one."""
        sorts = {sort for known in self.signature.memberships.values() for _, sort in known}
        return any(map(self.is_thread_sort, sorts))

    def is_thread(self, node: Node) -> bool:
        return self.is_thread_sort(self.signature.least_sort(node))

    def is_thread_sort(self, sort: str) -> bool:
        return self.signature.below(sort, self.thread_sort)

    def is_part_sort(self, sort: str) -> bool:
        """Is it a sort of parts of a state that are no threads?"""
        return self.in_states(sort) and not self.is_thread_sort(sort)

    def tid_of(self, thread: Node) -> Node | None:
        """The thread id in a thread expression: its first argument of that sort."""
        if isinstance(thread, Apply):
            for number, arg in enumerate(thread.args):
                wanted = self.signature.expected(thread, number)
                if any(self.signature.below(sort, self.description.tid) for sort in wanted):
                    return arg
        return None

    def threads_in(self, node: Node, top: bool = True) -> Iterator[Node]:
        """The thread expressions of a term that are parts of its state."""
        if top and self.is_thread(node):
            yield node
        elif isinstance(node, Apply):
            for number, arg in enumerate(node.args):
                if self.is_part(node, number):
                    yield arg
                else:
                    yield from self.threads_in(arg, top=False)

    def is_part(self, node: Apply, number: int) -> bool:
        """Is an argument a thread that stands in a state, not one that a function looks at?"""
        if not self.is_thread(node.args[number]):
            return False
        wanted = self.signature.expected(node, number)
        if not any(self.signature.below(sort, self.thread_sort) for sort in wanted):
            return True
        return any(map(self.makes_states, self.signature.declared(node.op, len(node.args))))

    def makes_states(self, operator: Operator) -> bool:
        """Does an operator make states, or parts of them, out of threads?"""
        return (
            self.in_states(operator.range)
            and not self.signature.below(operator.range, self.thread_sort)
            and any(self.signature.below(sort, self.thread_sort) for sort in operator.domain)
        )

    def in_states(self, sort: str) -> bool:
        """Is a sort one of states or of parts of states?"""
        return self.signature.kind(sort) in (
            self.signature.kind(self.description.state),
            self.signature.kind(self.thread_sort),
        )

    def parts(self, node: Node) -> list[Node]:
        """The parts of a soup, below the operators that are around it."""
        for operator, number in self.levels:
            if isinstance(node, Apply) and node.op == operator.name and len(node.args) == len(operator.domain):
                node = node.args[number]
        found = flattened(node, self.soup.name) if self.soup else [node]
        identity = self.soup.attributes.identity if self.soup else None
        return [part for part in found if part != identity]

    def generated(self, kind: str) -> str:
        """The name of a module that is made of this theory: one that no module of the user's has."""
        taken = {module.name for module in [*self.touched, *self.below]}
        number = f"-{self.version}" if self.version > 1 else ""
        return fresh(taken, f"{self.description.module}-{kind}{number}")

    def place(self, label: str) -> tuple[str, Place | None]:
        return self.places.get(label, (str(self.file), None))

    def refuse(self, label: str, message: str, hint: str | None = None) -> InputError:
        """An error about a rule, at the rule."""
        file, place = self.place(label)
        path = Path(file)
        source = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
        return InputError(f"rule `{label}` {message}", file=file, place=place, source=source, hint=hint)


def read_theory(file: Path, description: Description) -> Theory:
    """Load a file, and find in it what its description says."""
    warned = bindings.load(file)
    for key in ("module", "propositions", "dependence", "future"):
        name = getattr(description, key)
        if name is not None and name not in bindings.module_names():
            raise wrong_value(description, key, f"there is no module `{name}` in {file.name}")
    description = _with_objects(description)
    flat = [read_module(bindings.meta_flat_module(name)) for name in description.modules]
    signature = Signature.of(flat)
    signature.elsewhere = {
        operator.name: operator.range
        for name in ("MODEL-CHECKER", "PORCINI")
        for operator in read_module(bindings.meta_flat_module(name)).operators
        if not operator.domain
    }
    for key in ("state", "thread", "tid"):
        sort = getattr(description, key)
        if sort not in signature.sorts:
            near = sorted(s for s in signature.sorts if s.lower() == sort.lower())
            hint = f"did you mean `{near[0]}`?" if near else None
            message = f"there is no sort `{sort}` in module {description.module}"
            raise wrong_value(description, key, message, hint)
    closure = _closure(description.modules)
    if not any(description.thread in module.sorts for module in closure.values()):
        hint = "a sort or a class of your own"
        raise wrong_value(description, "thread", f"`{description.thread}` is a sort of Maude's own", hint)
    touched, imports = _touched(closure, signature, description)
    soup = _soup(signature, description)
    below = [module for module in closure.values() if module not in touched]
    initial = _initial(description)
    equations = list(dict.fromkeys(equation for module in flat for equation in module.equations))
    theory = Theory(
        description, file, signature, touched, below, imports, soup, [], initial, equations, list(warned)
    )
    imported = any(what == "PORCINI" for module in closure.values() for _, what in module.imports)
    theory.names = names_for(signature, imported=imported)
    theory.levels = _levels(theory)
    theory.places, theory.order = _places(file, description)
    _rules(theory)
    return theory


def _with_objects(description: Description) -> Description:
    """If threads are the objects of a class, `< T : Worker | ... >`, a description in which they have a sort of
    their own: by a membership, in a module around the user's. Maude does not let its constructor of objects be
    declared again."""
    signature = Signature.of([read_module(bindings.meta_flat_module(description.module))])
    if "Cid" not in signature.sorts or not signature.below(description.thread, "Cid"):
        return description
    name = fresh(bindings.module_names(), f"{description.module}-OBJECTS")
    sort = fresh(set(signature.sorts), f"{description.thread}Object")
    bindings.enter(
        f"mod {name} is including {description.module} . sort {sort} . subsort {sort} < Object .\n"
        f"  mb < T:Oid : C:{description.thread} | A:AttributeSet > : {sort} .\nendm\n"
    )
    return replace(description, module=name, thread=sort)


def _initial(description: Description) -> Node:
    module = bindings.module(description.module)
    try:
        return read_term(bindings.meta_term(module, description.initial))
    except InputError as problem:
        raise wrong_value(description, "initial", problem.message) from None


def _closure(names: Sequence[str]) -> dict[str, MetaModule]:
    """The user's modules, imported ones first."""
    found: dict[str, MetaModule] = {}

    def visit(name: str) -> None:
        if name in found or name in bindings.system_modules() or name not in bindings.module_names():
            return
        module = read_module(bindings.meta_module(name))
        for _, imported in module.imports:
            visit(imported)
        found[name] = module

    for name in names:
        visit(name)
    return found


def _touched(
    closure: dict[str, MetaModule], signature: Signature, description: Description
) -> tuple[list[MetaModule], list[tuple[str, str]]]:
    """The modules that know of states, and what they import besides each other."""
    kinds = {signature.kind(description.state), signature.kind(description.thread)}
    touched: dict[str, MetaModule] = {}
    imports: dict[str, str] = {}
    for name, module in closure.items():
        knows = any(signature.kind(sort) in kinds for pair in module.subsorts for sort in pair)
        knows |= any(signature.kind(sort) in kinds for o in module.operators for sort in (*o.domain, o.range))
        knows |= bool(module.rules) or any(imported in touched for _, imported in module.imports)
        if knows:
            touched[name] = module
    for module in touched.values():
        for how, imported in module.imports:
            if imported not in touched and imported != "BOOL":
                imports.setdefault(imported, how)
    return list(touched.values()), [(how, what) for what, how in imports.items()]


def _soup(signature: Signature, description: Description) -> Operator | None:
    """The associative and commutative operator that threads stand under."""
    for operator in signature.all_operators():
        if (
            operator.flat
            and operator.commutes
            and operator.domain[0] != description.thread
            and signature.below(description.thread, operator.domain[0])
        ):
            return operator
    return None


def _levels(theory: Theory) -> list[tuple[Operator, int]]:
    """The operators between a state and the soup of its threads: a way that is the only one, or an error."""
    signature, description = theory.signature, theory.description
    goal = signature.kind(description.thread)
    ways: list[list[tuple[Operator, int]]] = [[]]
    for _ in range(_DEEPEST):
        complete = [way for way in ways if _lowest(way, signature, description) == goal]
        if len(complete) == 1:
            return complete[0]
        if len(complete) > 1:
            shown = ", ".join(way[-1][0].name for way in complete)
            raise wrong_value(description, "state", f"threads stand at several places of a state ({shown})")
        ways = [
            [*way, (operator, number)]
            for way in ways
            for operator in signature.all_operators()
            if operator.constructor and signature.kind(operator.range) == _lowest(way, signature, description)
            for number, sort in enumerate(operator.domain)
            if signature.kind(sort) != signature.kind(operator.range)
        ]
    raise wrong_value(description, "state", f"a `{description.state}` holds no `{description.thread}`")


_DEEPEST = 4


def _lowest(way: list[tuple[Operator, int]], signature: Signature, description: Description) -> str:
    return signature.kind(way[-1][0].domain[way[-1][1]] if way else description.state)


_LINE = re.compile(r'"([^"]*)", line (\d+)')


def _places(file: Path, description: Description) -> tuple[dict[str, tuple[str, Place]], list[str]]:
    """Where rules are written, by their labels, and in which order."""
    found: dict[str, tuple[str, Place]] = {}
    order = []
    for rule in bindings.module(description.module).getRules():
        label = rule.getLabel() or ""
        order.append(label)
        where = written_at(file, str(rule.getLineNumber()))
        if where:
            found.setdefault(label, where)
    return found, list(dict.fromkeys(order))


def written_at(file: Path, told: str) -> tuple[str, Place] | None:
    """What Maude says about where a statement is, as a file of the user's and a place in it."""
    match = _LINE.search(told)
    if match is None:
        return None
    written = bindings.origin(match[1])
    path = file if written is None or written == file.resolve() else written
    return str(path), Place(int(match[2]), 1)


def _rules(theory: Theory) -> None:
    for module in theory.touched:
        for statement in module.rules:
            if not statement.nonexec:
                theory.rules.append(_thread_rule(theory, statement))
    if not theory.rules:
        raise wrong_value(theory.description, "module", f"module {theory.description.module} has no rules")
    for rule in theory.rules:
        if sum(other.label == rule.label for other in theory.rules) > 1:
            raise theory.refuse(rule.label, "is not the only one of that name", "steps go by the names of rules")
    if all(rule.after is None for rule in theory.rules) and any(rule.spawned for rule in theory.rules):
        message = f"no rule keeps its thread: is `{theory.description.tid}` the sort of thread ids?"
        raise wrong_value(theory.description, "tid", message)
    rank = {label: number for number, label in enumerate(theory.order)}
    theory.rules.sort(key=lambda rule: rank.get(rule.label, len(rank)))


def _thread_rule(theory: Theory, statement: Statement) -> ThreadRule:
    label = statement.label
    if not label:
        shown = show(theory, statement.left)
        raise InputError(
            f"a rule has no label: {shown}", file=str(theory.file), hint="write rl [name] : ... => ... ."
        )
    threads = list(theory.threads_in(statement.left))
    if not 1 <= len(threads) <= 2:
        several = f"{len(threads)} threads" if threads else "no thread"
        hint = (
            "a step is made by one thread, or by two that meet: P1, 3.1"
            if threads
            else f"a thread is a term of sort {theory.thread_sort}"
        )
        raise theory.refuse(label, f"has {several} on its left-hand side", hint)
    thread, tid = _with_tid(theory, label, threads[0])
    partner, other = _with_tid(theory, label, threads[1]) if len(threads) == 2 else (None, None)
    if tid == other:
        raise theory.refuse(label, f"has two threads with one {theory.description.tid} on its left-hand side")
    if any(kind == "=>" for kind, _, _ in statement.condition):
        raise theory.refuse(
            label, "has a condition that rewrites", "`=>` in a condition would be a step in a step"
        )
    kind = theory.signature.kind(theory.signature.least_sort(statement.left))
    if not theory.in_states(kind):
        raise theory.refuse(label, f"rewrites a {kind}, which is not part of a state")
    after = list(theory.threads_in(statement.right))
    same = [each for each in after if theory.tid_of(each) == tid]
    others = [each for each in after if other is not None and theory.tid_of(each) == other]
    if len(same) > 1 or len(others) > 1:
        raise theory.refuse(label, "has its thread twice on its right-hand side")
    return ThreadRule(
        label,
        statement,
        thread,
        tid,
        tuple(part for part in theory.parts(statement.left) if part is not thread and part is not partner),
        same[0] if same else None,
        tuple(each for each in after if each not in same and each not in others),
        tuple(part for part in theory.parts(statement.right) if part not in after),
        partner,
    )


def _with_tid(theory: Theory, label: str, thread: Node) -> tuple[Apply, Node]:
    """A thread of a rule, and its id in it."""
    tid = theory.tid_of(thread)
    if isinstance(thread, Apply) and tid is None:
        message = f"no {theory.description.tid} stands in a thread such as `{show(theory, thread)}`"
        raise wrong_value(theory.description, "tid", message)
    if not isinstance(thread, Apply) or tid is None:
        raise theory.refuse(
            label, f"does not show the {theory.description.tid} of its thread", "write the thread out"
        )
    return thread, tid


def show(theory: Theory, node: Node) -> str:
    return Printer(theory.signature).term(node)


def walk_terms(statement: Statement) -> Iterator[Node]:
    """All terms of a statement."""
    yield from subterms(statement.left)
    if not statement.membership:
        yield from subterms(statement.right)
    for kind, left, right in statement.condition:
        yield from subterms(left)
        if kind != ":":
            yield from subterms(right)


def fresh(taken: set[str], wanted: str) -> str:
    """A name that is not taken yet."""
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}{number}"
    taken.add(name)
    return name


def names_of(statement: Statement) -> set[str]:
    return {each.name for each in walk_terms(statement) if isinstance(each, Variable)}
