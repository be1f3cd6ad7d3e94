"""The text of a test that fails as a handoff did, to copy into a test suite."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rop_otel.core.escapes import printable
from rop_otel.core.handoff import Assessment, HandoffRecord, StageRecord
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.order import in_order_of_ends
from rop_otel.core.handoff.record import HANDOFF_FACTS, STAGE_FACTS
from rop_otel.core.profile import Resolver

Parts = list[str | Sequence[Any]]
"""A text in parts; a list of values stands for how Python writes it."""

_NAME: Final = re.compile(r"[^a-z0-9]+", re.ASCII)
_LONGEST_NAME: Final = 40
_LONGEST_SENTENCE: Final = 200
_LAST_OF_16_BITS: Final = "\uffff"
"""JSON and Python escape alike up to this character."""

_OF_RESOLVER: Final = "resolver_sha256"


def copied_test(record: HandoffRecord, assessment: Assessment, resolver: Resolver | None) -> Parts:
    """Return the text of a pytest function, with its imports.

    It passes where the handoff passes, and fails where that lost its selection, is undecided or has a finding of
    severity error, with the same verdict, loss and findings.

    Args:
        record: The handoff, its terms as they are in force.
        assessment: What was concluded about it.
        resolver: The resolver in force, of which what matters here is written; None: an ID stands for itself.
    """
    stages, parents = in_order_of_ends(record.stages)
    needed = None if resolver is None else _objects(record, resolver)
    sentence = printable(str(assessment))[:_LONGEST_SENTENCE].encode("ascii", "backslashreplace").decode()
    text: Parts = [
        "import rop_otel as rop\n" if needed is not None else "",
        "from rop_otel import testing\n\n\n",
        f"def test_{_slug(record.record_id or record.name)}():\n",
        f"    # {sentence}\n",
        "    # These are the recorded lists. To test your code instead, run it inside of testing.capture().\n",
        f"    captured = testing.recorded(\n        {_literal(record.name)},\n",
    ]
    timed = any(stage.foreign for stage in record.stages)
    moments = _moments(record) if timed else {}
    for stage, parent in zip(stages, parents or [None] * len(stages), strict=True):
        text += _stage(record, stage, parent, moments)
    text += _facts(record, HANDOFF_FACTS, without=("name", *(() if resolver is None else (_OF_RESOLVER,))), deep=8)
    if record.failed:
        text.append("        failed=True,\n")
    if timed:
        text.append(f"        start_ns={moments[record.start_ns]},\n        end_ns={moments[record.end_ns]},\n")
    if needed is not None:
        text += _resolver(needed)
    text.append("    )\n    testing.assert_healthy(captured)\n")
    return _joined(text)


def text_of(parts: Parts) -> str:
    """Return a text in parts as one."""
    return "".join(part if isinstance(part, str) else f"[{', '.join(map(_literal, part))}]" for part in parts)


def _slug(name: str) -> str:
    return _NAME.sub("_", name.lower()).strip("_")[:_LONGEST_NAME].strip("_") or "handoff"


def _stage(record: HandoffRecord, stage: StageRecord, parent: int | None, moments: dict[int, int]) -> Iterator[Any]:
    yield f"        testing.recorded_stage(\n            {_literal(stage.kind)},\n"
    if parent is not None:
        yield f"            parent={parent + 1},\n"
    if stage.end_ns is None or (stage.end_ns > record.end_ns and not moments):
        yield "            late=True,\n"
    if stage.failed:
        yield "            failed=True,\n"
    if moments:
        yield f"            start_ns={moments[stage.start_ns]},\n"
        if stage.end_ns is not None:
            yield f"            end_ns={moments[stage.end_ns]},\n"
    yield from _facts(stage, STAGE_FACTS, without=("kind",), deep=12)
    yield "        ),\n"


def _facts(
    record: HandoffRecord | StageRecord, facts: Iterable[Fact], *, without: Sequence[str], deep: int
) -> Iterator[Any]:
    for each in facts:
        value = getattr(record, each.field)
        if each.field not in without and value != each.default:
            yield f"{' ' * deep}{each.field}="
            yield value if isinstance(value, tuple) else _literal(value)
            yield ",\n"


def _moments(record: HandoffRecord) -> dict[int, int]:
    """Return the moments of a handoff as numbers from 1, in their order."""
    moments = {record.start_ns, record.end_ns}
    for stage in record.stages:
        moments |= {stage.start_ns} if stage.end_ns is None else {stage.start_ns, stage.end_ns}
    return {moment: number for number, moment in enumerate(sorted(moments), 1)}


def _objects(record: HandoffRecord, resolver: Resolver) -> dict[str, tuple[list[str], list[str]]]:
    """Return the members and aliases of the objects that matter: of those with one ID here only what was asked for."""
    asked = {*(record.selected or ()), *(record.judged or ())}
    used = dict.fromkeys(asked)
    for stage in record.stages:
        used.update(dict.fromkeys((*(stage.returned or ()), *(stage.input or ()))))
    here: dict[str, list[str]] = {}
    for raw in used:
        owner = resolver.resolve(raw)
        if owner is not None:
            here.setdefault(owner, []).append(raw)
    objects: dict[str, tuple[list[str], list[str]]] = {}
    for owner in sorted(here):
        raws = set(here[owner])
        if len(raws) < 2 and not raws & asked:
            continue
        whole = record.rule == "all" and bool(raws & asked)
        members = [each for each in resolver.members(owner) if whole or each in raws] or [resolver.members(owner)[0]]
        objects[owner] = (members, [each for each in resolver.aliases(owner) if each in raws])
    return objects


def _resolver(objects: dict[str, tuple[list[str], list[str]]]) -> Iterator[Any]:
    yield "        resolver=rop.Resolver(\n            {"
    for owner, (members, _) in objects.items():
        yield f"\n                {_literal(owner)}: "
        yield members
        yield ","
    yield "\n            },\n            aliases={" if objects else "},\n            aliases={"
    for owner, (_, aliases) in objects.items():
        if aliases:
            yield f"{_literal(owner)}: "
            yield aliases
            yield ", "
    yield "},\n        ),\n"


def _literal(value: object) -> str:
    """Return a value as Python writes it, in ASCII."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str) and max(value, default="") <= _LAST_OF_16_BITS:
        return json.dumps(value)
    return ascii(value)


def _joined(parts: Iterable[Any]) -> Parts:
    """Return the parts with texts next to each other joined."""
    joined: Parts = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined
