"""`run --interactive`: what is enabled is listed, a person chooses, and is told what the step changed.

converse      read a line, do what it says, until somebody leaves
Simulation    what can be said: a number, `b`, `w x`, `q`

Commands are read from standard input, so that a simulation can be scripted. Where that is not a terminal, they are
printed as well, and what is printed reads as if somebody had typed them.
"""

from __future__ import annotations

import sys
from shlex import quote

from rich.console import Console
from rich.text import Text

from porcini.cli.problems import writing
from porcini.commands.reporting import locate_errors, moves_of
from porcini.commands.requests import Request
from porcini.core.errors import InputError
from porcini.core.reports import Outcome
from porcini.core.steps import TakenStep
from porcini.engines.stepping import Stepper
from porcini.formats.following import print_enabled, show_changes, show_line, show_process
from porcini.formats.schedules import show_schedule
from porcini.formats.text import make_console, print_trouble
from porcini.formats.values import show_state
from porcini.formats.verdicts import count_of

_HELP = "a number takes that step; b: back one step; w X: watch X or stop watching it, w: stop watching; q: leave"
_PROMPT = "> "


def converse(request: Request, options: str, *, printf: bool) -> None:
    """Let a person choose each step. `options` go into the line to paste; `printf` shows what the model prints."""
    subject = request.subject
    subject.capabilities.require("`--interactive`", ("states",), subject.file)
    with subject.recorded() as opened, writing():
        stepper = Stepper(opened.program)
        with locate_errors(request.following.schedule):
            stepper.follow(moves_of(request.following.schedule))
        simulation = Simulation(stepper, subject.file, make_console(), printf=printf)
        simulation.show()
        while (line := _read_line(simulation.console)) is not None and line != "q":
            simulation.obey(line)
        simulation.leave(options)


def _read_line(console: Console) -> str | None:
    """What was typed, or stands in the input; None at its end, and when somebody interrupts."""
    is_terminal = sys.stdin.isatty()
    console.print(Text(_PROMPT if is_terminal else ""), end="")
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    if not line:
        console.print()
        return None
    if not is_terminal:
        console.print(Text(_PROMPT + line.strip()))
    return line.strip()


class Simulation:
    """A run in which somebody chooses each step."""

    def __init__(self, stepper: Stepper, file: str, console: Console, *, printf: bool) -> None:
        self.stepper = stepper
        self.file = file
        self.console = console
        self.printf = printf
        self.watched: list[str] = []

    def obey(self, line: str) -> None:
        """Do what was said; what cannot be done gets one line of help."""
        command, _, rest = line.partition(" ")
        if command.isdecimal() and not rest:
            self._take(int(command))
        elif line == "b":
            self._back()
        elif command == "w":
            self._watch(rest.strip())
        else:
            self._say(_HELP)

    def _take(self, number: int) -> None:
        able = self.stepper.enabled()
        if not 1 <= number <= len(able):
            self._say(f"choose from 1 to {len(able)}; {_HELP}" if able else f"nothing can move; {_HELP}")
            return
        printed = len(self._printed())
        self.stepper.take(able[number - 1])
        if self.printf:
            self.console.print(Text("".join(self._printed()[printed:])), end="")
        self.show()

    def _back(self) -> None:
        if not self.stepper.steps:
            self._say("this is the beginning")
            return
        self.stepper.back()
        self.show()

    def _watch(self, name: str) -> None:
        if not name:
            self.watched.clear()
        elif name in self.watched:
            self.watched.remove(name)
        else:
            try:
                self.stepper.require_variables([name])
            except InputError as problem:
                self._say(f"{problem.message} ({problem.hint})")
                return
            self.watched.append(name)
        if self.watched:
            self._show_watched()
        else:
            self._say("nothing is watched")

    # What is printed

    def show(self) -> None:
        """Where the run is: the last step and what it changed, what is watched, and what could go next."""
        steps, snapshot = self.stepper.steps, self.stepper.snapshot()
        self.console.print()
        if steps:
            self._say(f"step {len(steps)}: {_show_step(self.stepper.watched_steps(())[-1])}")
        else:
            self._say(f"at first: {show_state(snapshot.variables)}")
        self._show_watched()
        if snapshot.enabled:
            print_enabled(snapshot.enabled, self.console)
        else:
            self._show_end()

    def _show_watched(self) -> None:
        values = {name: self.stepper.value_of(name) for name in self.watched}
        if values:
            known = {name: "none" if value is None else value for name, value in values.items()}
            self._say(f"watched: {show_state(known)}")

    def _show_end(self) -> None:
        outcome = self._outcome()
        ended = {"terminated": "Terminated", "deadlock": "Deadlock"}.get(outcome.kind, "Failed")
        self._say(f"{ended} after {count_of(len(self.stepper.steps), 'step')}: {show_state(outcome.state)}")
        print_trouble(outcome, self.file, self.console)

    def leave(self, options: str) -> None:
        """The schedule so far, and a line that replays it."""
        schedule = show_schedule(self.stepper.schedule)
        is_whole = not self.stepper.enabled() or any(step.event.failure for step in self.stepper.steps)
        stop = "" if is_whole else f" --stop-at {len(self.stepper.steps)}"
        self.console.print()
        self._say(f"schedule: {schedule}" if schedule else "schedule: no step was taken")
        self._say(f'  porcini replay {quote(self.file)} {options}"{schedule}"{stop}')

    def _outcome(self) -> Outcome:
        return Outcome.of(self.stepper.trace, self.stepper.run.final())

    def _printed(self) -> tuple[str, ...]:
        return self.stepper.program.output_of(self.stepper.run)

    def _say(self, text: str) -> None:
        self.console.print(Text(text))


def _show_step(step: TakenStep) -> str:
    """Who did what, where, and what it changed or that it failed."""
    where = " ".join(part for part in (show_process(step.event.pid, step.source), show_line(step.source)) if part)
    what = step.event.failure.message if step.event.failure else show_changes(step)
    return f"{where}  {step.event.label}" + (f"  {what}" if what else "")
