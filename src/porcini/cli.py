"""The command line: arguments in, text or JSON out.

Exit status: 0 holds, 1 violated, 2 bad input or usage, 3 unknown because a limit was hit, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from shlex import quote
from typing import NoReturn, get_args

import porcini
from porcini import api
from porcini.all_inputs import written_as_pytest
from porcini.core.errors import InputError, LimitHit
from porcini.core.reports import Report
from porcini.core.systems import Value
from porcini.engines.ample import Ample
from porcini.engines.catalogue import ENGINES, Options, Reducing
from porcini.engines.equivalences import EQUIVALENCES
from porcini.engines.graph import Order
from porcini.engines.limits import DEFAULT_DEPTH, Limits
from porcini.engines.optimal import InternalError
from porcini.engines.symbolic import DEFAULT_DEPTH as DEFAULT_SYMBOLIC_DEPTH
from porcini.engines.symbolic import DEFAULT_TIMEOUT
from porcini.engines.tally import Tally, Watcher
from porcini.engines.transdpor import ActorSelection, TaskSelection
from porcini.formats.json_report import to_json
from porcini.formats.text import make_console, print_comparison, print_report, print_verdict
from porcini.models import Model, load
from porcini.properties.outcomes import EXPLORED

BAD_INPUT, INTERRUPTED = 2, 130
_DEEPEST_CALLS = 10_000
_GRACE = 0.5
_CASE = {"input", "schedule", "kind", "state"}
_STATUS = {"holds": 0, "violated": 1, "unknown": 3}


class _Parser(argparse.ArgumentParser):
    """Usage errors are one line, like every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    sys.set_int_max_str_digits(0)  # integers are unbounded, and so is what we print of them
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEPEST_CALLS))  # functions of models may recurse
    options = _parsed(arguments)
    try:
        with _deadline(options), _nothing_but_json(options):
            report = options.command(options)
        if not options.printed:
            _show(report, options)
    except LimitHit as hit:  # while nothing was being counted: a model that takes too long to load
        print(f"porcini: unknown: stopped by {hit}", file=sys.stderr)
        return _STATUS["unknown"]
    except InputError as problem:
        print(problem, file=sys.stderr)
        return BAD_INPUT
    except InternalError as problem:  # a wrong answer would be worse than none
        print(f"porcini: internal error: {problem}", file=sys.stderr)
        return _STATUS["unknown"]
    except MemoryError:
        print("porcini: error: out of memory", file=sys.stderr)
        return _STATUS["unknown"]
    except KeyboardInterrupt:
        print("porcini: interrupted before anything was known", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away; that is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    if report is None:
        return 0
    return INTERRUPTED if report.interrupted else _STATUS[report.verdict]


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Argparse gives up an optional positional argument once options have come; a schedule may stand there."""
    parser = _parser()
    options, left = parser.parse_known_args(arguments)
    if len(left) == 1 and not left[0].startswith("-") and getattr(options, "schedule", "") is None:
        options.schedule = left.pop()
    if left:
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    return options


@contextmanager
def _deadline(options: argparse.Namespace) -> Iterator[None]:
    """Engines look at the clock between steps; this ends a step, or the reading of a model, that never does. Not
    steps of real code: asyncio would take it for what a task raises, and they have a watch of their own."""
    seconds: float | None = None if _is_real_code(options) else getattr(options, "timeout", None)
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> NoReturn:
        raise LimitHit(f"the time limit of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _nothing_but_json(options: argparse.Namespace) -> Iterator[None]:
    """Real code may print while it runs: with --json that must not come in between."""
    if options.json and _is_real_code(options):
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


def _is_real_code(options: argparse.Namespace) -> bool:
    return ":" in options.file and not Path(options.file).exists()


def _show(report: Report, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(to_json(report, porcini.__version__), ensure_ascii=False))
        sys.stdout.flush()
    elif options.quiet:
        print_verdict(report, make_console())
    else:
        given = [f"-D {quote(item)} " for item in options.define]
        given += [f"--input {quote(item)} " for item in options.input]
        given += [f"--por {quote(options.por)} "] if options.por else []
        given += ["--mode fifo "] if getattr(options, "mode", "any") == "fifo" else []
        given += [f"--packages {quote(','.join(options.packages))} "] if getattr(options, "packages", ()) else []
        print_report(report, make_console(), "".join(given))
    if getattr(options, "printf", False) and not options.json:
        sys.stdout.write("".join(report.said))


# Commands


def _subject(options: argparse.Namespace) -> Model | api.Coroutine:
    """A model, or the coroutine function that is named instead of a file."""
    function = api.function_of(options.file)
    return function if function is not None else _model(options)


def _model(options: argparse.Namespace) -> Model:
    if api.function_of(options.file) is not None:
        raise InputError(
            "this command is not for coroutine functions", file=options.file, hint="run, explore, replay"
        )
    defines: dict[str, str] = {}
    for item in options.define:
        name, sign, text = item.partition("=")
        if not name.strip().isidentifier():
            raise InputError(f"-D wants NAME or NAME=TEXT, not {item!r}")
        defines[name.strip()] = text.strip() if sign else "1"
    return load(options.file, defines=defines, por=options.por)


def _run(options: argparse.Namespace) -> Report:
    return api.run(
        _subject(options),
        seed=options.seed,
        schedule=options.schedule,
        observe=options.observe,
        inputs=_inputs(options.input),
        limits=_limits(options),
        mode=options.mode,
        packages=options.packages,
    )


def _replay(options: argparse.Namespace) -> Report:
    if options.tests:
        return _replay_cases(options)
    if options.schedule is None:
        raise InputError("no schedule was given", hint="or --tests FILE.json")
    return api.replay(
        _subject(options),
        options.schedule,
        loop=options.loop,
        observe=options.observe,
        inputs=_inputs(options.input),
        mode=options.mode,
        packages=options.packages,
    )


def _replay_cases(options: argparse.Namespace) -> Report:
    """All cases of a file; the report is that of the last one, or of the first that fails."""
    try:
        document = json.loads(Path(options.tests).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", file=options.tests) from None
    tests = document.get("tests") if isinstance(document, dict) else None
    if not isinstance(tests, list) or not all(isinstance(t, dict) and t.keys() >= _CASE for t in tests):
        raise InputError("these are no test cases", file=options.tests, hint="`symbolic --tests` writes some")
    wrong = api.replay_cases(_model(options), tests)
    for line in wrong:
        print(line)
    if not options.json:
        print(f"{len(tests) - len(wrong)} of {len(tests)} cases came out as expected.")
    options.printed = not options.json
    return api.cases_report(_model(options), len(tests), len(wrong))


def _explore(options: argparse.Namespace) -> Report:
    if options.engine == "all":
        if api.function_of(options.file) is not None:
            raise InputError("--engine all is not for coroutine functions", hint="name one of the engines")
        return _compare(options)
    with _Progress(options) as watch:
        return api.explore(
            _subject(options),
            engine=options.engine,
            independence=options.independence,
            property=options.property,
            first=options.first,
            observe=options.observe,
            inputs=_inputs(options.input),
            limits=_limits(options),
            options=Options(
                seed=options.seed,
                depth=options.depth,
                preemptions=options.preemptions,
                actors=options.actor_selection,
                tasks=options.task_selection,
            ),
            mode=options.mode,
            packages=options.packages,
            deterministic=options.deterministic,
            watch=watch,
        )


def _check(options: argparse.Namespace) -> Report:
    told = Options(
        search=options.search,
        reduction="none" if options.no_reduction else options.reduction,
        ample=options.ample,
        fair=options.fairness == "weak",
        optimise=not options.no_optimise,
    )
    model, inputs, limits = _model(options), _inputs(options.input), _limits(options)
    with _Progress(options) as watch:
        if options.verify_reduction:
            return api.verify_reduction(
                model, ltl=options.ltl, inputs=inputs, limits=limits, options=told, watch=watch
            )
        return api.check(
            model,
            ltl=options.ltl,
            engine=options.engine,
            first=options.first,
            observe=options.observe,
            inputs=inputs,
            limits=limits,
            options=told,
            watch=watch,
        )


def _transform(options: argparse.Namespace) -> Report | None:
    """Print a theory; there is nothing to report."""
    target = Path(options.output) if options.output else None
    base = target.parent if target else Path()
    text = api.transform(
        _model(options), ltl=options.ltl, ample=options.ample, load=os.path.relpath(options.file, base)
    )
    options.printed = True
    if target is None:
        print(text)
        return None
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", file=str(target)) from None
    return None


def _symbolic(options: argparse.Namespace) -> Report:
    if options.input:
        raise InputError("`symbolic` ranges over all inputs: --input is for the other commands")
    with _Progress(options) as watch:
        report = api.symbolic(
            _model(options),
            equivalence=options.equivalence,
            reduced=not options.no_reduction,
            observe=options.observe,
            limits=_limits(options),
            solver_timeout=options.solver_timeout,
            with_cases=bool(options.tests or options.pytest),
            watch=watch,
        )
    written = []
    if options.tests:
        document = {"schema": 1, "file": options.file, "tests": list(report.cases or ())}
        written.append((options.tests, json.dumps(document, indent=1, ensure_ascii=False) + "\n"))
    if options.pytest:
        written.append((options.pytest, written_as_pytest(options.file, options.pytest, report.cases or ())))
    for name, text in written:
        try:
            Path(name).write_text(text, encoding="utf-8")
        except OSError as problem:
            raise InputError(f"cannot be written: {problem.strerror}", file=name) from None
    return report


def _compare(options: argparse.Namespace) -> Report:
    """Every engine on one program; the exit status is that of `optimal`."""
    reports = api.compare(_model(options), inputs=_inputs(options.input), limits=_limits(options))
    if options.json:
        table = [to_json(report, porcini.__version__) | {"seconds": report.seconds} for report in reports]
        print(json.dumps(table, ensure_ascii=False))
    else:
        print_comparison(reports, make_console())
    options.printed = True
    return next(report for report in reports if report.engine == "optimal")


def _permute(options: argparse.Namespace) -> Report:
    with _Progress(options) as watch:
        return api.permute(
            _model(options),
            seed=options.seed,
            schedule=options.schedule,
            seeds=options.seeds,
            observe=options.observe,
            inputs=_inputs(options.input),
            limits=_limits(options),
            watch=watch,
        )


class _Progress:
    """A line on the terminal that says how far the search is; nothing in a pipe."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.shown = sys.stderr.isatty() and not options.quiet
        self.next = time.monotonic() + 0.5
        self.started = time.monotonic()
        self.written = False

    def __enter__(self) -> Watcher | None:
        return self.update if self.shown else None

    def update(self, tally: Tally) -> None:
        counts = tally.counts
        now = time.monotonic()
        if now >= self.next:
            self.next = now + 0.2
            self.written = True
            seconds = now - self.started
            rate = counts.executions / seconds
            text = f"{counts.executions:,} executions ({rate:,.0f}/s), {counts.classes:,} classes"
            if counts.states and not counts.classes:  # a search that keeps states
                text = f"{counts.states:,} states ({counts.states / seconds:,.0f}/s)"
            text += f", {tally.outcomes_seen} outcomes"
            if tally.expected and tally.expected > counts.executions:
                left = (tally.expected - counts.executions) / max(rate, 1e-9)
                text += f"; of at least {tally.expected:,.0f}, {left:,.0f} s to go"
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


# Arguments


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="porcini", description="Does the order in which concurrent code runs matter?")
    parser.add_argument("--version", action="version", version=f"porcini {porcini.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    run = _command(commands, "run", "one execution", _run)
    _recording(run, "follow this schedule, then go on freely")
    explore = _command(commands, "explore", "every class of executions: does the order matter?", _explore)
    explore.add_argument("--engine", default="optimal", help=f"one of: {', '.join(ENGINES)}, all")
    explore.add_argument("--independence", default="syntactic", help=f"one of: {', '.join(api.INDEPENDENCES)}")
    explore.add_argument("--property", choices=EXPLORED, help="ask this only (default: all of them)")
    explore.add_argument(
        "--seed", type=int, default=0, metavar="N", help="for random, pct and random selection (default: 0)"
    )
    explore.add_argument("--depth", type=_positive, default=3, metavar="D", help="of bugs to look for, for pct")
    explore.add_argument("--preemptions", type=_natural, metavar="N", help="bound, for source")
    explore.add_argument(
        "--actor-selection",
        choices=get_args(ActorSelection),
        default="stable",
        help="which actor goes first, for transdpor (default: stable)",
    )
    explore.add_argument(
        "--task-selection",
        choices=get_args(TaskSelection),
        default="independent",
        help="which tasks of an actor are tried, for transdpor (default: independent)",
    )
    explore.add_argument(
        "--deterministic", action="store_true", help="what it returns must not depend on the order (asyncio)"
    )
    explore.add_argument("--first", action="store_true", help="stop at the first violation")
    check = _command(commands, "check", "every reachable state: can it deadlock, can it fail?", _check)
    check.add_argument("--ltl", metavar="PHI", help="check this formula instead, or the `ltl` block of this name")
    check.add_argument("--engine", choices=("graph", "maude"), help="for formulas about .maude (default: maude)")
    check.add_argument("--fairness", choices=("none", "weak"), default="none", help="who can always move, does")
    check.add_argument("--search", choices=get_args(Order), default="dfs", help="in depth or in breadth")
    check.add_argument(
        "--reduction",
        choices=get_args(Reducing),
        default="stubborn",
        help="how to reduce (default: stubborn)",
    )
    check.add_argument("--ample", choices=get_args(Ample), default="closure", help="P1's heuristics")
    check.add_argument(
        "--verify-reduction", action="store_true", help="build both graphs and compare them (up to 100,000 states)"
    )
    check.add_argument("--no-optimise", action="store_true", help="keep every statement a step (.pml)")
    check.add_argument("--no-reduction", action="store_true", help="take every action everywhere")
    check.add_argument("--first", action="store_true", help="stop at the first violation")
    check.add_argument("--max-states", type=_positive, metavar="N", help="states kept (default: 2,000,000)")
    transform = _command(commands, "transform", "print a theory with the reduction built in (.maude)", _transform)
    transform.add_argument("-o", metavar="OUT.maude", dest="output", help="where to write it (default: print it)")
    transform.add_argument("--ltl", metavar="PHI", help="a formula whose propositions must be seen")
    transform.add_argument("--ample", choices=get_args(Ample), default="closure", help="P1's heuristics")
    symbolic = _command(commands, "symbolic", "all inputs at once: for which does the order matter?", _symbolic)
    symbolic.add_argument(
        "--equivalence", choices=tuple(EQUIVALENCES), default="syntactic", help="when two orders are one"
    )
    symbolic.add_argument("--no-reduction", action="store_true", help="every order of every path")
    symbolic.add_argument(
        "--solver-timeout", type=_seconds, default=DEFAULT_TIMEOUT, metavar="SECONDS", help="for each question"
    )
    symbolic.add_argument("--tests", metavar="FILE.json", help="write a test case for each class of paths")
    symbolic.add_argument("--pytest", metavar="FILE.py", help="write them as a test module")
    permute = _command(commands, "permute", "record one run, list its executable permutations", _permute)
    _recording(permute, "begin the recorded run with this schedule")
    permute.add_argument("--seeds", action="store_true", help="also list prefixes that lead to other classes")
    replay = _command(commands, "replay", "run one complete schedule again", _replay)
    replay.add_argument("--loop", metavar="S", help="what is done for ever after it, of a formula's trail")
    replay.add_argument("--tests", metavar="FILE.json", help="replay the test cases that `symbolic --tests` wrote")
    replay.add_argument("schedule", nargs="?", metavar="SCHEDULE", help='such as "0x2 0.1x9 0.0"')
    for command in (run, replay):
        command.add_argument(
            "--printf", action="store_true", help="print what the model's printf statements print"
        )
    for command in (run, explore, replay):
        command.add_argument("--mode", choices=("any", "fifo"), default="any", help="what may go next (asyncio)")
        command.add_argument(
            "--packages", metavar="A,B", type=_names, default=[], help="follow their code as well (asyncio)"
        )
    for command in (run, explore, check, permute):
        _bounded(command)
    _bounded(symbolic, depth=DEFAULT_SYMBOLIC_DEPTH)
    return parser


def _command(
    commands: argparse._SubParsersAction[_Parser],
    name: str,
    summary: str,
    function: Callable[[argparse.Namespace], Report | None],
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary)
    command.set_defaults(command=function, printed=False)
    command.add_argument(
        "file", metavar="FILE", help="a program: .gcl, .par, .abs, .pml, .maude, or module:function"
    )
    command.add_argument(
        "--por", metavar="FILE.toml", help="the description of a theory (default: FILE with .toml)"
    )
    command.add_argument("-D", metavar="N=TEXT", action="append", default=[], dest="define", help="a macro (.pml)")
    command.add_argument("--observe", metavar="X,Y", type=_names, help="what counts as the outcome")
    command.add_argument("--input", metavar="X=V", action="append", default=[], help="a value for an input")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--quiet", action="store_true", help="print the verdict only")
    return command


def _recording(command: argparse.ArgumentParser, schedule: str) -> None:
    command.add_argument("--seed", type=int, default=0, metavar="N", help="for the scheduler (default: 0)")
    command.add_argument("--schedule", default="", metavar="S", help=schedule)


def _bounded(command: argparse.ArgumentParser, depth: int = DEFAULT_DEPTH) -> None:
    command.add_argument("--max-executions", type=_positive, metavar="N")
    command.add_argument("--max-depth", type=_positive, metavar="N", help=f"steps in one run (default: {depth:,})")
    command.add_argument("--timeout", type=_seconds, metavar="SECONDS")


def _limits(options: argparse.Namespace) -> Limits:
    states = getattr(options, "max_states", None)
    return Limits(options.max_executions, options.max_depth, options.timeout, states)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"wants a whole number of at least 1, not {text!r}")
    return int(text)


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


def _inputs(items: Sequence[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for item in items:
        name, sign, text = (part.strip() for part in item.partition("="))
        if not name or not sign:
            raise InputError(f"--input wants NAME=VALUE, not {item!r}")
        if text.lower() in ("true", "false"):
            values[name] = text.lower() == "true"
        else:
            try:
                values[name] = int(text)
            except ValueError:
                raise InputError(f"input `{name}` wants a number or a boolean, not {text!r}") from None
    return values


if __name__ == "__main__":
    sys.exit(main())
