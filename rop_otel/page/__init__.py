"""The web page: assessed handoffs as a document, and one HTML file that draws it."""

from rop_otel.page.assessed_set import AssessedSet
from rop_otel.page.carried import Carried
from rop_otel.page.html import check_trace_url, write_page

__all__ = ["AssessedSet", "Carried", "check_trace_url", "write_page"]
