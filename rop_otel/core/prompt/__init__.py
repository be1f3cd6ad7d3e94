"""What a prompt holds of the documents that were retrieved for it: pure text, no framework."""

from rop_otel.core.prompt.passages import Passage, passages_in
from rop_otel.core.prompt.plain import plain_text
from rop_otel.core.prompt.prompt_labels import Labelled, labels_of

__all__ = ["Labelled", "Passage", "labels_of", "passages_in", "plain_text"]
