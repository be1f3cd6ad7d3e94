"""Opening declarations: every fault, by code and place, in document order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rop_otel.core.profile.canonical import canonical_sha256
from rop_otel.core.profile.declaration_faults import CODES
from rop_otel.core.profile.sealing import DECLARATION_FILE, seal
from rop_otel.core.profile.validation import open_declaration
from tests.core.profile.declared import DECISIONS, INVERSE, RESOLVER, changed, files, opened, reader, valid

Document = dict[str, Any]


def put(path: str, value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            document = document[parent]
        document[name] = value

    return change


def drop(path: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            document = document[parent]
        del document[name]

    return change


def codes(document: Any) -> list[tuple[str, str]]:
    return [(fault.code, fault.path) for fault in document.faults]


@pytest.mark.parametrize("mode", ["hard", "soft", "open"])
@pytest.mark.parametrize("inverse", [None, INVERSE])
def test_a_sealed_declaration_is_valid(mode: str, inverse: dict[str, str] | None) -> None:
    """What is sealed opens without a fault, in every mode and with both forms of target."""
    folder = files(mode=mode, inverse=inverse)
    found = open_declaration(folder[DECLARATION_FILE], reader(folder))
    assert (found.faults, found.mode, found.declaration_id) == ((), mode, "made-up")
    assert found.manifest_sha256 == hashlib.sha256(folder[DECLARATION_FILE]).hexdigest()
    assert found.declaration is not None
    declaration = found.declaration
    assert (declaration.mode, declaration.declaration_id) == (mode, "made-up")
    assert declaration.manifest_sha256 == found.manifest_sha256


@pytest.mark.parametrize("mode", ["soft", "open"])
def test_only_hard_mode_needs_a_population(mode: str) -> None:
    """Without a population soft and open declarations are valid, and records carry ``record_id``."""
    found = opened(mode=mode, population=None)
    assert (found.faults, found.record_field.text) == ((), "record_id")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("mode", None), [("not_allowed", "mode")]),
        (put("mode", "firm"), [("not_allowed", "mode"), ("mode_mismatch", "mode")]),
        (put("rop_version", "rop/v2"), [("not_allowed", "rop_version")]),
        (drop("declaration_id"), [("missing_field", "declaration_id")]),
        (put("declaration_id", ""), [("empty_string", "declaration_id")]),
        (put("declaration_id", 7), [("wrong_type", "declaration_id")]),
        (put("extra", 1), [("unknown_field", "extra")]),
        (put("sheet.policy.extra", 1), [("unknown_field", "sheet.policy.extra")]),
        (put("sheet.policy.authority", None), [("wrong_type", "sheet.policy.authority")]),
        (put("sheet.output.cutoff", 0), [("out_of_range", "sheet.output.cutoff")]),
        (put("sheet.output.cutoff", True), [("wrong_type", "sheet.output.cutoff")]),
        (put("sheet.output.cutoff", 3.5), [("wrong_type", "sheet.output.cutoff")]),
        (put("sheet.output.rule", "most"), [("not_allowed", "sheet.output.rule")]),
        (put("sheet.output.field", "a[].b[]"), [("malformed_path", "sheet.output.field")]),
        (put("sheet.target.form", "guess"), [("not_allowed", "sheet.target.form")]),
        (drop("sheet.target.form"), [("missing_field", "sheet.target.form")]),
        (put("interface.version", "v2"), [("interface_mismatch", "interface.version")]),
        (put("component", "other"), [("component_mismatch", "component")]),
        (put("policy_revision", "2"), [("policy_revision_mismatch", "policy_revision")]),
        (put("sheet.output.component", "other"), [("output_component_mismatch", "sheet.output.component")]),
        (
            put("sheet.interface.requires_selected_return", False),
            [("requirement_mismatch", "sheet.interface.requires_selected_return")],
        ),
        (drop("sheet.population"), [("population_required", "sheet.population")]),
        (put("sheet.population", None), [("wrong_type", "sheet.population")]),
        (put("sheet", []), [("wrong_type", "sheet")]),
        (put("sheet.population.fixed_before_output", False), [("not_allowed", "sheet.population.fixed_before_output")]),
        (put("sheet.population.fixed_before_output", 1), [("wrong_type", "sheet.population.fixed_before_output")]),
        (put("sheet.population.count", 4), [("population_count_mismatch", "sheet.population.count")]),
        (put("sheet.resolver.version", "8"), [("resolver_version_mismatch", "sheet.resolver.version")]),
        (put("sheet.resolver.bytes", 1), [("file_size_mismatch", "sheet.resolver.bytes")]),
        (put("sheet.resolver.sha256", "0" * 64), [("file_hash_mismatch", "sheet.resolver.sha256")]),
        (
            put("sheet.resolver.sha256", "A" * 64),
            [("not_sha256", "sheet.resolver.sha256"), ("file_hash_mismatch", "sheet.resolver.sha256")],
        ),
        (put("sheet.resolver.path", "../resolver.json"), [("file_name", "sheet.resolver.path")]),
        (put("sheet.resolver.path", "/resolver.json"), [("file_name", "sheet.resolver.path")]),
        (put("sheet.resolver.path", "resolver.json/"), [("file_name", "sheet.resolver.path")]),
        (put("sheet.resolver.path", "a\\resolver.json"), [("file_name", "sheet.resolver.path")]),
        (put("sheet.resolver.path", "resolver.json\0"), [("file_name", "sheet.resolver.path")]),
        (put("sheet.resolver.path", "other.json"), [("file_missing", "sheet.resolver.path")]),
    ],
)
def test_a_fault_is_named(change: Callable[[Document], None], expected: list[tuple[str, str]]) -> None:
    """Each kind of fault has its code and its place, and makes the declaration invalid."""
    found = changed(change)
    assert codes(found) == expected
    assert found.declaration is None


SPOILT = {"inverse.json": b'{"v":"obj-a","w":"obj-a","x":"obj-x","y":1}', "resolver.json": b"{}"}
LONG, CUT = "x" * 78, "x" * 79


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("sheet.policy.mode"), "sheet.policy.mode: field required"),
        (put("extra", 1), "extra: extra inputs are not permitted"),
        (put("declaration_id", 7), "declaration_id: input should be a valid string, not 7"),
        (put("sheet.output.cutoff", 0), "sheet.output.cutoff: input should be greater than or equal to 1, not 0"),
        (put("rop_version", LONG), f"rop_version: input should be 'rop/v1', not {LONG!r}"),
        (put("rop_version", CUT), f"rop_version: input should be 'rop/v1', not '{CUT[:76]}..."),
        (put("rop_version", None), "rop_version: input should be 'rop/v1', not None"),
        (put("rop_version", [1]), "rop_version: input should be 'rop/v1', not list"),
        (put("sheet.target.field", ""), "sheet.target.field: string should have at least 1 character, not ''"),
        (put("sheet.target.field", "a."), "sheet.target.field: 'a.' is no path: '' is empty or holds a bracket"),
        (
            put("sheet.resolver.path", "/r"),
            "sheet.resolver.path: '/r' is not relative to the declaration's folder, with / only and no ..",
        ),
        (
            put("sheet.population.fixed_before_output", 1),
            "sheet.population.fixed_before_output: input should be a valid boolean, not 1",
        ),
        (put("component", "x"), "component is 'x', sheet.component is 'ranker'; they must be equal"),
        (
            put("sheet.interface.requires_selected_return", False),
            "sheet.interface.requires_selected_return is false in hard mode; hard mode holds exactly when it is true",
        ),
        (
            drop("sheet.population"),
            "hard mode needs sheet.population, the complete list of expected record IDs",
        ),
        (put("sheet.population.count", 4), "the population holds 3 record IDs, declared are 4"),
        (put("sheet.resolver.version", "8"), "the resolver's version is 'corpus-7', declared is '8'"),
        (put("sheet.resolver.path", "none.json"), "there is no file 'none.json'"),
    ],
)
def test_a_fault_says_what_is_wrong(change: Callable[[Document], None], message: str) -> None:
    """The message names the place and, of a value that should be another, the value, cut where it is long."""
    assert message in [fault.message for fault in changed(change).faults]


def test_a_file_s_fault_says_what_is_wrong() -> None:
    """Size and hash are told as found and as declared, and every fault of what the file holds is told."""
    folder = files(inverse=INVERSE)
    sheet = json.loads(folder[DECLARATION_FILE])["sheet"]
    found = open_declaration(folder[DECLARATION_FILE], reader(folder | SPOILT | {"population.txt": b"b\na\n"}))
    digest = hashlib.sha256(b"{}").hexdigest()
    assert {
        "'resolver.json': the resolver's field 'objects' must be a JSON object, not None",
        f"'resolver.json' holds 2 bytes, declared are {sheet['resolver']['bytes']}",
        f"the SHA-256 of 'resolver.json' is {digest}, declared is {sheet['resolver']['sha256']!r}",
        "'population.txt': line 2: 'a' stands after 'b'; record IDs are sorted by code point",
        "witnesses 'v' and 'w' both decode to 'obj-a'",
        "witness 'y' must decode to a non-empty string, not 1",
    } <= {fault.message for fault in found.faults}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[", "the inverse map: invalid JSON: Expecting value (line 1, column 2)"),
        (b"[]", "the inverse map must be a JSON object"),
        (SPOILT["inverse.json"], "witness 'x' decodes to 'obj-x', which the resolver does not know"),
    ],
)
def test_an_inverse_map_s_fault_says_what_is_wrong(data: bytes, message: str) -> None:
    """The message names the witness and what it decodes to."""
    folder = files(inverse=INVERSE) | {"inverse.json": data}
    assert message in [fault.message for fault in open_declaration(folder[DECLARATION_FILE], reader(folder)).faults]


@pytest.mark.parametrize("mode", ["soft", "open"])
def test_only_hard_mode_requires_the_selected_return(mode: str) -> None:
    """The requirement in any other mode is a fault; the sheet's mode decides, the envelope's where it has none."""
    required = "sheet.interface.requires_selected_return"
    assert codes(changed(put(required, True), found=files(mode=mode))) == [("requirement_mismatch", required)]
    folder = files()
    for change, fault in (
        (put("mode", mode), ("mode_mismatch", "mode")),
        (drop("sheet.policy.mode"), ("missing_field", "sheet.policy.mode")),
    ):
        assert codes(changed(change, found=folder)) == [fault]

    def without(document: Document) -> None:
        del document["sheet"]["policy"]["mode"]
        document["sheet"]["interface"]["requires_selected_return"] = False

    assert ("requirement_mismatch", required) in codes(changed(without))


@pytest.mark.parametrize(("value", "wrong"), [(3.0, []), (2**53, [("out_of_range", "sheet.output.cutoff")])])
def test_integers_are_those_of_json_schema(value: float, wrong: list[tuple[str, str]]) -> None:
    """3.0 is 3, and nothing past 2^53 - 1 is read."""

    def change(document: Document) -> None:
        document["sheet"]["output"]["cutoff"] = 3.0 if wrong else value

    found = changed(change) if not wrong else changed(put("sheet.output.cutoff", value), reseal=False)
    assert [each for each in codes(found) if each[0] != "sheet_hash_mismatch"] == wrong


def test_a_sheet_changed_after_sealing_is_noticed() -> None:
    """The seal covers every byte of meaning in the sheet, the prompt too."""
    [fault] = changed(put("sheet.prompt", "x"), reseal=False).faults
    sheet = json.loads(files()[DECLARATION_FILE])["sheet"]
    found, sealed = canonical_sha256(sheet | {"prompt": "x"}), canonical_sha256(sheet)
    assert (fault.code, fault.path) == ("sheet_hash_mismatch", "sheet_sha256")
    assert fault.message == f"the sheet's canonical SHA-256 is {found}, sheet_sha256 is {sealed!r}"


def test_the_seal_is_over_meaning() -> None:
    """Key order, white space and 3.0 for 3 are the same sheet."""

    def change(document: Document) -> None:
        document["sheet"] = dict(reversed(document["sheet"].items()))
        document["sheet"]["output"]["cutoff"] = 3.0

    assert codes(changed(change, reseal=False)) == []


def test_all_faults_are_reported_in_document_order() -> None:
    """Faults of fields, relations and files stand in document order, absent fields where their parent ends."""

    def change(document: Document) -> None:
        document["rop_version"] = 1
        document["component"] = "x"
        del document["sheet"]["interface"]["name"]
        document["sheet"]["output"]["cutoff"] = 0
        document["sheet"]["resolver"]["version"] = "9"
        document["sheet"]["population"]["count"] = 9
        document["zzz"] = 1

    assert codes(changed(change)) == [
        ("not_allowed", "rop_version"),
        ("component_mismatch", "component"),
        ("missing_field", "sheet.interface.name"),
        ("out_of_range", "sheet.output.cutoff"),
        ("resolver_version_mismatch", "sheet.resolver.version"),
        ("population_count_mismatch", "sheet.population.count"),
        ("unknown_field", "zzz"),
    ]


def test_a_file_s_fault_stands_before_that_of_a_later_field() -> None:
    """Document order is that of places, whatever is checked first."""

    def change(document: Document) -> None:
        document["sheet"]["resolver"]["bytes"] = 1
        document["sheet"]["population"]["field"] = ""

    assert codes(changed(change)) == [
        ("file_size_mismatch", "sheet.resolver.bytes"),
        ("empty_string", "sheet.population.field"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("resolver.json", b"{}", "resolver_invalid"),
        ("resolver.json", b"[" * 100_000, "resolver_invalid"),
        ("population.txt", b"b\na\n", "population_invalid"),
        ("inverse.json", b"[]", "inverse_map_invalid"),
        ("inverse.json", b'{"w":1}', "inverse_map_invalid"),
        ("inverse.json", b'{"w":""}', "inverse_map_invalid"),
        ("inverse.json", b'{"w":"obj-a","w":"obj-b"}', "inverse_map_invalid"),
        ("inverse.json", b'{"v":"obj-a","w":"obj-a"}', "inverse_map_not_injective"),
        ("inverse.json", b'{"w":"obj-x"}', "inverse_map_unresolvable"),
    ],
)
def test_the_files_are_validated(name: str, data: bytes, code: str) -> None:
    """What a file holds is checked even where its hash is wrong as well."""
    folder = files(inverse=INVERSE) | {name: data}
    found = open_declaration(folder[DECLARATION_FILE], reader(folder))
    assert {code, "file_hash_mismatch"} <= {fault.code for fault in found.faults} <= CODES.keys()


@pytest.mark.parametrize("population", [("r1", "r2"), None])
def test_a_witness_is_bound_as_the_contract_says(population: tuple[str, ...] | None) -> None:
    """Its hash covers declaration, population, inverse map, record, witness and key; no population is an empty text."""
    folder = files(inverse=INVERSE, mode="open", population=population)
    found = open_declaration(folder[DECLARATION_FILE], reader(folder)).declaration
    assert found is not None
    assert found.witness is not None
    assert (found.witness.hash_field.text, found.witness.keys) == ("hash", INVERSE)
    bound = {
        "binding_profile": "rop-witness/v1",
        "declaration_id": "made-up",
        "manifest_sha256": hashlib.sha256(folder[DECLARATION_FILE]).hexdigest(),
        "population_sha256": hashlib.sha256(folder["population.txt"]).hexdigest() if population else "",
        "record_id": "r1",
        "witness": "w-2",
        "selection": "obj-b",
        "inverse_map_sha256": hashlib.sha256(folder["inverse.json"]).hexdigest(),
    }
    canonical = json.dumps(bound, sort_keys=True, separators=(",", ":")).encode()
    assert (
        found.witness.binding.sha256(record_id="r1", witness="w-2", selection="obj-b")
        == hashlib.sha256(canonical).hexdigest()
    )


@pytest.mark.parametrize(("name", "fault"), [("resolver.jsonl", []), ("resolver.json", ["resolver_invalid"])])
def test_a_resolver_is_read_as_its_name_says(name: str, fault: list[str]) -> None:
    """JSON Lines where the name ends with .jsonl, one document otherwise."""
    lines = b'{"resolver_version":"corpus-7"}\n{"object_id":"obj-a","members":["a#0"]}\n'
    folder = seal(DECISIONS, resolver=RESOLVER, resolver_file=(name, lines), population=b"r1\n")
    assert [each.code for each in open_declaration(folder[DECLARATION_FILE], reader(folder)).faults] == fault


def test_two_keys_of_one_object_are_fine() -> None:
    """Witnesses must decode to distinct keys, not to distinct objects."""
    assert valid(inverse={"w-1": "/wiki/A", "w-2": "obj-a"}).witness is not None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xef\xbb\xbf{}",
        b"{",
        b"[]",
        b"null",
        b'{"a":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"sheet":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_what_is_no_i_json_has_one_fault(data: bytes) -> None:
    """A document that cannot be read is one fault, and nothing else about it is known."""
    found = open_declaration(data, reader({}))
    assert [(fault.code, fault.path) for fault in found.faults] == [("not_ijson", "")]
    assert found.faults[0].message.startswith("the declaration")
    assert (found.declaration_id, found.mode, found.record_field.text) == (None, None, "record_id")


def test_numbers_of_any_size_are_read() -> None:
    """A number past every range is out of range, not a crash."""
    data = files()[DECLARATION_FILE].replace(b'"cutoff": 3', b'"cutoff": ' + b"9" * 5000)
    found = open_declaration(data, reader(files()))
    assert {("sheet.output.cutoff"), "sheet_sha256"} == {fault.path for fault in found.faults}


def test_an_invalid_declaration_tells_what_can_be_read() -> None:
    """Its name, mode and record field are given where they are strings."""

    def change(document: Document) -> None:
        document["mode"] = "firm"
        document["sheet"]["population"]["field"] = "meta.id"
        document["declaration_id"] = 7

    found = changed(change)
    assert (found.declaration_id, found.mode, found.record_field.text) == (None, "firm", "meta.id")
    assert changed(put("sheet.population.field", "meta..id")).record_field.text == "record_id"


def test_every_code_is_described() -> None:
    """The table of codes has one sentence each."""
    assert all(text.endswith((".", "…")) for text in CODES.values())
    assert json.dumps(dict(CODES))


def test_the_documented_codes_are_these() -> None:
    """The table in the documentation has every code with its meaning, and no other."""
    text = (Path(__file__).resolve().parents[3] / "docs" / "rop-errors.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{code}` | {meaning} |" for code, meaning in CODES.items()]
