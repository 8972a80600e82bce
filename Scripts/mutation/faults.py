"""Faults that were repaired, as patches in Scripts/faults, and the search of the simulator for each of them.

The first line of a patch says what it puts back. A line `Profile: rare` after it names a profile of the simulator. Every
fault stands behind a number, as a mutant does, so that all of them are in one build.
"""
import csv
import hashlib
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import points
import trials

# Seeds that one process lives before it takes others.
SEEDS = 8
FAILURE = re.compile(r"^seed (\d+) FAILS at (?:step \d+: )?(.*)$", re.M)
LIFE = re.compile(r"^seed (\d+)(?::| FAILS)", re.M)
COLUMNS = ["fault", "put back", "found", "seed", "seconds", "what was found"]


class Fault:
    """A fault that can be put back."""

    def __init__(self, path):
        text = path.read_text()
        head = text[: text.index("\n--- ")].splitlines()
        self.path, self.name, self.sentence = path, path.stem, head[0]
        self.profile = next((line[9:] for line in head if line.startswith("Profile: ")), "usual")
        self.numbers = sorted({int(number) for number in re.findall(r"^\+.*?Mutant\.on\((\d+)\)", text, re.M)})
        self.files = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    @property
    def number(self):
        return self.numbers[0]


def all_of(root):
    """The faults in the order of their numbers."""
    return sorted((Fault(path) for path in (root / "Scripts/faults").glob("*.patch")), key=lambda fault: fault.numbers)


def wrong(root):
    """What is wrong with the patches, as sentences: each applies to the sources, beside all others."""
    faults = all_of(root)
    for fault in faults:
        if len(fault.numbers) != 1:
            yield f"faults: {fault.name} has the numbers {fault.numbers}, and not one"
        if not re.fullmatch(r"[A-Z].*\.", fault.sentence):
            yield f"faults: {fault.name} does not begin with a sentence"
    numbers = [number for fault in faults for number in fault.numbers]
    if numbers != list(range(1, len(faults) + 1)):
        yield f"faults: the numbers are {numbers}"
    for patches in [[fault] for fault in faults] + [faults]:
        with tempfile.TemporaryDirectory() as folder:
            for file in {file for fault in patches for file in fault.files if (root / file).exists()}:
                (pathlib.Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / file, pathlib.Path(folder) / file)
            # Not --check, which looks at each patch alone.
            applied = subprocess.run(
                ["git", "apply", *(fault.path for fault in patches)], cwd=folder, stderr=subprocess.PIPE, text=True)
        if applied.returncode:
            yield f"faults: {patches[0].name if len(patches) == 1 else 'all'}: {applied.stderr.strip()}"


def write(root, tree, mutant):
    """Makes a clone of the commit with all faults in it, unless it is there."""
    faults = all_of(root)
    digest = hashlib.sha256("".join(fault.digest for fault in faults).encode()).hexdigest()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, stdout=subprocess.PIPE, check=True, text=True).stdout
    mark, known = tree / ".git/faults-put-back", f"{head.strip()} {digest}"
    if mark.exists():
        if mark.read_text() != known:
            sys.exit(f"{tree} has another commit, or other faults; name another folder, or remove it")
        return
    shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", root, tree], check=True)
    subprocess.run(["git", "apply", *(fault.path for fault in faults)], cwd=tree, check=True)
    for file in {file for fault in faults for file in fault.files}:
        (tree / file).write_text(points.import_of((tree / file).read_text()))
    (tree / mutant).write_text((root / "Scripts/mutation/Mutant.swift").read_text())
    mark.write_text(known)


def build(tree, log):
    """Builds the simulator with the faults, and returns its path."""
    output = trials.build(tree, log, ["-c", "release", "--product", "moult-simulate"])
    if output is not None:
        sys.exit(f"The build fails: {log}")
    return tree / ".build/release/moult-simulate"


class Search(trials.Run):
    """A search for faults by the simulator, with several processes for each fault."""

    def __init__(self, folder, simulator, asked):
        super().__init__(folder, folder, trials.Lines(folder / "faults.jsonl", "fault"), asked)
        self.simulator, self.minutes, self.lock = simulator, asked.minutes or 10, threading.Lock()
        self.found, self.lives = None, 0

    def search(self, faults):
        """Searches for the faults that have no result yet."""
        for fault in faults:
            if self.results.get(fault.name, {}).get("digest") == fault.digest:
                continue
            result = self.result(fault)
            self.results.add(result)
            told = f"seed {result['seed']}: {result['what']}" if result["found"] else result["what"]
            print(f"  {fault.number} {fault.name}, {result['seconds']} s: {told}", flush=True)

    def result(self, fault):
        begun, first = time.monotonic(), itertools.count(1, SEEDS)
        end, self.found, self.lives = begun + self.minutes * 60, None, 0

        def work(_):
            while self.found is None and time.monotonic() < end:
                with self.lock:
                    seed = next(first)
                last = seed + SEEDS - 1
                while seed <= last and (failure := self.live(fault, seed, last, end)):
                    # A seed that fails without the fault too shows nothing.
                    if self.live(fault, failure[0], failure[0], end + 600, isPutBack=False) is None:
                        with self.lock:
                            self.found = self.found or failure
                        return
                    seed = failure[0] + 1

        self.each(work, range(self.asked.jobs))
        seed, what = self.found or (None, f"nothing in {self.lives} lives")
        return {
            "fault": fault.name, "digest": fault.digest, "found": self.found is not None, "seed": seed,
            "seconds": round(time.monotonic() - begun), "what": what}

    def live(self, fault, first, last, end, isPutBack=True):
        """Lives seeds until one fails: its number, and why; None if none does, or another process has found one."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="faults-", dir=self.temporary))
        environment = {**self.environment, "TMPDIR": str(folder / "tmp")}
        if isPutBack:
            environment["MOULT_MUTANT"] = str(fault.number)
        (folder / "tmp").mkdir()
        command = ["bash", "-c", trials.LIMITS, "mutants", str(self.simulator), "--profile", fault.profile]
        command += ["--seeds", f"{first}-{last}", "--first", "yes", "--shrink", "0"]
        try:
            with (folder / "output").open("wb") as file:
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                    start_new_session=True)
                is_late = self.wait(process, end)
            text = (folder / "output").read_text(errors="replace")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        lived = [int(seed) for seed in LIFE.findall(text)]
        if isPutBack:
            with self.lock:
                self.lives += len(lived)
        if failed := FAILURE.search(text):
            return int(failed[1]), re.sub(r"/\S*?moult-simulate-\d+", "", failed[2])[:200]
        if not is_late and process.returncode != 0:
            code = process.returncode
            return max(lived, default=first - 1) + 1, f"ends with {f'signal {-code}' if code < 0 else code}"
        return None

    def is_over(self):
        return self.ends or self.found is not None


def table(faults, results, path):
    """Writes a row for each fault."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for fault in faults:
            result = results.get(fault.name)
            if result and result["digest"] == fault.digest:
                found = "yes" if result["found"] else "no"
                writer.writerow(
                    [fault.name, fault.sentence, found, result["seed"], result["seconds"], result["what"]])
