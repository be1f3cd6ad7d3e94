"""The one configuration of dashboards, rules and alerts: the user's names, targets and labels."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from rop_otel.core.handoff import kinds

Duration = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*(s|m|h|d|w)$")]
"""A time span as PromQL writes it, of one unit."""

Label = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Rate = Annotated[float, Field(gt=0.0, lt=1.0)]

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(duration: Duration) -> int:
    """Return the length of a duration.

    >>> seconds("15m")
    900
    """
    return int(duration[:-1]) * _SECONDS[duration[-1]]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Burn(_Table):
    """A pair of windows over which losses are compared with what the target allows.

    Args:
        long: The window that must show enough losses to matter.
        short: The window that must show that they go on.
        hold: How long both must hold before the alert fires.
        factor: How many times the allowed share of losses is too much.
        ceiling: Where that share would exceed it: how far between what is allowed and losing everything to alert.
        least: Losses in the long window below which chance explains them.
    """

    long: Duration
    short: Duration
    hold: Duration
    factor: Annotated[float, Field(ge=1.0)]
    ceiling: Rate
    least: Annotated[int, Field(ge=1)] = 10

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if seconds(self.short) >= seconds(self.long):
            raise ValueError(f"the short window ({self.short}) must be shorter than the long one ({self.long})")
        return self

    def threshold(self, target: float) -> float:
        """Return the share of losses above which this pair alerts; always below 1, however low the target is."""
        allowed = 1.0 - target
        return round(min(self.factor * allowed, allowed + self.ceiling * (1.0 - allowed)), 6)


class Rare(_Table):
    """When a handoff is rare, so that a share says nothing and the first loss is an alert.

    Args:
        below: Fewer handoffs than this ...
        per: ... in this time.
        window: How long a loss keeps the alert firing.
        hold: How long before it fires.
    """

    below: Annotated[int, Field(ge=1)] = 30
    per: Duration = "1h"
    window: Duration = "15m"
    hold: Duration = "1m"


class Watch(_Table):
    """A share that alerts.

    Args:
        window: Over which it is taken.
        above: Alert where it is higher.
        hold: For how long.
    """

    window: Duration = "5m"
    above: Share
    hold: Duration = "5m"


class Change(_Table):
    """When something has become worse than it was.

    Args:
        window: Over which it is taken.
        earlier: How long ago to compare with.
        by: Alert where it is worse by more than this.
        least: Scored lists below which a window says nothing.
        hold: For how long.
    """

    window: Duration = "1h"
    earlier: Duration = "1d"
    by: Rate = 0.1
    least: Annotated[int, Field(ge=1)] = 50
    hold: Duration = "15m"


class RecallDrop(Change):
    """When the recall of a stage has fallen.

    Args:
        k: The depth.
    """

    k: Literal[1, 3, 5, 10] = 5


class Undecided(Watch):
    """When handoffs that should be PASS or FAIL are neither.

    Args:
        only: Alert where a handoff's name has had nothing but these for so long.
    """

    only: Duration = "10m"


class Absence(_Table):
    """When a handoff that stopped is an alert.

    Args:
        window: No handoff for so long ...
        usual: ... where there were, on average, at least so many in such a window ...
        over: ... of this long a time before.
        hold: For how long.
    """

    window: Duration = "15m"
    usual: Annotated[float, Field(gt=0)] = 5.0
    over: Duration = "1d"
    hold: Duration = "5m"


class Declared(_Table):
    """A handoff that is expected to be there at all times.

    Args:
        target: Its own target; without one, the general target.
    """

    target: Rate | None = None


class Settings(_Table):
    """Everything that dashboards, rules and alerts are made from.

    Args:
        service_label: Label that names the service: ``job`` where ``/metrics`` is scraped (and where a collector's
            exporter is scraped with ``honor_labels``), ``service_name`` where resource attributes become labels.
        match: Labels and values that every query asks for, such as ``env = "production"``.
        target: Share of selected objects that must reach the reader.
        handoffs: Handoffs by name that must have traffic, with their own targets.
        labels: Labels that every alert carries, for routing.
        runbook: Address of the runbook; a heading is appended.
        page_url: Address of the page of ``rop-otel monitor``, as a browser reaches it; empty for no links to it.
        window: Over which panels take shares.
        interval: How often rules are evaluated.
        fast, slow, rare, judged, recall, misattributed, unresolved, starved, unseen, cut, fallback, undecided, absent:
            When the alerts fire.
        leak, errors: How long one leak, or one error of the monitor, keeps its alert firing.
        run_hold, run_unverifiable_hold: How long a run is failed, or proves nothing, before its alert fires.
        run_shown: How long a run's status alerts: a process shows its finished runs until it ends.
        arms: Stage kinds that are compared with fusion.
        traces: Kind of the data source that holds the traces.
        prometheus_url, traces_url: Addresses of the data sources, as Grafana reaches them.
        dashboards_path: Folder in which Grafana finds the dashboards.
        webhook: Where the example routing sends.
    """

    service_label: Label = "job"
    match: dict[Label, str] = {}
    target: Rate = 0.95
    handoffs: dict[str, Declared] = {}
    labels: dict[Label, str] = {}
    runbook: Annotated[str, StringConstraints(min_length=1)] = "runbook.md"
    page_url: Annotated[str, StringConstraints(pattern=r"^(https?://.*[^/])?$")] = "http://127.0.0.1:4318"
    window: Duration = "5m"
    arms: Annotated[tuple[str, ...], Field(min_length=1)] = (kinds.VECTOR, kinds.LEXICAL)
    interval: Duration = "10s"

    fast: Burn = Burn(long="2m", short="1m", hold="10s", factor=4, ceiling=0.5)
    slow: Burn = Burn(long="6h", short="30m", hold="15m", factor=2, ceiling=0.25)
    rare: Rare = Rare()
    judged: Change = Change()
    recall: RecallDrop = RecallDrop()
    misattributed: Watch = Watch(above=0.01)
    unresolved: Watch = Watch(above=0.02)
    starved: Watch = Watch(above=0.05)
    unseen: Watch = Watch(above=0.01)
    cut: Watch = Watch(above=0.05)
    fallback: Watch = Watch(above=0.05)
    undecided: Undecided = Undecided(above=0.2)
    leak: Duration = "15m"
    absent: Absence = Absence()
    run_hold: Duration = "1m"
    run_unverifiable_hold: Duration = "15m"
    run_shown: Duration = "1h"
    errors: Duration = "15m"

    traces: Literal["tempo", "jaeger"] = "tempo"
    prometheus_url: str = "http://localhost:9090"
    traces_url: str = "http://localhost:3200"
    dashboards_path: str = "/etc/grafana/rop-otel/dashboards"
    webhook: str = "http://localhost:9095/"

    @property
    def finding_watches(self) -> tuple[Watch, ...]:
        """The alerts on the share of handoffs with a finding."""
        return (self.starved, self.unseen, self.cut, self.fallback)

    @field_validator("handoffs")
    @classmethod
    def _named(cls, handoffs: dict[str, Declared]) -> dict[str, Declared]:
        if "" in handoffs:
            raise ValueError("a handoff has a name")
        return handoffs

    @model_validator(mode="after")
    def _runs_are_seen(self) -> Self:
        for hold in (self.run_hold, self.run_unverifiable_hold):
            if seconds(hold) >= seconds(self.run_shown):
                raise ValueError(f"a run alerts for {self.run_shown}, so it cannot be held back for {hold}")
        return self

    @model_validator(mode="after")
    def _no_clash(self) -> Self:
        own = {"alertname", "declared", "severity", "speed", "target", "undecided", self.service_label}
        clash = sorted(name for name in self.labels if name in own or re.match("rop_|__", name))
        if clash:
            raise ValueError(f"labels already taken by the alerts themselves: {', '.join(clash)}")
        return self


def read_settings(file: Path) -> dict[str, object]:
    """Return the settings in a TOML file, not yet checked.

    Raises:
        ValueError: It is no TOML.
    """
    return tomllib.loads(file.read_text(encoding="utf-8"))
