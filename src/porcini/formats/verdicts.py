"""A report in one line: its verdict, and what was counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from porcini.core.events import Event
from porcini.core.reports import BITSTATE, Report
from porcini.core.traces import Trace
from porcini.formats.lanes import cut

_LONGEST_CONDITION = 80


def verdict_of(report: Report) -> str:
    if report.command in ("run", "replay"):
        return _verdict_of_run(report)
    if report.command == "symbolic":
        return _verdict_for_inputs(report)
    if report.command == "permute":
        return _verdict_of_permutations(report)
    if report.property.startswith("search "):
        return _verdict_of_search(report)
    noun = _a_run(report)
    runs = count_of(report.counts.executions, noun)
    ways = count_of(len(report.outcomes), "outcome")
    seen = f"{ways} in {runs}"
    if report.kept_states:
        states = count_of(report.counts.states, "state")
        seen = f"{ways} in {states}" if report.outcomes or "deadlock" in report.property else f"seen {states}"
    elif report.command == "explore" and report.coverage is None:
        seen += f" ({count_of(report.counts.classes, 'class')})"
    if report.stopped == "limit" and report.limit == BITSTATE:
        seen += "; a bitstate search may have missed others"
    elif report.stopped == "limit":
        limit = report.limit or ""
        seen += f", stopped by {limit.replace('executions', 'schedules') if noun == 'schedule' else limit}"
    if report.verdict == "unknown":
        return f"Unknown: {seen}."
    if report.property in _RUNS_FOR_EVER:
        return f"{_RUNS_FOR_EVER[report.property][report.verdict == 'holds']}: {seen}."
    if report.property == "reduction":
        lost = "The reduction loses something" if report.verdict == "violated" else "The reduction loses nothing"
        return f"{lost}: {count_of(report.counts.states, 'state')} compared."
    if report.property == "annotations":
        return f"What is said about steps is true of them: seen {count_of(report.counts.states, 'state')}."
    if report.property.startswith("ltl "):
        name = report.property.removeprefix("ltl ")
        return f"The formula {'holds' if report.verdict == 'holds' else 'does not hold'}: {name}; {seen}."
    if report.verdict == "holds" and report.property.endswith(", never"):
        return f"No order fails, or does what its claim says must never happen: {seen}."
    if report.verdict == "holds" and ", ltl " in report.property:
        safe, _, formulas = report.property.partition(", ltl ")
        return f"{_HOLDS[safe]}, and its formulas hold ({formulas.replace(', ltl ', ', ')}): {seen}."
    if report.verdict == "holds":
        return f"{_HOLDS.get(report.property, 'The order does not matter')}: {seen}."
    kinds = {outcome.kind for outcome in report.outcomes}
    if report.coverage is not None and report.stopped == "exhausted" and report.property in _ALWAYS:
        always = "terminated" not in kinds and len(kinds) == 1
        return f"{(_ALWAYS if always else _VIOLATED)[report.property]}: {seen}."
    also = [word for kind, word in _ALSO.items() if kind in kinds and report.property == "deterministic"]
    return f"{_VIOLATED[report.property]}: {seen}" + (f"; some runs {' or '.join(also)}." if also else ".")


def _verdict_of_search(report: Report) -> str:
    pattern, search = report.property.removeprefix("search "), report.search
    seen = f"seen {count_of(report.counts.states, 'state')}"
    if report.stopped == "limit":
        seen += f", stopped by {report.limit}"
    if search is None or not search.count:
        if report.verdict == "holds":
            return f"No state matches {pattern}; {seen}."
        return f"Unknown: no solution of {pattern} yet; {seen}."
    least = "" if search.exact else "at least "
    number = count_of(search.count, "solution")
    where = f" in {count_of(search.states, 'state')}" if search.states != search.count else ""
    return f"Reachable: {pattern}; {least}{number}{where}, {seen}."


def _a_run(report: Report) -> str:
    """What one run is called: users of real code refer to runs by their schedules."""
    return "schedule" if report.coverage is not None else "execution"


def _verdict_of_reorderings(report: Report) -> str:
    """The verdict about a trace without formulas."""
    if report.verdict == "holds":
        return "Every reordering that the conflicts of this trace allow is equivalent to it."
    stopped = f", stopped by {report.limit}" if report.stopped == "limit" else ""
    others = count_of(len(report.traces or ()) - 1, "reordering")
    return f"Unknown: the conflicts allow {others} not equivalent to this run, maybe not executable{stopped}."


def _verdict_of_permutations(report: Report) -> str:
    if report.trace is not None and not report.trace.exact:
        return _verdict_of_reorderings(report)
    entries = report.traces or ()
    kinds = Counter(entry.kind for entry in entries)
    seen = count_of(len(entries), "class")
    seen += f" ({', '.join(f'{number:,} {kind}' for kind, number in kinds.items())})" if len(kinds) > 1 else ""
    seen += f", {count_of(len({tuple(entry.state.items()) for entry in entries}), 'final state')}"
    if report.stopped == "limit":
        seen += f", stopped by {report.limit}"
    if report.verdict == "unknown":
        return f"Unknown: {seen}."
    if report.verdict == "holds":
        return "Every executable permutation of this run is equivalent to it."
    others = count_of(len(entries) - 1, "executable permutation")
    return f"This run has {others} not equivalent to it: {seen}."


def _verdict_for_inputs(report: Report) -> str:
    number = len(report.traces or ())
    seen = count_of(number, "path") if report.independence == "no" else f"{count_of(number, 'class')} of paths"
    if report.stopped == "limit":
        seen += f", stopped by {report.limit}"
    if report.condition is not None and report.verdict == "violated":
        where = "for every input" if report.condition.lower() == "true" else f"where {report.condition}"
        if len(where) > _LONGEST_CONDITION:
            return f"The order matters for some inputs: {seen}.\nwhere {report.condition}"
        return f"The order matters {where}: {seen}."
    if report.verdict == "violated":
        return f"{_VIOLATED[report.property]} for some input: {seen}."
    if report.verdict == "unknown":
        return f"Unknown: {seen}."
    return f"The order does not matter, for any input: {seen}."


_ALSO = {"deadlock": "deadlock", "assertion": "fail an assertion", "error": "stop with an error"}
_RUNS_FOR_EVER = {
    "never": (
        "It can do what its claim says must never happen",
        "Nothing does what the claim says must never happen",
    ),
    "acceptance": ("It can go round an acceptance cycle for ever", "There is no acceptance cycle"),
    "non-progress": ("It can go on for ever without progress", "It cannot go on for ever without progress"),
}
"""The sentences for what was looked for: it can happen, and it cannot."""
_HOLDS = {
    "deadlock-free": "No order deadlocks",
    "failure-free": "No order fails",
    "deadlock-free, failure-free": "No order deadlocks or fails",
    "failure-free, deadlock-free": "No order fails or deadlocks",
}
_ALWAYS = {"deadlock-free": "It deadlocks in every order", "failure-free": "It fails in every order"}
_VIOLATED = {
    "deterministic": "The order matters",
    "deadlock-free": "It can deadlock",
    "failure-free": "It can fail",
}


def _verdict_of_run(report: Report) -> str:
    steps = count_of(report.counts.events, "step")
    if report.trail is not None:
        last = count_of(len(report.trail.loop), "step")
        return f"Endless: the last {last} of {steps} lead back to where they begin."
    if report.snapshot is not None:
        return f"Stopped after {steps}, before the end."
    if not report.outcomes:
        return f"Unknown: stopped after {steps} by {report.limit}."
    outcome = report.outcomes[0]
    if outcome.kind == "terminated":
        return f"Terminated after {steps}."
    if outcome.kind == "deadlock":
        return f"Deadlock after {steps}."
    failure = next(event.failure for event in outcome.trace if event.failure)
    message = cut(failure.message) if report.coverage is not None else failure.message
    return f"Failed after {count_of(len(until_failure(outcome.trace)), 'step')}: {message}."


def count_of(number: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def until_failure(trace: Trace) -> Sequence[Event]:
    for number, event in enumerate(trace, 1):
        if event.failure:
            return trace[:number]
    return trace


def footer_of(report: Report) -> str:
    counts = report.counts
    if report.coverage is not None:
        seen = f"{count_of(counts.executions, 'schedule')}, {count_of(counts.events, 'step')}"
        return f"engine {report.engine}: {seen}, {report.seconds:.2f} s"
    if report.kept_states and not counts.events:  # a checker of the language's own, which counts states only
        seen = count_of(counts.states, "state")
        return f"engine {report.engine}, {describe_reduction(report)}: {seen}, {report.seconds:.2f} s"
    if report.kept_states:
        parts = [count_of(counts.executions, "end state")]
    elif report.command == "permute" and report.traces is not None:  # some cannot be finished: no executions
        parts = [count_of(len(report.traces), "permutation")]
    else:
        parts = [count_of(counts.executions, "execution")]
        if counts.blocked:
            parts.append(f"{counts.blocked:,} blocked")
        parts.append(count_of(counts.classes, "class"))
    parts += [count_of(counts.states, "state"), count_of(counts.events, "event")]
    seen = ", ".join(parts)
    if counts.heuristic is not None:
        seen += f", {count_of(counts.heuristic, 'state')} without a stable actor"
    how = describe_reduction(report) if report.kept_states else f"{report.independence} independence"
    if report.machine == "native":
        how += ", native code" if report.bitstate is None else ", native code, three bits for each state"
    return f"engine {report.engine}, {how}: {seen}, {report.seconds:.2f} s"


def describe_reduction(report: Report) -> str:
    return "no reduction" if report.reduction == "none" else f"{report.reduction} sets"
