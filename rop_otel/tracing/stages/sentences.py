"""What the log says where a stage gives something that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from rop_otel.tracing.results.result_reader import is_list

OUTSIDE: Final = (
    "it ran outside of any handoff, so that nothing says what became of its documents; write"
    " `with rop.handoff(name, selected=...):` around all that is done for one question, and run threads by"
    " carry_context"
)
SAY_INPUT: Final = "input_arg= may be a callable that gives the list"
SAY_WHERE: Final = "say where they are with id=, or with id_keys= of an instrumentation package"
TEXT: Final = (
    "text where IDs are looked for, and nothing of it is recorded; give IDs, or documents that carry one, or say where"
    " it is with id=; what returns no documents is no stage, and what finds IDs of several words is a source"
    " (source=True); max_id_length and max_id_words say how long an ID may be"
)


def described(value: object) -> str:
    """Name a value's type, and those of its first elements; never the value, which may be text."""
    if type(value) in (list, tuple) and value:
        kinds = dict.fromkeys(type(each).__name__ for each in cast("Sequence[object]", value)[:3])
        return f"a {type(value).__name__} of {' and '.join(kinds)}"
    return f"a {type(value).__name__}"


def without_ids(results: object) -> str:
    """Say that no ID can be read in what a stage returned."""
    if is_list(results):
        return f"no ID can be read in {described(results)}; {SAY_WHERE}"
    return f"{described(results)} is no list of documents; report the list with running_stage.returned(...)"
