"""Every query form by its name."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from rop_otel.core.ranking import QueryForm
from rop_otel.errors import ConfigurationError
from rop_otel.reference.forms.cell_form import CellForm
from rop_otel.reference.forms.own_form import ExternalForm
from rop_otel.reference.forms.question_form import QuestionForm
from rop_otel.reference.forms.recorded_form import RecordedForm
from rop_otel.reference.forms.title_form import TitleForm
from rop_otel.reference.named_callable import NamedCallable

_ALL: tuple[QueryForm, ...] = (
    QuestionForm(),
    TitleForm(),
    CellForm(),
    RecordedForm("rewrite"),
    RecordedForm("retrieval_fact"),
)
FORMS: Final = MappingProxyType({form.name: form for form in _ALL})


def find_form(name: str, own: NamedCallable | None = None) -> QueryForm:
    """Return a query form.

    Args:
        name: Its name.
        own: The function that it calls, where it is one's own.

    Raises:
        ConfigurationError: There is none of that name; the message lists them.
    """
    if own is not None:
        return ExternalForm(own)
    if name not in FORMS:
        raise ConfigurationError(f"unknown query form {name!r}; there are {', '.join(FORMS)} and name=module:function")
    return FORMS[name]
