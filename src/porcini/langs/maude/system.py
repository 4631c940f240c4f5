"""Any rewrite theory as a transition system over Maude terms, so that every engine works on it.

A process is a thread, an action of it is a rule that its term offers, taken in one way. States are terms in normal
form; what belongs to a thread alone (what it offers and may still do) is asked of Maude once for each term and
kept.

Threads get pids in the order of their ids; one that is spawned is a child of the thread whose step made it,
counted by its spawner, so that pids are the same in every schedule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from porcini.core.children import time_limit
from porcini.core.errors import InternalError
from porcini.core.events import Action, Event, Label, Move
from porcini.core.footprints import OPAQUE, Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import Final, Observed, Restart, StepSource, System, Waiting, Watched
from porcini.langs.maude import bindings
from porcini.langs.maude.auditing import Audit, dependent, not_foreseen, walk
from porcini.langs.maude.description import wrong_value
from porcini.langs.maude.examining import Examination
from porcini.langs.maude.model import Model
from porcini.langs.maude.observing import Thing, by_keys, nameless, observed
from porcini.langs.maude.steps import Steps
from porcini.langs.maude.terms import Apply, read_term, variables
from porcini.langs.maude.theory import ThreadRule
from porcini.langs.maude.touches import Groups, Touch
from porcini.langs.maude.watching import Watching
from porcini.langs.maude.written import normal

_ANYWHERE = Location("*")
"""Written by every step, where some steps may touch anything."""
_MOST_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class State:
    """A term, and which thread is which process."""

    term: Any
    names: tuple[tuple[str, Pid, int], ...]
    """For each thread id that was ever seen: its pid, and how many threads it has spawned."""

    def __hash__(self) -> int:
        return hash(self.term)


@dataclass(frozen=True, slots=True)
class RuleLabel:
    """The rule of a step, and what it touched."""

    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule} {self.what}" if self.what else self.rule


@dataclass(frozen=True, slots=True)
class Offer:
    """A way in which a thread may take a rule, now or later."""

    rule: ThreadRule
    number: int
    way: tuple[str, ...]
    touch: Touch


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """What a thread's term says by itself."""

    offers: tuple[Offer, ...]
    guard_locations: frozenset[Location]
    future: Touch
    meets: tuple[ThreadRule, ...] = ()
    """The rules by which another thread may move it."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What comes of an action that can be taken: the term after it, new thread ids, and whose step it was."""

    after: Any
    spawned: tuple[str, ...]
    tid: str


@dataclass(frozen=True, slots=True, eq=False)
class MaudeAction(Action):
    """An action, and what comes of it if it can be taken."""

    step: _Step | None = None


@dataclass(frozen=True, slots=True)
class _Taken:
    """A step that can be taken, as `auditing` sees it."""

    pid: Pid
    rule: str
    footprint: Footprint
    after: State


@dataclass(slots=True)
class _Rule:
    """A rule of the loaded module, and where to find its thread in a match."""

    rule: ThreadRule
    number: int
    thread: Any
    tid: Any
    left: Any
    ways: tuple[str, ...]


