"""Tests of the installed module, which Scripts/test-package runs; the witness is Python's own sqlite3."""

import ast
import contextlib
import csv
import os
import pathlib
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import moult

ROOT = pathlib.Path(__file__).parents[2]
MODEL = ROOT / "Examples/Forum.xcdatamodeld"


class ModuleTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = self.folder / "forum.sqlite"
        moult.call("create", self.store, options=["--model", MODEL, "--version", "Forum", "--rows", "User=3,Post=20"])
        self.execute("UPDATE ZPOST SET ZTEXT = 'one line\u2028more, \"quoted\"' WHERE Z_PK = 2")

    def execute(self, sql):
        with contextlib.closing(sqlite3.connect(self.store)) as connection, connection:
            return connection.execute(sql).fetchall()

    def test_a_query_returns_the_rows_that_sqlite_reads(self):
        rows = moult.query(self.store, "SELECT Z_PK, text, author FROM Post ORDER BY 1")
        self.assertEqual(
            [tuple(row.values()) for row in rows], self.execute("SELECT Z_PK, ZTEXT, ZAUTHOR FROM ZPOST ORDER BY 1"))
        self.assertEqual(len(rows), 20)
        self.assertIn("\u2028", rows[1]["text"])
        self.assertEqual(moult.query(self.store, "SELECT 1 AS n WHERE 0"), [])

    def test_words_that_begin_with_dashes_are_no_options(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.execute("VACUUM INTO '--copy.sqlite'")
        self.assertEqual(moult.query("--copy.sqlite", "-- a comment\nSELECT count(*) AS n FROM User"), [{"n": 3}])

    def test_what_cannot_be_passed_on_is_an_error_of_the_module(self):
        wrong = ("SELECT '\0'", "SELECT 1\0", "SELECT '\ud800'", "SELECT ?", "SELECT * FROM User WHERE Z_PK = :key")
        for sql in wrong:
            with self.assertRaises(moult.MoultError) as caught:
                moult.query(self.store, sql)
            self.assertEqual((caught.exception.code, caught.exception.status), ("usage", 2), sql[:20])
            self.assertTrue(caught.exception.remedy)
        with self.assertRaises(moult.MoultError):
            moult.call("query", self.store, "SELECT 1 -- " + "x" * 200_000)
        with self.assertRaisesRegex(ValueError, "help"):
            moult.call("help")

    def test_a_query_of_any_length_is_read_and_is_in_no_list_of_processes(self):
        self.assertEqual(moult.query(self.store, "SELECT 1 AS n -- " + "x" * 3_000_000), [{"n": 1}])
        keys = ", ".join(str(key) for key in range(1, 100_000))
        self.assertEqual(moult.query(self.store, f"SELECT count(*) AS n FROM Post WHERE Z_PK IN ({keys})"), [{"n": 20}])
        # The module starts the program; a program in its place says what it got.
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as script:
            script.write('#!/bin/sh\nprintf \'{"format":1,"columns":["a","t"],"rows":[["%s","%s"]]}\' "$*" "$(cat)"\n')
        self.addCleanup(os.unlink, script.name)
        os.chmod(script.name, 0o700)
        with unittest.mock.patch("moult.program", return_value=pathlib.Path(script.name)):
            [row] = moult.query("a store", "SELECT 'secret'")
        self.assertEqual(row, {"a": "query --json -- a store -", "t": "SELECT 'secret'"})

    def test_a_boolean_is_a_bool_and_an_expression_is_a_number(self):
        moult.call("create", self.folder / "t.sqlite", options=["--model", MODEL, "--version", "Forum", "--rows", "Thread=9"])
        store, self.store = self.store, self.folder / "t.sqlite"
        self.addCleanup(setattr, self, "store", store)
        self.execute("UPDATE ZTHREAD SET ZISPINNED = Z_PK % 2")
        rows = moult.query(self.store, "SELECT isPinned, isPinned + 0 AS number, Z_PK FROM Thread ORDER BY Z_PK")
        self.assertEqual([row["isPinned"] for row in rows], [key % 2 == 1 for key in range(1, 10)])
        self.assertTrue(all(type(row["isPinned"]) is bool for row in rows))
        self.assertTrue(all(type(row["number"]) is int for row in rows))
        self.assertEqual(moult.query(self.store, "SELECT sum(isPinned) AS n FROM Thread"), [{"n": 5}])

    def test_one_column_may_be_a_text(self):
        self.assertEqual(
            moult.export(self.store, entity="Post", columns="text"),
            moult.export(self.store, entity="Post", columns=["text"]))

    def test_a_status_names_the_versions_of_the_model(self):
        status = moult.status(self.store, model=MODEL)
        self.assertEqual((status["state"], status["version"], status["behind"]), ("behind", "Forum", 2))
        names = {path.stem for path in MODEL.glob("*.xcdatamodel")}
        self.assertEqual(set(status["versions"]), names)
        self.assertEqual(moult.status(self.store, model=MODEL, to="Forum")["state"], "current")

    def test_an_export_returns_the_objects_or_writes_them(self):
        expected = self.execute("SELECT Z_PK, ZTEXT FROM ZPOST WHERE ZAUTHOR = 2 ORDER BY 1")
        posts = moult.export(self.store, entity="Post", columns=["Z_PK", "text", "author"])
        self.assertEqual([(p["Z_PK"], p["text"]) for p in posts if p["author"] == 2], expected)
        self.assertEqual(len(moult.export(self.store, entity="Post", limit=1)), 1)
        self.assertEqual(moult.export(self.store, entity="Post", where="text == 'nowhere'"), [])
        parts = moult.export(self.store, self.folder / "csv")["parts"]
        self.assertEqual(next(part["rows"] for part in parts if part["name"] == "Post"), 20)
        with open(self.folder / "csv/Post.csv", newline="", encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 20)
        with self.assertRaises(ValueError):
            moult.export(self.store)

    def test_an_error_has_a_code_a_sentence_and_a_remedy(self):
        with self.assertRaises(moult.MoultError) as raised:
            moult.status(self.folder / "nowhere.sqlite")
        error = raised.exception
        self.assertEqual((error.code, error.place), ("fileNotFound", str(self.folder / "nowhere.sqlite")))
        self.assertTrue(error.message and error.remedy and error.remedy in str(error))
        self.assertEqual(pickle.loads(pickle.dumps(error)).code, "fileNotFound")
        for sql in ["DELETE FROM ZPOST", "SELECT * FROM Nothing", ""]:
            with self.assertRaises(moult.MoultError):
                moult.query(self.store, sql)
        with self.assertRaises(moult.MoultError):
            moult.export(self.store, entity="Post", where="nothing == 1")
        self.assertEqual(self.execute("SELECT count(*) FROM ZPOST"), [(20,)])

    def test_an_interrupted_call_ends_the_program(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with self.assertRaises(KeyboardInterrupt):
            moult.call("browse", self.store)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_the_examples_of_the_pages_run(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.store.rename("app.sqlite")
        shutil.copytree(MODEL, "App.xcdatamodeld")
        for page in [ROOT / "Documentation/Installing.md", ROOT / "Packaging/Python/DESCRIPTION.md"]:
            shutil.rmtree("csv", ignore_errors=True)
            blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
            names = {}
            exec("\n".join(blocks), names)
            lines = re.findall(r"^(moult[.].*?) +# ([\"\[{].*)$", "".join(blocks), re.MULTILINE)
            self.assertGreaterEqual(len(lines), 2)
            shutil.rmtree("csv")
            for line, value in lines:
                self.assertEqual(eval(line, names), ast.literal_eval(value), line)

    def test_the_command_and_the_module_are_one_program(self):
        script = pathlib.Path(sys.executable).with_name("moult")
        for command in [[script], [sys.executable, "-m", "moult"], [moult.program()]]:
            printed = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
            self.assertTrue(printed.startswith(f"moult {moult.__version__}"), printed)
        self.assertEqual(subprocess.run([script, "status", "/nowhere"], capture_output=True).returncode, 4)

    def test_the_libraries_are_those_of_the_wheel(self):
        inside = str(moult.program().parents[1])
        for name in ["moult", "moult-browse"]:
            listing = subprocess.run(["ldd", moult.program().with_name(name)], capture_output=True, text=True, check=True)
            for library in ["libsqlite3.so", *(["libmicrohttpd.so", "libgnutls.so"] if "-" in name else [])]:
                line = next(line for line in listing.stdout.splitlines() if library in line)
                self.assertIn(inside, os.path.realpath(line.split()[2]))


if __name__ == "__main__":
    unittest.main()
