#!/usr/bin/env python3
"""Damages copies of a Core Data store and judges what a salvage makes of them.

An independent witness: it reads the pages of the sound store by the SQLite file format alone, so that it knows before
the damage which row lies in which pages. It shares no code with Moult. Slow and plain on purpose.

usage: pages.py STORE          (a sound store without a WAL; then one line of JSON for each question, and for each answer)

    {"damage": KIND, "seed": N, "to": PATH}
        writes a damaged copy; KIND is page, root, header, freelist or truncation. Answers with what was done.
    {"check": PATH, "aside": PATH, "tables": {NAME: {"lost": [[a, b], ...], "partial": [[a, b], ...]}}, "whole": BOOL,
     "notes": [...]}
        compares the salvaged store with the sound one after the last damage. Rows of an app's own tables must lie aside;
        those of a table WITHOUT ROWID have no keys that could be named, so that a note must name the table. Where the list of free pages is damaged
        and there is no pointer map, a deleted row cannot be told from another, and rows of an app's tables need have nothing
        by which the tables could be told apart: then rows may lie aside. Answers with "faults", a list of
        sentences, and with numbers.
"""
import json
import random
import sqlite3
import sys


def number(data, place, size):
    return int.from_bytes(data[place:place + size], "big")


def varint(data, place):
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    raise AssertionError


def values(data):
    """Of a record, its values as sqlite3 gives them."""
    end, place = varint(data, 0)
    types, found = [], []
    while place < end:
        kind, place = varint(data, place)
        types.append(kind)
    for kind in types:
        size = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][kind] if kind < 12 else (kind - 12) // 2
        part = bytes(data[place:place + size])
        place += size
        assert kind != 7, "no reals in a key"
        found.append(
            None if kind == 0 else kind - 8 if kind in (8, 9) else part if kind >= 12
            else int.from_bytes(part, "big", signed=True))
    return found


class Pages:
    """The pages of a sound database."""

    def __init__(self, path):
        self.data = open(path, "rb").read()
        self.size = number(self.data, 16, 2)
        self.size = 65536 if self.size == 1 else self.size
        self.usable = self.size - self.data[20]
        self.count = len(self.data) // self.size
        assert number(self.data, 28, 4) == self.count

    def page(self, n):
        return self.data[(n - 1) * self.size:n * self.size]

    def overflow(self, first):
        chain = []
        while first:
            chain.append(first)
            first = number(self.page(first), 0, 4)
        return chain

    def tree(self, root):
        """Yields (page, kind, [(key, pages of the row)]); of an index the key is the tuple of the entry's values."""
        data, start = self.page(root), 100 if root == 1 else 0
        kind, cells = data[start], number(data, start + 3, 2)
        first = start + (8 if kind in (10, 13) else 12)
        rows, children = [], []
        for index in range(cells):
            place = number(data, first + 2 * index, 2)
            if kind in (2, 5):
                children.append(number(data, place, 4))
                place += 4
            if kind == 5:
                continue
            size, place = varint(data, place)
            most = self.usable - 35
            key = None
            if kind == 13:
                key, place = varint(data, place)
                key = key - (1 << 64) if key >= 1 << 63 else key
            else:
                most = (self.usable - 12) * 64 // 255 - 23
            pages, local = [root], size
            if size > most:
                least = (self.usable - 12) * 32 // 255 - 23
                local = least + (size - least) % (self.usable - 4)
                local = local if local <= most else least
                pages += self.overflow(number(data, place + local, 4))
            if kind != 13:
                payload = data[place:place + local] + b"".join(self.page(page)[4:] for page in pages[1:])
                key = tuple(values(payload[:size]))
            rows.append((key, pages))
        yield root, kind, rows
        if kind in (2, 5):
            for child in children + [number(data, start + 8, 4)]:
                yield from self.tree(child)

    def freelist(self):
        trunks, leaves, trunk = [], [], number(self.data, 32, 4)
        while trunk:
            trunks.append(trunk)
            data = self.page(trunk)
            leaves += [number(data, 8 + 4 * i, 4) for i in range(number(data, 4, 4))]
            trunk = number(data, 0, 4)
        return trunks, leaves


