"""A store with its local page, for the tests."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Page:
    """A copy of the forum's store in a folder of its own, and the page that moult browse serves of it."""

    def __init__(self, bin_folder, *options, posts=60, threads=0, folder=None, entities=0, model=None):
        """`model` is the path of another model than the forum's, for a store without objects."""
        self.bin = pathlib.Path(bin_folder)
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="moult-browser-"))
        self.folder.mkdir(exist_ok=True)
        source = pathlib.Path(model or ROOT / "Examples/Forum.xcdatamodeld")
        self.model = self.folder / source.name
        self.store = self.folder / f"{source.stem.lower()}.sqlite"
        shutil.copytree(source, self.model)
        name = source.stem
        # Further entities of the first version, for a large model.
        contents = self.model / f"{name}.xcdatamodel/contents"
        more = "".join(
            f'<entity name="E{n}"><attribute name="size{n}" optional="YES" attributeType="String"/></entity>'
            for n in range(entities))
        contents.write_text(contents.read_text().replace("</model>", more + "</model>"))
        rows = [] if model else ["--rows", f"Forum=3,User=9,Thread={threads},Post={posts}"]
        self.moult("create", self.store, "--model", self.model, "--version", name, *rows)
        self.process = subprocess.Popen(
            [self.bin / "moult", "browse", self.store, "--model", self.model, "--json", *options],
            stdout=subprocess.PIPE, text=True)
        document = json.loads(self.process.stdout.readline())
        self.address = document["address"]
        self.port = int(re.match(r"http://127\.0\.0\.1:(\d+)/\?token=[0-9a-f]{64}$", self.address)[1])

    def moult(self, *arguments):
        return subprocess.run(
            [self.bin / "moult", *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def sql(self, query, path=None):
        return subprocess.run(
            ["sqlite3", str(path or self.store), query], check=True, capture_output=True, text=True).stdout.strip()

    def contents(self, path=None):
        """What the shell of SQLite makes of every row and the schema."""
        return self.sql(".sha3sum --schema", path)

    def restored(self):
        """The same of all that a restore brings back; it keeps the counters as high as they were, and leaves a mark."""
        kept = ("INSERT INTO Z_PRIMARYKEY ", "INSERT INTO Z_METADATA ")
        return [line for line in self.sql(".dump").splitlines() if not line.startswith(kept)]

    def end(self):
        """Ends the page as Control-C does; its exit code."""
        self.process.terminate()
        code = self.process.wait(timeout=20)
        shutil.rmtree(self.folder)
        return code
