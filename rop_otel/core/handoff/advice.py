"""What a verdict, a cause and a finding mean, and what to try: the words of the page, the runbook and the README."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from rop_otel.core.handoff.assessment import VERDICT_WORDS, DropCause, FindingCode, Verdict
from rop_otel.core.handoff.findings import ContextFinding, LabelFinding, ListFinding, PassageFinding, RankingFinding
from rop_otel.core.measures import RECALL


class Words(NamedTuple):
    """Words of a cause or finding.

    Args:
        says: What happened, in a sentence.
        advice: What to try.
    """

    says: str
    advice: str


CAUSES: Final[Mapping[DropCause, Words]] = MappingProxyType(
    {
        DropCause.NEVER_RETRIEVED: Words(
            'No stage returned it, or was handed it (all of it, under rule="all").',
            (
                "Compare the IDs first. Does the store make random IDs? Then have the documents' own ones "
                "recorded. Do stages return IDs of chunks? Give a resolver. Only then: is it indexed? Retrieve "
                "deeper, or build the query differently."
            ),
        ),
        DropCause.FUSED_OUT: Words("An arm found it, fusion dropped it.", "Fuse deeper, or weigh the arms."),
        DropCause.TRUNCATED: Words("A boost or the candidate cut dropped it.", "Pass more candidates on."),
        DropCause.RERANKED_AWAY: Words("The reranker put it too low.", "Keep more; check which reranker really runs."),
        DropCause.DIVERSIFIED_AWAY: Words("MMR preferred passages that differ.", "Weigh relevance more."),
        DropCause.DISPLACED: Words("Expansion dropped it.", "Let expansion only add."),
        DropCause.REORDERED_AWAY: Words(
            "A reorder, which should only move, dropped it.",
            "Look for a cut in the reorder.",
        ),
        DropCause.NO_SENTENCE_KEPT: Words(
            "Sentence selection left nothing of it.",
            "Match stems, not literal words; keep one sentence of each.",
        ),
        DropCause.OVER_BUDGET: Words(
            "Packing left it out: it takes only a limited number of tokens, or of passages.",
            "Pack by score, not by position; let it take more.",
        ),
        DropCause.NO_TEXT: Words(
            "It was packed with 0 tokens of text, or the prompt that was seen holds none of its text.",
            "Look for empty or clipped passages.",
        ),
        DropCause.DROPPED: Words("A stage of another kind dropped it.", "Read that stage."),
        DropCause.SILENT_CUT: Words(
            "Code between two stages cut the list; no stage shows it.",
            "Find the slice, or decorate that code.",
        ),
        DropCause.BELOW_CUTOFF: Words(
            "It was shown, but after the first cutoff places.",
            "Look at the ranks before and after that stage.",
        ),
        DropCause.UNOBSERVED_STAGE: Words(
            "It was lost where a stage was not seen, or its IDs could not be read.",
            "Decorate the stage; say where its IDs are.",
        ),
        DropCause.BEYOND_RECORDED_DEPTH: Words("The list was longer than what was recorded of it.", "Raise max_ids."),
        DropCause.UNUSED: Words(
            "A stage returned it and nothing took that stage's list.",
            "Check fed_by and rounds; was the list passed on?",
        ),
    }
)
"""What happened to an object that was lost, and what to try."""

FINDING_WORDS: Final[Mapping[FindingCode, Words]] = MappingProxyType(
    {
        ListFinding.SILENT_CUT: Words(
            "A stage was handed less than the stage before returned.",
            "Find the slice or filter between them.",
        ),
        ListFinding.FOREIGN_IDS: Words(
            "A stage that may not add documents returned one that it was not handed.",
            "Check input_arg; was another list passed?",
        ),
        ListFinding.DUPLICATE_IDS: Words("A list repeats an ID.", "Remove repeats before the cut."),
        RankingFinding.TOP_RANKED_CUT: Words(
            "The best-scored passage was dropped and worse ones kept.",
            "Cut by score, before any reorder.",
        ),
        RankingFinding.EXPANSION_DISPLACED: Words(
            "Added neighbours pushed ranked passages out of the context.",
            "Let the budget limit the expansion.",
        ),
        ContextFinding.STARVED_CONTEXT: Words(
            "Packing used hardly any of its budget.",
            "Look at what the stages before it keep.",
        ),
        LabelFinding.LABELS_MALFORMED: Words("Labels and passages differ in number.", "Build both in one loop."),
        LabelFinding.LABEL_DUPLICATE: Words(
            "One label stands for two passages.",
            "Continue the numbering; never restart it.",
        ),
        LabelFinding.LABEL_UNATTACHED: Words(
            "A shown label has no source in the response.",
            "Build the sources from what was shown.",
        ),
        LabelFinding.LABEL_MISATTRIBUTED: Words(
            "A shown label leads to another source in the response.",
            "Send labels with the sources, or keep the order.",
        ),
        LabelFinding.CITATION_UNRESOLVED: Words(
            "The answer cites a label that nobody showed.",
            "Check the prompt; reject such citations.",
        ),
        ListFinding.SCOPE_LEAK: Words(
            "A passage of another library, tenant or container came through.",
            "Repair the filter.",
        ),
        ContextFinding.FALLBACK_USED: Words("A stage ran its fallback.", "See why the real one is missing."),
        RankingFinding.FUSION_BELOW_ARM: Words(
            f"Fusion's judged {RECALL.at(10)} (or at the cutoff) is below that of its best arm alone.",
            "Weigh the arms, or drop the weak one.",
        ),
        ListFinding.NOTHING_RETURNED: Words(
            "A stage returned nothing though it was handed documents, or no source returned any.",
            "Look at its filter or query; is the index filled?",
        ),
        PassageFinding.THIN_PASSAGE: Words(
            "Of a selected or judged passage the reader was shown a few tokens only.",
            "Give each passage enough of the budget.",
        ),
        PassageFinding.PASSAGE_CUT: Words(
            "The prompt holds only a part of a selected or judged passage.",
            "Look for what clips passages; pack fewer of them.",
        ),
        PassageFinding.CONTEXT_NOT_IN_PROMPT: Words(
            "The prompt was seen, and it holds no text of any packed document.",
            "Check the template: is the context put into it?",
        ),
        ContextFinding.STAGE_FAILED: Words(
            "A stage raised; of a packing or rescue with another one beside it a warning.",
            "Find what raised.",
        ),
        ListFinding.IDS_UNREADABLE: Words(
            "No ID can be read in what a stage returned.",
            "Return a list; say where IDs are with id= or, of frameworks and spans of others, id_keys.",
        ),
        ContextFinding.STAGE_NOT_OBSERVED: Words(
            "A declared stage did not run.",
            "Was it skipped, or is it not decorated?",
        ),
        ContextFinding.STAGE_LATE: Words(
            (
                "A stage ended after its handoff; it is left out. Where it was the only packing, nothing says what "
                "was shown."
            ),
            "Wait for it, or close the handoff later.",
        ),
    }
)
"""What a finding says, and what to try."""


def meaning(verdict: Verdict) -> str:
    """Return what a verdict means, as a sentence."""
    words = VERDICT_WORDS[verdict]
    return f"{words[0].upper()}{words[1:]}."
