#!/usr/bin/python3
"""The transformation of the benchmark's group "transform", done by a loop over Python's sqlite3 and by Django.

usage: transform.py HOW STORE      HOW: update, insert, django-update or django-create

STORE was made by Moult: table ZORDER with a customer's name, a quantity, a price and a discount. Each way takes the
customer's name apart, computes the total, and leaves the table without the customer's name:

    update          select, compute, executemany of UPDATEs in thousands, one transaction
    insert          select, compute, executemany of INSERTs into a new table in thousands, one transaction
    django-update   a migration with RunPython: iterator() and bulk_update() in batches
    django-create   a migration with RunPython: iterator() and bulk_create() of a new model in batches

What is written is as durable as what Moult commits (WAL, synchronous = FULL). One line of JSON tells the seconds of the
whole, those of the loop alone, and the peak memory of the process.
"""
import json
import os
import resource
import sqlite3
import sys
import time

from orders.computing import split, total

KEPT = ["Z_ENT", "Z_OPT", "ZQUANTITY", "ZDISCOUNT", "ZPLACEDAT", "ZPRICE", "ZCITY", "ZNOTE", "ZSTREET"]


def update(db):
    for column, kind in (("ZFIRST", "VARCHAR"), ("ZLAST", "VARCHAR"), ("ZTOTAL", "FLOAT")):
        db.execute(f"ALTER TABLE ZORDER ADD COLUMN {column} {kind}")
    begun = time.perf_counter()
    cursor = db.execute("SELECT Z_PK, ZCUSTOMER, ZQUANTITY, ZPRICE, ZDISCOUNT FROM ZORDER ORDER BY Z_PK")
    while batch := cursor.fetchmany(1000):
        db.executemany(
            "UPDATE ZORDER SET ZFIRST = ?, ZLAST = ?, ZTOTAL = ? WHERE Z_PK = ?",
            [(*split(customer), total(quantity, price, discount), key)
             for key, customer, quantity, price, discount in batch])
    seconds = time.perf_counter() - begun
    db.execute("ALTER TABLE ZORDER DROP COLUMN ZCUSTOMER")
    return seconds


def insert(db):
    db.execute(
        "CREATE TABLE ZNEW (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZQUANTITY INTEGER, "
        "ZDISCOUNT FLOAT, ZPLACEDAT TIMESTAMP, ZPRICE FLOAT, ZCITY VARCHAR, ZNOTE VARCHAR, ZSTREET VARCHAR, "
        "ZFIRST VARCHAR, ZLAST VARCHAR, ZTOTAL FLOAT)")
    begun = time.perf_counter()
    cursor = db.execute(f"SELECT Z_PK, {', '.join(KEPT)}, ZCUSTOMER FROM ZORDER ORDER BY Z_PK")
    marks = ", ".join("?" * (len(KEPT) + 4))
    while batch := cursor.fetchmany(1000):
        db.executemany(
            f"INSERT INTO ZNEW (Z_PK, {', '.join(KEPT)}, ZFIRST, ZLAST, ZTOTAL) VALUES ({marks})",
            [(*row[:-1], *split(row[-1]), total(row[3], row[6], row[4])) for row in batch])
    seconds = time.perf_counter() - begun
    db.execute("DROP TABLE ZORDER")
    db.execute("ALTER TABLE ZNEW RENAME TO ZORDER")
    return seconds


def loop(how, store):
    begun = time.perf_counter()
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("PRAGMA synchronous = FULL")
    db.execute("BEGIN IMMEDIATE")
    inner = {"update": update, "insert": insert}[how](db)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return time.perf_counter() - begun, inner


def django(how, store):
    os.environ["ORDERS_STORE"] = store
    os.environ["ORDERS_MIGRATIONS"] = how.replace("django-", "orders.")
    os.environ["DJANGO_SETTINGS_MODULE"] = "orders.settings"
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", "orders", "0001", fake=True, verbosity=0)
    connection.cursor().execute("PRAGMA synchronous = FULL")
    from orders import computing

    begun = time.perf_counter()
    call_command("migrate", "orders", verbosity=0)
    connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    seconds = time.perf_counter() - begun
    connection.close()
    return seconds, computing.seconds


def main():
    how, store = sys.argv[1:]
    seconds, inner = django(how, store) if how.startswith("django") else loop(how, store)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"run": seconds, "loop": inner, "peak": peak}))


main()
