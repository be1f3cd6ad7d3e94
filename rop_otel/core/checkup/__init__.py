"""How well handoffs are watched: which facts are read, and which faults make their verdicts meaningless."""

from rop_otel.core.checkup.handoff_sentence import sentence
from rop_otel.core.checkup.symptoms import Symptom, SymptomCode, symptoms
from rop_otel.core.checkup.watched_facts import Watched, watched

__all__ = ["Symptom", "SymptomCode", "Watched", "sentence", "symptoms", "watched"]
