"""Ends moult, or its disk, at the n-th call that changes a file, for each command of a list, and looks at what is left.

The witness knows nothing of Moult: a store is what the sqlite3 shell reads in a copy of it, everything else is bytes.
After each fault
  * forum.sqlite is the old store or the new one, whole, and its external data is there; of a store that is moved,
    exactly one path has the store,
  * a file that the command makes is as an undisturbed run makes it, or not there; a folder is complete or not there,
  * nothing is more readable than the store,
  * the command has not said that it succeeded, unless everything is there;
and the same command, run again, ends well or finds its work done, and leaves nothing unfinished.
"""
import argparse, hashlib, json, os, random, re, shutil, stat, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("--moult", required=True)
parser.add_argument("--shim", required=True)
parser.add_argument("--kinds", default="kill,EIO,EIO+,ENOSPC+")
parser.add_argument("--each", type=int, default=0, help="trials of each kind and command; 0 for all")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--only", default="")
parser.add_argument("--at", type=int, default=0)
parser.add_argument("--seconds", type=float, default=1e9)
parser.add_argument("examples")
options = parser.parse_args()
os.umask(0o022)

SIDE = ("-wal", "-shm", "-journal")
FIXED = re.compile(r"^(forum\.sqlite(-wal|-shm|-journal)?|tmp|\.git|Forum\.xcdatamodeld|Forum\.rules\.json|\.forum_SUPPORT|count)$")
# SQLite keeps no error of a file that it cannot make; Moult then asks the volume, which has space here.
UNSAID = "unable to open database file"


