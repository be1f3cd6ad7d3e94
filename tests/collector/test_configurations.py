"""The configurations as they are documented and as they lie there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from rop_otel import semconv
from rop_otel.core.handoff import FINDINGS, Severity
from tests.collector.collector import FOLDER, validate

README = (FOLDER / "README.md").read_text(encoding="utf-8")
LAYERINGS = [tuple(re.findall(r"--config (\S+)", line)) for line in README.splitlines() if line.startswith("otelcol ")]
LAYERS = sorted(path.name for path in FOLDER.glob("*.yaml"))
OURS = {value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)}


@pytest.mark.parametrize("layers", LAYERINGS, ids=lambda layers: "+".join(Path(name).stem for name in layers))
def test_documented_layerings_are_valid(layers: tuple[str, ...], tmp_path: Path) -> None:
    """The collector accepts every layering that the manual names, without any variable but where to write."""
    checked = validate(layers, {"ROP_COLLECTOR_STATE": str(tmp_path)})
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_wrong_layer_is_refused(tmp_path: Path) -> None:
    """Validation says no where a layer names a component that the manifest lacks."""
    (tmp_path / "wrong.yaml").write_text("service: {pipelines: {traces/next: {exporters: [zipkin]}}}\n")
    checked = validate(["agent.yaml", tmp_path / "wrong.yaml"], {"ROP_COLLECTOR_STATE": str(tmp_path)})
    assert checked.returncode != 0
    assert "zipkin" in checked.stderr


def test_every_layer_is_documented() -> None:
    """Every configuration is in a documented layering, extras.yaml last, and says at its top what it adds."""
    assert {name for layers in LAYERINGS for name in layers} == set(LAYERS) - {"builder.yaml"}
    assert {layers[-1] for layers in LAYERINGS} == {"extras.yaml"}
    assert [name for name in LAYERS if not (FOLDER / name).read_text(encoding="utf-8").startswith("# ")] == []
    assert yaml.safe_load((FOLDER / "extras.yaml").read_text(encoding="utf-8")) is None


def test_variables_and_release_are_documented() -> None:
    """Every variable is in the manual's table with its default, and the manual names the manifest's release."""
    used = {
        (name, default)
        for path in FOLDER.glob("*.yaml")
        for name, default in re.findall(r"\$\{env:(\w+):-(.*?)\}", path.read_text(encoding="utf-8"))
    }
    rows = [line for line in README.splitlines() if line.startswith("| `ROP_COLLECTOR_")]
    assert [(n, d) for n, d in used if not any(f"`{n}`" in row and f"`{d}`" in row for row in rows)] == []
    manifest = (FOLDER / "builder.yaml").read_text(encoding="utf-8")
    [release] = re.findall(r"^  version: (.*)$", manifest, re.MULTILINE)
    assert set(re.findall(r" v(0\.[\d.]+)", manifest)) == {release}
    assert f"builder@v{release}" in README


@pytest.mark.parametrize("kind", ["receivers", "processors", "connectors", "exporters", "extensions"])
def test_only_what_is_used_is_built(kind: str) -> None:
    """The manifest has as many components of a kind as the configurations use."""
    read = {name: yaml.safe_load((FOLDER / name).read_text(encoding="utf-8")) or {} for name in LAYERS}
    built = read.pop("builder.yaml")[kind]
    used = {component.partition("/")[0] for layer in read.values() for component in layer.get(kind, {})}
    assert len(built) == len(used)


def test_names_are_those_of_the_contract() -> None:
    """Every rop.* name in a configuration is one that this project emits."""
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yaml")]
    assert {name for text in texts for name in re.findall(r"\brop\.[a-z_]+(?:\.[a-z_]+)*", text)} <= OURS


def test_every_handoff_that_needs_a_look_keeps_its_trace() -> None:
    """The sampler keeps what failed, and what should have been decided and was not."""
    config = yaml.safe_load((FOLDER / "sampling.yaml").read_text(encoding="utf-8"))
    policies = config["processors"]["tail_sampling"]["policies"]
    [verdicts] = [each["string_attribute"] for each in policies if each["type"] == "string_attribute"]
    assert verdicts["key"] == semconv.VERDICT
    assert set(verdicts["values"]) == {"FAIL", "UNVERIFIABLE", "RESOLUTION_ERROR", "SELECTOR_ERROR"}


def test_every_error_finding_keeps_its_trace() -> None:
    """The sampler's list of findings is the list of those with severity error."""
    text = (FOLDER / "sampling.yaml").read_text(encoding="utf-8")
    [listed] = re.findall(r'"\\"\((.*?)\)\\""', text)
    assert set(listed.split("|")) == {str(code) for code in FINDINGS if code.severity is Severity.ERROR}
