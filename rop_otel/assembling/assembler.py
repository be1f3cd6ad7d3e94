"""Puts spans together as handoffs: spans that run, as each ends; recorded spans, in any order and at any time."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from rop_otel import semconv
from rop_otel.assembling.implicit_handoffs import imply_handoffs, is_topmost
from rop_otel.assembling.span_facts import Reading, read
from rop_otel.assembling.span_tree import RETRIEVAL, ByName, Key, Node, Owner, cut_circles
from rop_otel.assembling.stage_owners import OwnedStage, owned_stages
from rop_otel.core.handoff import HandoffRecord, StageRecord
from rop_otel.core.handoff.gaps import Gap
from rop_otel.safety import catch_up, create_lock
from rop_otel.spans import Span
from rop_otel.spans.conventions import Rules

_MAX_WAITING: Final = 100_000
"""Stages that may wait for their handoff to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The handoffs of a set of spans.

    Args:
        handoffs: In order of their spans' start.
        orphan_stages: Stage spans with neither a handoff ID nor a handoff above them.
        incomplete: IDs of handoffs whose own span is missing, sorted.
        duplicates: IDs that more than one handoff span has, sorted; only the first to start is in ``handoffs``.
        unreadable: Spans of others that cannot be read, which are left out.
    """

    handoffs: tuple[HandoffRecord, ...] = ()
    orphan_stages: int = 0
    incomplete: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    unreadable: int = 0


class Assembler:
    """Puts spans together as handoffs.

    A stage belongs to the handoff that it names, else to the nearest handoff span above it. If several handoff spans
    have one ID, a stage below one of them belongs to that one. If a stage of another convention has no handoff, the
    topmost span above it becomes one; without a span above it, the stage itself does.

    A caller that sees spans while they run calls :meth:`started` and :meth:`ended` for each. A parent starts before its
    children, so a span that has ended is dropped as soon as no open span above can make it part of a handoff. Spans
    that have ended already are :meth:`received`, in any order, their parents later or never. They stay until they are
    :meth:`expired`, and :meth:`assembled` returns their handoffs at any time. The assembler has no clock: the caller
    decides when a handoff is assessed, at its end, after a time without new spans, or when all spans are there.

    Args:
        rules: How received spans of other conventions are read.

    Attributes:
        lock: Held while anything moves.
    """

    def __init__(self, rules: Rules | None = None) -> None:
        self.lock = create_lock()
        self._rules = rules or Rules()
        self._nodes: dict[Key, Node] = {}
        self._waiting: OrderedDict[Node, None] = OrderedDict()
        self._unreadable = 0

    def forget(self) -> None:
        """Start over without any span, as a forked process has to."""
        self._nodes = {}
        self._waiting = OrderedDict()

    def __len__(self) -> int:
        catch_up()
        return len(self._nodes)

    def started(self, node: Node, above: Node | None) -> bool:
        """Take in a span that begins below another one, None for none that is here; False where it is here already."""
        with self.lock:
            if node.key in self._nodes:
                return False
            self._nodes[node.key] = node
            node.put_below(above)
        return True

    def ended(self, node: Node, by_name: ByName, *, seconds: float) -> list[OwnedStage] | None:
        """Take in that a span has ended.

        Args:
            node: The span. It is a handoff from then on, if it is meant to be one.
            by_name: Finds handoffs that are assembled elsewhere by their IDs.
            seconds: How long a stage may wait for its handoff to end.

        Returns:
            The stages at the span and below, running ones among them, where it is a handoff or no open span is above
            that could be theirs; None where they wait.
        """
        reading = node.note()
        with self.lock:
            if node.holds == RETRIEVAL and is_topmost(node):
                imply_handoffs([node])
            is_handoff = node.is_handoff
            if not is_handoff and node.is_below_open():
                self._wait(node, reading, seconds)
                return None
            handoff_id = node.handoff_id if is_handoff else None
            stages = list(owned_stages(node, lambda named: node if named == handoff_id else by_name(named)))
            self._let_go(node)
        return stages

    def expired(self, node: Node) -> None:
        """Take out a span that will not end, or is waited for no more.

        What has ended below it goes, too, unless an open span is above that may make a handoff of it.
        """
        with self.lock:
            node.ended = True
            (self._release if not node.below or node.is_below_open() else self._let_go)(node)

    def received(self, span: Span) -> Node:
        """Take in a span that has ended.

        Of different ones with one ID that which is a stage or handoff counts, and the one that ended last. Those that
        began at one time under one name are one span, recorded several times; otherwise a stage is lost, which the
        handoffs of the trace then say.
        """
        node = self._place((span.trace_id, span.span_id))
        known = "" if node.above is None else node.above.key[1]
        if node.ended:
            node.repeated |= (span.parent_id or "") != (node.parent_id or "")
        else:
            node.parent_id = span.parent_id
        parent = max(known, span.parent_id or "")
        if parent != known:
            node.put_below(self._place((span.trace_id, parent)))
        self._unreadable += span.unreadable
        reading = read(span, self._rules)
        found = node.found
        if found is None or reading is None or reading == found:
            node.found = found or reading
        else:  # which only a broken writer makes
            if found.facts and reading.facts:
                node.repeated |= (found.name, found.start_ns) != (reading.name, reading.start_ns)
            node.found = max(
                found, reading, key=lambda each: (bool(each.facts), each.end_ns, each.start_ns, repr(each))
            )
        node.ended = True
        return node

    def assembled(self) -> Assembled:
        """Return the handoffs of the received spans. It may be called again when more spans have come."""
        nodes = self._nodes.values()
        cut_circles(nodes)
        for node in nodes:
            node.implied, node.holds = False, 0
        for node in nodes:
            node.note()
        tops = [node for node in nodes if node.above is None]
        imply_handoffs(tops)
        first, duplicates = _first_of_each_id(node for node in nodes if node.is_handoff)
        stages: defaultdict[Owner, list[StageRecord]] = defaultdict(list)
        incomplete: set[str] = set()
        orphans = 0
        for top in tops:
            for stage in owned_stages(top, first.get):
                record = stage.record()
                if stage.owner is not None and record is not None:
                    stages[stage.owner].append(record)
                elif stage.reading.named is not None:
                    incomplete.add(stage.reading.named)
                else:
                    orphans += 1
        gaps = _gaps_of(nodes)
        return Assembled(
            handoffs=tuple(_with_gaps(node.handoff_record(stages[node]), gaps) for node in first.values()),
            orphan_stages=orphans,
            incomplete=tuple(sorted(incomplete)),
            duplicates=duplicates,
            unreadable=self._unreadable,
        )

    def _place(self, key: Key) -> Node:
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = Node(key)
        return node

    def _wait(self, node: Node, reading: Reading | None, seconds: float) -> None:
        """Let a stage wait; those that ended this much earlier have no handoff that could still end."""
        if reading is None or not reading.is_stage:
            self._release(node)
            return
        self._waiting[node] = None
        oldest_ns = reading.end_ns - seconds * 1e9
        while (first := self._first_waiting()) is not None:
            if len(self._waiting) <= _MAX_WAITING and (first.found is None or first.found.end_ns >= oldest_ns):
                break
            self._release(first)

    def _first_waiting(self) -> Node | None:
        for node in self._waiting:  # no call in which a signal handler could change the size of what is read
            return node
        return None

    def _release(self, node: Node) -> None:
        """Forget a span; those below it go to the one above."""
        self._nodes.pop(node.key, None)
        self._waiting.pop(node, None)
        node.take_out()

    def _let_go(self, node: Node) -> None:
        """Forget a span and what has ended below it. Spans that go on know the stages and handoffs above them."""
        if node.is_handoff:  # so nothing above matters below it, and handoffs must make no chain
            while node.above is not None and node.above.ended and node.above.is_handoff:
                node.put_below(node.above.above)
        ahead = [node]
        while ahead:
            each = ahead.pop()
            if not each.ended:
                continue
            ahead.extend(each.below)
            above, reading = each.above, each.read()
            if each.is_handoff or (reading is not None and reading.is_stage):
                self._nodes.pop(each.key, None)
                self._waiting.pop(each, None)
                each.below = {}
                if above is not None:
                    above.below.pop(each, None)
            else:
                self._release(each)


def assemble(spans: Iterable[Span], rules: Rules | None = None) -> Assembled:
    """Put recorded spans together as handoffs.

    Args:
        spans: In any order; those with one trace and span ID count once.
        rules: How spans of other conventions are read; None: as their conventions say.
    """
    assembler = Assembler(rules)
    for span in spans:
        assembler.received(span)
    return assembler.assembled()


def _first_of_each_id(handoffs: Iterable[Node]) -> tuple[dict[str, Node], tuple[str, ...]]:
    first: dict[str, Node] = {}
    repeated: set[str] = set()
    for node in sorted(handoffs, key=lambda node: (node.found.start_ns if node.found else 0, node.key)):
        name = node.handoff_id
        if first.setdefault(name, node) is not node:
            repeated.add(name)
    return first, tuple(sorted(repeated))


def _gaps_of(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Return why spans are missing, by ID of a trace, and by ID of a handoff that is named."""
    gaps: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        reading = node.found
        if node.repeated:
            gaps[node.key[0]].add(Gap.REPEATED.value)
        if reading is not None and semconv.GAPS in reading.facts and not reading.is_handoff:
            for place in (reading.trace_id, reading.named):
                if place is not None:
                    gaps[place].update(reading.gaps)
    return gaps


def _with_gaps(record: HandoffRecord, gaps: dict[str, set[str]]) -> HandoffRecord:
    """Return a handoff with what is missing in its traces."""
    if not gaps:
        return record
    places = {record.handoff_id, record.trace_id, *(stage.trace_id for stage in record.stages)}
    found = {gap for place in places if place in gaps for gap in gaps[place]}
    return replace(record, gaps=tuple(sorted({*record.gaps, *found}))) if found else record
