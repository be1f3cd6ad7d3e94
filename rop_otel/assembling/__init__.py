"""Puts neutral spans together as handoffs, as they start, end, arrive and expire: the assembler of every door."""

from __future__ import annotations

from rop_otel.assembling.assembler import Assembled, Assembler, assemble
from rop_otel.assembling.span_facts import Reading, read
from rop_otel.assembling.span_tree import Elsewhere, Node, owner_of
from rop_otel.assembling.stage_owners import OwnedStage

__all__ = ["Assembled", "Assembler", "Elsewhere", "Node", "OwnedStage", "Reading", "assemble", "owner_of", "read"]
