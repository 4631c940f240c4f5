"""`--verify-reduction` looked at our own graphs only, and said "loses nothing" of wrong transformed theories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)
from maude_lies import written
from porcini.langs.maude import marking, reduction, steps
from porcini.langs.maude.worker import Verdict

APART = "eq Apart(Cs, W ;; Us) = (W in Cs or-else Undisturbed(Cs, W)) and-then Apart(Cs, Us) ."
FORMULA = ["--ltl", "<> x(2)"]


def of_sections(old: str, new: str) -> Callable[[pytest.MonkeyPatch], None]:
    """What all transformed theories have in common, with a line that is wrong."""

    def put_in(patch: pytest.MonkeyPatch) -> None:
        sections = {name: text.replace(old, new) for name, text in steps._sections().items()}
        assert sections != steps._sections()
        patch.setattr(steps, "_sections", lambda: sections)

    return put_in


def without_a_rule(patch: pytest.MonkeyPatch) -> None:
    real = marking._marked_rules
    patch.setattr(marking, "_marked_rules", lambda theory, rule: [] if rule.label == "put" else real(theory, rule))


def with_another_effect(patch: pytest.MonkeyPatch) -> None:
    """A rule of the marked theory that goes elsewhere."""
    real = marking._marked_rules

    def wrong(theory: Any, rule: Any) -> Any:
        (found,) = real(theory, rule)
        return [marking.replace(found, right=marking.Apply("moved", (found.left.args[0], rule.tid)))]

    patch.setattr(marking, "_marked_rules", wrong)


def with_other_propositions(patch: pytest.MonkeyPatch) -> None:
    real = reduction._Reduction.text
    patch.setattr(reduction._Reduction, "text", lambda self: real(self).replace("= C |= P:Prop .", "= false ."))


MISTAKES = {
    "nobody disturbs anybody": (of_sections(APART, "eq Apart(Cs, W ;; Us) = true ."), "lost"),
    "a rule that is not there": (without_a_rule, "lost"),
    "a rule with another effect": (with_another_effect, "a state that no step leads to"),
    "other propositions": (with_other_propositions, "other propositions hold in it"),
    "another beginning": (
        of_sections("eq Start = MarkAmples(@initial@", "eq Start = MarkAmples(none"),
        "begins with",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_transformed_theory_is_noticed(
    porcini: Any,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mistake: str,
) -> None:
    put_in, message = MISTAKES[mistake]
    put_in(monkeypatch)
    status, out, _ = porcini("check", written(tmp_path, {}), "--verify-reduction", *FORMULA)
    assert status == 1
    assert "of the transformed program" in out and message in out


def test_a_right_one_loses_nothing(porcini: Any, tmp_path: Path) -> None:  # noqa: F811
    status, out, _ = porcini("check", written(tmp_path, {}), "--verify-reduction", *FORMULA)
    assert status == 0 and "loses nothing" in out and "that of the transformed program" in out


def test_another_verdict_is_noticed(porcini: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    from porcini.langs.maude import checker

    real = checker._answer

    def wrong(model: Any, formula: str, watched: Any, asked: Any) -> Any:
        return real(model, formula, watched, asked) if asked.ample is None else Verdict(holds=True, states=1)

    monkeypatch.setattr(checker, "_answer", wrong)
    status, out, _ = porcini("check", written(tmp_path, {}), "--verify-reduction", *FORMULA)
    assert status == 1 and "is violated, and with the reduction holds" in out
