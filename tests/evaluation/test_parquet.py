"""Parquet: the same verdicts as the same records in JSON Lines, whole columns at once or row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped] # it ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # it ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry
from rop_otel.errors import InputError
from rop_otel.evaluation.record_explanation import explain_record
from rop_otel.evaluation.record_files import EvaluationOptions, evaluate_files, report_of
from rop_otel.evaluation.string_arrays import Index, Texts
from tests.core.profile.declared import changed, opened
from tests.core.profile.record_lines import KEYS, RETURNED

GOLD = pa.field("gold", pa.list_(pa.string()))
FLAT = pa.schema([("record_id", pa.string()), ("selected", pa.string()), ("ids", pa.list_(pa.string())), GOLD])
LARGE = pa.schema(
    [
        ("record_id", pa.large_string()),
        ("selected", pa.large_string()),
        ("ids", pa.large_list(pa.large_string())),
        ("gold", pa.large_list(pa.large_string())),
    ]
)
CODED = pa.schema(
    [
        ("record_id", pa.string()),
        ("selected", pa.dictionary(pa.int32(), pa.string())),
        ("ids", pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        GOLD,
    ]
)
HITS = pa.schema(
    [
        ("record_id", pa.string()),
        ("selected", pa.string()),
        ("ids", pa.list_(pa.struct([("id", pa.string()), ("score", pa.float64())]))),
    ]
)
ALTERNATIVES = pa.schema(
    [("record_id", pa.string()), ("selected", pa.list_(pa.string())), ("ids", pa.list_(pa.string()))]
)
NUMBERS = pa.schema([("record_id", pa.string()), ("selected", pa.int64()), ("ids", pa.list_(pa.int64()))])

DECLARATIONS = {
    "any": opened(),
    "all": opened(rule="all"),
    "deep": opened(depth=4),
    "traced": opened(trace_field="gold"),
    "traced, soft": opened(trace_field="gold", mode="soft", rule="all", depth=3),
    "soft": opened(mode="soft"),
    "invalid": changed(lambda document: document.update(extra=1)),
}
RECORD_IDS = st.sampled_from(["r1", "r2", "r3", "r4", "", "é"])


def rows(*, plain: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    def perhaps(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return values if plain else st.none() | values

    returned = perhaps(st.lists(perhaps(st.sampled_from(RETURNED)), max_size=5))
    row = st.fixed_dictionaries(
        {
            "record_id": perhaps(RECORD_IDS),
            "selected": perhaps(st.sampled_from(KEYS)),
            "ids": returned,
            "gold": perhaps(st.lists(perhaps(st.sampled_from(KEYS)), max_size=2)),
        }
    )
    return st.lists(row, max_size=8)


def evaluated(declaration: Opened, file: Path, *, fast: bool) -> tuple[Any, list[tuple[Any, ...]]]:
    kept: list[Entry] = []
    tally = evaluate_files(declaration, [str(file)], options=EvaluationOptions(fast=fast), keep=kept.append)
    report = report_of(declaration, tally).as_dict()
    del report["inputs"]
    report["malformed_observations"] = [it["line"] for it in report["malformed_observations"]]
    return report, sorted(entry[:1] + entry[2:] for entry in kept)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parquet")


@pytest.mark.parametrize("name", DECLARATIONS)
@pytest.mark.parametrize("schema", [FLAT, LARGE, CODED], ids=["flat", "large", "coded"])
@given(records=st.booleans().flatmap(lambda plain: rows(plain=plain)))
def test_parquet_is_judged_like_json_lines(folder: Path, name: str, schema: Any, records: list[dict[str, Any]]) -> None:
    """Nulls, empty strings, unknown keys and duplicates included, columns at once and row by row."""
    lines, parquet = folder / "r.jsonl", folder / "r.parquet"
    lines.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(records, schema=schema), parquet)
    expected = evaluated(DECLARATIONS[name], lines, fast=False)
    assert evaluated(DECLARATIONS[name], parquet, fast=False) == expected
    assert evaluated(DECLARATIONS[name], parquet, fast=True) == expected


def written(folder: Path, records: list[dict[str, Any]], schema: Any) -> Path:
    file = folder / "records.parquet"
    pq.write_table(pa.Table.from_pylist(records, schema=schema), file)
    return file


@pytest.mark.parametrize(
    ("schema", "selected", "ids", "field", "verdict"),
    [
        (HITS, "obj-a", [{"id": "x", "score": 1.0}, {"id": "a#1", "score": 0.5}], "ids[].id", "PASS"),
        (HITS, "obj-a", [{"id": None, "score": 1.0}, {"id": "a#1", "score": 0.5}], "ids[].id", "UNVERIFIABLE"),
        (HITS, "obj-a", [None, {"id": "a#1", "score": 0.5}], "ids[].id", "UNVERIFIABLE"),
        (HITS, "obj-a", [{"id": "a#1", "score": 0.5}], "ids[].name", "UNVERIFIABLE"),
        (HITS, "obj-a", [{"id": "a#1", "score": 0.5}], "ids", "UNVERIFIABLE"),
        (ALTERNATIVES, ["obj-b", "obj-a"], ["x", "a#1"], "ids[]", "PASS"),
        (NUMBERS, 7, [1], "ids", "SELECTOR_ERROR"),
        (FLAT, "obj-a", ["a#0"], "other", "UNVERIFIABLE"),
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_columns_of_other_shapes(
    tmp_path: Path, schema: Any, selected: Any, ids: Any, field: str, verdict: str, fast: bool
) -> None:
    """Structs are mapped, lists are alternatives, and what is no string is judged as such."""
    file = written(tmp_path, [{"record_id": "r1", "selected": selected, "ids": ids}], schema)
    _, kept = evaluated(opened(output_field=field), file, fast=fast)
    assert [entry[2] for entry in kept] == [verdict]


@pytest.mark.parametrize("field", ["none", "record_id.x", "ids"])
def test_rows_without_a_record_id_are_malformed(tmp_path: Path, field: str) -> None:
    """A record ID column that is not there, or holds no strings, makes every row malformed."""
    file = written(tmp_path, [{"record_id": "r1", "selected": "obj-a", "ids": ["a#0"]}] * 2, FLAT)
    report, _ = evaluated(opened(record_field=field), file, fast=True)
    assert (report["malformed_observations"], report["observed"]) == ([1, 2], 0)


def test_no_column_that_is_read(tmp_path: Path) -> None:
    """A file with none of the columns has a malformed observation per row."""
    file = written(tmp_path, [{"other": 1}] * 3, pa.schema([("other", pa.int64())]))
    assert evaluated(opened(), file, fast=True)[0]["malformed_observations"] == [1, 2, 3]


NESTED_GOLD = pa.schema([*FLAT][:3]).append(
    pa.field("gold", pa.struct([("hits", pa.list_(pa.struct([("id", pa.string()), ("at", pa.timestamp("ns"))])))]))
)


@pytest.mark.parametrize(
    ("schema", "gold", "field", "agreement"),
    [
        (FLAT, ["obj-b", "obj-a"], "gold[]", "same"),
        (FLAT.set(3, pa.field("gold", pa.string())), "obj-b", "gold", "different"),
        (FLAT.set(3, pa.field("gold", pa.string())), None, "gold", "no_trace"),
        (FLAT.set(3, pa.field("gold", pa.int64())), 7, "gold", "no_trace"),
        (NESTED_GOLD, {"hits": [{"id": "obj-a", "at": 1}]}, "gold.hits[].id", "same"),
        (NESTED_GOLD, {"hits": [{"id": None, "at": 1}]}, "gold.hits[].id", "no_trace"),
        (NESTED_GOLD, None, "gold.hits[].id", "no_trace"),
        (FLAT, ["nobody"], "gold", "unresolvable"),
        (FLAT, ["obj-a"], "none", "no_trace"),
        (FLAT, ["obj-b"], "ids", "same"),
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_judged_objects_of_other_shapes(
    tmp_path: Path, schema: Any, gold: Any, field: str, agreement: str, fast: bool
) -> None:
    """One key or a list, nested or not there: read as from a line."""
    rows = [{"record_id": name, "selected": "obj-a", "ids": ["x", "a#0"][1:], "gold": gold} for name in ("r1", "r2")]
    file = written(tmp_path, rows, schema)
    report, kept = evaluated(opened(trace_field=field), file, fast=fast)
    assert [entry[6] for entry in kept] == [agreement] * 2
    assert report["joint"]["agreement"][agreement] == 2


@pytest.mark.parametrize("fast", [True, False])
def test_invalid_utf8_is_malformed(tmp_path: Path, fast: bool) -> None:
    """A row whose strings are no UTF-8 is malformed; the rows beside it are judged."""
    returned = pa.array([[b"a#0"], [b"a#0", b"\xff"]], type=pa.list_(pa.binary())).cast(pa.list_(pa.binary()))
    broken = pa.Array.from_buffers(pa.string(), 3, returned.values.buffers())
    lists = pa.ListArray.from_arrays(returned.offsets, broken)
    table = pa.table({"record_id": ["r1", "r2"], "selected": ["obj-a", "obj-a"], "ids": lists})
    pq.write_table(table, tmp_path / "r.parquet")
    report, kept = evaluated(opened(), tmp_path / "r.parquet", fast=fast)
    assert report["malformed_observations"] == [2]
    assert [entry[2] for entry in kept] == ["PASS"]
    good = [["a#0"], ["a#0"]]
    pq.write_table(
        pa.table({"record_id": ["r1", "r2"], "selected": ["obj-a"] * 2, "ids": good, "gold": lists}),
        tmp_path / "gold.parquet",
    )
    report, kept = evaluated(opened(trace_field="gold"), tmp_path / "gold.parquet", fast=fast)
    assert report["malformed_observations"] == [2]
    assert [entry[6] for entry in kept] == ["same"]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"no parquet at all"])
def test_what_is_no_parquet_is_an_error(tmp_path: Path, data: bytes) -> None:
    """A damaged or empty file is a usage error that names it."""
    (tmp_path / "r.parquet").write_bytes(data)
    with pytest.raises(InputError, match=r"r\.parquet: cannot be read as Parquet"):
        evaluate_files(opened(), [str(tmp_path / "r.parquet")])


@given(st.sets(st.text(max_size=30)), st.lists(st.text(max_size=30)))
def test_an_index_finds_what_is_there(known: set[str], asked: list[str]) -> None:
    """Look-ups over whole columns are exact, whatever the strings share."""
    known = {text.encode("utf-8", "ignore").decode() for text in known}
    asked = [text.encode("utf-8", "ignore").decode() for text in (*asked, *known)]
    names = sorted(known)
    places = {name: place for place, name in enumerate(names)}
    found = Index(Texts.of(names)).find(Texts.of(asked))
    assert found.tolist() == [places.get(text, -1) for text in asked]


@given(st.lists(st.text("ab", min_size=7, max_size=20), min_size=1), st.data())
def test_strings_are_compared_whole(texts: list[str], data: st.DataObject) -> None:
    """Equal ends, equal beginnings and equal lengths do not make strings equal."""
    others = data.draw(st.permutations(texts))
    laid, other = Texts.of(texts), Texts.of(others)
    places = Index(Texts.of(["x"])).find(laid) * 0
    numbers = places + range(len(texts))
    assert laid.equal(numbers, other, numbers).tolist() == [one == two for one, two in zip(texts, others, strict=True)]


TIMED = pa.struct([("id", pa.string()), ("at", pa.timestamp("ns")), ("day", pa.date32())])


@pytest.mark.parametrize("fast", [True, False])
def test_dates_that_python_has_no_room_for(tmp_path: Path, fast: bool) -> None:
    """Times beside the IDs, or in their place, stop no run, whatever they are."""
    hits = pa.array([[{"id": "a#0", "at": 2**62 + 1, "day": 2**31 - 1}]] * 3, pa.list_(TIMED))
    table = pa.table({"record_id": ["r1", "r2", "r3"], "selected": ["obj-a", "unknown", "obj-b"], "ids": hits})
    pq.write_table(table, tmp_path / "r.parquet")
    _, kept = evaluated(opened(output_field="ids[].id"), tmp_path / "r.parquet", fast=fast)
    assert [entry[2] for entry in kept] == ["PASS", "RESOLUTION_ERROR", "FAIL"]
    _, kept = evaluated(opened(output_field="ids[].at"), tmp_path / "r.parquet", fast=fast)
    assert [entry[2] for entry in kept] == ["UNVERIFIABLE", "RESOLUTION_ERROR", "UNVERIFIABLE"]


def test_a_row_is_explained_whatever_stands_beside_it(tmp_path: Path) -> None:
    """Columns that are not read, and rows of invalid UTF-8, are no reason to explain nothing."""
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"obj-a", b"\xff"]).buffers())
    table = pa.table(
        {
            "record_id": ["r1", "r2"],
            "selected": broken,
            "ids": [["a#0"], ["a#0"]],
            "logged": pa.array([2**60 + 1] * 2, pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "r.parquet")
    (found,) = explain_record(opened(), [str(tmp_path / "r.parquet")], "r1")
    assert (found.line, found.explanation.as_dict()["verdict"]) == (1, "PASS")
