"""The declaration as pydantic models: the allowed values of its fields. Relations of fields are checked elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from rop_otel.core.profile.declaration import Mode
from rop_otel.core.profile.fieldpath import FieldPath

ROP_VERSION: Final = "rop/v1"
MAX_INTEGER: Final = 2**53 - 1


def _whole(value: object) -> object:
    """Take 3.0 for 3, as JSON Schema does; true is no integer, as strict mode sees to."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _boolean(value: object) -> object:
    """Refuse 1 for true, which a literal would take."""
    if not isinstance(value, bool):
        raise PydanticCustomError("bool_type", "Input should be a valid boolean")
    return value


def _path(text: str) -> str:
    try:
        FieldPath.parse(text)
    except ValueError as error:
        raise PydanticCustomError("malformed_path", "{why}", {"why": str(error)}) from None
    return text


def is_file_name(name: str) -> bool:
    """Return whether a file's name is relative to the declaration's folder, with ``/`` only, and does not leave it."""
    return not (name.startswith("/") or name.endswith("/") or ".." in name.split("/") or "\\" in name or "\0" in name)


def _file_name(name: str) -> str:
    if not is_file_name(name):
        raise PydanticCustomError(
            "file_name",
            "{name} is not relative to the declaration's folder, with / only and no ..",
            {"name": repr(name)},
        )
    return name


def _absent() -> Any:
    """Stand for an absent optional field: no field may be null."""
    return None


_PATH_PATTERN: Final = r"^[^.\[\]]+(\.[^.\[\]]+)*(\[\](\.[^.\[\]]+)*)?$"

Text = Annotated[str, StringConstraints(min_length=1)]
Sha256 = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-f]{64}\z"), Field(json_schema_extra={"pattern": "^[0-9a-f]{64}$"})
]
Path = Annotated[Text, AfterValidator(_path), Field(json_schema_extra={"pattern": _PATH_PATTERN})]
FileName = Annotated[Text, AfterValidator(_file_name)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER), BeforeValidator(_whole)]
Positive = Annotated[int, Field(ge=1, le=MAX_INTEGER), BeforeValidator(_whole)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FileRef(_Part):
    """A file that the declaration names: its place, and the exact bytes that it must hold."""

    path: FileName
    bytes: Count
    sha256: Sha256


class Interface(_Part):
    """The interface that a run is about."""

    name: Text
    version: Text


class SheetInterface(Interface):
    """The interface as documented: whether the selected object must be returned."""

    specification: Text
    requires_selected_return: bool


class Policy(_Part):
    """Who decided, for whose output, in which revision and mode."""

    authority: Text
    producer: Text
    revision: Text
    mode: Mode


class SelectedKeyTarget(_Part):
    """The record carries the selected key, or a list of declared alternatives."""

    form: Literal["selected_key"]
    field: Path


class WitnessTarget(_Part):
    """The record carries a witness, which a one-to-one map decodes to the selected key."""

    form: Literal["witness"]
    field: Path
    hash_field: Path
    inverse_map: FileRef


class Output(_Part):
    """What counts as returned: the field, how much of it the reader sees and is stored, and the membership rule."""

    component: Text
    field: Path
    cutoff: Positive
    rule: Literal["any", "all"]
    depth: Positive = Field(default_factory=_absent)


class Trace(_Part):
    """The record field of the dataset's judged objects, fixed before scoring."""

    field: Path


class ResolverRef(FileRef):
    """The identity resolver; the corpus fields are carried and never interpreted."""

    version: Text
    corpus_uri: Text = Field(default_factory=_absent)
    composite_corpus_key: Text = Field(default_factory=_absent)


class PopulationRef(FileRef):
    """Every record ID that the run is expected to hold."""

    field: Path
    count: Positive
    fixed_before_output: Annotated[Literal[True], BeforeValidator(_boolean)]


class Sheet(_Part):
    """The instruction sheet: everything that decides, sealed by its hash."""

    interface: SheetInterface
    component: Text
    policy: Policy
    target: Annotated[SelectedKeyTarget | WitnessTarget, Field(discriminator="form")]
    output: Output
    trace: Trace = Field(default_factory=_absent)
    query_form: Text = Field(default_factory=_absent)
    resolver: ResolverRef
    population: PopulationRef = Field(default_factory=_absent)
    prompt: str = Field(default_factory=_absent)


class Manifest(_Part):
    """A declaration of ROP v1."""

    rop_version: Literal["rop/v1"]
    declaration_id: Text
    interface: Interface
    component: Text
    mode: Mode
    policy_revision: Text
    sheet: Sheet
    sheet_sha256: Sha256