@dataclass(eq=False)
class MaudeSystem(System):
    """A transition system over Maude terms, with a lookahead."""

    model: Model
    coarse: bool = False
    """May any step touch anything? Then any two steps depend on each other."""
    has_choices: bool = True
    careful: bool = field(default=False, init=False)
    """For searches that rely on footprints from the start: what turns out to touch anything is a `Restart`."""
    several: str | None = field(default=None, init=False)
    """A thread that was seen with several rules enabled at once, and which."""
    unknown: str | None = field(default=None, init=False)
    """Something that `touches` or `future` has no equation for."""

    def __post_init__(self) -> None:
        model = self.model
        self.module = model.engine_module()
        self.coarse = self.coarse or model.rules_with_anything
        self._infos: dict[Any, ThreadInfo] = {}
        self._rules: dict[Any, _Rule] = {}
        self._moves: dict[State, list[Action]] = {}
        self._threads: dict[Any, dict[str, Any]] = {}
        self._tids: dict[Any, str | None] = {}
        self._thread_sort = self.module.findSort(model.theory.thread_sort)
        self._exact: dict[str, Touch] = {}
        self._symbols: dict[str, Any] = {}
        self._soup = model.theory.soup.name if model.theory.soup else None
        self._levels = [(operator.name, number) for operator, number in model.theory.levels]
        theory = model.theory
        self._shapes = {
            (rule.thread.op.replace("`", ""), len(rule.thread.args)): rule.thread.args.index(rule.tid)
            for rule in theory.rules
        }
        declared = theory.signature.declared("touches", 2)
        self._exactly = model.description.dependence is not None and any(
            not theory.signature.below(operator.domain[1], theory.thread_sort) for operator in declared
        )
        self._decided = model.description.dependence is not None and bool(theory.signature.declared("decides", 1))
        self.groups = Groups(theory, self._groups_of)
        self._by_state = model.future_of_states
        self._futures: dict[tuple[Any, Any], Touch] = {}
        self._identity_of_rules()
        self._audit = Audit(model.description, self._taken_unaudited)

    # States and steps

    def initial(self) -> State:
        term = self.model.initial_in(self.module)
        tids = sorted(self.threads(term), key=_by_number)
        return State(term, tuple((tid, Pid((number,)), 0) for number, tid in enumerate(tids)))

    def threads(self, term: Any) -> dict[str, Any]:
        """The threads of a state by their ids."""
        known = self._threads.get(term)
        if known is None:
            if len(self._threads) > _MOST_KEPT:
                self._threads.clear()
            known = {}
            for part in self.parts(term):
                tid = self._tid_of(part)
                if tid is not None and known.setdefault(tid, part) is not part:
                    shown = " ".join(str(part).split())
                    message = f"two threads of a state have the id {tid}; one of them is `{shown}`"
                    hint = "an id can be used again when its thread has ended"
                    raise wrong_value(self.model.description, "tid", message, hint)
            self._threads[term] = known
        return known

    def _tid_of(self, part: Any) -> str | None:
        """The id of a part that is a thread."""
        try:
            return self._tids[part]
        except KeyError:
            args = list(part.arguments())
            index = self._shapes.get((str(part.symbol()).replace("`", ""), len(args)))
            if index is not None and not part.getSort().leq(self._thread_sort):
                index = None  # another operator of the same name
            tid = self._tids[part] = None if index is None else str(args[index])
            return tid

    def parts(self, term: Any) -> list[Any]:
        """The parts of a state's soup."""
        for name, number in self._levels:
            if str(term.symbol()) == name:
                term = list(term.arguments())[number]
        return list(term.arguments()) if self._soup and str(term.symbol()) == self._soup else [term]

    def actions(self, state: State) -> Sequence[Action]:
        found = self._moves.get(state)
        if found is None:
            if len(self._moves) > _MOST_KEPT:
                self._moves.clear()
            found = self._moves[state] = self._actions(state)
            self._audit.look(self._taken(state, found))
        return found

    def audit(self) -> None:
        """Try on some runs what steps are said to touch, for a checker that does not ask this system."""

        def look(state: State) -> list[_Taken]:
            return self._taken(state, self.actions(state))

        walk(self.initial(), look)

    def try_all_pairs(self, state: State) -> None:
        """Try all that is said to be independent in a state, instead of a sample."""
        self._audit.look_at_all(self._taken(state, self.actions(state)))

    def examine(self, state: State, watched: Watched[State]) -> None:
        Examination(self, watched).look(state)

    def independence_error(self, message: str) -> Exception:
        return dependent(self.model.description, message)

    def _taken_unaudited(self, state: State) -> list[_Taken]:
        return self._taken(state, self._moves.get(state) or self._actions(state))

    def _taken(self, state: State, actions: Sequence[Action]) -> list[_Taken]:
        """The steps that can be taken. Who can go in one way only does not wait for what it awaits."""
        offered = Counter(action.pid for action in actions)
        found = []
        for action in actions:
            assert isinstance(action, MaudeAction) and isinstance(action.label, RuleLabel)
            if action.step is not None:
                foot = action.footprint
                if offered[action.pid] == 1:
                    foot = replace(foot, reads=foot.reads - action.awaits)
                after, _ = self.fire(state, action)
                found.append(_Taken(action.pid, action.label.rule, foot, after))
        return found

    def fire(self, state: State, action: Action) -> tuple[State, Event]:
        assert isinstance(action, MaudeAction) and action.step is not None
        step, names, spawned = action.step, state.names, []
        if step.spawned:
            children = next(children for tid, _, children in names if tid == step.tid)
            spawned = [(tid, action.pid.child(number), 0) for number, tid in enumerate(step.spawned, children)]
            again = set(step.spawned)  # ids of threads that have ended
            names = tuple(
                (tid, pid, n + len(spawned) if tid == step.tid else n) for tid, pid, n in names if tid not in again
            )
            names = tuple(sorted((*names, *spawned), key=lambda named: named[1]))  # in whichever order they came
        event = Event(
            action.pid,
            action.choice,
            action.label,
            action.footprint,
            tuple(pid for _, pid, _ in spawned),
            None,
            action.guard_locations,
        )
        return State(step.after, names), event

    def final(self, state: State) -> Final:
        waiting = []
        names = {tid: pid for tid, pid, _ in state.names}
        for tid, thread in self.threads(state.term).items():
            info = self.info(thread)
            labels = list(dict.fromkeys(rule.label for rule in (*(o.rule for o in info.offers), *info.meets)))
            if labels:
                places = sorted(location for offer in info.offers for location in offer.touch.locations)
                guard = f"{', '.join(labels)} {', '.join(dict.fromkeys(places))}".strip()
                file, place = self.model.theory.place(labels[0])
                here = place if file == str(self.model.theory.file) else None
                waiting.append(Waiting(names[tid], guard, {}, here, name=f"thread {tid}"))
        waiting.sort(key=lambda each: each.pid)
        return Final("deadlock" if waiting else "terminated", self.observe(state), tuple(waiting))

    def runtime_notes(self) -> tuple[str, ...]:
        """What was seen that should be known."""
        return tuple(note for note in (self.several, self.unknown) if note)

    # What engines ask besides

    @property
    def lookahead(self) -> MaudeSystem:
        return self

    def may_still_do(self, state: State, pid: Pid) -> Footprint:
        """`core.systems.Lookahead`: what is only awaited stands in nobody's way."""
        tid = next(tid for tid, known, _ in state.names if known == pid)
        thread = self.threads(state.term).get(tid)
        if thread is None:
            return Footprint()
        future = self.future_of(thread, state.term)
        if future.anything or self.coarse:
            return OPAQUE
        return self.groups.spread(future.reads, future.writes)

    def future_of(self, thread: Any, term: Any) -> Touch:
        """All that a thread of a state may still touch: its own term tells, unless `future` wants the state."""
        if not self._by_state:
            return self.info(thread).future
        known = self._futures.get((thread, term))
        if known is None:
            if len(self._futures) > _MOST_KEPT:
                self._futures.clear()
            known = self._futures[thread, term] = self._touch(self.ask("future", [thread, term]))
        return known

    def _groups_of(self, location: Any) -> list[Any]:
        """The groups that a location is in."""
        names = self.model.theory.names
        found = _listed(self.ask("Groups", [location]), "_&_", names["nothing"])
        return [group for access in found for group in access.arguments()]

    def relying_on_footprints(self) -> MaudeSystem:
        self.careful = True
        return self

    def watching(self, propositions: Sequence[Any]) -> Watched[State]:
        """What no equation says to be true is not."""
        watching = Watching(self, self.model.visibility, propositions)

        def letter(state: State) -> int:
            return watching.letter(state.term)

        def is_seen(state: State, action: Action) -> bool:
            assert isinstance(action, MaudeAction) and action.step is not None
            assert isinstance(action.label, RuleLabel)
            return watching.is_seen(action.label.rule, action.step.tid, state.term, action.step.after)

        if watching.whole is None:
            return Watched(letter, is_seen)
        return Watched(letter, None, f"`{watching.whole}` may look at all of a state, so every step is visible")

    def along(self, stem: Sequence[Move], loop: Sequence[Move]) -> tuple[tuple[State, ...], tuple[State, ...]]:
        """The states on a run: from the initial one, and then once round; a run that ends stays where it is."""
        states = [self.initial()]
        for move in (*stem, *loop):
            action = next(each for each in self.actions(states[-1]) if each.move == move)
            states.append(self.fire(states[-1], action)[0])
        split = len(stem) + 1
        return tuple(states[:split]), tuple(states[split:]) or (states[-1],)

    def source_of(self, label: Label) -> StepSource:
        assert isinstance(label, RuleLabel)
        file, place = self.model.theory.place(label.rule)
        return StepSource(place if file == str(self.model.theory.file) else None)

    def observe(self, state: State) -> dict[str, Observed]:
        """All of a state but its threads, by name."""
        return observed(self._things(state.term))

    def _things(self, term: Any) -> Iterator[Thing]:
        for name, number in self._levels:
            if str(term.symbol()) == name:
                for index, arg in enumerate(term.arguments()):
                    if index != number:
                        yield from nameless(arg)
        keyed = self.model.derived.keys
        for part in self.parts(term):
            shape = str(part.symbol()), len(list(part.arguments()))
            if self._tid_of(part) is not None or self._is_none(part):
                continue
            keys = keyed.get(shape) or keyed.get((_quoted(shape[0]), shape[1]))
            yield from [by_keys(part, keys)] if keys else nameless(part)

    def _is_none(self, part: Any) -> bool:
        soup = self.model.theory.soup
        identity = soup.attributes.identity if soup else None
        return isinstance(identity, Apply) and str(part.symbol()) == identity.op and not list(part.arguments())

    # Threads

    def info(self, thread: Any) -> ThreadInfo:
        """What a thread offers and may still do; asked of Maude once for each term."""
        known = self._infos.get(thread)
        if known is None:
            known = self._infos[thread] = self._info(thread)
        return known

    def _info(self, thread: Any) -> ThreadInfo:
        offers = []
        names = self.model.theory.names
        for each in sorted(self._rules.values(), key=lambda each: each.number):
            ways = self.ask("Ways", [self.number_term(each.number), self._constant("noWay", "WayList"), thread])
            asked = [self.label_term(each.rule.label), self._constant("nothing", "Footprint"), thread]
            touch = self._step(self._touch(self.ask("Offers", asked)))
            for way in sorted(
                tuple(map(str, way.arguments())) for way in _listed(ways, names["_;;_"], names["noWay"])
            ):
                offers.append(Offer(each.rule, each.number, way, touch))
        guard_locations = frozenset(location for offer in offers for location in offer.touch.locations)
        if self._decided:
            guard_locations = self._touch(self.ask("decides", [thread])).locations
            if any(map(self.groups.is_group, guard_locations)):  # as of a step that touches it
                offers = [replace(offer, touch=replace(offer.touch, wide=True)) for offer in offers]
        if self.model.description.future and not self._by_state:
            self._touch(self.ask("future", [thread]))  # as it is, to notice what it says nothing of
        if self.model.description.dependence and not self._exactly:
            for label in dict.fromkeys(offer.rule.label for offer in offers):
                self._touch(self.ask("touches", [self.label_term(label), thread]))
        if self.careful and not self.coarse and any(offer.touch.opaque for offer in offers):
            raise Restart(MaudeSystem(self.model, coarse=True))
        future = self._touch(self.ask("Future", [thread]))
        return ThreadInfo(tuple(offers), guard_locations, future, tuple(self._meets(thread)))

    def _meets(self, thread: Any) -> Iterator[ThreadRule]:
        rules, none = self.model.theory.rules, self.model.theory.names["noWay"]
        for number, rule in enumerate(rules):
            if rule.partner is not None:
                asked = self.number_term(len(rules) + number), self._constant("noWay", "WayList"), thread
                if str(self.ask("Ways", list(asked)).symbol()) != none:
                    yield rule

    def _actions(self, state: State) -> list[Action]:
        names = {tid: pid for tid, pid, _ in state.names}
        threads = self.threads(state.term)
        taken: dict[str, dict[tuple[int, tuple[str, ...]], list[tuple[Any, Any, _Rule]]]] = {}
        with time_limit():
            for after, match, _, rule in state.term.apply(None):
                here = self._rules[rule]
                tid_term = match.instantiate(here.tid)
                tid_term.reduce()
                after.reduce()
                way = tuple(str(match.find(name)) for name in here.ways)
                results = taken.setdefault(str(tid_term), {}).setdefault((here.number, way), [])
                if all(after != other for other, _, _ in results):
                    results.append((after, match, here))
        found: list[Action] = []
        for tid, thread in sorted(threads.items(), key=lambda item: names[item[0]]):
            future = self.future_of(thread, state.term)
            found += self._actions_of(names[tid], tid, thread, taken.get(tid, {}), threads, future)
        if self.model.theory.has_rendezvous:
            moving = {action.pid for action in found}
            found += [_stopped(pid) for _, pid, _ in state.names if pid not in moving]
            found.sort(key=lambda action: action.pid)
        return found

    def _actions_of(
        self,
        pid: Pid,
        tid: str,
        thread: Any,
        taken: dict[tuple[int, tuple[str, ...]], list[tuple[Any, Any, _Rule]]],
        threads: dict[str, Any],
        future: Touch,
    ) -> list[Action]:
        info = self.info(thread)
        found: list[Action] = []
        if len(taken) > 1 and self.several is None:
            rules = dict.fromkeys(results[0][2].rule.label for results in taken.values())
            self.several = (
                f"thread {tid} had several steps to choose from ({', '.join(rules)}): they are kept together"
            )
        for choice, offer in enumerate(info.offers):
            results = taken.get((offer.number, offer.way), [])
            if len(results) > 1:
                results.sort(key=lambda result: str(result[0]))
            if not results:
                found.append(self._action(pid, choice, offer.rule, offer.touch, info))
            for index, (after, match, here) in enumerate(results):
                exactly = self._exactly and here.rule.partner is None
                touch = self._exact_touch(match, here) if exactly else offer.touch
                born = [new for new in self.threads(after) if new not in threads] if here.rule.spawned else []
                step = _Step(after, tuple(sorted(born, key=_by_number)), tid)
                # several results of one way, by what else it matched: numbered after all ways
                number = choice + index * len(info.offers)
                self._foreseen(tid, touch, future)
                self._within(offer, touch)
                found.append(self._action(pid, number, offer.rule, touch, info, step))
        return found

    def _foreseen(self, tid: str, touch: Touch, future: Touch) -> None:
        """Is what a thread does now among what it may still do?"""
        if self.model.description.future is None or self.model.theory.has_rendezvous:
            return
        what = self.groups.not_among(touch, future)
        if what is not None:
            raise not_foreseen(self.model.description, f"a step of thread {tid}", what)

    def _within(self, offer: Offer, touch: Touch) -> None:
        """Is what a step touches, given all that it matched, among what the thread by itself may touch?"""
        what = None if touch is offer.touch else self.groups.not_among(touch, offer.touch, awaited=True)
        if what is not None:
            message = f"`{offer.rule.label}` touches {what}, which `touches` does not say of its thread alone"
            raise dependent(self.model.description, message)

    def _action(
        self, pid: Pid, choice: int, rule: ThreadRule, touch: Touch, info: ThreadInfo, step: _Step | None = None
    ) -> Action:
        return MaudeAction(
            pid,
            choice,
            _label(rule, touch),
            self._foot(touch, info),
            step is not None,
            frozenset((_ANYWHERE,)) if self.coarse else info.guard_locations,
            awaits=touch.awaits - touch.reads - touch.writes,
            step=step,
        )

    def _foot(self, touch: Touch, info: ThreadInfo) -> Footprint:
        """By taking one of its ways a thread gives up the others: a step reads what decides all of them."""
        if self.coarse or touch.opaque:
            return Footprint(frozenset((_ANYWHERE,)), frozenset((_ANYWHERE,)), opaque=touch.opaque)
        return self.groups.spread(touch.reads | touch.awaits | info.guard_locations, touch.writes)

    def _exact_touch(self, match: Any, here: _Rule) -> Touch:
        """What a step touches, given all that its rule matched."""
        whole = match.instantiate(here.left)
        key = f"{here.number} {whole}"
        known = self._exact.get(key)
        if known is None:
            said = self._touch(self.ask("touches", [self.label_term(here.rule.label), whole]))
            known = self._exact[key] = self._step(said)
        return known

    # Asking Maude

    def _identity_of_rules(self) -> None:
        """Which rule of the loaded module is which, with its thread as a term of it."""
        numbers = {rule.label: number for number, rule in enumerate(self.model.theory.rules)}
        steps = Steps(self.model.theory, self.model.derived, self.model.theory.signature, {}, marks=False)
        for loaded in self.module.getRules():
            if loaded.isNonexec():
                continue
            number = numbers[loaded.getLabel()]
            rule = self.model.theory.rules[number]
            left = loaded.getLhs()
            thread = self._thread_of(rule, left)
            index = self._shapes[str(thread.symbol()).replace("`", ""), len(list(thread.arguments()))]
            matched = [side for kind, side, _ in rule.own_condition if kind == ":="]
            own = sorted(each.name for each in variables(rule.thread, *matched))
            one_way = all(map(steps.one_way, (rule.thread, *matched)))
            self._rules[loaded] = _Rule(
                rule, number, thread, list(thread.arguments())[index], left, () if one_way else tuple(own)
            )

    def _thread_of(self, rule: ThreadRule, left: Any) -> Any:
        """The thread of a rule in its left-hand side, where there may be another one that it meets."""
        threads = list(self.threads(left).values())
        if len(threads) != (1 if rule.partner is None else 2):
            raise InternalError(f"rule `{rule.label}` has {len(threads)} threads for the system")
        if rule.partner is None:
            return threads[0]
        up, signature = bindings.module_of_terms().upTerm, self.model.theory.signature
        wanted = normal(rule.thread, signature)
        return next(each for each in threads if normal(read_term(up(each)), signature) == wanted)

    def ask(self, function: str, args: list[Any]) -> Any:
        """What a function says: one of ours, or one that the user defines for us (`touches`, `future` ...)."""
        function = self.model.theory.names[function]
        if function not in self._symbols:
            kinds = [arg.symbol().getRangeSort().kind() for arg in args]
            self._symbols[function] = next(
                each
                for each in self.module.getSymbols()
                if str(each) == function
                and each.arity() == len(args)
                and all(each.domainKind(k) == kind for k, kind in enumerate(kinds))
            )
        return bindings.normal_form(self._symbols[function].makeTerm(args))

    def _constant(self, name: str, sort: str) -> Any:
        names = self.model.theory.names
        return self.module.parseTerm(names[name], self.module.findSort(names[sort]).kind())

    def number_term(self, number: int) -> Any:
        return self.module.parseTerm(str(number), self.module.findSort("Nat").kind())

    def label_term(self, label: str) -> Any:
        return self.module.parseTerm(f"'{label}", self.module.findSort("Qid").kind())

    def _step(self, touch: Touch) -> Touch:
        """What a step touches: one that touches a group may touch anything (`touches`)."""
        groups = sorted(filter(self.groups.is_group, touch.locations))
        if groups:
            note = f"a step touches {groups[0]}, which stands for others: for engines, it may touch anything"
            self.unknown = self.unknown or note
        return replace(touch, wide=bool(groups))

    def _touch(self, term: Any) -> Touch:
        """A footprint from a term of sort Footprint; what is none may be anything."""
        found, names = Touch(), self.model.theory.names
        called = {names[name]: name for name in ("reads", "writes", "awaits", "anything")}
        for access in _listed(term, "_&_", names["nothing"]):
            args = frozenset(map(self.groups.learn, access.arguments()))
            match called.get(str(access.symbol())):
                case "reads":
                    found |= Touch(reads=args)
                case "writes":
                    found |= Touch(writes=args)
                case "awaits":
                    found |= Touch(awaits=args)
                case "anything":
                    found |= Touch(anything=True)
                case _:
                    found |= Touch(anything=True)
                    self.unknown = self.unknown or f"no equation says what `{access}` is: it may be anything"
        return found


def _stopped(pid: Pid) -> Action:
    """What a thread waits for that can go nowhere, where threads move each other. It may have come to its end by
    the step of another one, which took from it what it could have done instead: engines look for that only with
    processes that have something left to do."""
    anywhere = frozenset((_ANYWHERE,))
    label = RuleLabel("nothing", "")
    return MaudeAction(pid, 0, label, Footprint(anywhere, anywhere, opaque=True), False, anywhere)


def _listed(term: Any, op: str, nothing: str) -> list[Any]:
    name = str(term.symbol())
    if name == nothing:
        return []
    return list(term.arguments()) if name == op else [term]


def _label(rule: ThreadRule, touch: Touch) -> RuleLabel:
    return RuleLabel(rule.label, ", ".join(sorted(touch.reads | touch.writes)))


def _by_number(tid: str) -> tuple[bool, int, str]:
    return not tid.isdigit(), int(tid) if tid.isdigit() else 0, tid


def _quoted(name: str) -> str:
    return "".join(f"`{character}" if character in "[](){}," else character for character in name)
