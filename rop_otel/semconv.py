"""Every telemetry name of this project: attributes, metrics, events, environment variables.

The only module in which such a name is written as a string. The ``rop.*`` names are a contract. Stable names of
OpenTelemetry come from its package of semantic conventions. The ``gen_ai.*`` names follow the GenAI conventions as of
semantic conventions 1.37 (span ``retrieval``), kept as constants of our own because that package marks all of them as
moved. Long because it is the one list of names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from opentelemetry.semconv.attributes import exception_attributes, service_attributes

SCOPE_NAME: Final = "rop_otel"
"""Instrumentation scope of everything that our own API emits."""

OURS: Final = "rop."
"""What the names of our own attributes begin with."""

SPAN_HANDOFF: Final = "handoff {name}"
SPAN_STAGE: Final = "{stage}"
SPAN_RETRIEVAL: Final = "retrieval {data_source}"
SPAN_ASSESSMENT: Final = "rop.assessment"
SPAN_GAP: Final = "rop.gap"

# --- attributes of the handoff span -------------------------------------------------------------------------------
HANDOFF_NAME: Final = "rop.handoff.name"
HANDOFF_ID: Final = "rop.handoff.id"
RECORD_ID: Final = "rop.record.id"
RUN_ID: Final = "rop.run.id"
DECLARATION_ID: Final = "rop.declaration.id"
DECLARATION_SHA256: Final = "rop.declaration.sha256"
RESOLVER_SHA256: Final = "rop.resolver.sha256"
MODE: Final = "rop.mode"
SELECTED_IDS: Final = "rop.selected.ids"
SELECTED_NEED: Final = "rop.selected.need"
SELECTED_WITNESS: Final = "rop.selected.witness"
SELECTED_WITNESS_SHA256: Final = "rop.selected.witness_sha256"
GAPS: Final = "rop.gaps"
RULE: Final = "rop.rule"
CUTOFF: Final = "rop.cutoff"
JUDGED_IDS: Final = "rop.judged.ids"
JUDGED_GRADES: Final = "rop.judged.grades"
SCOPE_ID: Final = "rop.scope.id"
EXPECTED_STAGES: Final = "rop.expected.stages"
STARVED_RATIO: Final = "rop.context.starved_ratio"
MIN_TOKENS: Final = "rop.context.min_tokens"
LABEL_SCOPE: Final = "rop.label.scope"

# --- the assessment -----------------------------------------------------------------------------------------------
VERDICT: Final = "rop.verdict"
SELECTED_RANK: Final = "rop.selected.rank"
DROPPED_AT: Final = "rop.dropped_at"
DROP_CAUSE: Final = "rop.drop.cause"
FINDINGS: Final = "rop.findings"

# --- attributes of a stage span -----------------------------------------------------------------------------------
STAGE: Final = "rop.stage"
STAGE_NAME: Final = "rop.stage.name"
STAGE_SOURCE: Final = "rop.stage.source"
STAGE_FED_BY: Final = "rop.stage.fed_by"
STAGE_FOREIGN: Final = "rop.stage.foreign"
"""True where a span of another convention was read as a stage. On no span: the reading adds it."""

ROUND: Final = "rop.round"
INPUT_IDS: Final = "rop.input.ids"
INPUT_COUNT: Final = "rop.input.count"
RETURNED_IDS: Final = "rop.returned.ids"
RETURNED_COUNT: Final = "rop.returned.count"
RETURNED_SCORES: Final = "rop.returned.scores"
RETURNED_SCOPES: Final = "rop.returned.scopes"
STAGE_IMPLEMENTATION: Final = "rop.stage.implementation"
STAGE_FALLBACK: Final = "rop.stage.fallback"
QUERY_FORM: Final = "rop.query.form"
CONTEXT_LABELS: Final = "rop.context.labels"
CONTEXT_ID_TOKENS: Final = "rop.context.id_tokens"
CONTEXT_SHARES: Final = "rop.context.shares"
CONTEXT_BASIS: Final = "rop.context.basis"
CONTEXT_TOKENS: Final = "rop.context.tokens"
CONTEXT_TOKEN_BUDGET: Final = "rop.context.token_budget"
ANSWER_CITATIONS: Final = "rop.answer.citations"
ANSWER_ATTACHES: Final = "rop.answer.attaches"
ANSWER_ABSTAINED: Final = "rop.answer.abstained"

# --- GenAI convention ---------------------------------------------------------------------------------------------
GEN_AI_OPERATION: Final = "gen_ai.operation.name"
GEN_AI_OPERATION_RETRIEVAL: Final = "retrieval"
GEN_AI_DATA_SOURCE_ID: Final = "gen_ai.data_source.id"
GEN_AI_TOP_K: Final = "gen_ai.retrieval.top_k"
GEN_AI_QUERY_TEXT: Final = "gen_ai.retrieval.query.text"
GEN_AI_RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
GEN_AI_EVALUATION_EVENT: Final = "gen_ai.evaluation.result"
GEN_AI_EVALUATION_NAME: Final = "gen_ai.evaluation.name"
GEN_AI_EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
GEN_AI_EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"

# --- OpenInference ------------------------------------------------------------------------------------------------
OPENINFERENCE_SPAN_KIND: Final = "openinference.span.kind"
OPENINFERENCE_INPUT: Final = "input.value"
OPENINFERENCE_DOCUMENTS: Final = "retrieval.documents"
OPENINFERENCE_RERANKER_INPUT: Final = "reranker.input_documents"
OPENINFERENCE_RERANKER_OUTPUT: Final = "reranker.output_documents"
OPENINFERENCE_RERANKER_MODEL: Final = "reranker.model_name"
OPENINFERENCE_DOCUMENT_ID: Final = "document.id"
OPENINFERENCE_DOCUMENT_SCORE: Final = "document.score"

# --- OpenLLMetry --------------------------------------------------------------------------------------------------
OPENLLMETRY_REQUEST_TYPE: Final = "llm.request.type"
OPENLLMETRY_DATABASE: Final = "db.system"
OPENLLMETRY_QUERY_RESULT: Final = "db.query.result"
OPENLLMETRY_SEARCH_RESULT: Final = "db.search.result"

# --- stable names of OpenTelemetry --------------------------------------------------------------------------------
SERVICE_NAME: Final = service_attributes.SERVICE_NAME
EXCEPTION_EVENT: Final = "exception"
EXCEPTION_TYPE: Final = exception_attributes.EXCEPTION_TYPE
EXCEPTION_MESSAGE: Final = exception_attributes.EXCEPTION_MESSAGE
EXCEPTION_STACKTRACE: Final = exception_attributes.EXCEPTION_STACKTRACE

# --- attributes of metrics only -----------------------------------------------------------------------------------
PRESENT: Final = "rop.present"
JOINT: Final = "rop.joint"
AGREEMENT: Final = "rop.agreement"
ONLY: Final = "rop.only"
TARGET: Final = "rop.target"
MEASURE: Final = "rop.measure"
K: Final = "rop.k"
FINDING: Final = "rop.finding"
SEVERITY: Final = "rop.severity"
OUTCOME: Final = "rop.outcome"
STATUS: Final = "rop.status"
ERROR_WHERE: Final = "rop.where"

OTHER: Final = "other"
"""Value of a capped metric attribute once its cap is reached."""

SHOWN: Final = "shown"
"""Value of ``rop.stage`` for the scores of the shown list."""

# --- lines of a run's journal, beside the record ------------------------------------------------------------------
RUN_CONTRADICTION: Final = "rop.run.contradiction"
RUN_REASON: Final = "rop.run.reason"

# --- environment --------------------------------------------------------------------------------------------------
ENVIRONMENT: Final = "ROP_OTEL_"
"""What the name of each variable begins with."""
ENV_DISABLED: Final = "ROP_OTEL_DISABLED"
ENV_METRICS_PORT: Final = "ROP_OTEL_METRICS_PORT"
ENV_METRICS_HOST: Final = "ROP_OTEL_METRICS_HOST"
ENV_RESOLVER: Final = "ROP_OTEL_RESOLVER"
ENV_ASSESS: Final = "ROP_OTEL_ASSESS"
ENV_STRICT: Final = "ROP_OTEL_STRICT"
ENV_HASH_KEY: Final = "ROP_OTEL_HASH_KEY"
ENV_MAX_IDS: Final = "ROP_OTEL_MAX_IDS"
ENV_MAX_ID_LENGTH: Final = "ROP_OTEL_MAX_ID_LENGTH"
ENV_MAX_ID_WORDS: Final = "ROP_OTEL_MAX_ID_WORDS"
ENV_ID_LINE_BREAKS: Final = "ROP_OTEL_ID_LINE_BREAKS"
ENV_MAX_OPEN: Final = "ROP_OTEL_MAX_OPEN_HANDOFFS"
ENV_TTL: Final = "ROP_OTEL_HANDOFF_TTL"
ENV_BAGGAGE_HOSTS: Final = "ROP_OTEL_BAGGAGE_HOSTS"
ENV_OPENINFERENCE: Final = "ROP_OTEL_OPENINFERENCE"
ENV_FOREIGN_STAGES: Final = "ROP_OTEL_FOREIGN_STAGES"
ENV_FOREIGN_HANDOFFS: Final = "ROP_OTEL_FOREIGN_HANDOFFS"
ENV_FOREIGN_SELECTED: Final = "ROP_OTEL_FOREIGN_SELECTED"
ENV_FOREIGN_LABELS: Final = "ROP_OTEL_FOREIGN_LABELS"

# --- environment of the instrumentation packages ------------------------------------------------------------------
ENV_HANDOFF_NAME: Final = "ROP_OTEL_HANDOFF_NAME"
ENV_CUTOFF: Final = "ROP_OTEL_CUTOFF"
ENV_SELECTED_BY: Final = "ROP_OTEL_SELECTED_BY"
ENV_SELECTED_KEY: Final = "ROP_OTEL_SELECTED_KEY"
ENV_JUDGED_BY: Final = "ROP_OTEL_JUDGED_BY"
ENV_RECORD_KEY: Final = "ROP_OTEL_RECORD_KEY"
ENV_SCOPE_KEY: Final = "ROP_OTEL_SCOPE_KEY"
ENV_EXPECTED: Final = "ROP_OTEL_EXPECTED"
ENV_LABEL_PATTERN: Final = "ROP_OTEL_LABEL_PATTERN"
ENV_SHOWS: Final = "ROP_OTEL_SHOWS"
ENV_ID_KEYS: Final = "ROP_OTEL_ID_KEYS"
ENV_STAGES: Final = "ROP_OTEL_STAGES"

Kind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric, under both of its names.

    Args:
        name: OpenTelemetry name.
        prometheus: Prometheus name as scraped, suffix included.
        kind: Instrument kind.
        unit: UCUM unit, ``{thing}`` for counted things.
        description: One sentence.
        attributes: The only attributes that it may carry, in label order.
        buckets: Explicit boundaries of a histogram, in its unit.
    """

    name: str
    prometheus: str
    kind: Kind
    unit: str
    description: str
    attributes: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


