#!/usr/bin/env python3
"""Prints the arrays that a column's keyed archives hold, one JSON text a row, `null` for NULL.

An independent witness for what MoultData archives: the archive's root is an array of plain values, or the data of
JSON.

usage: archives.py STORE TABLE COLUMN
"""
import json
import plistlib
import sqlite3
import sys


def array(data):
    if data is None:
        return None
    archive = plistlib.loads(data)
    objects = archive["$objects"]
    assert archive["$archiver"] == "NSKeyedArchiver" and objects[0] == "$null"
    root = objects[archive["$top"]["root"].data]
    if isinstance(root, bytes):
        return json.loads(root)
    assert objects[root["$class"].data]["$classname"] == "NSArray"
    return [objects[uid.data] for uid in root["NS.objects"]]


store, table, column = sys.argv[1:]
for (data,) in sqlite3.connect(f"file:{store}?mode=ro", uri=True).execute(f"SELECT {column} FROM {table} ORDER BY Z_PK"):
    print(json.dumps(array(data), separators=(",", ":"), ensure_ascii=False))
