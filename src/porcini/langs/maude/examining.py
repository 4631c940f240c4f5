"""All that a description says about steps, compared with what they do, in one state: `check --check-annotations`.

Reductions rest on `touches`, `future`, `decides` and `sees`. `auditing` tries a sample of it in passing; here
everything is tried that can be tried in a state, so that nothing is left to belief once this was done in every
reachable state:

- two steps that are said to be independent can be taken in either order, and lead to the same states (`touches`);
- who has to wait goes on waiting as long as nobody writes what its step touches (`touches`); and nobody gets other
  steps to choose from, or fewer, unless what decides about it is written (`decides`);
- what a thread touches is among what its `future` said in every state before: here, and step by step ever after,
  since `future` never grows;
- a step that is said to be invisible leaves the propositions as they are (`sees`).

What nobody has said is derived, and examined in the same way: a difference is then a bug of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from porcini.core.errors import InternalError
from porcini.core.events import Action
from porcini.core.pids import Pid
from porcini.core.systems import Watched
from porcini.langs.maude.auditing import not_foreseen
from porcini.langs.maude.description import wrong_value

if TYPE_CHECKING:
    from porcini.langs.maude.system import MaudeSystem, State


class Examination:
    """What is said about the steps of one system; `watched` are the propositions of a formula."""

    def __init__(self, system: MaudeSystem, watched: Watched[State]) -> None:
        self.system = system
        self.watched = watched

    def look(self, state: State) -> None:
        """What is not so is an error, which says what was seen."""
        system = self.system
        system.try_all_pairs(state)
        actions = system.actions(state)
        for action in actions:
            if action.enabled:
                after, _ = system.fire(state, action)
                if not system.coarse:
                    self._look_at_others(action, state, actions, system.actions(after))
                self._look_at_futures(action, state, after)
                self._look_at_proposition(action, state, after)

    def _look_at_others(
        self, action: Action, state: State, before: Iterable[Action], after: Iterable[Action]
    ) -> None:
        """Who can go on otherwise than before, though nobody said that this step matters to it?"""
        writes = action.footprint.writes
        tids = {pid: tid for tid, pid, _ in state.names}
        threads = self.system.threads(state.term)
        for pid in dict.fromkeys(each.pid for each in before if each.pid != action.pid):
            one, two = _enabled(before, pid), _enabled(after, pid)
            if one == two:
                continue
            info = self.system.info(threads[tids[pid]])
            for choice in two - one:
                offer = info.offers[choice % len(info.offers)]
                if not writes & offer.touch.locations:
                    what = f"lets {pid} take `{offer.rule.label}`, which is said to touch nothing that it writes"
                    raise self._wrong("touches", f"{_shown(action)} {what}")
            if not writes & info.guard_locations:
                what = f"changes what {pid} can do, and writes nothing that is said to decide about it"
                raise self._wrong("decides", f"{_shown(action)} {what}")

    def _look_at_futures(self, action: Action, state: State, after: State) -> None:
        """What a thread, and what it has spawned, may still touch was among what it might touch before."""
        system = self.system
        tid = next(tid for tid, pid, _ in state.names if pid == action.pid)
        threads, later = system.threads(state.term), system.threads(after.term)
        others = system.model.future_of_states  # whose futures may change by this step, too
        for name in [name for name in later if others or name == tid or name not in threads]:
            before = system.future_of(threads[name if name in threads else tid], state.term)
            what = system.groups.not_among(system.future_of(later[name], after.term), before)
            if what is not None:
                who = f"thread {name}, after {_shown(action)},"
                if system.model.description.future is None:
                    raise InternalError(f"{who} may touch {what}, which was not derived for it before")
                raise not_foreseen(system.model.description, who, what)

    def _look_at_proposition(self, action: Action, state: State, after: State) -> None:
        visible = self.watched.visible
        if not callable(visible) or visible(state, action):
            return
        if self.watched.letter(state) != self.watched.letter(after):
            what = "changes a proposition of the formula, and is said to be invisible"
            raise self._wrong("sees", f"{_shown(action)} {what}: in `{_short(state)}`")

    def _wrong(self, function: str, message: str) -> Exception:
        """An error in the module that defines the function; a bug of ours where nobody does."""
        theory, description = self.system.model.theory, self.system.model.description
        said = description.dependence is not None and theory.signature.declared(
            function, 1 + (function == "touches")
        )
        if not said and function == "decides":
            return self._wrong("touches", message)
        if not said:
            return InternalError(message)
        return wrong_value(description, "dependence", message, f"`{function}` does not say all")


def _enabled(actions: Iterable[Action], pid: Pid) -> set[int]:
    return {action.choice for action in actions if action.pid == pid and action.enabled}


def _shown(action: Action) -> str:
    return f"`{action.label}` of {action.pid}"


def _short(state: State) -> str:
    text = " ".join(str(state.term).split())
    return text if len(text) <= 300 else f"{text[:300]} ..."
