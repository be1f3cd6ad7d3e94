"""Code of ours that runs in the middle of code of ours, in the same thread, at each place where that can happen."""

from __future__ import annotations

import pytest

from tests.safety import cases, export_cases, run_cases
from tests.safety.interrupting import Interruption, in_time, places

CASES: dict[type[cases.Case], int] = {
    cases.OfTally: 1,
    cases.OfScrape: 1,
    cases.OfLabels: 1,
    cases.OfLedger: 1,
    cases.OfHandoff: 3,
    cases.OfRegistry: 1,
    export_cases.OfQueue: 1,
    export_cases.OfHistograms: 1,
    export_cases.OfProcess: 3,
    export_cases.OfServer: 400,
    export_cases.OfOthersSpans: 3,
    cases.OfMishaps: 1,
    cases.OfDeferred: 1,
    cases.OfCapture: 3,
    run_cases.OfRun: 1,
    run_cases.OfRunsEnd: 1,
}
"""Each with how many places there are from one that is tried to the next."""


@pytest.mark.parametrize(
    ("make", "nested"),
    [(case, nested) for case in CASES for nested in case.nested],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_what_comes_in_between_harms_nothing(make: type[cases.Case], nested: str) -> None:
    """Wherever a handler interrupts its own thread, nobody waits, and both have done what they do alone."""

    def all_places() -> None:
        for place in places(every=CASES[make]):
            case = make()
            interruption = Interruption(place, getattr(case, nested))
            try:
                interruption.during(case.work)
                case.check()
            finally:
                case.end()
            if not interruption.happened:
                return

    in_time(all_places)
