from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

import rop_otel as rop
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.hashing import hash_id, hash_resolver
from tests.tracing.watched import Watched, hits

KEY = b"key"
RESOLVER = Resolver({"doc": ["doc#0", "doc#1"], "other": ["other#0"]}, aliases={"doc": ["Doc"]}, version="3")


def run() -> rop.Assessment:
    with rop.handoff("qa", selected="Doc", judged=["doc"], scope="tenant") as handoff:
        with rop.using_stage("vector") as stage:
            stage.returned(hits("doc#1", "other#0"), scopes=["tenant", "rival"])
        with rop.using_stage("packing", input=hits("doc#1", "other#0")) as stage:
            stage.returned(hits("other#0", "doc#1"), labels=["S1", "S2"])
        handoff.answered("It waits [S2].", sources=hits("other#0", "doc#1"))
    return handoff.assessment


def test_hashed_ids_are_judged_like_plain_ones(watch: Callable[..., Watched]) -> None:
    """With IDs and resolver hashed by one key, verdict, scores and findings are the same, and no ID is to be seen."""
    watch(resolver=RESOLVER)
    plain = run()
    watched = watch(resolver=hash_resolver(KEY, RESOLVER), hash_key=KEY)
    hashed = run()
    assert (hashed.verdict, hashed.selected_rank) == (plain.verdict, plain.selected_rank) == (rop.Verdict.PASS, 2)
    assert [stage.as_dict() for stage in hashed.stages] == [stage.as_dict() for stage in plain.stages]
    assert [finding.code for finding in hashed.findings] == [finding.code for finding in plain.findings]
    assert "scope_leak" in {finding.code for finding in hashed.findings}
    seen = repr([dict(span.attributes or {}) for span in watched.spans]) + repr(watched.heard.records)
    assert not [raw for raw in ("doc", "Doc", "other#0", "tenant", "rival") if f"'{raw}" in seen]
    assert "'S2'" in seen


def test_another_key_is_for_later_handoffs(watch: Callable[..., Watched]) -> None:
    """Where the application is configured with another key, a handoff that is open by then is judged by its own."""
    watch(hash_key=KEY)
    with rop.handoff("qa", selected="doc") as handoff:
        watch(hash_key=b"another")
        with rop.using_stage("vector") as stage:
            stage.returned(hits("doc"))
    assert handoff.assessment.verdict is rop.Verdict.PASS


def test_exceptions_tell_their_type_only(watch: Callable[..., Watched]) -> None:
    """Where IDs are hashed, the message of an exception, which may name a document, is on no span."""
    watched = watch(hash_key=KEY)
    with suppress(KeyError), rop.handoff("qa"), rop.using_stage("vector"):
        raise KeyError("doc#1")
    assert len(watched.spans) == 2
    assert {span.status.description for span in watched.spans} == {"KeyError"}
    assert not [span.name for span in watched.spans if "doc#1" in span.to_json()]


def test_resolver_keeps_its_shape() -> None:
    """Who owns whom is the same under the hash, and an unreadable ID stays one."""
    hashed = hash_resolver(KEY, RESOLVER)
    doc = hash_id(KEY, "doc")
    assert hashed.version == "3"
    assert [hashed.resolve(hash_id(KEY, raw)) for raw in ("doc", "doc#1", "Doc", "?")] == [doc, doc, doc, None]
    assert hash_id(KEY, "") == ""
    assert len(doc) == 32


def test_labels_that_may_be_ids_are_hashed(watch: Callable[..., Watched]) -> None:
    """Labels and citations are compared as hashes where they are more than a number; numbered ones stay readable."""
    watched = watch(hash_key=KEY)
    with rop.handoff("qa") as handoff:
        with rop.using_stage("packing") as stage:
            stage.returned(["doc#1", "doc#2"], labels=["[1]", "doc#2"])
        handoff.answered("So it is.", citations=["[1]", "doc#2", "doc#9"])
    shown, cited = watched.stage("packing").labels, watched.stage("reader").citations
    assert shown == ("[1]", hash_id(KEY, "doc#2"))
    assert cited == (*shown, hash_id(KEY, "doc#9"))
    [finding] = handoff.assessment.findings
    assert (finding.code, finding.labels) == ("citation_unresolved", (hash_id(KEY, "doc#9"),))


def test_a_wrong_grade_does_not_name_its_object(
    watch: Callable[..., Watched], caplog: pytest.LogCaptureFixture
) -> None:
    """The log says which judged object it is by its place."""
    watch(hash_key=KEY)
    with rop.handoff("qa", judged={"doc": 1, "other": "high"}):
        pass
    assert "grade of judged object 2" in caplog.text
    assert "other" not in caplog.text


@pytest.mark.parametrize("row", [*STAGE_FACTS, *HANDOFF_FACTS], ids=lambda row: row.attribute)
def test_one_value_is_hashed_as_several_are(watch: Callable[..., Watched], row: Fact) -> None:
    """A fact of one text is recorded as an element of a list of the same kind is, and as it is where rows say so."""
    runtime = watch(hash_key=KEY).runtime
    assert (runtime.recorded("doc-1", row),) == runtime.recorded(("doc-1",), row)
    assert (runtime.recorded("doc-1", row) == "doc-1") is (row.hashed is None)
