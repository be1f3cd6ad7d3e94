"""The web page: assessed handoffs as a document, one HTML file that draws it, and the files of a served page."""

from rop_otel.page.assessed_set import AssessedSet
from rop_otel.page.carried import Carried
from rop_otel.page.html import check_trace_url, write_page
from rop_otel.page.served import POLICY, ServedFile, served_files

__all__ = ["POLICY", "AssessedSet", "Carried", "ServedFile", "check_trace_url", "served_files", "write_page"]
