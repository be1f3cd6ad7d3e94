"""Alerts about what the prompt holds of the documents: nothing of any, or a part of one that matters."""

from __future__ import annotations

from rop_otel import semconv
from rop_otel.core.handoff import PassageFinding
from rop_otel_grafana.alerts.alert import Alert, Page, subject, value_of
from rop_otel_grafana.promql import FINDING, STAGE, equal, handoff_labels, recorded, select, sum_increase
from rop_otel_grafana.recording import FINDING_SHARE
from rop_otel_grafana.settings import Settings, Watch

UNSEEN, CUT = "ContextNotInPrompt", "PassageCut"

_SHARE = "{{ $value | humanizePercentage }}"


def alerts(settings: Settings) -> list[Alert]:
    """Return the rules."""
    where = f"stage {value_of(STAGE)} of {subject(settings)}"
    return [
        Alert(
            name=UNSEEN,
            expression=_above(settings.unseen, PassageFinding.CONTEXT_NOT_IN_PROMPT),
            hold=settings.unseen.hold,
            severity="critical",
            summary=f"The model is asked without a document, {subject(settings)}",
            description=(
                f"In {_SHARE} of all trips, the prompt held no text of any document that {where} returned"
                f" (cause {value_of(FINDING)}): the answers come from the model alone."
            ),
        ),
        Alert(
            name=CUT,
            expression=_above(settings.cut, PassageFinding.PASSAGE_CUT),
            hold=settings.cut.hold,
            severity="warning",
            summary=f"The reader of {subject(settings)} is shown parts of what it needs",
            description=(
                f"In {_SHARE} of all trips, the prompt held only a part of a selected or judged object that {where}"
                f" returned (cause {value_of(FINDING)})."
            ),
        ),
    ]


def _above(watch: Watch, code: PassageFinding) -> str:
    return f"{recorded(FINDING_SHARE.over(watch.window), equal(FINDING, code))} > {watch.above:g}"


def _see(settings: Settings, code: PassageFinding) -> tuple[tuple[str, str], ...]:
    finding, labels = equal(FINDING, code), handoff_labels(settings, STAGE)
    found = sum_increase(labels, select(settings, semconv.FINDINGS_COUNT.prometheus, finding), "1h")
    share = recorded(FINDING_SHARE.over(settings.window), finding)
    return ("Where, and how often?", found), ("What share of handoffs?", share)


def pages(settings: Settings) -> list[Page]:
    """Return what the runbook says."""
    return [
        Page(
            name=UNSEEN,
            means=(
                "Documents were retrieved and handed to the code that makes the prompt, and the prompt holds nothing of"
                " them. Nothing fails: the model answers without evidence. Such a handoff has no verdict"
                " (`UNVERIFIABLE`)."
            ),
            see=_see(settings, PassageFinding.CONTEXT_NOT_IN_PROMPT),
            attempts=(
                (
                    "Look at a prompt. Does the template have a place for the documents, under the very name with which"
                    " they are filled in? A template engine fills an unknown name with nothing."
                ),
                "Was a variable renamed, or a step put in between that hands on only the question?",
                (
                    "Are the documents put in in another form, as a summary or in translation? Then say so: record the"
                    f" basis `assumed` (`{semconv.CONTEXT_BASIS}`)."
                ),
                "Is the text of the documents read from the right field? An empty field gives an empty context.",
            ),
        ),
        Page(
            name=CUT,
            means=(
                "Of a selected or judged object the prompt holds a part only: the reader may lack the very sentence"
                " that answers. Metrics do not distinguish selected objects from judged ones; the finding's sentence"
                " in a replay does, and names the IDs."
            ),
            see=_see(settings, PassageFinding.PASSAGE_CUT),
            attempts=(
                (
                    "Is the context cut at a number of characters or tokens after it was put together? Cut between"
                    " documents, and leave out the last one rather than half of it."
                ),
                "Does the model's own window cut the prompt? Compare the tokens used with the model's limit.",
                "Are passages longer than they were? Look at the chunking of the index.",
                "Is a part enough here, since sentences are selected on purpose? Raise `above` for `cut`.",
            ),
        ),
    ]
