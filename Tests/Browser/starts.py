"""How the page is started: a folder of stores, a fixed address, a browser that opens by itself, and where the program is."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import tempfile
import time
import unittest

from page import ROOT


class Starts(unittest.TestCase):
    def setUp(self):
        self.bin = pathlib.Path(self.bin).resolve()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="moult-browser-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.model = self.folder / "Forum.xcdatamodeld"
        shutil.copytree(ROOT / "Examples/Forum.xcdatamodeld", self.model)
        for name, version in (("a", "Forum"), ("deep/b", "Forum 3")):
            path = self.folder / f"{name}.sqlite"
            path.parent.mkdir(exist_ok=True)
            subprocess.run([self.bin / "moult", "create", path, "--model", self.model, "--version", version, "--rows", "User=7"],
                           check=True, capture_output=True)
        self.environment = {**os.environ, "XDG_STATE_HOME": str(self.folder / "state")}

    def start(self, *arguments, **settings):
        """The running page, and what it has printed."""
        process = subprocess.Popen(
            [self.bin / "moult", "browse", *map(str, arguments), "--model", self.model, "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**self.environment, **settings})
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        return process, json.loads(process.stdout.readline())

    def end(self, process):
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 0)

    def get(self, port, path, cookie=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        response = connection.getresponse()
        return response.status, response.read().decode(), response

    def admitted(self, document):
        """The port of the page and the cookie of its browser."""
        host, path = document["address"].removeprefix("http://").split("/", 1)
        port = int(host.split(":")[1])
        status, _, response = self.get(port, "/" + path)
        self.assertEqual(status, 303)
        return port, response.getheader("Set-Cookie")

    def free_port(self):
        with socket.socket() as any_:
            any_.bind(("127.0.0.1", 0))
            return any_.getsockname()[1]

    def test_folder(self):
        """The stores of a folder in a list, in a browser; each store's own pages stay apart."""
        process, document = self.start(self.folder)
        browser = self.browser()
        try:
            browser.get(document["address"])
            names = [link.text for link in browser.find_elements("css selector", "tbody th a")]
            self.assertEqual(names, ["a.sqlite", "deep/b.sqlite"])
            browser.find_element("link text", "deep/b.sqlite").click()
            self.assertIn("of the newest version", browser.page_source)
            root = browser.current_url
            for tab in ("SQL", "Plan", "History", "Model", "Store"):
                browser.find_element("link text", tab).click()
                self.assertTrue(browser.current_url.startswith(root), browser.current_url)
            browser.find_element("link text", "User").click()
            self.assertEqual(len(browser.find_elements("css selector", "tbody tr")), 7)
            browser.find_element("id", "find").send_keys("zzz", "\ue007")
            self.assertTrue(browser.current_url.startswith(root))
            browser.get(root + "findings")
            browser.find_element("xpath", "//button[.='Read every row']").click()
            for _ in range(200):
                if browser.find_elements("id", "ended"):
                    break
                time.sleep(0.1)
            self.assertIn("Done.", browser.page_source)
            self.assertTrue(browser.current_url.startswith(root))
            browser.find_element("link text", "Stores").click()
            browser.find_element("link text", "a.sqlite").click()
            self.assertIn("2 versions behind", browser.page_source)
            self.assertEqual([line for line in browser.get_log("browser") if "favicon" not in line["message"]], [])
        finally:
            browser.quit()
        self.end(process)

    def test_folder_without_a_store(self):
        empty = self.folder / "empty"
        empty.mkdir()
        run = subprocess.run([self.bin / "moult", "browse", empty], capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no store", run.stderr)

    def test_fixed_address(self):
        """With a port, the same browser comes back after a restart; without one, and from any other, nobody does."""
        port = self.free_port()
        store = self.folder / "a.sqlite"
        process, document = self.start(store, "--port", port)
        self.assertEqual(document["bookmark"], f"http://127.0.0.1:{port}/")
        _, cookie = self.admitted(document)
        self.assertIn("Max-Age", cookie)
        secret = next((self.folder / "state/moult").iterdir())
        self.assertEqual(stat.S_IMODE(secret.stat().st_mode), 0o600)
        self.end(process)
        process, document = self.start(store, "--port", port)
        self.assertEqual(self.get(port, "/", cookie.split(";")[0])[0], 200)
        self.assertEqual(self.get(port, "/")[0], 403)
        self.assertEqual(self.get(port, "/", cookie.split(";")[0][:-1] + "x")[0], 403)
        # A second page cannot have the port, and says so.
        run = subprocess.run([self.bin / "moult", "browse", store, "--port", str(port)], capture_output=True, text=True,
                             env=self.environment)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("--port", run.stderr)
        self.end(process)
        process, document = self.start(store)
        self.assertIsNone(document["bookmark"])
        self.assertNotIn("Max-Age", self.admitted(document)[1])
        self.end(process)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, to be another user")
    def test_other_user(self):
        """Where the address can be seen, another user of the computer is refused even with it."""
        process, document = self.start(self.folder / "a.sqlite", "--port", self.free_port())
        ask = ("import sys, urllib.request, urllib.error\n"
               "try: print(urllib.request.urlopen(sys.argv[1]).status)\n"
               "except urllib.error.HTTPError as error: print(error.code)\n")
        run = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", ask, document["address"]],
                             capture_output=True, text=True)
        self.assertEqual(run.stdout.strip(), "403", run.stderr)
        self.admitted(document)
        self.end(process)

    def test_open(self):
        """--open hands the address to the system's program, and says so where there is none or it fails."""
        tools = self.folder / "bin"
        tools.mkdir()
        opener = tools / "xdg-open"
        opener.write_text(f"#!/bin/sh\necho \"$1\" > {self.folder}/opened\n")
        opener.chmod(0o755)
        process, document = self.start(self.folder / "a.sqlite", "--open", PATH=f"{tools}:{os.environ['PATH']}")
        for _ in range(100):
            if (self.folder / "opened").exists() and (self.folder / "opened").read_text().strip():
                break
            time.sleep(0.05)
        self.assertEqual((self.folder / "opened").read_text().strip(), document["address"])
        self.end(process)
        for script in ("#!/bin/sh\nexit 3\n", None):
            if script:
                opener.write_text(script)
            else:
                opener.unlink()
            process, document = self.start(self.folder / "a.sqlite", "--open", PATH=str(tools) if not script else f"{tools}:/bin")
            line = process.stderr.readline()
            self.assertIn("No browser was opened", line)
            self.assertIn("xdg-open", line)
            # The page is there all the same.
            self.admitted(document)
            self.end(process)

    def test_program(self):
        """moult-browse is found in the other configuration of a build; where there is none, the advice fits the build."""
        build = self.folder / "package/.build/x86_64-unknown-linux-gnu"
        for configuration in ("debug", "release"):
            (build / configuration).mkdir(parents=True)
        moult = build / "release/moult"
        shutil.copy(self.bin / "moult", moult)
        store = self.folder / "a.sqlite"
        run = subprocess.run([moult, "browse", store], capture_output=True, text=True, env={**self.environment, "PATH": "/nowhere"})
        self.assertEqual(run.returncode, 3, run.stderr)
        command = f"swift build -c release --package-path {self.folder}/package --product moult-browse"
        self.assertIn(command, run.stderr)
        # Such a command builds into the folder that was looked into: SwiftPM itself says where that is.
        shown = subprocess.run(
            ["swift", "build", "-c", "debug", "--package-path", str(ROOT), "--show-bin-path"], capture_output=True, text=True)
        self.assertEqual(pathlib.Path(shown.stdout.strip()).resolve().parts[-3:][0], ".build", shown.stderr)
        shutil.copy(self.bin / "moult-browse", build / "debug/moult-browse")
        process = subprocess.Popen([moult, "browse", store, "--json"], stdout=subprocess.PIPE, text=True,
                                   env={**self.environment, "PATH": "/nowhere"})
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        self.admitted(json.loads(process.stdout.readline()))
        self.end(process)
