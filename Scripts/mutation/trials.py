"""Builds a tree with mutants and runs its tests: which suites reach which mutants, and which of them fail."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ERROR = re.compile(r"^(/\S[^:\n]*\.swift):(\d+):\d+: error: (.*)$", re.M)
# What a mutant may take at most, which may run away: in kilobytes, memory and each file.
LIMITS = 'ulimit -c 0 && ulimit -v 12000000 && ulimit -f 4200000 && exec "$@"'
# Seconds of the suites that run together, without a mutant: first few, so that most mutants are killed soon.
BATCHES = [2, 5, 15, 40]


def build(tree, log, what=("--build-tests",)):
    """Builds the tests, or something else; returns what the compiler has printed if it fails.

    Warnings of mutants are no errors.
    """
    command = ["swift", "build", *what, "-Xswiftc", "-gline-tables-only"]
    command += os.environ.get("MOULT_BUILD_FLAGS", "").split()
    ended = subprocess.run(
        command, cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")
    log.write_text(ended.stdout)
    return ended.stdout if ended.returncode else None


def blamed(output, tree, mutants):
    """The mutants on the lines with errors, each with the first error; otherwise the nearest one of the file."""
    found, others = {}, {}
    for path, line, message in ERROR.findall(output):
        own = [mutant for mutant in mutants if str(tree / mutant["file"]) == path]
        here = [mutant for mutant in own if mutant["line"] <= int(line) <= mutant["last"]]
        for mutant in here:
            found.setdefault(mutant["number"], (mutant, message))
        if own and not here:
            nearest = min(own, key=lambda mutant: abs(mutant["line"] - int(line)))
            others.setdefault(nearest["number"], (nearest, message))
    return list((found or others).values())


class Lines(dict):
    """A file of JSON lines, by one of their members; of two lines with the same one the last counts."""

    def __init__(self, path, name):
        super().__init__()
        self.path, self.name, self.lock = path, name, threading.Lock()
        if path.exists():
            for line in path.read_text().splitlines():
                # The last line of an interrupted run may be cut.
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                self[value[name]] = value

    def add(self, value):
        with self.lock:
            self[value[self.name]] = value
            with self.path.open("a") as file:
                file.write(json.dumps(value, ensure_ascii=False) + "\n")


def Results(folder):
    """The results of the mutants by number."""
    return Lines(folder / "results.jsonl", "number")


class Run:
    """A run of the tests of a built tree, for the mutants that have no result yet."""

    def __init__(self, folder, tree, results, asked):
        self.tree, self.results, self.asked = tree, results, asked
        self.end = time.monotonic() + asked.minutes * 60 if asked.minutes else float("inf")
        self.suites = Lines(folder / "suites.jsonl", "suite")
        self.ends = False
        memory = pathlib.Path("/dev/shm")
        self.temporary = memory if os.access(memory, os.W_OK) else None
        self.environment = {
            **os.environ, "MOULT_SEED": os.environ.get("MOULT_SEED", "1"), "SWIFT_DETERMINISTIC_HASHING": "1",
            "SWIFT_BACKTRACE": "enable=no"}
        for name in ("MOULT_TIER", "MOULT_TIER_SECONDS", "MOULT_MUTANT", "MOULT_RECORD"):
            self.environment.pop(name, None)
        corpus = pathlib.Path(os.environ.get("MOULT_CORPUS") or ROOT / "../shared/corpus")
        # The tests look for the folder beside the package, which is another place for the clone.
        if (ROOT / corpus).exists():
            self.environment["MOULT_CORPUS"] = str((ROOT / corpus).resolve())

    # Processes

    def program(self):
        return self.tree / ".build/debug/MoultPackageTests.xctest"

    def run(self, suites, seconds, mutant=None):
        """Runs suites in one process: why they fail or None, the time, and with the mutant "trace" what they reach."""
        names = "|".join(re.sub(r"[^\w` ]", r"\\\g<0>", suite) for suite in suites)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="mutants-", dir=self.temporary))
        trace, output = folder / "trace", folder / "output"
        (folder / "tmp").mkdir()
        environment = {**self.environment, "TMPDIR": str(folder / "tmp"), "MOULT_MUTANT_TRACE": str(trace)}
        if mutant is not None:
            environment["MOULT_MUTANT"] = str(mutant)
        command = ["bash", "-c", LIMITS, "mutants", str(self.program()), "--testing-library", "swift-testing"]
        begun = time.monotonic()
        try:
            with output.open("wb") as file:
                process = subprocess.Popen(
                    [*command, "--filter", f"^({names})/"], cwd=self.tree, env=environment,
                    stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
                is_late = self.wait(process, begun + seconds)
            took = time.monotonic() - begun
            reached = sorted({int(line) for line in trace.read_text().split()}) if trace.exists() else []
            return self.fault(process.returncode, is_late, output), took, reached
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def is_over(self):
        """Whether processes that run are to be ended."""
        return self.ends

    def wait(self, process, end):
        """Waits for a process, and ends what it has started: whether it took too long."""
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while (has_ended := os.waitid(os.P_PID, process.pid, options)) is None and time.monotonic() < end:
            if self.is_over():
                break
            time.sleep(0.02)
        # The process has not been waited for yet, so that the group is still its own.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return has_ended is None

    @staticmethod
    def fault(code, is_late, output):
        if is_late:
            return "takes too long"
        if code == 0:
            return None
        text = output.read_text(errors="replace")
        failed = re.search(r"✘ (Test .*?)(?: recorded | failed |$)", text, re.M)
        if failed:
            return failed[1][:200]
        return f"ends with signal {-code}" if code < 0 else f"ends with {code}"

    # Suites

    def learn(self, names):
        """Runs suites that are not known yet, once each: the time, whether they pass, and which mutants they reach."""
        unknown = [name for name in names if name not in self.suites]
        if unknown:
            print(f"Running {len(unknown)} suites without a mutant", flush=True)

        def learn(name):
            fault, seconds, reached = self.run([name], max(self.asked.timeout, 600), "trace")
            if self.ends:
                return
            self.suites.add({"suite": name, "seconds": round(seconds, 2), "fault": fault, "reached": reached})

        self.each(learn, unknown)
        for name in names:
            if self.suites.get(name, {}).get("fault"):
                print(f"  left out: {name}: {self.suites[name]['fault']}")

    def names(self):
        """The quick suites and the long ones."""
        listed = subprocess.run(
            ["swift", "test", "list", "--skip-build"], cwd=self.tree, stdout=subprocess.PIPE, check=True, text=True)
        all_ = sorted({line.split("/")[0] for line in listed.stdout.splitlines() if re.match(r"\w+\.\S", line)})
        long = subprocess.run([self.tree / "Scripts/long-tests"], stdout=subprocess.PIPE, check=True, text=True)
        is_long = set(long.stdout.split())
        return [[name for name in all_ if (name.split(".")[-1] in is_long) == wanted] for wanted in (False, True)]

    # Mutants

    def judge(self, mutants):
        """Judges the mutants that have no result yet, until the time is over."""
        quick, long = self.names()
        self.learn(quick)
        if self.asked.long:
            self.learn(long)
        open_ = [
            mutant["number"] for mutant in mutants
            if mutant["number"] not in self.results or (
                self.asked.long and self.results[mutant["number"]]["result"] != "killed"
                and not self.results[mutant["number"]]["long"])]
        # In the order of their numbers, those of one area would come first: a part of them would not stand for all.
        open_.sort(key=lambda number: (number * 7919) % 10007)
        print(f"Judging {len(open_)} mutants", flush=True)

        def judge(number):
            if time.monotonic() > self.end:
                return
            known = self.results.get(number)
            result = self.result(number, [] if known else quick, long if self.asked.long else [])
            if known and result["result"] == "not reached":
                result["result"] = known["result"]
            if not self.ends:
                self.results.add(result)
                by = f" by {result['by']}" if result["by"] else ""
                print(f"  {len(self.results)}: {number} {result['result']}{by}", flush=True)

        self.each(judge, open_)

    def each(self, work, values):
        """Does the work in several threads; if it is interrupted, it ends the processes that run."""
        with concurrent.futures.ThreadPoolExecutor(self.asked.jobs) as pool:
            futures = [pool.submit(work, value) for value in values]
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
            except BaseException:
                self.ends = True
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def result(self, number, quick, long):
        """Runs the suites that reach a mutant, the fastest first, until one kills it."""
        begun, reached = time.monotonic(), False
        result = {"number": number, "result": "survived", "by": None, "long": bool(long)}
        for names in (quick, long):
            known = [self.suites[name] for name in names if name in self.suites]
            own = [suite for suite in known if not suite["fault"] and number in suite["reached"]]
            reached = reached or bool(own)
            for batch in batches(sorted(own, key=lambda suite: suite["seconds"])):
                result["by"] = result["by"] or (None if self.ends else self.killer(number, batch))
        if result["by"]:
            result["result"] = "killed"
        elif not reached:
            result["result"] = "not reached"
        return {**result, "seconds": round(time.monotonic() - begun, 1)}

    def killer(self, number, batch):
        """Why suites fail with a mutant, if they pass without it; None if they pass with it, or fail without it."""
        names, seconds = [suite["suite"] for suite in batch], sum(suite["seconds"] for suite in batch)
        limit = max(self.asked.timeout, 5 * seconds)
        fault, _, _ = self.run(names, limit, number)
        if fault is None or self.ends:
            return None
        if self.run(names, limit)[0] is None:
            return fault
        # Something fails now and then, or under load: each suite on its own shows whether another one kills.
        if len(batch) == 1:
            return None
        return next((found for suite in batch if (found := self.killer(number, [suite]))), None)


def batches(suites):
    """Groups of suites in order: the first ones take the seconds of BATCHES, the others as many as the last one."""
    group, seconds, limits = [], 0, list(BATCHES)
    for suite in suites:
        if group and seconds + suite["seconds"] > limits[0]:
            yield group
            group, seconds, limits = [], 0, limits[1:] or limits
        group.append(suite)
        seconds += suite["seconds"]
    if group:
        yield group
