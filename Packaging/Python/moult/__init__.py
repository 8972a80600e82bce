"""Core Data and SwiftData stores from Python: their version, their rows, and every verb of the command line.

>>> import moult
>>> moult.query("app.sqlite", "SELECT count(*) AS posts FROM Post")
[{'posts': 20}]
>>> moult.status("app.sqlite", model="App.xcdatamodeld")["state"]
'behind'

Each call runs the program ``moult`` as a process of its own, because two copies of SQLite in one process break each
other's locks. Values are those of JSON: dates are ISO 8601 text in UTC, UUIDs are text, and bytes are base64 text.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, overload

__all__ = ["MoultError", "Part", "Export", "Status", "call", "export", "program", "query", "status"]
__version__ = "@VERSION@"

StrPath = str | os.PathLike[str]
Row = dict[str, Any]


class MoultError(Exception):
    """A call that failed, with what was found, where, and what to do next."""

    code: str
    """The stable code of the error, such as ``fileNotFound``."""
    message: str
    """The sentence that says what was found."""
    place: str | None
    """The file, entity or row that the error is about."""
    remedy: str | None
    """The sentence that says what to do next."""
    status: int
    """The exit code of the program; negative if a signal ended it."""

    def __init__(
        self, code: str, message: str, place: str | None = None, remedy: str | None = None, status: int = 5
    ) -> None:
        super().__init__(code, message, place, remedy, status)
        self.code, self.message, self.place, self.remedy, self.status = code, message, place, remedy, status

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}" if self.remedy else self.message


class _Status(TypedDict):
    state: Literal["current", "behind", "ahead", "unknown", "notCoreData"]
    version: str | None
    latest: str | None
    behind: int | None
    versions: list[str]
    pendingWork: list[str]
    findings: list[dict[str, Any]]


class Status(_Status, total=False):
    """The version of a store, and how many versions it is behind; further keys are those of ``moult status --json``."""

    nearest: Any
    candidates: list[str]
    recognisedBy: str | None
    reason: str


class Part(TypedDict):
    """One file or table of an export."""

    name: str
    entity: str
    relationship: str | None
    place: str
    rows: int


class Export(TypedDict):
    """The result of an export: its path and its parts."""

    path: str
    parts: list[Part]


def program() -> Path:
    """Return the path of the program ``moult`` that this package brings."""
    return Path(__file__).parent / "bin" / "moult"


def call(verb: str, *arguments: StrPath, options: Sequence[StrPath] = ()) -> Any:
    """Run a verb of the command line and return its JSON document.

    ``verb`` may have two words, such as ``"backup list"``. An argument may begin with a dash; options do not follow it.
    Findings are a part of the document, not an error. ``dump`` returns a list of objects.

    >>> moult.call("backup list", "app.sqlite")["backups"]
    []
    """
    if verb.split()[:1] in ([], ["help"]) or "--help" in options:
        raise ValueError(f"call() returns the document of a verb, and {verb!r} prints a text: run moult {verb} in a terminal")
    documents = _documents([*verb.split(), *options], arguments)
    return documents[0] if len(documents) == 1 and _is_answer(documents[0]) else documents


def query(store: StrPath, sql: str, *, model: StrPath | None = None) -> list[Row]:
    """Return the rows of one SELECT over the views of a store, which are named after its entities.

    The store is not changed: a statement that writes raises a ``MoultError``. Of two columns with one name the second
    is called ``name_2``. There are no parameters: a query with ``?`` or ``:name`` raises a ``MoultError``. A Boolean
    attribute is a ``bool`` where it is a column of the result itself; an expression such as ``max(isRead)`` is a
    number. The program reads the query from its standard input, so it may have any length, and ``ps`` does not show it.
    """
    [document] = _documents(["query", *_options(model=model)], [store, "-"], sql)
    return [dict(zip(document["columns"], row)) for row in document["rows"]]


@overload
def export(
    store: StrPath, out: None = None, *, entity: str, where: str | None = None, columns: Sequence[str] | None = None,
    limit: int | None = None, model: StrPath | None = None
) -> list[Row]: ...


@overload
def export(
    store: StrPath, out: StrPath, *, format: Literal["csv", "jsonl", "sqlite"] = "csv", entity: str | None = None,
    where: str | None = None, columns: Sequence[str] | None = None, limit: int | None = None,
    model: StrPath | None = None
) -> Export: ...


def export(
    store: StrPath, out: StrPath | None = None, *, format: Literal["csv", "jsonl", "sqlite"] = "csv",
    entity: str | None = None, where: str | None = None, columns: Sequence[str] | None = None,
    limit: int | None = None, model: StrPath | None = None
) -> Export | list[Row]:
    """Write the objects of a store to ``out``, or return those of one entity.

    ``where`` is a predicate of Core Data, such as ``"author.name BEGINSWITH 'A'"``. ``out`` is a new folder, or with
    the format ``sqlite`` a new file. Without ``out``, the objects of ``entity`` are returned, lowest keys first.
    """
    if isinstance(columns, str):
        columns = [columns]
    options = _options(
        entity=entity, where=where, columns=None if columns is None else ",".join(columns), limit=limit, model=model)
    if out is not None:
        written: Export = call("export", store, options=[*options, "--format", format, "--out", out])
        return written
    if entity is None:
        raise ValueError("export() without out= returns the objects of one entity: name it with entity=")
    return _documents(["export", *options], [store])


def status(store: StrPath, *, model: StrPath | None = None, to: str | None = None) -> Status:
    """Return the version of a store, and how many versions it is behind ``to`` or the model's current version.

    Without ``model``, the store is compared with the model inside it. A store that is ahead or of no known version is
    no error; its ``state`` says so.
    """
    document: Status = call("status", store, options=_options(model=model, to=to))
    return document


def _options(**values: object) -> list[str]:
    """Return the options of the command line for those values that are given."""
    return [f"--{name}={_text(value)}" for name, value in values.items() if value is not None]


def _text(value: object) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _is_answer(document: Any) -> bool:
    """Return whether a line is the document of a verb; others are objects, which have a key."""
    return "format" in document and "Z_PK" not in document


def _documents(words: Sequence[StrPath], arguments: Sequence[StrPath], text: str | None = None) -> list[Any]:
    """Run the program and return the JSON documents that it prints; what it prints as its error is raised.

    ``text`` is the program's standard input.
    """
    command = [_text(word) for word in [program(), *words, "--json", "--", *arguments]]
    if any("\0" in word for word in command):
        raise MoultError("usage", "An argument has a NUL character.", remedy="Remove it.", status=2)
    # Linux takes no longer argument (man 2 execve).
    if any(len(os.fsencode(word)) >= 131_072 for word in command):
        raise MoultError("usage", "An argument is longer than 128 KiB.", remedy="Shorten it.", status=2)
    try:
        sent = None if text is None else text.encode()
    except UnicodeEncodeError:
        raise MoultError("usage", "The query has half of a surrogate pair.", remedy="Remove it.", status=2) from None
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=nothing if sent is None else pipe, stdout=pipe, stderr=pipe) as process:
        try:
            output, errors = (stream.decode() for stream in process.communicate(sent))
        except BaseException:
            # After Control-C too, the program leaves the store as it was.
            process.terminate()
            process.communicate()
            raise
    documents = [json.loads(line) for line in output.split("\n") if line]
    last, status = documents[-1] if documents else {}, process.returncode
    if status != 0 and _is_answer(last) and last.get("error"):
        error = last["error"]
        raise MoultError(
            error["code"], error["message"], error.get("place") or None, error.get("remedy") or None, status)
    if status != 0 and not documents:
        raise MoultError("failed", errors.strip() or "The program printed nothing.", status=status)
    return documents
