"""tools.py: what other people's programs make of exports and copies with views.

tools.py exports FOLDER          FOLDER/csv, jsonl and plain.sqlite hold the same, as DuckDB and SQLite read them
tools.py views COPY TABLE...     pandas and Datasette read the views of a copy as SQLite does
tools.py parquet FILE PLAIN TABLE    DuckDB reads a Parquet file as SQLite reads the table

Prints how many values were compared. Needs duckdb, pandas and datasette from PyPI.
"""
import base64
import json
import pathlib
import sqlite3
import subprocess
import sys


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def tables(path):
    """Of each table its columns and rows, as the sqlite3 module reads them."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").fetchall():
            found = db.execute(f"SELECT * FROM {quoted(name)}")
            yield name, [part[0] for part in found.description], found.fetchall()


def same(value, text, isBase64):
    """Whether a text that DuckDB has read is the value in the database."""
    if value is None or text is None:
        return value is None and text is None
    if isinstance(value, bytes):
        return base64.b64decode(text) == value if isBase64 else text == f"x'{value.hex()}'"
    if isinstance(value, (int, float)):
        text = {"true": "1", "false": "0"}.get(text, text).replace("Infinity", "inf")
        return float(text) == float(value) or text == str(value)
    return text == value


def compare(place, rows, found, isBase64):
    assert len(rows) == len(found), (place, len(rows), len(found))
    for row, line in zip(rows, found):
        assert len(row) == len(line), place
        for value, text in zip(row, line):
            assert same(value, text, isBase64), (place, value, text)
    return sum(map(len, rows))


def exports(folder):
    import duckdb
    folder = pathlib.Path(folder)
    compared = 0
    for name, columns, rows in tables(folder / "plain.sqlite"):
        types = {column: "VARCHAR" for column in columns}
        lines = duckdb.read_csv(
            str(folder / "csv" / f"{name}.csv"), header=True, all_varchar=True, sep=",", quotechar='"',
            escapechar='"', na_values="", allow_quoted_nulls=False, auto_detect=False, columns=types)
        assert lines.columns == columns, (name, lines.columns, columns)
        compared += compare(f"{name}.csv", rows, lines.fetchall(), False)
        if not rows:
            continue
        objects = duckdb.read_json(
            str(folder / "jsonl" / f"{name}.jsonl"), columns=types, format="newline_delimited",
            maximum_object_size=1 << 28)
        compared += compare(f"{name}.jsonl", rows, objects.fetchall(), True)
    return compared


def datasette_bytes(value):
    """Bytes as Datasette writes them into JSON."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"$base64": True, "encoded": base64.b64encode(value).decode()}


def views(copy, *names):
    import pandas
    compared = 0
    for name in names:
        with sqlite3.connect(f"file:{copy}?mode=ro", uri=True) as db:
            found = db.execute(f"SELECT * FROM {quoted(name)} ORDER BY 1, 2")
            columns = [part[0] for part in found.description]
            rows = found.fetchall()
            frame = pandas.read_sql_query(f"SELECT * FROM {quoted(name)} ORDER BY 1, 2", db)
        assert list(frame.columns) == columns and len(frame) == len(rows) > 0, (name, frame.shape)
        for place, column in enumerate(columns):
            for value, shown in zip([row[place] for row in rows], frame[column]):
                assert pandas.isna(shown) if value is None else shown == value, (name, column, value, shown)
        address = f"/{pathlib.Path(copy).stem}/{name}.json?_shape=array&_size=max"
        answer = subprocess.run(
            [pathlib.Path(sys.executable).parent / "datasette", copy, "--get", address], check=True,
            capture_output=True, text=True).stdout
        shown = json.loads(answer)
        assert len(shown) == min(len(rows), 1000), (name, len(shown))
        expected = {json.dumps(dict(zip(columns, row)), default=datasette_bytes, sort_keys=True) for row in rows}
        for row in shown:
            assert json.dumps(row, sort_keys=True) in expected, row
        compared += 2 * len(rows) * len(columns)
    return compared


def parquet(file, plain, name):
    import duckdb
    columns, rows = next((columns, rows) for table, columns, rows in tables(plain) if table == name)
    found = duckdb.read_parquet(file)
    assert found.columns == columns, found.columns
    lines = [tuple(None if value is None else str(value) for value in line) for line in found.fetchall()]
    # A date of ISO 8601 has become a point in time.
    dates = [place for place, type in enumerate(found.types) if "TIMESTAMP" in str(type)]
    for row, line in zip(rows, lines):
        for place, (value, text) in enumerate(zip(row, line)):
            if place in dates and value is not None:
                assert text[:19] == value[:19].replace("T", " "), (value, text)
            else:
                assert same(value, text, False), (columns[place], value, text)
    assert len(rows) == len(lines)
    return len(rows) * len(columns)


print({"exports": exports, "views": views, "parquet": parquet}[sys.argv[1]](*sys.argv[2:]), "values")
