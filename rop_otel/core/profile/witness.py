"""Witnesses: values that a one-to-one map decodes to the selected key, bound to their record by a hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rop_otel.core.profile import ijson
from rop_otel.core.profile.canonical import canonical_sha256
from rop_otel.core.profile.declaration_faults import FileFaultError
from rop_otel.core.profile.resolver import Resolver

BINDING_PROFILE: Final = "rop-witness/v1"


def parse_inverse_map(
    data: bytes, *, resolver: Resolver | None
) -> tuple[Mapping[str, str], tuple[FileFaultError, ...]]:
    """Read an inverse map.

    Args:
        data: The file's bytes.
        resolver: Knows every key that the map may decode to; None where there is no valid one, so that is not checked.

    Returns:
        Witness value to selected key, and what is wrong with it.
    """
    try:
        document = ijson.loads(data)
    except ijson.IJsonError as error:
        return {}, (FileFaultError("inverse_map_invalid", f"the inverse map: {error}"),)
    if not isinstance(document, dict):
        return {}, (FileFaultError("inverse_map_invalid", "the inverse map must be a JSON object"),)
    faults: list[FileFaultError] = []
    first: dict[str, str] = {}
    for witness, key in document.items():
        if not isinstance(key, str) or not key:
            why = f"witness {witness!r} must decode to a non-empty string, not {key!r}"
            faults.append(FileFaultError("inverse_map_invalid", why))
        elif first.setdefault(key, witness) != witness:
            why = f"witnesses {first[key]!r} and {witness!r} both decode to {key!r}"
            faults.append(FileFaultError("inverse_map_not_injective", why))
        elif resolver is not None and resolver.resolve(key) is None:
            why = f"witness {witness!r} decodes to {key!r}, which the resolver does not know"
            faults.append(FileFaultError("inverse_map_unresolvable", why))
    return document, tuple(faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a witness is bound to, beside its record and its value.

    Args:
        declaration_id: The declaration's name.
        manifest_sha256: SHA-256 of the declaration's exact bytes.
        population_sha256: The population's declared hash; empty where none is declared.
        inverse_map_sha256: The inverse map's declared hash.
    """

    declaration_id: str
    manifest_sha256: str
    population_sha256: str
    inverse_map_sha256: str

    def sha256(self, *, record_id: str, witness: str, selection: str) -> str:
        """Return the hash that a record must carry beside its witness, which decodes to this selection."""
        return canonical_sha256(
            {
                "binding_profile": BINDING_PROFILE,
                "declaration_id": self.declaration_id,
                "manifest_sha256": self.manifest_sha256,
                "population_sha256": self.population_sha256,
                "record_id": record_id,
                "witness": witness,
                "selection": selection,
                "inverse_map_sha256": self.inverse_map_sha256,
            }
        )
