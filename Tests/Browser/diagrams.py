"""Pictures of real models in the tools that draw them."""
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from xml.sax.saxutils import quoteattr

from page import ROOT, Page

WHOLE = os.environ.get("MOULT_TIER") == "matrix"

# Mermaid names the diagram that it has understood; an error names the line.
PARSE = """
const [texts, done] = arguments;
(async () => {
  mermaid.initialize({startOnLoad: false, maxTextSize: 10000000});
  const faults = [];
  for (const [name, text] of texts) {
    try { await mermaid.parse(text); } catch (error) { faults.push(name + ": " + String(error)); }
  }
  const drawn = await mermaid.render("picture", texts[0][1]);
  done([faults, drawn.svg || drawn]);
})().catch((error) => done([["all: " + String(error)], ""]));
"""


def corpus():
    """The folder of real models; nil where there is none."""
    folder = pathlib.Path(os.environ.get("MOULT_CORPUS", ROOT.parent / "shared/corpus"))
    if not folder.is_dir():
        print("SKIPPED: no corpus; the diagrams of the examples are drawn alone", flush=True)
        return ROOT / "Examples"
    return folder


class Diagrams(unittest.TestCase):
    def text(self, *arguments):
        """What moult prints; nil for a model that it refuses."""
        run = subprocess.run([f"{self.bin}/moult", "diagram", *map(str, arguments)], capture_output=True, text=True)
        self.assertIn(run.returncode, (0, 3, 4), run.stderr)
        return run.stdout if run.returncode == 0 else None

    def pictures(self, form):
        """The newest version of every model, what differs from its oldest, and some stores; in the matrix tier every
        version and every store."""
        folder = corpus()
        bundles = sorted(folder.rglob("*.xcdatamodeld")) + sorted(folder.rglob("*.momd"))
        alone = [path for path in sorted(folder.rglob("*.xcdatamodel")) + sorted(folder.rglob("*.mom"))
                 if path.parent.suffix not in (".xcdatamodeld", ".momd")]
        stores = [path for path in sorted(folder.rglob("*")) if path.suffix in (".sqlite", ".store", ".db")
                  and path.is_file()]
        calls = [(path, "--format", form) for path in bundles + alone + stores[:: 1 if WHOLE else 5]]
        for bundle in bundles:
            versions = sorted(part.stem for part in bundle.iterdir() if part.suffix in (".xcdatamodel", ".mom"))
            if len(versions) > 1:
                calls.append((bundle, "--difference", versions[0], versions[-1], "--format", form))
            if WHOLE:
                calls += [(bundle, "--version", version, "--format", form) for version in versions]
        with ThreadPoolExecutor(2) as pool:
            texts = list(pool.map(lambda call: self.text(*call), calls))
        refused = [" ".join(map(str, call[:-2])) for call, text in zip(calls, texts) if not text]
        print(f"diagrams: {len(refused)} of {len(calls)} are refused", *refused[:20], sep="\n  ", flush=True)
        return [(" ".join(map(str, call)), text) for call, text in zip(calls, texts) if text]

    def flows(self, form):
        """A plan and a history."""
        page = Page(self.bin)
        try:
            calls = [(page.store, kind, "--model", page.model, "--format", form) for kind in ("--plan", "--history")]
            plan = self.text(*calls[0])
            page.moult("migrate", page.store, "--model", page.model)
            return [("plan", plan), ("history", self.text(*calls[1]))]
        finally:
            page.end()

    HOSTILE = ['x"];<img src=x onerror="window.hit=1">{{', "end", "classDiagram", "%%{init: {'theme': 'dark'}}%%",
               "a`b$&#35;|c", "click e0 call alert(1)", "\u202eabc", "<<x>>"]

    def hostile(self, form):
        """A model whose names mean something to the languages of pictures; its text."""
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "Hostile.xcdatamodel"
            model.mkdir()
            entities = "".join(
                f'<entity name={quoteattr(name)} syncable="YES"><attribute name={quoteattr(name)} optional="YES" '
                f'attributeType="String"/></entity>' for name in self.HOSTILE)
            (model / "contents").write_text(
                '<?xml version="1.0" encoding="UTF-8"?><model type="com.apple.IDECoreDataModeler.DataModel" '
                f'documentVersion="1.0">{entities}</model>')
            return self.text(model, "--format", form)

    def test_mermaid(self):
        folder = pathlib.Path(importlib.util.find_spec("mmdc").origin).parent
        hostile = self.hostile("mermaid")
        texts = [("hostile", hostile), *self.flows("mermaid"), *self.pictures("mermaid")]
        self.assertGreater(len(texts), 6)
        with tempfile.NamedTemporaryFile("w", suffix=".html") as page:
            page.write(f"<!DOCTYPE html><meta charset=utf-8><script src='{folder}/assets/mermaid.js'></script><body>")
            page.flush()
            browser = self.browser()
            try:
                browser.set_script_timeout(600)
                browser.get(f"file://{page.name}")
                faults, svg = browser.execute_async_script(PARSE, texts)
                # Drawn into the page, a name is a text and nothing else.
                shown, hit = browser.execute_script(
                    "document.body.innerHTML = arguments[0]; return [document.body.textContent, window.hit]", svg)
                wrong, _ = browser.execute_async_script(PARSE, [["wrong", "classDiagram\n  class {{ <<"], *texts[:1]])
            finally:
                browser.quit()
        self.assertEqual(faults, [])
        self.assertIn("</svg>", svg)
        self.assertIsNone(hit)
        for name in self.HOSTILE[:6]:
            self.assertIn(name, shown)
        self.assertTrue(wrong, "this parser takes everything")
        print(f"diagrams: Mermaid takes {len(texts)} pictures", flush=True)

    def test_graphviz(self):
        texts = [("hostile", self.hostile("dot")), *self.flows("dot"), *self.pictures("dot")]
        def draw(picture):
            run = subprocess.run(["dot", "-Tsvg", "-o", os.devnull], input=picture[1], capture_output=True, text=True)
            return None if run.returncode == 0 and not run.stderr else f"{picture[0]}: {run.stderr}"
        with ThreadPoolExecutor(2) as pool:
            self.assertEqual([fault for fault in pool.map(draw, texts) if fault], [])
        print(f"diagrams: Graphviz takes {len(texts)} pictures", flush=True)
