"""How well handoffs are watched: what is read of them, and what makes their verdicts meaningless."""

from rop_otel.core.checkup.handoff_sentence import sentence
from rop_otel.core.checkup.symptoms import Symptom, SymptomCode, symptoms
from rop_otel.core.checkup.watched_facts import Watched, watched

__all__ = ["Symptom", "SymptomCode", "Watched", "sentence", "symptoms", "watched"]
