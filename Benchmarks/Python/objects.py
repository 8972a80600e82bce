#!/usr/bin/python3
"""The work of the benchmark's group "objects", done by Python's sqlite3 and by peewee on the very same tables.

usage: objects.py HOW WORK STORE ROWS      HOW: sqlite3, peewee or peewee-bulk

STORE was made by Moult: table ZITEM with 10 attributes, four indexes and the foreign key ZOWNER, and 1,000 rows of
ZOWNER. One line of JSON tells the seconds of the work alone and the peak memory of the process. What is written is
one transaction, with the durability that Moult writes with (WAL, synchronous = FULL).
"""
import decimal
import json
import resource
import sqlite3
import sys
import time

COLUMNS = [
    "ZAMOUNT", "ZCOUNT", "ZCREATEDAT", "ZIDENTIFIER", "ZISDONE", "ZNOTE", "ZPAYLOAD", "ZPRICE", "ZRANK", "ZTITLE",
    "ZOWNER",
]
OWNERS = 1000
ITEM = 1  # Z_ENT of Item


def values(row):
    """The row's values in the order of COLUMNS: the same that ObjectsData.swift gives."""
    number = row.to_bytes(8, "little")
    return (
        decimal.Decimal(f"{row * 7919 % 1000000}.{row % 100:02}"),
        row,
        float(row * 104729 % 1000000000) + (0.5 if row % 2 else 0.0),
        number * 2,
        row % 2 == 0,
        None if row % 3 == 0 else f"A note of some words about item {row}",
        number * 5,
        (row * 31 % 1000000) / 7,
        row % 1000,
        f"Item {row * 7919 % 1000003} of the shelf",
        row % OWNERS + 1,
    )


def title(row):
    return f"Item {row * 7919 % 1000003} of the shelf"


