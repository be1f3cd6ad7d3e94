"""What a prompt holds of texts."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.prompt import passages_in

A = "Alpha began in the spring of the year when the river froze and the mill stood still for weeks."
B = "Beta came later, in a summer without rain; nobody had seen the like of it in thirty years or more."
C = "Gamma is what remained of both once the harvest was over and the last cart had left the village."
FAQ = "How do I reset the password of my home router? Hold the button at its back for ten seconds."
QUESTION = "How do I reset the password of my home router?"


def shares(prompt: str, *texts: str, beside: tuple[str, ...] = ()) -> dict[int, float] | None:
    """Return the share of each text that the prompt holds, in the prompt's order."""
    found = passages_in([prompt], texts, beside=beside)
    return None if found is None else {each.place: round(each.share, 2) for each in found}


@pytest.mark.parametrize(
    ("prompt", "texts", "held"),
    [
        (f"{B}\n\n{A}\nQuestion", (A, B, C), {1: 1, 0: 1}),
        ("Answer from the context.\n\nContext:\n\nQuestion: what?", (A, B), {}),
        ("", (A,), {}),
        (A, (), {}),
        (A, ("", "  "), {}),
        (f"{A} {A}", (A, A), {0: 1, 1: 1}),
        (A, (A, A), {0: 1, 1: 1}),
        ("one, two", ("two", "one"), {1: 1, 0: 1}),
        ("someone", ("one",), {}),
        ("ones", ("one",), {}),
        ("(one)", ("one",), {0: 1}),
        ("_one_", ("one",), {0: 1}),
        (f"{A}{B}{C}", (A, B, C), {0: 1, 1: 1, 2: 1}),
        (f"x{A}x", (A,), {0: 0.95}),
        (A, (A, A[10:60]), {0: 1}),
        (f"{A}\n{A[10:60]}", (A, A[10:60]), {0: 1, 1: 1}),
        (f"{A[:60]}\n{A}", (A[:60], A), {0: 1, 1: 1}),
    ],
)
def test_whole_texts(prompt: str, texts: tuple[str, ...], held: dict[int, float]) -> None:
    """A text is held where it stands as words of its own, and never inside of another one."""
    assert shares(prompt, *texts) == held


@pytest.mark.parametrize(
    "write",
    [
        lambda text: text.replace(" ", "\n   "),
        lambda text: text.upper(),
        lambda text: repr(text + "'\""),
        lambda text: text.replace("o", "&#111;"),
        lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
        lambda text: "> " + text.replace(" the ", "\n> the "),
        lambda text: f"**{text}**",
    ],
)
def test_other_writings(write: object) -> None:
    """Spaces, escapes, marks and capital letters that a template changes hide no text."""
    assert callable(write)
    assert shares(f"1. {write(A)}\n2. {write(B)}", A, B, C) == {0: 1, 1: 1}


@pytest.mark.parametrize("kept", range(0, len(B), 7))
def test_a_context_cut_at_characters(kept: int) -> None:
    """Of a text that is cut its share is given, and of the next one nothing."""
    held = shares(f"{A}\n{B[:kept]}\nQuestion", A, B, C)
    assert held is not None
    assert held.pop(0) == 1
    assert 2 not in held
    assert held.get(1, 0) <= kept / len(B) + 0.1
    assert held.get(1, 0) >= kept / len(B) - 0.1 or kept < 40


def test_sentences_out_of_a_text() -> None:
    """The parts of a text add up, wherever they stand."""
    text = f"{A} {B} {C}"
    held = shares(f"{C} and {A}", text)
    assert held is not None
    assert held[0] == pytest.approx(2 / 3, abs=0.03)


