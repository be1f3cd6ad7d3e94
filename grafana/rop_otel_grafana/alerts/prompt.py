"""Alerts about what the prompt holds of the documents: no text of any, or only a part of a selected or judged one."""

from __future__ import annotations

from rop_otel import semconv
from rop_otel.core.handoff import PassageFinding
from rop_otel_grafana.alerts.alert import Alert, Page, asked_of, subject, value_of
from rop_otel_grafana.page_views import found
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
            view=found(asked_of),
            summary=f"The model is asked without a document, {subject(settings)}",
            description=(
                f"In {_SHARE} of all handoffs, the prompt held no text of any document that {where} returned"
                f" (cause {value_of(FINDING)}): the answers come from the model alone."
            ),
        ),
        Alert(
            name=CUT,
            expression=_above(settings.cut, PassageFinding.PASSAGE_CUT),
            hold=settings.cut.hold,
            severity="warning",
            view=found(asked_of),
            summary=f"The reader of {subject(settings)} is shown parts of what it needs",
            description=(
                f"In {_SHARE} of all handoffs, the prompt held only a part of a selected or judged object that {where}"
                f" returned (cause {value_of(FINDING)})."
            ),
        ),
    ]


def _above(watch: Watch, code: PassageFinding) -> str:
    return f"{recorded(FINDING_SHARE.over(watch.window), equal(FINDING, code))} > {watch.above:g}"


def _see(settings: Settings, code: PassageFinding) -> tuple[tuple[str, str], ...]:
    finding, labels = equal(FINDING, code), handoff_labels(settings, STAGE)
    count = sum_increase(labels, select(settings, semconv.FINDINGS_COUNT.prometheus, finding), "1h")
    share = recorded(FINDING_SHARE.over(settings.window), finding)
    return ("Where, and how often?", count), ("What share of handoffs?", share)


def pages(settings: Settings) -> list[Page]:
    """Return what the runbook says."""
    return [
        Page(
            name=UNSEEN,
            means=(
                "Documents were retrieved and handed to the code that makes the prompt, but the prompt holds no text of"
                " them. Nothing raises: the model answers without evidence. Such a handoff has no verdict"
                " (`UNVERIFIABLE`)."
            ),
            see=_see(settings, PassageFinding.CONTEXT_NOT_IN_PROMPT),
            attempts=(
                (
                    "Look at a prompt. Does the template have a place for the documents, under exactly the name with"
                    " which they are filled in? A template engine fills an unknown name with nothing."
                ),
                "Was a variable renamed, or a step put in between that hands on only the question?",
                (
                    "Does the prompt show the documents in another form, as a summary or in translation? Then record"
                    f" the basis `assumed` (`{semconv.CONTEXT_BASIS}`)."
                ),
                "Is the text of the documents read from the right field? An empty field gives an empty context.",
            ),
        ),
        Page(
            name=CUT,
            means=(
                "The prompt holds only a part of a selected or judged object. The reader may lack the sentence that"
                " answers the question. Metrics do not distinguish selected objects from judged ones; the finding's"
                " sentence in a replay does, and names the IDs."
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