class SQLite:
    """Plain statements and tuples."""

    def __init__(self, store):
        self.db = sqlite3.connect(store, isolation_level=None)
        self.db.execute("PRAGMA synchronous = FULL")

    def insert(self, rows, given):
        data = [(row + 1, ITEM, 1, str(v[0]), *v[1:]) for row, v in enumerate(given)]
        begun = time.perf_counter()
        self.db.execute("BEGIN IMMEDIATE")
        names = ", ".join(["Z_PK", "Z_ENT", "Z_OPT", *COLUMNS])
        marks = ", ".join("?" * (len(COLUMNS) + 3))
        self.db.executemany(f"INSERT INTO ZITEM ({names}) VALUES ({marks})", data)
        self.db.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Item'", (rows,))
        self.db.execute("COMMIT")
        return begun

    def fetch(self, rows):
        begun = time.perf_counter()
        found = self.db.execute(f"SELECT Z_PK, Z_ENT, Z_OPT, {', '.join(COLUMNS)} FROM ZITEM").fetchall()
        total = sum(row[4] + row[10] + len(row[12]) for row in found)
        assert len(found) == rows and total > 0
        return begun

    def lookup(self, rows):
        names = ", ".join(["Z_PK", "Z_ENT", "Z_OPT", *COLUMNS])
        begun = time.perf_counter()
        for row in range(0, rows, max(rows // 1000, 1)):
            found = self.db.execute(f"SELECT {names} FROM ZITEM WHERE ZTITLE = ?", (title(row),)).fetchall()
            assert len(found) == 1 and found[0][4] == row
        return begun

    def scan(self, rows):
        names = ", ".join(["Z_PK", "Z_ENT", "Z_OPT", *COLUMNS])
        begun = time.perf_counter()
        found = self.db.execute(
            f"SELECT {names} FROM ZITEM WHERE ZPRICE > ? AND ZISDONE = 1 AND ZNOTE LIKE '%item%' ORDER BY ZCREATEDAT",
            (100000.0,)).fetchall()
        assert len(found) > rows // 20
        return begun

    def update(self, rows):
        begun = time.perf_counter()
        self.db.execute("BEGIN IMMEDIATE")
        found = self.db.execute(f"SELECT Z_PK, Z_ENT, Z_OPT, {', '.join(COLUMNS)} FROM ZITEM").fetchall()
        self.db.executemany(
            "UPDATE ZITEM SET Z_OPT = Z_OPT + 1, ZPRICE = ?, ZRANK = ? WHERE Z_PK = ?",
            [(row[10] + 1, row[11] + 1, row[0]) for row in found])
        self.db.execute("COMMIT")
        return begun

    def to_one(self, rows):
        begun = time.perf_counter()
        found = self.db.execute(
            f"SELECT i.Z_PK, i.Z_ENT, i.Z_OPT, {', '.join('i.' + c for c in COLUMNS)}, o.* "
            "FROM ZITEM i JOIN ZOWNER o ON o.Z_PK = i.ZOWNER").fetchall()
        total = sum(len(row[-1]) for row in found)
        assert total == rows * 10
        return begun

    to_one_ahead = to_one

    def to_many(self, rows):
        names = ", ".join(["Z_PK", "Z_ENT", "Z_OPT", *COLUMNS])
        begun = time.perf_counter()
        count = 0
        for owner in self.db.execute("SELECT * FROM ZOWNER").fetchall():
            for item in self.db.execute(f"SELECT {names} FROM ZITEM WHERE ZOWNER = ?", (owner[0],)).fetchall():
                count += item[11] >= 0
        assert count == rows
        return begun


class Peewee:
    """Objects made, read and saved one by one."""

    def __init__(self, store):
        import peewee

        self.peewee = peewee
        db = self.db = peewee.SqliteDatabase(store, pragmas={"synchronous": "full"})

        class Owner(peewee.Model):
            id = peewee.AutoField(column_name="Z_PK")
            ent = peewee.IntegerField(column_name="Z_ENT")
            opt = peewee.IntegerField(column_name="Z_OPT")
            name = peewee.TextField(column_name="ZNAME", null=True)

            class Meta:
                database = db
                table_name = "ZOWNER"

        class Item(peewee.Model):
            id = peewee.AutoField(column_name="Z_PK")
            ent = peewee.IntegerField(column_name="Z_ENT")
            opt = peewee.IntegerField(column_name="Z_OPT")
            amount = peewee.DecimalField(column_name="ZAMOUNT", null=True)
            count = peewee.IntegerField(column_name="ZCOUNT", null=True)
            created_at = peewee.FloatField(column_name="ZCREATEDAT", null=True)
            identifier = peewee.BlobField(column_name="ZIDENTIFIER", null=True)
            is_done = peewee.BooleanField(column_name="ZISDONE", null=True)
            note = peewee.TextField(column_name="ZNOTE", null=True)
            payload = peewee.BlobField(column_name="ZPAYLOAD", null=True)
            price = peewee.FloatField(column_name="ZPRICE", null=True)
            rank = peewee.IntegerField(column_name="ZRANK", null=True)
            title = peewee.TextField(column_name="ZTITLE", null=True)
            owner = peewee.ForeignKeyField(Owner, column_name="ZOWNER", backref="items", null=True)

            class Meta:
                database = db
                table_name = "ZITEM"

        self.Item, self.Owner = Item, Owner
        db.connect()

    names = ["amount", "count", "created_at", "identifier", "is_done", "note", "payload", "price", "rank", "title",
             "owner"]

    def rows_given(self, given):
        return [dict(zip(self.names, v), ent=ITEM, opt=1) for v in given]

    def insert(self, rows, given):
        data = self.rows_given(given)
        begun = time.perf_counter()
        with self.db.atomic():
            for row in data:
                self.Item.create(**row)
            self.db.execute_sql("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Item'", (rows,))
        return begun

    def fetch(self, rows):
        begun = time.perf_counter()
        found = list(self.Item.select())
        total = sum(item.count + item.price + len(item.title) for item in found)
        assert len(found) == rows and total > 0
        return begun

    def lookup(self, rows):
        begun = time.perf_counter()
        for row in range(0, rows, max(rows // 1000, 1)):
            found = list(self.Item.select().where(self.Item.title == title(row)))
            assert len(found) == 1 and found[0].count == row
        return begun

    def scan(self, rows):
        Item = self.Item
        begun = time.perf_counter()
        found = list(
            Item.select().where((Item.price > 100000.0) & (Item.is_done == True) & Item.note.contains("item"))  # noqa
            .order_by(Item.created_at))
        assert len(found) > rows // 20
        return begun

    def update(self, rows):
        Item = self.Item
        begun = time.perf_counter()
        with self.db.atomic():
            for item in list(Item.select()):
                item.price += 1
                item.rank += 1
                item.opt += 1
                item.save(only=[Item.price, Item.rank, Item.opt])
        return begun

    def to_one(self, rows):
        begun = time.perf_counter()
        total = sum(len(item.owner.name) for item in list(self.Item.select()))
        assert total == rows * 10
        return begun

    def to_one_ahead(self, rows):
        Item, Owner = self.Item, self.Owner
        begun = time.perf_counter()
        total = sum(len(item.owner.name) for item in list(Item.select(Item, Owner).join(Owner)))
        assert total == rows * 10
        return begun

    def to_many(self, rows):
        begun = time.perf_counter()
        count = 0
        for owner in list(self.Owner.select()):
            for item in list(owner.items):
                count += item.rank >= 0
        assert count == rows
        return begun


class PeeweeBulk(Peewee):
    """The same with what peewee has for many rows at once."""

    def insert(self, rows, given):
        data = self.rows_given(given)
        begun = time.perf_counter()
        with self.db.atomic():
            for start in range(0, rows, 1000):
                self.Item.insert_many(data[start:start + 1000]).execute()
            self.db.execute_sql("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Item'", (rows,))
        return begun

    def update(self, rows):
        Item = self.Item
        begun = time.perf_counter()
        with self.db.atomic():
            found = list(Item.select())
            for item in found:
                item.price += 1
                item.rank += 1
                item.opt += 1
            Item.bulk_update(found, fields=[Item.price, Item.rank, Item.opt], batch_size=500)
        return begun

    def to_many(self, rows):
        begun = time.perf_counter()
        count = 0
        for owner in self.peewee.prefetch(self.Owner.select(), self.Item.select()):
            for item in owner.items:
                count += item.rank >= 0
        assert count == rows
        return begun


def main():
    how, work, store, rows = sys.argv[1:]
    rows = int(rows)
    # Decimals are adapted as peewee's own field does.
    sqlite3.register_adapter(decimal.Decimal, str)
    side = {"sqlite3": SQLite, "peewee": Peewee, "peewee-bulk": PeeweeBulk}[how](store)
    if work == "insert":
        given = [values(row) for row in range(rows)]
        begun = side.insert(rows, given)
    else:
        begun = getattr(side, work)(rows)
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"run": seconds, "peak": peak}))


main()