def test_a_question_is_no_sign_of_a_text() -> None:
    """Words of the question, even all those with which a text begins, are no sign of it."""
    assert shares(f"{A}\n\nQuestion: {QUESTION}", A, FAQ, beside=(QUESTION,)) == {0: 1}
    assert shares(f"{A}\n\nQuestion: {QUESTION.lower()[:-1]}", A, FAQ, beside=(QUESTION,)) == {0: 1}
    assert shares(f"{FAQ}\n\nQuestion: {QUESTION}", A, FAQ, beside=(QUESTION,)) == {1: 1}
    held = shares(f"{A}\n{FAQ[:70]}\n\nQuestion: {QUESTION}", A, FAQ, beside=(QUESTION,))
    assert held is not None
    assert held.keys() == {0, 1}
    assert held[1] == pytest.approx(0.75, abs=0.1)


def test_a_text_that_is_the_question() -> None:
    """It is held where the prompt has it once more than the question."""
    assert shares(f"Question: {QUESTION}", QUESTION, beside=(QUESTION,)) == {}
    assert shares(f"{QUESTION}\nQuestion: {QUESTION}", QUESTION, beside=(QUESTION,)) == {0: 1}
    assert shares(f"Question: {QUESTION}", "reset the password", beside=(QUESTION,)) == {}


def test_what_several_texts_have_in_common() -> None:
    """A part that belongs to two texts alike says nothing of either, unless more of one is there."""
    heading = "The handbook of the third edition, chapter on water and on what it drives. "
    assert shares(f"{heading}\nQuestion", heading + A, heading + B) is None
    held = shares(f"{heading}{A[:60]}\nQuestion", heading + A, heading + B)
    assert held is not None
    assert held.keys() == {0}
    assert shares(f"{heading}{A}\nQuestion", heading + A, heading + B) == {0: 1}


def test_a_few_words_in_another_writing() -> None:
    """Nobody can say whether a short text that stands there in small letters is shown."""
    assert shares("the mill stood still", "Mill stood", A) is None
    assert shares("what remains", "Mill stood", A) == {}


def test_no_words_in_a_row() -> None:
    """Common words in a row are no sign of a text, nor are those that a mark of a part divides."""
    assert shares("as it is in all of it", "And as it is in all of it there is some of what we had in mind.") == {}
    assert passages_in([A[:30], A[30:]], [A]) != ()


def test_a_language_without_spaces() -> None:
    """A part of a text without spaces is found, too."""
    text = "春になると川の氷が解けて、村の水車はまた回り始めた。人々は畑に出て、種をまく準備をしていた。"
    held = shares(f"文脈: {text[:30]}", text, A)
    assert held is not None
    assert held[0] == pytest.approx(30 / len(text), abs=0.1)
    assert shares(f"文脈: {text}", text) == {0: 1}


def test_what_stands_before() -> None:
    """With each passage comes what stands between it and the one before."""
    found = passages_in([f"Context:\n[1] {A}\n[2]\n{B.upper()}\n[3] {C}"], [A, B, C])
    assert found is not None
    assert [each.before.split()[-1] for each in found] == ["[1]", "[2]", "[3]"]
    assert [each.place for each in found] == [0, 1, 2]


def test_what_stands_before_passages_in_another_writing() -> None:
    """It ends behind the passage before it, in whichever writing that is."""
    found = passages_in([f"[1] {A.upper()}\n[2] {B.upper()}\n[3] {C.upper()}"], [A, B, C])
    assert found is not None
    assert [each.before.strip(" .") for each in found] == ["[1]", "[2]", "[3]"]


SENTENCES = st.lists(st.sampled_from([A, B, C, FAQ, QUESTION, "one", "two words", ""]), max_size=6)


@pytest.mark.parametrize("letter", ["İ", "ß", "ŉ", "ǰ", "ΐ", "Σ", "ﬁ", "և", "A\u0301", "𐐀", "\uff21", "ẞ"])
def test_what_stands_before_passages_of_any_letters(letter: str) -> None:
    """Letters that have two letters in the other case move nothing."""
    texts = [" ".join(f"{letter}word{number}{place}" for place in range(12)) for number in range(3)]
    prompt = "\n".join(f"[S{number}] {text.replace(' ', ', ')}" for number, text in enumerate(texts, 1))
    found = passages_in([prompt], texts)
    assert found is not None
    assert [(each.share, each.before.strip()) for each in found] == [(1.0, f"[S{number}]") for number in (1, 2, 3)]


