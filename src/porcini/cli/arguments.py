"""What can be written behind `porcini`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, get_args

import porcini
from porcini.cli import commands
from porcini.cli.problems import UsageError
from porcini.core.reports import Report
from porcini.engines.limits import DEFAULT_DEPTH, DEFAULT_SOLVER_TIMEOUT, DEFAULT_SYMBOLIC_DEPTH
from porcini.engines.options import (
    USUAL,
    ActorSelection,
    Ample,
    Equivalence,
    Independence,
    Machine,
    Reducing,
    TaskSelection,
)
from porcini.properties.outcomes import EXPLORED

Command = Callable[[argparse.Namespace], Report | commands.Text | None]


class _Parser(argparse.ArgumentParser):
    """Usage errors are one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.prog)

    def _print_message(self, message: str, file: Any = None) -> None:
        print(message, end="", file=file, flush=True)  # argparse keeps quiet about what cannot be written


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Argparse gives up an optional positional argument once options have come; a schedule may stand there."""
    parser = _parser()
    options, left = parser.parse_known_args(arguments)
    if len(left) == 1 and not left[0].startswith("-") and vars(options).get("schedule", "") is None:
        options.schedule = left.pop()
    if left:
        message = f"unrecognized arguments: {' '.join(left)}"
        if vars(options).get("schedule"):
            message += "; a schedule is one argument, in quotes"
        raise UsageError(message, f"{parser.prog} {options.command.__name__}")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="porcini", description="Does the order in which concurrent code runs matter?")
    parser.add_argument("--version", action="version", version=f"porcini {porcini.__version__}")
    those = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    run = _command(those, "run", "one execution", commands.run)
    _recording(run, "follow this schedule, then go on freely")
    run.add_argument(
        "--interactive", action="store_true", help="choose each step yourself, from those that are enabled"
    )
    explore = _command(those, "explore", "every class of executions: does the order matter?", commands.explore)
    explore.add_argument(
        "--engine",
        default=USUAL["explore"],
        help=f"see `porcini engines`; or all of them (default: {USUAL['explore']})",
    )
    explore.add_argument(
        "--independence", default="syntactic", help=f"one of: {', '.join(get_args(Independence))}"
    )
    explore.add_argument("--property", choices=EXPLORED, help="ask this only (default: all of them)")
    explore.add_argument(
        "--seed", type=int, default=0, metavar="N", help="for random, pct and random selection (default: 0)"
    )
    explore.add_argument("--depth", type=_positive, default=3, metavar="D", help="of bugs to look for, for pct")
    explore.add_argument("--preemptions", type=_natural, metavar="N", help="bound, for source")
    explore.add_argument(
        "--actor-selection",
        dest="actors",
        choices=get_args(ActorSelection),
        default="stable",
        help="which actor goes first, for transdpor (default: stable)",
    )
    explore.add_argument(
        "--task-selection",
        dest="tasks",
        choices=get_args(TaskSelection),
        default="independent",
        help="which tasks of an actor are tried, for transdpor (default: independent)",
    )
    explore.add_argument(
        "--deterministic", action="store_true", help="what it returns must not depend on the order (asyncio)"
    )
    explore.add_argument("--first", action="store_true", help="stop at the first violation")
    check = _command(those, "check", "every reachable state: can it deadlock, can it fail?", commands.check)
    check.add_argument("--ltl", metavar="PHI", help="check this formula instead, or the `ltl` block of this name")
    check.add_argument("--formula", metavar="NAME", help="check the model's own formula of this name alone (.pml)")
    check.add_argument("--claim", metavar="FILE", help="check the never claim in this file instead (.pml)")
    for cycles, text in (
        ("acceptance", "look for a run that is at an `accept` label again and again, for ever (.pml)"),
        ("non-progress", "look for one that goes on for ever and comes to no `progress` label any more (.pml)"),
    ):
        check.add_argument(f"--{cycles}", dest="cycles", action="store_const", const=cycles, help=text)
    check.add_argument(
        "--engine", choices=(USUAL["check"], "maude"), help="for formulas about .maude (default: maude)"
    )
    check.add_argument("--fairness", choices=("none", "weak"), default="none", help="who can always move, does")
    check.add_argument(
        "--search",
        default="dfs",
        metavar="dfs|bfs|PATTERN",
        help="in depth or in breadth; or search for states that look like this instead (.maude)",
    )
    check.add_argument(
        "--reduction",
        choices=get_args(Reducing),
        help="how to reduce (default: the best that the language has)",
    )
    check.add_argument("--ample", choices=get_args(Ample), default="closure", help="P1's heuristics")
    check.add_argument(
        "--machine",
        choices=get_args(Machine),
        default="auto",
        help="who takes the steps (.pml, .gcl, .par; default: native code where it pays)",
    )
    check.add_argument(
        "--workers",
        type=_positive,
        metavar="N",
        help="threads of native code (default: one for each core; one for --search bfs)",
    )
    check.add_argument(
        "--max-memory",
        type=_bytes,
        metavar="SIZE",
        help="what native code may use, such as 8G (default: four fifths of what is free)",
    )
    check.add_argument(
        "--bitstate",
        type=_bytes,
        metavar="SIZE",
        help="keep bits instead of states, in a table of this size, such as 2G, for what does not fit in memory: "
        "this finds errors, but cannot show that there are none (.pml, .gcl, .par)",
    )
    check.add_argument(
        "--verify-reduction", action="store_true", help="build both graphs and compare them (up to 100,000 states)"
    )
    check.add_argument(
        "--check-annotations",
        action="store_true",
        help="try all that a description says about steps, in every state (.maude; up to 100,000 states)",
    )
    check.add_argument(
        "--no-optimise",
        action="store_false",
        dest="optimise",
        help="keep every statement a step (.pml), and values that are not read any more",
    )
    check.add_argument("--no-reduction", action="store_true", help="take every action everywhere")
    check.add_argument("--first", action="store_true", help="stop at the first violation")
    check.add_argument("--max-states", type=_positive, metavar="N", help="states kept (default: 2,000,000)")
    transform = _command(
        those, "transform", "print a theory with the reduction built in (.maude)", commands.transform
    )
    transform.add_argument("-o", metavar="OUT.maude", dest="output", help="where to write it (default: print it)")
    transform.add_argument("--ltl", metavar="PHI", help="a formula whose propositions must be seen")
    transform.add_argument("--ample", choices=get_args(Ample), default="closure", help="P1's heuristics")
    symbolic = _command(
        those, "symbolic", "all inputs at once: for which does the order matter?", commands.symbolic
    )
    symbolic.add_argument(
        "--equivalence", choices=get_args(Equivalence), default="syntactic", help="when two orders are one"
    )
    symbolic.add_argument("--no-reduction", action="store_false", dest="reduced", help="every order of every path")
    symbolic.add_argument(
        "--solver-timeout",
        type=_seconds,
        default=DEFAULT_SOLVER_TIMEOUT,
        metavar="SECONDS",
        help="for each question",
    )
    symbolic.add_argument("--tests", metavar="FILE.json", help="write a test case for each class of paths")
    symbolic.add_argument("--pytest", metavar="FILE.py", help="write them as a test module")
    permute = _command(
        those, "permute", "record one run, list its executable permutations", commands.permute, needs_file=False
    )
    _recording(permute, "begin the recorded run with this schedule")
    permute.add_argument(
        "--trace", metavar="TRACE", help="permute the run in this file, which needs no program (docs/traces.md)"
    )
    permute.add_argument("--seeds", action="store_true", help="also list prefixes that lead to other classes")
    replay = _command(those, "replay", "run one complete schedule again", commands.replay)
    replay.add_argument("--loop", metavar="S", help="what is done for ever after it, of a formula's trail")
    replay.add_argument("--tests", metavar="FILE.json", help="replay the test cases that `symbolic --tests` wrote")
    replay.add_argument("schedule", nargs="?", metavar="SCHEDULE", help='such as "0x2 0.1x9 0.0"')
    replay.add_argument(
        "--stop-at", type=_natural, metavar="N", help="stop after N steps; show the state and what is enabled"
    )
    replay.add_argument(
        "--watch",
        action="append",
        default=[],
        dest="watched",
        metavar="X",
        help="show what this variable holds where it changes, and no others (repeatable)",
    )
    replay.add_argument(
        "--trail", metavar="FILE", help="follow a trail that SPIN's pan wrote, instead of SCHEDULE"
    )
    replay.add_argument(
        "--write-trail", metavar="FILE", help="write the run as a trail for `spin -t -k FILE` (.pml)"
    )
    for command in (run, replay):
        command.add_argument("--trace", metavar="TRACE", help="write the run to this file, as lines of JSON")
        command.add_argument(
            "--printf", action="store_true", help="print what the model's printf statements print"
        )
    for command in (run, explore, replay):
        command.add_argument("--mode", choices=("any", "fifo"), default="any", help="what may go next (asyncio)")
        command.add_argument(
            "--packages", metavar="A,B", type=_names, default=[], help="follow their code as well (asyncio)"
        )
        _faulty(command)
    _listing(those, "languages", "which language goes with which command and engine", commands.languages)
    _listing(those, "engines", "the engines of `explore`", commands.engines)
    for command in (run, explore, check, permute):
        _bounded(command)
    _bounded(symbolic, depth=DEFAULT_SYMBOLIC_DEPTH)
    return parser


def _command(
    those: argparse._SubParsersAction[_Parser],
    name: str,
    summary: str,
    function: Command,
    needs_file: bool = True,
) -> argparse.ArgumentParser:
    command = _answering(those, name, summary, function)
    command.add_argument(
        "file",
        metavar="FILE",
        nargs=None if needs_file else "?",
        default="",
        help="a program: .gcl, .par, .abs, .pml, .maude, or module:function",
    )
    command.add_argument(
        "--por", metavar="FILE.toml", help="the description of a theory (default: FILE with .toml)"
    )
    command.add_argument("-D", metavar="N=TEXT", action="append", default=[], dest="define", help="a macro (.pml)")
    command.add_argument("--observe", metavar="X,Y", type=_names, help="what counts as the outcome")
    command.add_argument("--input", metavar="X=V", action="append", default=[], help="a value for an input")
    command.add_argument("--quiet", action="store_true", help="print the verdict only")
    return command


def _listing(
    those: argparse._SubParsersAction[_Parser],
    name: str,
    summary: str,
    function: Command,
) -> None:
    _answering(those, name, summary, function).set_defaults(file="")


def _answering(
    those: argparse._SubParsersAction[_Parser],
    name: str,
    summary: str,
    function: Command,
) -> argparse.ArgumentParser:
    command = those.add_parser(name, help=summary, description=summary)
    command.set_defaults(command=function, printed=False)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _recording(command: argparse.ArgumentParser, schedule: str) -> None:
    command.add_argument("--seed", type=int, default=0, metavar="N", help="for the scheduler (default: 0)")
    command.add_argument("--schedule", default="", metavar="S", help=schedule)


def _faulty(command: argparse.ArgumentParser) -> None:
    """What may go wrong by choice. A schedule tells which faults struck, but not what a call raises."""
    command.add_argument(
        "--no-suspend",
        action="store_false",
        dest="suspend",
        help="let an AsyncMock, and what replaces a function, answer at once (asyncio)",
    )
    command.add_argument(
        "--cancel",
        type=_task,
        default=False,
        metavar="N|any",
        help="the N-th task, or any one, may be cancelled at any of its awaits (asyncio)",
    )
    command.add_argument(
        "--timeouts", action="store_true", help="timers may fire before their time, at any await (asyncio)"
    )
    command.add_argument(
        "--errors",
        action="append",
        default=[],
        metavar="CLASS=MODULE:FUNCTION",
        help="calls of this function may raise this (asyncio; repeatable)",
    )
    command.add_argument(
        "--max-faults", type=_positive, default=1, metavar="N", help="how many in one run (default: 1)"
    )


def _task(text: str) -> int | bool:
    if text != "any" and not text.isdecimal():
        raise argparse.ArgumentTypeError(f"wants the number of a task or `any`, not {text!r}")
    return True if text == "any" else int(text)


def _bounded(command: argparse.ArgumentParser, depth: int = DEFAULT_DEPTH) -> None:
    command.add_argument("--max-executions", type=_positive, metavar="N")
    command.add_argument("--max-depth", type=_positive, metavar="N", help=f"steps in one run (default: {depth:,})")
    command.add_argument("--timeout", type=_seconds, metavar="SECONDS")


_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"wants a whole number of at least 1, not {text!r}")
    return int(text)


def _bytes(text: str) -> int:
    """A size such as 512M or 8G."""
    number, unit = text[:-1], text[-1:].upper()
    if unit not in _UNITS or not number.isdecimal() or int(number) == 0:
        raise argparse.ArgumentTypeError(f"wants a size such as 512M or 8G, not {text!r}")
    return int(number) << _UNITS[unit]


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"wants a whole number, not {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"wants a number of seconds above 0, not {text!r}")
    return seconds


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
