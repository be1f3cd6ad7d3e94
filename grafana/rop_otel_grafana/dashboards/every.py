"""All dashboards as plain JSON values."""

from __future__ import annotations

import json
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from rop_otel_grafana.dashboards import handoffs, monitor, stages
from rop_otel_grafana.settings import Settings


def all_dashboards(settings: Settings) -> dict[str, Any]:
    """Return the dashboards by their identifier, which is also the name of their file."""
    boards = [board(settings).build() for board in (handoffs.board, stages.board, monitor.board)]
    return {str(board.uid): json.loads(JSONEncoder().encode(board)) for board in boards}
