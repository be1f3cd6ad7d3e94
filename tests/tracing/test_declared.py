"""What an application says of a handoff, and of a stage: each fact of the table, by every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON
from opentelemetry.trace import StatusCode

import rop_otel as rop
from rop_otel.core.handoff.attributes import handoff_record, stage_record
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS
from rop_otel.core.idshape import NAME
from rop_otel.spans.conventions.admitting import admitted
from rop_otel.spans.conventions.convention_rules import Rules
from tests.tracing.watched import Watched

SECRET: Final = "Room 4711"
HASHED: Final = [row for row in (*STAGE_FACTS, *HANDOFF_FACTS) if row.hashed is not None]
UNSAID: Final = {"declaration_id", "declaration_sha256", "resolver_sha256"}
"""Facts that the monitor finds out for itself."""


def say_everything(raw: str) -> None:
    """Tell every fact of the table, with one text wherever an ID, a label or a scope may be."""
    how: dict[str, Any] = {"name": "mine", "source": True, "fed_by": "vector", "query_form": "title"}
    with (
        rop.handoff(
            "qa",
            cutoff=3,
            rule="all",
            mode="soft",
            selected=[raw, raw],
            need="every",
            witness=raw,
            witness_sha256="0" * 64,
            judged=[raw],
            grades=[2],
            record_id="r1",
            run_id="run",
            scope=raw,
            expected=["vector"],
            starved_ratio=0.2,
            min_tokens=3,
            label_scope="object",
        ) as handoff,
        rop.using_round(1),
    ):
        with rop.using_stage("custom", input=[raw, raw], **how) as stage:
            stage.returned(
                [raw, raw],
                labels=[raw],
                tokens=8,
                token_budget=10,
                id_tokens=[8],
                shares=[0.5],
                basis="prompt",
                scores=[0.5],
                scopes=[raw],
            )
            stage.implementation("whole chunks", fallback=True)
        handoff.answered("It waits.", sources=[raw], citations=[raw], attaches="cited", abstained=False)


@pytest.mark.parametrize("row", [*STAGE_FACTS, *HANDOFF_FACTS], ids=lambda row: row.attribute)
def test_each_fact_can_be_said(watch: Callable[..., Watched], row: Fact) -> None:
    """Each row is on a span and in a record, and says the same there."""
    watched = watch(max_ids=1)
    say_everything("doc-1")
    (record,) = watched.heard.records
    held = {str(getattr(each, row.field)) for each in (record.stages if row in STAGE_FACTS else [record])}
    said = {str((span.attributes or {}).get(row.attribute, row.default)) for span in watched.spans}
    if row.field not in {*UNSAID, "foreign", "gaps"}:
        assert held - {str(row.default)} != set()
    assert held - {str(row.default)} == said - {str(row.default)}


def test_span_and_record_say_the_same(watch: Callable[..., Watched]) -> None:
    """What reads the spans later knows what was assessed at once, whatever was told."""
    watched = watch(max_ids=1)
    say_everything("doc-1")
    (record,) = watched.heard.records
    *stages, handoff = [
        ({name: getattr(each, name) for name in ("trace_id", "span_id", "start_ns", "end_ns", "failed")}, span)
        for each, span in zip([*record.stages, record], watched.spans, strict=True)
    ]
    read = [
        stage_record(span.attributes or {}, **beside, parent_id=each.parent_id)
        for each, (beside, span) in zip(record.stages, stages, strict=True)
    ]
    assert tuple(read) == record.stages
    beside, span = handoff
    assert handoff_record(span.attributes or {}, **beside, stages=record.stages) == record


@pytest.mark.parametrize("block", [rop.handoff, rop.start_handoff])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, None])
def test_a_handoff_that_raises_has_failed(
    watch: Callable[..., Watched], block: Callable[[str], rop.Handoff], error: type[BaseException] | None
) -> None:
    """A record says that its handoff ended with an exception where its span has status ERROR, recorded or not."""
    for sampler in (ALWAYS_ON, ALWAYS_OFF):
        watched = watch(sampler=sampler)
        with suppress(ValueError, KeyboardInterrupt), block("qa") as handoff:
            if error is not None:
                raise error
        handoff.close()
        (record,) = watched.heard.records
        assert record.failed is (error is not None)
        assert all((span.status.status_code is StatusCode.ERROR) is record.failed for span in watched.spans)


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"shares": [0.5, "half"]}, "shares"),
        ({"shares": 0.5}, "shares"),
        ({"basis": "guessed"}, "basis"),
        ({"basis": 3}, "basis"),
        ({"scopes": "tenant"}, "scopes"),
        ({"tokens": "many"}, "tokens"),
    ],
)
def test_what_a_stage_cannot_say_is_left_out(
    watch: Callable[..., Watched], told: dict[str, Any], field: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A value that is none of the contract's is logged by its type, and is neither on the span nor in the record."""
    watched = watch()
    with rop.handoff("qa"), rop.using_stage("packing") as stage:
        stage.returned(["a"], **told)
    assert getattr(watched.stage("packing"), field) is None
    assert watched.errors("stage") == 1
    assert f"{field} " in caplog.text


