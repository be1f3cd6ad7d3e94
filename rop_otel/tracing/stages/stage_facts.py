"""The facts of one execution of a stage: read out of what the application gives, cut, and hashed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypedDict

from rop_otel import semconv
from rop_otel.core.handoff import Ids, kinds, values
from rop_otel.core.handoff.attributes import STAGE_ATTRIBUTES
from rop_otel.core.handoff.fact import Fact
from rop_otel.core.handoff.record import STAGE_FACTS
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.results.result_reader import Reading, lists_in
from rop_otel.tracing.results.scalars import as_count, as_flag, as_id, as_name, as_scope, as_score, as_truth, plainly
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import Runtime
from rop_otel.tracing.stages.sentences import SAY_INPUT, TEXT, described, without_ids
from rop_otel.tracing.stages.spec import Spec
from rop_otel.tracing.stages.stage_owner import Owner
from rop_otel.tracing.stages.text_or_ids import recorded_ids


class Returned(TypedDict, total=False):
    """What a stage reports beside the documents that it returns; None reports nothing.

    Args:
        labels: Citation label of each document.
        tokens: Tokens used in all.
        token_budget: Tokens allowed.
        id_tokens: Tokens of text shown for each; one with 0 was not shown.
        shares: Share of each one's text that was seen in the prompt, 0 to 1; one with 0 was not shown.
        basis: How the list is known: ``recorded`` (default), ``prompt``, ``assumed`` or ``unseen``.
        scores: Score of each, where the documents carry none.
        scopes: Scope of each, where the documents carry none.
    """

    labels: Iterable[str] | None
    tokens: int | None
    token_budget: int | None
    id_tokens: Iterable[int] | None
    shares: Iterable[float] | None
    basis: str | None
    scores: Iterable[float] | None
    scopes: Iterable[str] | None


class _Form(NamedTuple):
    """What an application may say for one type of fact: how a value is read, and what it must be."""

    read: Callable[[object], object | None]
    wanted: str


_FORMS: Final[Mapping[Callable[[object], object], _Form]] = {
    values.text: _Form(as_name, "a name: a non-empty string, short and in one line"),
    values.flag: _Form(as_flag, "true or false"),
    values.truth: _Form(as_truth, "True, False or None"),
    values.integer: _Form(as_count, "a whole number"),
    values.number: _Form(as_score, "a number"),
    values.texts: _Form(as_id, "a list, one for each document"),
    values.scopes: _Form(as_scope, "a list, one for each document"),
    values.integers: _Form(as_count, "a list, one for each document"),
    values.numbers: _Form(as_score, "a list, one for each document"),
}
_ROWS: Final = {each.field: each for each in STAGE_FACTS}
_OF_A_LIST: Final = ("returned", "returned_count", "scores", "scopes")
_ALIGNED: Final = tuple(each.field for each in STAGE_FACTS if each.cut == "aligned")
_TEXTS: Final = frozenset({values.texts, values.scopes})


class StageFacts:
    """Collected while a stage runs.

    Args:
        spec: What its author says of it.
        runtime: What to work with.

    Attributes:
        fields: Fields of the stage's record beside those of the spec; none with its default.
        owner: Its handoff.
        top_k: How many documents were asked for.
    """

    __slots__ = ("fields", "owner", "runtime", "spec", "top_k")

    def __init__(self, spec: Spec, runtime: Runtime) -> None:
        self.spec = spec
        self.runtime = runtime
        self.fields: dict[str, Any] = {}
        self.owner: Owner | None = None
        self.top_k: int | None = None

    def returned(self, reading: Reading, results: object, beside: Mapping[str, object]) -> None:
        """Take in what the stage returned, and what is said beside it."""
        taken = self.take(reading)
        if beside:
            self.say(beside)
        if not taken:
            self.misuse(Problem.IDS, without_ids(results) if reading.ids is None else f"it returned {TEXT}")

    def withhold(self) -> None:
        """Forget what the stage returned: it is not known what was shown of that."""
        for name in (*_OF_A_LIST, *_ALIGNED):
            self.fields.pop(name, None)

    def say(self, given: Mapping[str, object]) -> None:
        """Take in facts that the application reports; None reports nothing."""
        for name, value in given.items():
            if value is not None:
                said = self.report(name, value)
                if name == "labels" and said is not None and self.owner is not None:
                    self.owner.show(said)

    def take(self, reading: Reading) -> bool:
        """Take in a list that has been read already, and return whether it has IDs. Text is not kept."""
        if reading.ids is None:
            return False
        runtime, fields = self.runtime, self.fields
        recorded = recorded_ids(reading, self)
        if "returned" in fields:
            for name in _OF_A_LIST:
                fields.pop(name, None)
        if recorded is None:
            return False
        fields["returned"] = recorded
        if reading.total is not None:
            fields["returned_count"] = reading.total
        if reading.scores is not None:
            fields["scores"] = reading.scores
        if reading.scopes is not None and runtime.shape.fit(reading.scopes):
            fields["scopes"] = runtime.hashed(reading.scopes)
        if self.owner is not None and self.spec.kind != kinds.READER:
            self.owner.note(self.spec.results, recorded)
        return True

    def hand(self, results: Iterable[object]) -> None:
        """Take in what a stage is handed: one list of documents, or several that it joins."""
        limit = self.runtime.config.max_ids
        lists: list[Ids] = []
        total = 0
        for result in chain.from_iterable(map(lists_in, results)):
            if result is None:
                return
            if total >= limit and type(result) is list:
                total += len(result)  # of what is not recorded, only the number
                continue
            reading = self.spec.inputs.read(result, limit=limit)
            if reading.ids is None:
                self.misuse(Problem.INPUT, f"no ID can be read in the input, {described(result)}; {SAY_INPUT}")
                return
            recorded = recorded_ids(reading, self)
            if recorded is None:
                self.misuse(Problem.INPUT, f"it is handed {TEXT}")
                return
            if total < limit:
                lists.append(recorded)
            total += reading.total or len(recorded)
        ids = lists[0] if len(lists) == 1 else tuple(chain.from_iterable(lists))
        if total > limit:
            ids = ids[:limit]
            self.fields["input_count"] = total
        self.fields["input"] = ids

    def report(self, name: str, value: object) -> Any:
        """Take in one fact that the application says; what cannot be used is left out, and logged.

        Args:
            name: The field of the record.
            value: As the application gives it.

        Returns:
            What was taken in, before it is hashed; None where it cannot be used.
        """
        row = _ROWS[name]
        taken = self._aligned(row, value) if row.cut == "aligned" else self._one(row, value)
        if taken is None or taken == row.default:
            self.fields.pop(name, None)
        else:
            self.fields[name] = self.runtime.recorded(taken, row)
        return taken

    def cite(self, citations: tuple[str, ...]) -> None:
        """Take in the labels that an answer cites; one that is text is none."""
        fit = self.runtime.shape.fit
        short = citations if fit(citations) else tuple(label for label in citations if fit((label,)))
        self.fields["citations"] = self.runtime.hashed_labels(short)

    def attributes(self, first: dict[str, Any]) -> dict[str, Any]:
        """Return some first span attributes, and those of the facts that the spec does not have."""
        for name, value in self.fields.items():
            first[STAGE_ATTRIBUTES[name]] = value
        if self.top_k is not None:
            first[semconv.GEN_AI_TOP_K] = self.top_k
        return first

    def misuse(self, where: Problem, message: str) -> None:
        """Take in a wrong use of the API; it raises in strict mode."""
        self.runtime.diagnostics.misuse(where, self.spec.place, message)

    def _one(self, row: Fact, value: object) -> object | None:
        form = _FORMS[row.read]
        taken = as_name(value, self.runtime.shape) if form.read is as_name else form.read(value)
        if taken is None or (row.choices and taken not in row.choices):
            wanted = f"one of {', '.join(row.choices)}" if row.choices else form.wanted
            self.misuse(Problem.STAGE, f"{row.field} is {plainly(value)}; it must be {wanted}")
            return None
        return taken

    def _aligned(self, row: Fact, given: Any) -> tuple[Any, ...] | None:
        """Return values that stand beside the IDs, cut as those are; none where one cannot be used."""
        limit = self.runtime.config.max_ids
        read = _FORMS[row.read].read
        taken: list[Any] | None = None
        if row.read in _TEXTS and type(given) is list and len(given) <= limit:
            try:
                "".join(given)  # raises where one is no string, and is the quickest way to find out
                taken = given
            except TypeError:
                pass
        if taken is None:
            try:
                listed = [] if type(given) is str else list(islice(given, limit))
                taken = [each for item in listed if (each := read(item)) is not None]
            except BaseException as error:  # noqa: BLE001 - the application's objects
                raise_if_delivered(error)
                listed, taken = [None], []
            if type(given) is str or len(taken) != len(listed):
                wrong = f"{row.field} are {described(given)}; they must be {_FORMS[row.read].wanted}"
                self.misuse(Problem.STAGE, wrong)
                return None
        if row.read in _TEXTS and not self.runtime.shape.fit(taken):
            self.misuse(Problem.STAGE, f"{row.field} are longer than an ID may be, and are left out")
            return None
        return tuple(taken)
