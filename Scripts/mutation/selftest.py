"""The check of Scripts/mutants itself: what it finds in Sample.swift, how it draws, writes, and judges."""
import argparse
import contextlib
import io
import pathlib
import tempfile

import faults
import points
import trials

HERE = pathlib.Path(__file__).resolve().parent
# The line, the kind, the original text and the mutated one.
EXPECTED = """
6 statement left out: count += 1 →
6 bound moved: 1 → 2
11 statement left out: log("made") →
14 comparison changed: count >= limit → count > limit
18 statement left out: put(newValue) →
22 condition turned: has(other) → !(has(other))
22 connective changed: has(other) && !isFull → has(other) || !isFull
22 condition turned: !isFull → !(!isFull)
23 condition turned: old == book → !(old == book)
24 comparison changed: count > 0 → count >= 0
24 condition turned: count > 0 → !(count > 0)
24 bound moved: 0 → 1
24 condition turned: !$0.isMultiple(of: 2) → !(!$0.isMultiple(of: 2))
25 condition turned: kept != book → !(kept != book)
26 statement left out: shelf[place - 1] = kept →
26 bound moved: 1 → 2
27 statement left out: try check( kept, after: place) →
32 statement left out: log("none") →
33 statement left out: shelf.append(book) →
37 condition turned: wide.isEmpty → !(wide.isEmpty)
41 condition turned: size == 1 → !(size == 1)
41 connective changed: size == 1 || has(book) → size == 1 && has(book)
41 bound moved: 1 → 2
41 condition turned: has(book) → !(has(book))
45 condition turned: text.isEmpty → !(text.isEmpty)
45 comparison changed: $0 < "z" → $0 <= "z"
"""
# Stands for the tests, the suites a to e: it reaches the mutants 1 to 6, and kills 1, 3, 4 and, in the long suite e, 6.
PROGRAM = r"""#!/bin/bash
suites=${*: -1} mutant=${MOULT_MUTANT:-}
runs() { [[ $suites == *"T\\.$1"[\|\)]* ]]; }
if [ "$mutant" = trace ]; then
    runs a && printf '1\n2\n' >>"$MOULT_MUTANT_TRACE"
    runs b && printf '1\n1\n3\n4\n5\n' >>"$MOULT_MUTANT_TRACE"
    runs c && printf '5\n' >>"$MOULT_MUTANT_TRACE"
    runs e && printf '2\n6\n' >>"$MOULT_MUTANT_TRACE"
fi
if runs a && [ "$mutant" = 1 ]; then echo '✘ Test "one" recorded an issue at T.swift:1:1' && exit 1; fi
if runs b && [ "$mutant" = 3 ]; then sleep 60 & wait; fi
if runs b && [ "$mutant" = 4 ]; then kill -SEGV $$; fi
# Passes once, without a mutant.
if runs c; then [ ! -e "$0.c" ] && touch "$0.c" || exit 1; fi
if runs d || { runs e && [ "$mutant" = 6 ]; }; then exit 1; fi
exit 0
"""

# Stands for the simulator: seed 3 fails always, seed 19 with the first fault, and the second one ends it at seed 2.
SIMULATOR = r"""#!/bin/bash
while [ "$1" != --seeds ]; do shift; done
for seed in $(seq "${2%-*}" "${2#*-}"); do
    if [ "$seed" = 3 ] || { [ "$seed" = 19 ] && [ "$MOULT_MUTANT" = 1 ]; }; then
        echo "seed $seed FAILS at step 7: lost: in $TMPDIR/moult-simulate-5/field" && exit 1
    fi
    if [ "$seed" = 2 ] && [ "$MOULT_MUTANT" = 2 ]; then kill -SEGV $$; fi
    echo "seed $seed: 40 steps hold"
done
"""


def lines(found):
    changes = [(" ".join(point.original.split()), " ".join(point.mutated.split())) for point in found]
    return [f"{point.line} {point.kind}: {old} → {new}".strip() for point, (old, new) in zip(found, changes)]


def check(script):
    text = (HERE / "Sample.swift").read_text()
    found = points.Source("Sample.swift", text).points
    wrong = list(finds(found)) + list(draws(script, found)) + list(writes(text, found)) + list(judges())
    wrong += list(faults.wrong(script.ROOT)) + list(searches(script.ROOT))
    print("\n".join(wrong) if wrong else "mutants: its own cases hold")
    return int(bool(wrong))


def finds(found):
    expected = EXPECTED.strip().splitlines()
    yield from (f"mutants does not find: {line}" for line in expected if line not in lines(found))
    yield from (f"mutants finds: {line}" for line in lines(found) if line not in expected)