@given(texts=SENTENCES, prompts=st.lists(st.text(max_size=60) | st.sampled_from([A, B, C, FAQ]), max_size=4))
def test_laws(texts: list[str], prompts: list[str]) -> None:
    """Shares are above 0 and at most 1, each text is given once, and all of those that the prompts are made of."""
    found = passages_in(prompts, texts)
    if found is None:
        return
    assert all(0 < each.share <= 1 for each in found)
    assert len({each.place for each in found}) == len(found)
    held = {texts[each.place] for each in found}
    assert {text for text in texts if len(text) > 20 and text in prompts} <= held
    assert "" not in held


@given(texts=st.lists(st.sampled_from([A, B, C, FAQ]), unique=True), cut=st.integers(0, 400))
def test_what_is_cut_off_is_never_held(texts: list[str], cut: int) -> None:
    """Whatever number of characters is kept, the texts behind them are not held; a full stop counts for nothing."""
    prompt = "\n".join(texts)[:cut]
    found = passages_in([prompt], texts)
    assert found is not None
    ends = [sum(len(text) + 1 for text in texts[: place + 1]) - 1 for place in range(len(texts))]
    whole = {each.place for each in found if each.share == 1}
    assert {at for at, end in enumerate(ends) if end <= cut} <= whole
    assert whole <= {at for at, end in enumerate(ends) if end <= cut + 1}
    assert all(ends[each.place] - len(texts[each.place]) < cut for each in found)


WORDS = st.lists(st.sampled_from(["ash", "birch", "Cedar", "élm", "fir", "a\\nb", "x&amp;y", "松"]), max_size=14)
ABSENT = [" ".join(f"{kind}{number}" for number in range(200)) for kind in ("oak", "pine", "yew")]


@given(texts=st.lists(WORDS.map(" ".join), max_size=4), kept=WORDS.map(" ".join), stuck=st.sampled_from(["", "x", "_"]))
def test_long_texts_that_are_not_there_change_nothing(texts: list[str], kept: str, stuck: str) -> None:
    """A prompt that is short beside the texts is searched in another way, and shows the same."""
    for prompt in (kept, *(f"{kept} {stuck}{text}{stuck}, {text.upper()[:40]}" for text in texts)):
        assert passages_in([prompt], [*texts, *ABSENT]) == passages_in([prompt], texts)
        assert passages_in([prompt], [*texts, *ABSENT], beside=[kept]) == passages_in([prompt], texts, beside=[kept])


def test_texts_that_count_only_where_they_stand_whole() -> None:
    """What a prompt holds of them in part is no sign of them; where they stand whole, no part of another is there."""
    found = passages_in([f"{A}\n{B[:60]}\n{C}"], [A], whole=[A, B, C])
    assert found is not None
    assert [(each.place, each.share) for each in found] == [(0, 1.0), (3, 1.0)]
    assert passages_in([A], [A[:60]], whole=[A]) == ((1, 1.0, ""),)


@pytest.mark.parametrize("left", [lambda texts: texts[::2], lambda texts: [*texts[:250], texts[250][:300]]])
def test_texts_that_are_not_there_cost_little(left: Callable[[list[str]], list[str]]) -> None:
    """A prompt without half of the texts takes no multiple of the time that one with all of them takes."""
    texts = [" ".join(f"word{number * step % 997}" for step in range(1, 200)) for number in range(1, 501)]

    def seconds(prompt: str) -> float:
        taken = []
        for _ in range(5):
            start = time.process_time()
            passages_in([prompt], texts)
            taken.append(time.process_time() - start)
        return min(taken)

    prompts = ["\n\n".join(f"[{number}] {text}" for number, text in enumerate(those)) for those in (texts, left(texts))]
    whole, lacking = map(seconds, prompts)
    assert lacking < 4 * whole
