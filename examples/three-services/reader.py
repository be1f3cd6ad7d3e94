"""The reader: keeps the first two pages that it is handed, and answers from them."""

from __future__ import annotations

import os
import sys

from opentelemetry import context, propagate

import rop_otel as rop


@rop.stage("packing", input_arg="pages")
def pack(pages: list[str]) -> list[str]:
    """Return the pages that fit into the context."""
    return pages[:2]


def main() -> None:
    """Answer from the pages on the command line."""
    rop.configure(service_name="reader", assess="monitor")
    context.attach(propagate.extract({"traceparent": os.environ["TRACEPARENT"]}))
    print(f"An answer from {' and '.join(pack(sys.argv[1:]))}.")
    rop.shutdown()  # sends what is left


if __name__ == "__main__":
    main()