def draws(script, found):
    areas = {"one": found, "other": found[:3]}
    drawn = script.draw(areas, 1, 8)
    if drawn != script.draw({name: areas[name][::-1] for name in areas}, 1, 8):
        yield "mutants draws others with the same seed"
    if drawn == script.draw(areas, 2, 8):
        yield "mutants draws the same with another seed"
    if [len(chosen) for chosen in drawn.values()] != [7, 1]:
        yield f"mutants does not draw in proportion: {[len(chosen) for chosen in drawn.values()]}"
    every = script.draw({"one": found}, 1, len(found))["one"]
    if any(first.end > second.start for first, second in zip(every, every[1:])):
        yield "mutants draws two that overlap"
    dropped = drawn["one"][0].key(1)
    again = script.draw(areas, 1, 8, {dropped})["one"]
    if len(again) != 7 or any(point.key(1) == dropped for point in again):
        yield "mutants does not replace what does not compile"


def writes(text, found):
    chosen = [
        next(point for point in found if point.original == original and point.kind.startswith(kind))
        for kind, original in (
            ("condition", "has(other)"), ("comparison", "count > 0"), ("statement", 'log("none")'))]
    chosen.insert(2, next(point for point in found if point.kind == "bound moved" and point.line == 26))
    wanted = [
        "try Mutant.turns(1, has(other)) && !isFull", "(Mutant.on(2) ? count >= 0 : count > 0) ?",
        "shelf[place - Mutant.moved(3, 1)]", 'if !Mutant.on(4) { log("none") }', "import MoultBasics; import MoultModel"]
    written = points.mutated(text, list(enumerate(chosen, 1)))
    yield from (f"mutants does not write: {part}" for part in wanted if part not in written)
    if written.count("\n") != text.count("\n"):
        yield "mutants changes the number of lines"
    mutants = [{"number": n, "file": "A.swift", "line": a, "last": b} for n, a, b in ((1, 3, 5), (2, 9, 9))]
    for line, number in ((4, 1), (9, 2), (8, 2)):
        blamed = trials.blamed(f"[1/2] Compiling\n/t/A.swift:{line}:7: error: no\n", pathlib.Path("/t"), mutants)
        if [mutant["number"] for mutant, _ in blamed] != [number]:
            yield f"mutants blames {blamed} for line {line}"


class Trial(trials.Run):
    """A run with PROGRAM in place of the tests."""

    def program(self):
        return self.tree / "program"

    def names(self):
        return ["T.a", "T.b", "T.c", "T.d"], ["T.e"]


def judges():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program").write_text(PROGRAM)
        (folder / "program").chmod(0o755)
        mutants = [{"number": number} for number in range(1, 8)]
        for is_long in (False, False, True, True):
            asked = argparse.Namespace(jobs=2, timeout=1, minutes=None, long=is_long)
            results = trials.Results(folder)
            with contextlib.redirect_stdout(io.StringIO()):
                Trial(folder, folder, results, asked).judge(mutants)
        told = {number: (result["result"], result["by"]) for number, result in sorted(results.items())}
        wanted = {
            1: ("killed", 'Test "one"'), 2: ("survived", None), 3: ("killed", "takes too long"),
            4: ("killed", "ends with signal 11"), 5: ("survived", None),
            6: ("killed", "ends with 1"), 7: ("not reached", None)}
        yield from (f"mutants judges {n} as {told.get(n)}" for n in wanted if told.get(n) != wanted[n])
        # Of the second runs, only that with the long suites has something to do, for four that were not killed.
        if len((folder / "results.jsonl").read_text().splitlines()) != len(wanted) + 4:
            yield "mutants judges again what it has judged"


def searches(root):
    """Whether the search finds what the simulator shows, and stops."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program").write_text(SIMULATOR)
        (folder / "program").chmod(0o755)
        known = faults.all_of(root)[:3]
        asked = argparse.Namespace(jobs=2, timeout=1, minutes=0.03)
        for _ in range(2):
            search = faults.Search(folder, folder / "program", asked)
            with contextlib.redirect_stdout(io.StringIO()):
                search.search(known)
        told = [(result["found"], result["seed"], result["what"].split(" in ")[0]) for result in search.results.values()]
        wanted = [(True, 19, "lost:"), (True, 2, "ends with signal 11"), (False, None, "nothing")]
        if told != wanted:
            yield f"faults finds {told}"
        if len((folder / "faults.jsonl").read_text().splitlines()) != len(wanted):
            yield "faults searches again for what it knows"
        faults.table(known, search.results, folder / "table.csv")
        if len((folder / "table.csv").read_text().splitlines()) != 1 + len(wanted):
            yield "faults writes another table"
