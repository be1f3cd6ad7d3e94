"""What must not change a report, whatever the spans."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rop_otel import semconv
from rop_otel.replay import replay, replay_files
from rop_otel.spans import Span
from rop_otel.spans.otlp_writer import write
from tests.spans.trace import span

TRACES = ["ab" * 16, "cd" * 16]
SMALL = st.integers(1, 9)
IDS = st.lists(st.sampled_from("abcd"), max_size=4)
HANDOFF_IDS = st.sampled_from(["h1", "h2"])
STAGES = st.fixed_dictionaries(
    {
        semconv.STAGE: st.sampled_from(["vector", "lexical", "fusion", "rerank", "packing", "rescue", "reader", "own"]),
        semconv.RETURNED_IDS: IDS,
    },
    optional={
        semconv.HANDOFF_ID: HANDOFF_IDS,
        semconv.RETURNED_COUNT: SMALL,
        semconv.INPUT_IDS: IDS,
        semconv.ROUND: st.integers(1, 2),
        semconv.CONTEXT_LABELS: st.lists(st.sampled_from(["S1", "S2"]), max_size=4),
        semconv.ANSWER_CITATIONS: st.lists(st.sampled_from(["S1", "S2"]), max_size=2),
    },
)
HANDOFFS = st.fixed_dictionaries(
    {semconv.HANDOFF_NAME: st.just("qa")},
    optional={
        semconv.HANDOFF_ID: HANDOFF_IDS,
        semconv.SELECTED_IDS: IDS,
        semconv.JUDGED_IDS: IDS,
        semconv.CUTOFF: SMALL,
    },
)
FOREIGN = st.dictionaries(st.sampled_from(["http.method", "rop.unknown"]), st.text("ab", max_size=2), max_size=1)
SPANS = st.builds(
    lambda number, trace, parent, end, attributes, service: span(
        number, parent=parent, trace=trace, end_ns=end, attributes=attributes, service=service
    ),
    SMALL,
    st.sampled_from(TRACES),
    st.none() | SMALL,
    SMALL,
    st.one_of(STAGES, HANDOFFS, FOREIGN),
    st.sampled_from([None, "app", "search"]),
)
# One span per ID: which of two different ones counts is a matter of its own.
TRACE_SETS = st.lists(SPANS, max_size=12, unique_by=lambda made: (made.trace_id, made.span_id))


@given(st.data(), TRACE_SETS)
def test_order_changes_nothing(data: st.DataObject, spans: list[Span]) -> None:
    """Spans in any order, and spans sent again, give the same report."""
    expected = replay(spans).as_dict()
    assert replay(data.draw(st.permutations(spans))).as_dict() == expected
    again = data.draw(st.lists(st.sampled_from(spans), max_size=3)) if spans else []
    assert replay([*spans, *again]).as_dict() == expected


@given(TRACE_SETS, st.lists(st.builds(replace, SPANS, attributes=FOREIGN, trace_id=st.just("ef" * 16)), max_size=4))
def test_unrelated_spans_change_nothing(spans: list[Span], unrelated: list[Span]) -> None:
    """Spans of other traces that are not ours change nothing."""
    assert replay([*unrelated, *spans, *unrelated]).as_dict() == replay(spans).as_dict()


@given(st.data(), TRACE_SETS)
def test_spans_in_between_change_nothing(data: st.DataObject, spans: list[Span]) -> None:
    """A span that is not ours between a span and its parent changes nothing."""
    expected = replay(spans).as_dict()
    if spans:
        below = data.draw(st.sampled_from(spans))
        link = replace(below, span_id="f" * 16, attributes={})
        assert (
            replay([*(replace(one, parent_id="f" * 16) if one is below else one for one in spans), link]).as_dict()
            == expected
        )


@given(st.data(), TRACE_SETS)
def test_files_change_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, spans: list[Span]) -> None:
    """The same spans in one file or several, in one request or several, packed or not, give the same report."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(spans)), max_size=3)))
    folder = tmp_path_factory.mktemp("files")
    files = [str(_written(folder, spans[start:end])) for start, end in pairwise([0, *cuts, len(spans)])]
    assert replay_files(files).as_dict() == replay(spans).as_dict()


def _written(folder: Path, spans: list[Span]) -> Path:
    number = len(list(folder.iterdir()))
    stream = io.BytesIO()
    for one in spans[: number % 2]:
        write([one], stream)
    write(spans[number % 2 :], stream)
    file = folder / f"{number}.json"
    plain = stream.getvalue()
    file.write_bytes([plain, gzip.compress(plain), zstandard.compress(plain)][number % 3])
    return file
