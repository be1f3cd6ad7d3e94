"""The running Python's own documented standard library as a corpus, read from source and never imported."""

from __future__ import annotations

import platform
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from rop_otel.errors import PipelineError
from rop_otel.reference.corpus.chunking import split
from rop_otel.reference.corpus.chunks import Chunk, Corpus, Item
from rop_otel.reference.corpus.library import Library

SCOPE = "python"
"""Scope of the standard library."""

MAX_ITEMS = 3000

MODULES = tuple(
    """
    asyncio json pathlib collections collections.abc functools contextlib dataclasses typing enum abc copy heapq bisect
    random statistics datetime zoneinfo calendar decimal fractions re string textwrap difflib os os.path shutil tempfile
    glob fnmatch fileinput filecmp subprocess threading queue concurrent.futures multiprocessing multiprocessing.pool
    multiprocessing.managers multiprocessing.shared_memory logging logging.handlers logging.config argparse configparser
    csv tomllib pickle shelve zipfile tarfile gzip bz2 lzma hashlib hmac secrets base64 uuid ipaddress socket
    socketserver selectors ssl http http.client http.server http.cookies http.cookiejar urllib.parse urllib.request
    urllib.error urllib.robotparser email.message email.mime.text email.mime.multipart email.utils email.header
    email.parser smtplib imaplib poplib ftplib html html.parser xml.etree.ElementTree xml.dom.minidom xml.sax.saxutils
    xmlrpc.client inspect ast traceback warnings weakref types timeit tracemalloc unittest unittest.mock doctest pdb
    pprint reprlib operator graphlib sched shlex cmd getpass getopt gettext locale platform mimetypes webbrowser codecs
    signal importlib importlib.metadata importlib.resources importlib.util pkgutil runpy venv linecache tokenize keyword
    plistlib netrc cProfile pstats trace dis mailbox numbers copyreg optparse code zipapp stat
    """.split()
)
"""Modules in the order in which they are taken, the best known first: the cap on objects cuts the last ones."""

NEIGHBOUR = "pydantic"
"""A second library in the same index: near enough in subject to be found where the scope filter fails."""

_NEIGHBOUR_MODULES = ("pydantic.main", "pydantic.fields", "pydantic.dataclasses", "pydantic.json_schema")
_MAX_NEIGHBOURS = 60


def read_standard_library(*, root: Path | None = None, modules: tuple[str, ...] = MODULES) -> Corpus:
    """Read the documented objects of the running Python's standard library.

    Args:
        root: Folder of the library; the running Python's own by default.
        modules: Modules to read, in order.

    Raises:
        PipelineError: No documented module is there (a Python installed without its sources).
    """
    folder = root or Path(sysconfig.get_paths()["stdlib"])
    items = tuple(_items(Library(folder, modules), scope=SCOPE, limit=MAX_ITEMS))
    if not items:
        raise PipelineError(f"no documented Python source found in {str(folder)!r}; name a corpus with --corpus")
    version = f"{SCOPE}-{platform.python_version()}"
    return Corpus(scope=SCOPE, items=items, neighbours=_neighbours(), version=version)


def _neighbours() -> tuple[Item, ...]:
    spec = find_spec(NEIGHBOUR)
    if spec is None or spec.origin is None:
        return ()
    library = Library(Path(spec.origin).parent.parent, _NEIGHBOUR_MODULES)
    return tuple(_items(library, scope=NEIGHBOUR, limit=_MAX_NEIGHBOURS))


def _items(library: Library, *, scope: str, limit: int) -> Iterator[Item]:
    for documented in library.documented()[:limit]:
        chunks = tuple(
            Chunk(id=f"{documented.key}#{place}", item=documented.key, scope=scope, title=documented.title, text=text)
            for place, text in enumerate(split(documented.doc))
        )
        yield Item(
            id=documented.key,
            title=documented.title,
            kind=documented.kind,
            parent=documented.parent,
            aliases=documented.aliases,
            chunks=chunks,
        )