@pytest.mark.parametrize("call", [rop.handoff, rop.start_handoff])
@pytest.mark.parametrize(
    ("told", "field", "held"),
    [
        ({"need": "both"}, "need", "both"),
        ({"need": 3}, "need", ""),
        ({"label_scope": "page"}, "label_scope", None),
        ({"min_tokens": "few"}, "min_tokens", None),
    ],
)
def test_what_a_handoff_cannot_say(
    watch: Callable[..., Watched], call: Callable[..., rop.Handoff], told: dict[str, Any], field: str, held: object
) -> None:
    """A need that is none is kept, so that the verdict says so; a threshold or scope of labels has its default."""
    watched = watch()
    with call("qa", **told) as handoff:
        pass
    handoff.close()
    assert getattr(watched.heard.records[0], field) == held
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: rop.stage("vector", sauce=True),  # type: ignore[call-arg]
        lambda: rop.handoff("qa", cutof=3),  # type: ignore[call-arg]
        lambda: rop.start_handoff("qa", cutof=3),  # type: ignore[call-arg]
        lambda: rop.configure(max_id=3),  # type: ignore[call-arg]
        lambda: rop.current_handoff().answered("", source=[]),  # type: ignore[call-arg]
        lambda: rop.using_stage("vector").returned([], label=[]),  # type: ignore[call-arg]
    ],
)
def test_an_argument_that_does_not_exist_is_an_error(watch: Callable[..., Watched], call: Callable[[], object]) -> None:
    """A misspelt keyword raises, as for any function, and names the keyword."""
    watch()
    with (
        rop.handoff("qa"),
        pytest.raises(TypeError, match="got an unexpected keyword argument"),
    ):
        call()


def test_hashed_rows_never_leak(watch: Callable[..., Watched]) -> None:
    """With a key, what is hashed is on no span and in no record as it was said, whatever says it."""
    watched = watch(hash_key=b"key", max_ids=1)
    say_everything(SECRET)
    (record,) = watched.heard.records
    for row in HASHED:
        held = [getattr(each, row.field) for each in (record.stages if row in STAGE_FACTS else [record])]
        assert any(held), row.field
    assert SECRET not in repr(record)
    assert [span.name for span in watched.spans if SECRET in span.to_json()] == []


@pytest.mark.parametrize("row", HASHED, ids=lambda row: row.attribute)
@pytest.mark.parametrize("shape", [NAME, None], ids=["live", "recorded"])
@pytest.mark.parametrize("form", [lambda raw: raw, lambda raw: [raw, raw], lambda raw: (raw,)])
def test_hashed_rows_of_others_never_leak(row: Fact, shape: Any, form: Callable[[str], Any]) -> None:
    """Nor on spans that others made, in whatever form."""
    kept: Mapping[str, object] = admitted({row.attribute: form(SECRET)}, Rules(hash_key=b"key", shape=shape))
    assert row.attribute in kept
    assert SECRET not in repr(kept)