class Table:
    def __init__(self, database, pages, name, root):
        self.name, self.root = name, root
        self.rows, self.most, self.counter = {}, 0, 0
        self.is_own = not name.startswith("Z")
        self.key = [row[1].decode() for row in sorted(
            database.execute(f'PRAGMA table_info("{name}")'), key=lambda row: row[5]) if row[5]]
        self.is_keyed = pages.page(root)[0] in (2, 10)
        # The column that is another name of the key: a row has no value there.
        info = database.execute(f'PRAGMA table_info("{name}")').fetchall()
        alias = [row[0] for row in info if row[5] and row[2].upper() == b"INTEGER"]
        self.alias = alias[0] if len(self.key) == 1 and alias and not self.is_keyed else None
        for page, kind, rows in pages.tree(root):
            if self.is_keyed:
                for key, where in rows:
                    assert key[:len(self.key)] not in self.rows
                    self.rows[key[:len(self.key)]] = set(where)
            if kind == 13:
                self.most = max(self.most, len(rows))
                for key, where in rows:
                    assert key not in self.rows
                    self.rows[key] = set(where)
        self.columns = [row[1].decode() for row in database.execute(f'PRAGMA table_xinfo("{name}")') if row[6] in (0, 3)]
        self.values = contents(database, name, self.columns, self.key if self.is_keyed else ["rowid"])
        assert set(self.values) == set(self.rows), name
        # Of the smallest rows as many fit into one page.
        self.worth = max(self.most, (pages.usable - 8) // (len(self.columns) + 5))

    def stored(self, row):
        return [value for place, value in enumerate(row) if place != self.alias]


def contents(database, name, columns, key=("rowid",)):
    # Square brackets: a name in double quotes that there is not would be a string.
    names = ", ".join(f"[{column}]" for column in [*key, *columns])
    rows = database.execute(f'SELECT {names} FROM "{name}"')
    return {row[0] if list(key) in (["rowid"], ["moult_key"]) else row[:len(key)]: row[len(key):] for row in rows}


class Witness:
    def __init__(self, path):
        self.pages = Pages(path)
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        database.text_factory = bytes
        roots = database.execute("SELECT CAST(name AS TEXT), rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        roots = [(name.decode(), root) for name, root in roots]
        core = ("Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "sqlite_")
        self.tables = [Table(database, self.pages, n, r) for n, r in roots if not n.startswith(core)]
        for name, most in database.execute("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY"):
            for table in self.tables:
                if table.name == "Z" + name.decode().upper():
                    table.counter = most
        # Of each table, the pages that say there is one: an app's own is not known without them.
        listed = dict(row for page, kind, rows in self.pages.tree(1) if kind == 13 for row in rows)
        self.listing = {name.decode(): set(listed[key]) for key, name in database.execute(
            "SELECT rowid, CAST(name AS BLOB) FROM sqlite_master WHERE type = 'table'")}
        self.damaged = set()

    # Damage

    def noise(self, random, length, old):
        kind = random.choice(["random", "zeros", "ones", "ramp", "text"])
        if kind == "random":
            return random.randbytes(length)
        if kind == "zeros":
            return bytes(length)
        if kind == "ones":
            return b"\xff" * length
        if kind == "ramp":
            return bytes((i * 31) & 0xFF for i in range(length))
        return (b"The quick brown fox. " * (length // 20 + 1))[:length]

    def overwrite(self, random, data, page, whole=None):
        """Overwrites a page, or a part of it."""
        size, start = self.pages.size, (page - 1) * self.pages.size
        first, last = 0, size
        if not (random.random() < 0.6 if whole is None else whole):
            first = random.randrange(size)
            last = min(size, first + random.choice([1, 8, 64, 512, size]))
        new = self.noise(random, last - first, data[start + first:start + last])
        data[start + first:start + last] = new
        if data[start:start + size] != self.pages.page(page):
            self.damaged.add(page)
        return f"page {page}, bytes {first} to {last}"

    def damage(self, kind, seed, to):
        chance = random.Random(f"{kind} {seed}")
        data, size, done = bytearray(self.pages.data), self.pages.size, []
        self.damaged = set()
        if kind == "page":
            for _ in range(chance.choice([1, 1, 1, 2, 5])):
                done.append(self.overwrite(chance, data, chance.randrange(2, self.pages.count + 1)))
        elif kind == "root":
            table = chance.choice(self.tables)
            done.append(table.name + ": " + self.overwrite(chance, data, table.root))
        elif kind == "header":
            if chance.random() < 0.35:
                done.append(self.overwrite(chance, data, 1, whole=True))
            else:
                first = chance.randrange(100)
                last = min(100, first + chance.choice([1, 2, 4, 20, 100]))
                data[first:last] = self.noise(chance, last - first, None)
                self.damaged.add(1)
                done.append(f"header, bytes {first} to {last}")
        elif kind == "freelist":
            trunks, leaves = self.pages.freelist()
            choice = chance.random()
            if choice < 0.3 or not trunks:
                data[32:40] = self.noise(chance, 8, None)
                done.append("header of the freelist")
                self.damaged.add(1)
            elif choice < 0.7 or not leaves:
                done.append("trunk " + self.overwrite(chance, data, chance.choice(trunks)))
            else:
                done.append("leaf " + self.overwrite(chance, data, chance.choice(leaves)))
        elif kind == "truncation":
            left = chance.randrange(size, len(data))
            if chance.random() < 0.5:
                left -= left % size
            del data[left:]
            self.damaged = set(range(left // size + 1, self.pages.count + 1))
            done.append(f"{left} bytes of {len(self.pages.data)}")
        with open(to, "wb") as file:
            file.write(data)
        return {"done": done, "pages": self.pages.count}

    # Judgement

    def kept_aside(self, path):
        """By page and key, the values of rows that were kept aside, and the tables that they may belong to."""
        rows = {}
        loses_free = self.damaged & set(self.pages.freelist()[0]) and not number(self.pages.data, 52, 4)
        if path and (loses_free or any(table.is_own for table in self.tables)):
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            database.text_factory = bytes
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'moult_orphans'").fetchone():
                return {}
            for page, key, tables, value in database.execute(
                    "SELECT page, key, tables, value FROM moult_orphans ORDER BY page, key, position"):
                rows.setdefault((page, key), (tables.decode().split(", "), []))[1].append(value)
        return rows

    def read(self, table, database, aside):
        """The rows of a table that were salvaged, and where an app's own lie; none where there is no such table."""
        if not table.is_own:
            return contents(database, table.name, table.columns)
        beside = aside and sqlite3.connect(f"file:{aside}?mode=ro", uri=True)
        if not beside or not beside.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table.name]).fetchone():
            return {}
        beside.text_factory = bytes
        return contents(beside, table.name, table.columns, table.key if table.is_keyed else ["moult_key"])

    def lies_aside(self, table, row, aside):
        """Whether a row of a table WITHOUT ROWID is among those whose page may be of an index."""
        if not aside:
            return False
        beside = sqlite3.connect(f"file:{aside}?mode=ro", uri=True)
        beside.text_factory = bytes
        if not beside.execute("SELECT 1 FROM sqlite_master WHERE name = 'moult_orphans'").fetchone():
            return False
        return beside.execute("SELECT 1 FROM moult_orphans WHERE value = ? AND position = 0 AND tables LIKE ?",
                              [row[0].decode() if isinstance(row[0], bytes) else row[0], f"%{table.name}%"]).fetchone()

    def check(self, path, reports, whole, aside=None, notes=()):
        kept, kept_rows = self.kept_aside(aside), 0
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        database.text_factory = bytes
        faults, read, lost_rows, surplus = [], 0, 0, 0
        if database.execute("PRAGMA integrity_check").fetchone()[0] != b"ok":
            faults.append("the new store is damaged")
        for table in self.tables:
            name = table.name
            try:
                after = self.read(table, database, aside)
            except sqlite3.OperationalError as error:
                faults.append(f"{name}: {error}")
                continue
            report = reports.get(name, {"lost": [], "partial": []})
            is_listed = not table.is_own or not self.listing[name] & self.damaged
            named = lambda key, ranges: any(a <= key <= b for a, b in ranges)
            for key, pages in table.rows.items():
                isSafe = not pages & self.damaged
                if key in after:
                    read += 1
                    if after[key] != table.values[key] and isSafe:
                        faults.append(f"{name} {key}: another row, though its pages are undamaged")
                    if named(key, report["lost"]):
                        faults.append(f"{name} {key}: read and named lost")
                elif any((name in kept.get((page, key), ([], []))[0] or not is_listed and (page, key) in kept)
                         and table.stored(kept[page, key][1]) == table.stored(table.values[key]) for page in pages):
                    kept_rows += 1
                elif table.is_keyed and self.lies_aside(table, key, aside):
                    kept_rows += 1
                elif not is_listed and any("list of tables" in note for note in notes):
                    lost_rows += 1
                elif isSafe:
                    faults.append(f"{name} {key}: not read, though its pages are undamaged")
                elif (table.is_own or table.counter == 0) and any(f"table {name} " in note for note in notes):
                    lost_rows += 1
                elif not named(key, report["lost"]):
                    faults.append(f"{name} {key}: lost without a word")
                else:
                    lost_rows += 1
            for key in after:
                if key not in table.rows:
                    faults.append(f"{name} {key}: made up")
            # Keys up to the counter were handed out, to objects that may have been deleted since.
            if table.is_keyed:
                continue
            known = sorted(key for key in table.rows if key > table.counter)
            extra = sum(
                b - a + 1 - max(min(b, table.counter) - max(a, 1) + 1, 0) - sum(1 for key in known if a <= key <= b)
                for a, b in report["lost"])
            surplus = max(surplus, extra / table.worth)
            if extra > table.worth:
                faults.append(f"{name}: {extra} keys are named lost that never existed; a page has {table.worth}")
            # A page has no checksum: a byte that changed inside of a value is nothing that a reader can see.
            if whole and set(after) != set(table.values):
                faults.append(f"{name}: not everything was read")
        database.close()
        return {"faults": faults, "read": read, "lost": lost_rows, "surplus": surplus, "aside": kept_rows,
                "rows": sum(len(table.rows) for table in self.tables)}


def main():
    witness = Witness(sys.argv[1])
    for line in sys.stdin:
        question = json.loads(line)
        if "damage" in question:
            answer = witness.damage(question["damage"], question["seed"], question["to"])
        else:
            answer = witness.check(question["check"], question["tables"], question["whole"], question.get("aside"), question.get("notes", ()))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
