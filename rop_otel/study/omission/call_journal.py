"""Calls kept on disk as they end, so that a study that was stopped asks only what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from rop_otel.errors import InputError
from rop_otel.safety.files import input_errors
from rop_otel.safety.json_lines import read_objects
from rop_otel.study.importing.written_files import json_document, write_file
from rop_otel.study.omission.reader_calls import Call, Outcome
from rop_otel.study.ranking_file import json_line

PLAN: Final = "plan.json"
CALLS: Final = "calls.jsonl"
Key = tuple[str, str, str, int]


class Journal:
    """The calls of one study, in a folder; used as a context manager.

    Args:
        folder: Where ``plan.json`` and ``calls.jsonl`` are, made where it is missing.
        plan: What decides every call: a folder of another plan is not continued.

    Raises:
        InputError: The folder holds another study, or cannot be used.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self._file = folder / CALLS
        _keep_plan(folder / PLAN, plan)
        with input_errors(str(self._file)):
            self._stream: IO[bytes] = open(self._file, "ab+")  # noqa: SIM115 # closed by __exit__
            _drop_partial_line(self._stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()

    def kept(self, calls: Iterable[Call]) -> dict[Key, Outcome]:
        """Return the outcomes of the given calls, as far as they have one; the last of several counts.

        Raises:
            InputError: A line is none of ours, or belongs to a call that is not planned, or that was asked otherwise.
        """
        planned = {call.key: call for call in calls}
        found: dict[Key, Outcome] = {}
        for line, row in read_objects(self._file):
            call = planned.get(_key(row))
            outcome = _outcome(row)
            if call is None or outcome is None:
                raise InputError("is no call of this study", file=str(self._file), line=line)
            if row.get("prompt_sha256") != call.prompt_sha256:
                raise InputError("the reader was asked something else then", file=str(self._file), line=line)
            found[call.key] = outcome
        return found

    def add(self, call: Call, outcome: Outcome) -> None:
        """Keep a call."""
        self._stream.write(_line(call, outcome))
        self._stream.flush()

    def finish(self, calls: Iterable[Call], outcomes: Mapping[Key, Outcome]) -> None:
        """Write all calls anew in the order of the plan, whatever the order in which they ended."""
        self._stream.close()
        write_file(self._file, (_line(call, outcomes[call.key]) for call in calls))


def _keep_plan(file: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan, or check that it is the one of this folder."""
    if not file.exists():
        write_file(file, [json_document(plan)])
        return
    with input_errors(str(file)):
        before = json.loads(file.read_bytes())
    if not isinstance(before, dict):
        raise InputError("is no plan of a deletion study", file=str(file))
    differing = sorted(name for name in before.keys() | plan.keys() if before.get(name) != plan.get(name))
    if differing:
        raise InputError(
            f"was begun with another {differing[0]!r}: name another folder, or what it was begun with", file=str(file)
        )


def _drop_partial_line(stream: IO[bytes]) -> None:
    """Cut off what follows the last LF: the line at which a study was stopped."""
    stream.seek(0)
    whole = 0
    for line in stream:
        if line.endswith(b"\n"):
            whole += len(line)
    stream.truncate(whole)


def _line(call: Call, outcome: Outcome) -> bytes:
    said = {"failure": outcome.failure} if outcome.answer is None else {"answer": outcome.answer}
    return json_line(
        {
            "id": call.item.id,
            "selector": call.item.selector,
            "arm": call.arm,
            "repeat": call.repeat,
            "prompt_sha256": call.prompt_sha256,
            "requests": outcome.requests,
            **said,
        }
    )


def _key(row: Mapping[str, Any]) -> Key:
    """Return which call a line belongs to, one that is never planned where it does not say so."""
    match row:
        case {"id": str(key), "selector": str(selector), "arm": str(arm), "repeat": int(repeat)}:
            return key, selector, arm, repeat
    return "", "", "", 0


def _outcome(row: Mapping[str, Any]) -> Outcome | None:
    match row:
        case {"requests": int(requests), "answer": str(answer)}:
            return Outcome(answer=answer, requests=requests)
        case {"requests": int(requests), "failure": str(failure)}:
            return Outcome(failure=failure, requests=requests)
    return None
