"""Works through a population as an application does, and says of each record when it is done.

Arguments: declaration, journal, and whether to fsync. Each record waits for a line on the standard input, or its end.
"""

from __future__ import annotations

import sys

import rop_otel as rop


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(declaration: str, journal: str, fsync: str) -> None:
    """Work."""
    with rop.run("nightly", declaration=declaration, journal=journal, fsync=fsync == "True") as run:
        say(f"resumed {len(run.missing)}")
        for record_id in run.missing:
            sys.stdin.readline()
            with (
                rop.handoff("qa", record_id=record_id, selected="obj-a") as handoff,
                rop.using_stage("packing") as stage,
            ):
                stage.returned(["x", "a#0"])
            say(f"{record_id} {handoff.assessment.verdict}")
    sys.stdout.buffer.write(b"report\n" + run.close().to_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:4])