def shell(folder, line, fault=None):
    environment = dict(os.environ, TMPDIR=folder + "/tmp", PATH=os.path.dirname(options.moult) + ":" + os.environ["PATH"])
    if fault is not None:
        at, kind = fault
        environment.update(LD_PRELOAD=options.shim, FAULT_AT=str(at), FAULT_KIND=kind, FAULT_COUNT=folder + "/count")
    done = subprocess.run(["/bin/bash", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def contents(path):
    """What the shell reads in a copy of a database; the second part is what stays the same from run to run."""
    copies = tempfile.mkdtemp(dir="/dev/shm")
    try:
        for suffix in ("",) + SIDE[:1] + SIDE[2:]:
            if os.path.lexists(path + suffix):
                shutil.copyfile(path + suffix, copies + "/s.sqlite" + suffix)
        done = subprocess.run(["sqlite3", copies + "/s.sqlite", "PRAGMA quick_check", ".sha3sum --schema"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = done.stdout.decode() + done.stderr.decode()
        if not text.startswith("ok\n") or done.returncode or "rror" in text:
            return "BROKEN " + text
        return text
    finally:
        shutil.rmtree(copies)


def isDatabase(path):
    with open(path, "rb") as file:
        return file.read(15) == b"SQLite format 3"


def plain(path):
    """The digest of a file, without the moment at which a page was made."""
    with open(path, "rb") as file:
        text = re.sub(rb"this page is of [0-9TZ:.-]+", b"", file.read())
    return hashlib.sha256(text).hexdigest()


def look(folder):
    """The store, and every file that is not part of the fixture."""
    store = contents(folder + "/forum.sqlite") if os.path.exists(folder + "/forum.sqlite") else "MISSING"
    files = {}
    for root, folders, names in os.walk(folder):
        relative = os.path.relpath(root, folder)
        top = relative.split("/")[0]
        # The results of a fleet are records, as those next to a store are.
        if FIXED.match(top) or ".moult" in relative or top.startswith("fleet."):
            folders[:] = []
            continue
        for name in names:
            path = name if relative == "." else relative + "/" + name
            if FIXED.match(path) or path.endswith(SIDE):
                continue
            whole = os.path.join(root, name)
            files[path] = ("database " + contents(whole)) if isDatabase(whole) else plain(whole)
    return store, files


def readable(folder):
    found = []
    for root, folders, names in os.walk(folder):
        if os.path.relpath(root, folder).startswith("Forum."):
            folders[:] = []
            continue
        for name in folders + names:
            if name.startswith("Forum.") or name == "count":
                continue
            if os.lstat(os.path.join(root, name)).st_mode & 0o077:
                found.append(os.path.relpath(os.path.join(root, name), folder))
    return found


def leftovers(folder):
    found = []
    for root, folders, names in os.walk(folder):
        for name in names + folders:
            if ".part" in name or re.search(r"\.(working|unfinished)", name):
                found.append(os.path.relpath(os.path.join(root, name), folder))
    # A folder for copies that no process has locked may be one that is about to be: the next run removes it after a minute.
    found += ["tmp/" + name for name in os.listdir(folder + "/tmp") if not name.startswith("moult-")]
    return sorted(found)


class Command:
    def __init__(self, entry):
        self.line, self.preparation, self.isFromNoStore = entry["command"], entry["preparation"], entry["isFromNoStore"]
        self.folders = entry["atomicFolders"]
        self.template = tempfile.mkdtemp(dir=options.scratch)
        self.isMirror = "mirror" in self.line and "mirror start" not in self.line
        self.make(self.template)

    def make(self, folder):
        os.chmod(folder, 0o700)
        for name in ("Forum.xcdatamodeld", "Forum.rules.json"):
            source = os.path.join(options.examplesFolder, name)
            (shutil.copytree if os.path.isdir(source) else shutil.copyfile)(source, folder + "/" + name)
        code, out, err = shell(folder, " && ".join(self.preparation))
        assert code == 0, (self.line, err)

    def fixture(self):
        folder = tempfile.mkdtemp(dir=options.scratch)
        if self.isMirror:
            self.make(folder)
        else:
            subprocess.check_call(["cp", "-a", self.template + "/.", folder])
        os.chmod(folder, 0o700)
        return folder

    def undisturbed(self):
        runs = []
        for _ in range(2):
            folder = self.fixture()
            if not runs:
                self.old, self.before = look(folder)
            code, out, err = shell(folder, self.line, (0, "kill"))
            assert code == 0, (self.line, code, out, err)
            counts = [int(line) for line in open(folder + "/count")] if os.path.exists(folder + "/count") else [0]
            runs.append(look(folder))
            self.calls = max(counts)
            self.left = leftovers(folder)
            self.again = shell(folder, self.line)[0]
            shutil.rmtree(folder)
        self.new = [runs[0][0], runs[1][0]]
        self.files = {name: value if runs[1][1].get(name) == value and not name.endswith(".tar") else None
                      for name, value in runs[0][1].items() if name in runs[1][1]}
        self.isSteady = set(runs[0][1]) == set(runs[1][1])

    def fits(self, name, value, folder):
        if name not in self.files:
            return self.before.get(name) == value or (not self.isSteady and ".part" not in name)
        if self.files[name] == value or self.before.get(name) == value:
            return True
        if self.files[name] is not None:
            return False
        if value.startswith("database"):
            return "BROKEN" not in value
        if name.endswith(".tar"):
            return subprocess.run(["tar", "tf", folder + "/" + name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        if name.endswith(".json"):
            try:
                json.load(open(folder + "/" + name))
            except ValueError:
                return False
        return True

    def isComplete(self, store, files):
        # A restore leaves the name of its run in the store.
        isNew = store in self.new or self.new[0] != self.new[1] and store.startswith("ok")
        return (self.isMirror or store == self.old or isNew) and all(name in files for name in self.files)

    def trial(self, at, kind):
        folder = self.fixture()
        faults = []
        try:
            code, out, err = shell(folder, self.line, (at, kind))
            store, files = look(folder)
            # A mirror knows its stores by their paths, so each has stores of its own, with other identifiers.
            isWhole = store == self.old or store in self.new or self.isMirror and store.startswith("ok")
            if not isWhole and (self.new[0] == self.new[1] or not store.startswith("ok")):
                faults.append("the store is neither old nor new: " + store[:200])
            isMoved = self.new[0] == "MISSING"
            stores = [name for name in files if isMoved and name in self.files and name.endswith(".sqlite")]
            if isMoved and (store != "MISSING") + len(stores) != 1:
                faults.append("the store is at the old path: %s; and at %s" % (store != "MISSING", stores))
            support = next((name[:-len(".sqlite")] for name in stores), "forum")
            if not os.path.exists(folder + "/.%s_SUPPORT/_EXTERNAL_DATA/AAAAAAAA" % support):
                faults.append("external data is gone")
            for name, value in files.items():
                if ".part" in name:
                    continue
                if not self.fits(name, value, folder):
                    faults.append("%s is neither as before nor as it is made%s" % (name, ": " + value[:150] if "BROKEN" in value else ""))
            for name in self.before:
                if name not in files:
                    faults.append("%s is gone" % name)
            for top in self.folders:
                made = [name for name in self.files if name.startswith(top + "/")]
                there = [name for name in made if name in files]
                if there and len(there) < len(made):
                    faults.append("the folder %s has %d of %d files" % (top, len(there), len(made)))
            if not self.isFromNoStore and readable(folder):
                faults.append("more readable: %s" % readable(folder))
            isSaid = code not in (0, 1)
            if kind != "kill":
                if not isSaid and not (self.isComplete(store, files)):
                    faults.append("exit %d, but %s" % (code, [name for name in self.files if name not in files]))
                if code in (70,) or code > 74:
                    faults.append("exit %d: %s" % (code, (out + err)[-600:]))
                if kind.startswith("ENOSPC") and isSaid and not re.search("space|full|" + UNSAID, out + err):
                    faults.append("no word about space: exit %d: %s" % (code, (out + err)[-400:]))
            isDone = self.isComplete(store, files) and (self.isMirror or self.old == self.new[0] or store != self.old)
            # What is imported once more is there twice.
            if "moult import forum" in self.line and store != self.old:
                return faults
            again, out2, err2 = shell(folder, self.line)
            if again not in (0, self.again if isDone else 0):
                faults.append("again: exit %d: %s" % (again, (out2 + err2)[-500:]))
            store2, files2 = look(folder)
            if store2 not in self.new and self.new[0] == self.new[1] and not self.isMirror:
                faults.append("after the second run the store is not the new one")
            for name in self.files:
                if name not in files2 or not self.fits(name, files2[name], folder):
                    faults.append("after the second run %s is not as it is made" % name)
            left = [name for name in leftovers(folder) if name not in self.left]
            if left:
                faults.append("left: %s" % left)
            return faults
        except subprocess.TimeoutExpired:
            return ["hangs"]
        finally:
            shutil.rmtree(folder, ignore_errors=True)


options.scratch = tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "/dev/shm"))
document = json.load(open(options.examples))
options.examplesFolder = document["examplesFolder"]
begun, trials, broken = time.time(), 0, 0
try:
    for entry in document["examples"]:
        if not re.search(options.only, entry["command"]) or time.time() - begun > options.seconds:
            continue
        command = Command(entry)
        command.undisturbed()
        if not command.calls:
            shutil.rmtree(command.template)
            continue
        chance = random.Random("%d %s" % (options.seed, command.line))
        here, wrong = 0, {}
        for kind in options.kinds.split(","):
            moments = list(range(1, command.calls + 1))
            if options.at:
                moments = [options.at]
            elif options.each and len(moments) > options.each:
                moments = sorted(chance.sample(moments, options.each))
            for at in moments:
                if time.time() - begun > options.seconds:
                    break
                here += 1
                for fault in command.trial(at, kind):
                    wrong.setdefault(re.sub(r"[0-9A-Fa-f]{4,}|\d+", "#", fault)[:110], []).append((kind, at, fault))
        trials += here
        broken += sum(map(len, wrong.values()))
        print("%5d calls %5d trials %4d broken  %s" % (command.calls, here, sum(map(len, wrong.values())), command.line), flush=True)
        for places in wrong.values():
            kind, at, fault = places[0]
            print("      %s at %d (%d like it: %s): %s" % (kind, at, len(places), " ".join("%s:%d" % (k, a) for k, a, _ in places[:12]), fault), flush=True)
        shutil.rmtree(command.template)
finally:
    shutil.rmtree(options.scratch, ignore_errors=True)
print("verbs: %d trials, %d broken" % (trials, broken))
sys.exit(1 if broken else 0)
