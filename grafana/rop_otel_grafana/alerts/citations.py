"""Alerts about the labels that an answer cites."""

from __future__ import annotations

from rop_otel import semconv
from rop_otel.core.handoff import LabelFinding, kinds
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, subject, value_of
from rop_otel_grafana.page_views import found
from rop_otel_grafana.promql import (
    FINDING,
    OUTCOME,
    STAGE,
    equal,
    handoff_labels,
    one_of,
    recorded,
    select,
    sum_increase,
)
from rop_otel_grafana.recording import CITATION
from rop_otel_grafana.settings import Settings

MISATTRIBUTED, UNRESOLVED = "CitationsMisattributed", "CitationsUnresolved"

WRONG = "misattributed"
NOWHERE = {"unresolved": LabelFinding.CITATION_UNRESOLVED, "unattached": LabelFinding.LABEL_UNATTACHED}
"""The finding that goes with each of these outcomes."""

_SHARE = "{{ $value | humanizePercentage }}"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules. Citations are made by the reader, so that is the stage which they name."""
    wrong, nowhere = settings.misattributed, settings.unresolved
    return [
        Alert(
            name=MISATTRIBUTED,
            expression=f"{recorded(CITATION.over(wrong.window), equal(OUTCOME, WRONG))} > {wrong.above:g}",
            hold=wrong.hold,
            severity="critical",
            labels={STAGE: kinds.READER},
            view=found(asked_of, LabelFinding.LABEL_MISATTRIBUTED),
            summary=f"Citations of {subject(settings)} lead to the wrong passage",
            description=(
                f"{_SHARE} of the citations that the reader of {subject(settings)} makes resolve to another passage"
                f" than the one that it was shown under that label (stage {kinds.READER}, cause {value_of(OUTCOME)})."
            ),
        ),
        Alert(
            name=UNRESOLVED,
            expression=f"{recorded(CITATION.over(nowhere.window), one_of(OUTCOME, NOWHERE))} > {nowhere.above:g}",
            hold=nowhere.hold,
            severity="warning",
            labels={STAGE: kinds.READER},
            view=found(asked_of, _nowhere()),
            summary=f"Citations of {subject(settings)} lead nowhere",
            description=(
                f"{_SHARE} of the citations that the reader of {subject(settings)} makes resolve to nothing"
                f" (stage {kinds.READER}, cause {value_of(OUTCOME)})."
            ),
        ),
    ]


def _nowhere() -> str:
    """Return the template of the finding that goes with the label's outcome."""
    return "".join(
        f'{{{{ if eq $labels.{OUTCOME} "{outcome}" }}}}{finding}{{{{ end }}}}' for outcome, finding in NOWHERE.items()
    )


def pages(settings: Settings) -> list[Page]:
    """Return what the runbook says."""
    citations = sum_increase(handoff_labels(settings, OUTCOME), select(settings, semconv.CITATIONS.prometheus), "15m")
    labels = select(
        settings, semconv.FINDINGS_COUNT.prometheus, f'{FINDING}=~"label_.*|{LabelFinding.CITATION_UNRESOLVED}"'
    )
    findings = sum_increase(handoff_labels(settings, STAGE, FINDING), labels, "1h")
    see = (("What becomes of citations?", citations), ("Which check says so, and where?", findings))
    return [
        Page(
            name=MISATTRIBUTED,
            means=(
                "A label in the answer resolves to a passage, but not to the one that the reader saw under it. Numbers"
                " are in range and passages exist, so no other guard sees it."
            ),
            see=see,
            attempts=(
                (
                    "Does the response rebuild its sources from another list than the one that was labelled? A reorder"
                    " before labelling makes a prefix of the earlier list a different set. Return the labelled passages"
                    " themselves, in the order of their labels."
                ),
                (
                    "Does a rescue or a second round number its labels from the start again"
                    f" (`{LabelFinding.LABEL_DUPLICATE}`)?"
                ),
                "Are sources removed or merged between labelling and the response? Carry label and passage together.",
            ),
        ),
        Page(
            name=UNRESOLVED,
            means=(
                "The answer cites a label that the reader was not shown (`unresolved`), or one that has no passage in"
                " the response's sources (`unattached`)."
            ),
            see=see,
            attempts=(
                (
                    "`unattached`: whatever puts labelled text before the reader (a rescue, too) must also put the"
                    " passage into the response's sources."
                ),
                (
                    "`unresolved`: does the reader invent labels? Look for a changed prompt or model, and for starved"
                    " contexts, which invite it."
                ),
                (
                    f"Are labels written in the answer as they were shown (`{semconv.CONTEXT_LABELS}`)? Set"
                    " `citation_pattern` if the answer writes them in another way."
                ),
            ),
        ),
    ]
