"""Pictures of real models in the tools that draw them."""
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from page import ROOT

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
        bundles = sorted(corpus().rglob("*.xcdatamodeld")) + sorted(corpus().rglob("*.momd"))
        calls = [(bundle, "--format", form) for bundle in bundles]
        for bundle in bundles:
            versions = sorted(part.stem for part in bundle.iterdir() if part.suffix in (".xcdatamodel", ".mom"))
            if len(versions) > 1:
                calls.append((bundle, "--difference", versions[0], versions[-1], "--format", form))
        with ThreadPoolExecutor(2) as pool:
            texts = pool.map(lambda call: self.text(*call), calls)
        return [(" ".join(map(str, call)), text) for call, text in zip(calls, texts) if text]

    def test_mermaid(self):
        folder = pathlib.Path(importlib.util.find_spec("mmdc").origin).parent
        texts = self.pictures("mermaid")
        self.assertGreater(len(texts), 3)
        with tempfile.NamedTemporaryFile("w", suffix=".html") as page:
            page.write(f"<!DOCTYPE html><meta charset=utf-8><script src='{folder}/assets/mermaid.js'></script><body>")
            page.flush()
            browser = self.browser()
            try:
                browser.set_script_timeout(60)
                browser.get(f"file://{page.name}")
                faults, svg = browser.execute_async_script(PARSE, texts)
                wrong, _ = browser.execute_async_script(PARSE, [["wrong", "classDiagram\n  class {{ <<"], *texts[:1]])
            finally:
                browser.quit()
        self.assertEqual(faults, [])
        self.assertIn("</svg>", svg)
        self.assertTrue(wrong, "this parser takes everything")
        print(f"diagrams: Mermaid takes {len(texts)} pictures", flush=True)

    def test_graphviz(self):
        texts = self.pictures("dot")
        def draw(picture):
            run = subprocess.run(["dot", "-Tcanon"], input=picture[1], capture_output=True, text=True)
            return None if run.returncode == 0 and not run.stderr else f"{picture[0]}: {run.stderr}"
        with ThreadPoolExecutor(2) as pool:
            self.assertEqual([fault for fault in pool.map(draw, texts) if fault], [])
        print(f"diagrams: Graphviz takes {len(texts)} pictures", flush=True)