VERDICTS: Final = Metric(
    name="rop.handoff.verdicts",
    prometheus="rop_handoff_verdicts_total",
    kind="counter",
    unit="{handoff}",
    description="Handoffs assessed, by verdict and mode.",
    attributes=(HANDOFF_NAME, VERDICT, MODE),
)
MISSES: Final = Metric(
    name="rop.selected.misses",
    prometheus="rop_selected_misses_total",
    kind="counter",
    unit="{handoff}",
    description="Selected objects that did not reach the reader, by the stage and cause of the loss.",
    attributes=(HANDOFF_NAME, DROPPED_AT, DROP_CAUSE),
)
JUDGED_MISSES: Final = Metric(
    name="rop.judged.misses",
    prometheus="rop_judged_misses_total",
    kind="counter",
    unit="{object}",
    description="Judged objects that the reader was not shown, by the stage and cause of the loss.",
    attributes=(HANDOFF_NAME, DROPPED_AT, DROP_CAUSE),
)
JOINTS: Final = Metric(
    name="rop.handoff.joint",
    prometheus="rop_handoff_joint_total",
    kind="counter",
    unit="{handoff}",
    description="Handoffs by which of both targets the reader was shown, and whether the selected object is judged.",
    attributes=(HANDOFF_NAME, JOINT, AGREEMENT),
)
STAGE_SELECTED: Final = Metric(
    name="rop.stage.selected",
    prometheus="rop_stage_selected_total",
    kind="counter",
    unit="{list}",
    description="Lists returned by a stage while an object was selected, by whether they hold it.",
    attributes=(HANDOFF_NAME, STAGE, PRESENT, ROUND, QUERY_FORM),
)
STAGE_SCORE: Final = Metric(
    name="rop.stage.score",
    prometheus="rop_stage_score_total",
    kind="counter",
    unit="1",
    description="Sum of a measure over the lists of a stage; divide by the count of scored lists.",
    attributes=(HANDOFF_NAME, STAGE, TARGET, MEASURE, K, ROUND),
)
STAGE_SCORED: Final = Metric(
    name="rop.stage.scored",
    prometheus="rop_stage_scored_total",
    kind="counter",
    unit="{list}",
    description="Lists of a stage for which a measure was decided.",
    attributes=(HANDOFF_NAME, STAGE, TARGET, MEASURE, K, ROUND),
)
STAGE_RETURNED: Final = Metric(
    name="rop.stage.returned",
    prometheus="rop_stage_returned_total",
    kind="counter",
    unit="{id}",
    description="IDs returned by a stage.",
    attributes=(HANDOFF_NAME, STAGE),
)
STAGE_EXECUTIONS: Final = Metric(
    name="rop.stage.executions",
    prometheus="rop_stage_executions_total",
    kind="counter",
    unit="{execution}",
    description="Executions of a stage.",
    attributes=(HANDOFF_NAME, STAGE, STAGE_IMPLEMENTATION, QUERY_FORM),
)
SOURCE_SHOWN: Final = Metric(
    name="rop.source.shown",
    prometheus="rop_source_shown_total",
    kind="counter",
    unit="{id}",
    description="Shown IDs that a source returned, by whether no other source did.",
    attributes=(HANDOFF_NAME, STAGE, ONLY),
)
STAGE_DURATION: Final = Metric(
    name="rop.stage.duration",
    prometheus="rop_stage_duration_seconds",
    kind="histogram",
    unit="s",
    description="Time that a stage took.",
    attributes=(HANDOFF_NAME, STAGE),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
FINDINGS_COUNT: Final = Metric(
    name="rop.findings",
    prometheus="rop_findings_total",
    kind="counter",
    unit="{finding}",
    description="Findings, by stage, code and severity.",
    attributes=(HANDOFF_NAME, STAGE, FINDING, SEVERITY),
)
CITATIONS: Final = Metric(
    name="rop.citations",
    prometheus="rop_citations_total",
    kind="counter",
    unit="{citation}",
    description="Citations in answers, by what their label resolves to.",
    attributes=(HANDOFF_NAME, OUTCOME),
)
ANSWERS: Final = Metric(
    name="rop.answers",
    prometheus="rop_answers_total",
    kind="counter",
    unit="{answer}",
    description="Answers of which it is known whether they say that they cannot answer.",
    attributes=(HANDOFF_NAME, OUTCOME),
)
CONTEXT_TOKENS_USED: Final = Metric(
    name="rop.context.tokens",
    prometheus="rop_context_tokens_total",
    kind="counter",
    unit="{token}",
    description="Tokens packed for the reader.",
    attributes=(HANDOFF_NAME,),
)
CONTEXT_BUDGET: Final = Metric(
    name="rop.context.budget",
    prometheus="rop_context_budget_total",
    kind="counter",
    unit="{token}",
    description="Tokens that packing was allowed.",
    attributes=(HANDOFF_NAME,),
)
RUN_RECORDS: Final = Metric(
    name="rop.run.records",
    prometheus="rop_run_records",
    kind="gauge",
    unit="{record}",
    description="Records of a run by verdict; also MISSING, STARTED, FINISHED, REPEATED, UNEXPECTED and MALFORMED.",
    attributes=(RUN_ID, VERDICT),
)
RUN_STATUS: Final = Metric(
    name="rop.run.status",
    prometheus="rop_run_status",
    kind="gauge",
    unit="{run}",
    description="1 for the status that a run has now, 0 for the others.",
    attributes=(RUN_ID, STATUS),
)
SELF_OPEN: Final = Metric(
    name="rop.self.handoffs.open",
    prometheus="rop_self_handoffs_open",
    kind="gauge",
    unit="{handoff}",
    description="Handoffs open now.",
)
SELF_EXPIRED: Final = Metric(
    name="rop.self.handoffs.expired",
    prometheus="rop_self_handoffs_expired_total",
    kind="counter",
    unit="{handoff}",
    description="Handoffs that never ended and were dropped after their time to live.",
)
SELF_REJECTED: Final = Metric(
    name="rop.self.handoffs.rejected",
    prometheus="rop_self_handoffs_rejected_total",
    kind="counter",
    unit="{handoff}",
    description="Handoffs not monitored because too many were open.",
)
SELF_REFUSED: Final = Metric(
    name="rop.self.spans.refused",
    prometheus="rop_self_spans_refused_total",
    kind="counter",
    unit="{span}",
    description="Spans that the monitor service refused: their trace was full, or they could not be read.",
)
SELF_LATE: Final = Metric(
    name="rop.self.spans.late",
    prometheus="rop_self_spans_late_total",
    kind="counter",
    unit="{span}",
    description="Stages that ended after their handoff was assessed.",
)
SELF_UNSENT: Final = Metric(
    name="rop.self.spans.unsent",
    prometheus="rop_self_spans_unsent_total",
    kind="counter",
    unit="{span}",
    description="Spans that this process could not send and dropped.",
)
SELF_OTHER: Final = Metric(
    name="rop.self.names.other",
    prometheus="rop_self_names_other_total",
    kind="counter",
    unit="{name}",
    description="Handoffs and executions of stages that count as other.",
)
SELF_ERRORS: Final = Metric(
    name="rop.self.errors",
    prometheus="rop_self_errors_total",
    kind="counter",
    unit="{error}",
    description="Errors and misuse inside the monitor that were kept from the application.",
    attributes=(ERROR_WHERE,),
)
SELF_ASSESS_DURATION: Final = Metric(
    name="rop.self.assess.duration",
    prometheus="rop_self_assess_duration_seconds",
    kind="histogram",
    unit="s",
    description="Time that one assessment took.",
    buckets=(0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1),
)

METRICS: Final = (
    VERDICTS,
    MISSES,
    JUDGED_MISSES,
    JOINTS,
    STAGE_SELECTED,
    STAGE_SCORE,
    STAGE_SCORED,
    STAGE_RETURNED,
    STAGE_EXECUTIONS,
    SOURCE_SHOWN,
    STAGE_DURATION,
    FINDINGS_COUNT,
    CITATIONS,
    ANSWERS,
    CONTEXT_TOKENS_USED,
    CONTEXT_BUDGET,
    RUN_RECORDS,
    RUN_STATUS,
    SELF_OPEN,
    SELF_EXPIRED,
    SELF_REJECTED,
    SELF_REFUSED,
    SELF_LATE,
    SELF_UNSENT,
    SELF_OTHER,
    SELF_ERRORS,
    SELF_ASSESS_DURATION,
)


def label(attribute: str) -> str:
    """Return the Prometheus label of an attribute: underscores for dots.

    >>> label("rop.drop.cause")
    'rop_drop_cause'
    """
    return attribute.replace(".", "_")
