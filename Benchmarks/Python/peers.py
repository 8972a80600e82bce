"""A kind of change of the benchmark's group "peers", done by another tool as its documentation says.

usage: peers.py TOOL KIND STORE      TOOL: django, alembic or sqlite-utils      KIND: as in ChangeKind.swift

STORE was made by Moult: table ZITEM with ten attributes and two indexes. Nothing is set that the tool does not set
itself, but foreign keys are as the tool has them. One line of JSON tells the seconds of the change, without the start
of Python and the import of the tool.
"""
import json
import sys
import time
from functools import partial


def django(kind, store):
    from django.conf import settings

    settings.configure(
        INSTALLED_APPS=[], USE_TZ=False, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": store}})
    import django

    django.setup()
    from django.db import connection, migrations, models
    from django.db.migrations.state import ProjectState

    def column(field, name, **more):
        return field(db_column=name, null=True, **more)

    fields = [("id", models.BigAutoField(primary_key=True, db_column="Z_PK"))] + [
        (name.lower(), column(field, name)) for name, field in (
            ("Z_ENT", models.IntegerField), ("Z_OPT", models.IntegerField), ("ZCOUNT", models.IntegerField),
            ("ZISDONE", models.IntegerField), ("ZRANK", models.SmallIntegerField), ("ZCREATEDAT", models.FloatField),
            ("ZPRICE", models.FloatField), ("ZAMOUNT", partial(models.DecimalField, max_digits=20, decimal_places=6)),
            ("ZNOTE", models.TextField),
            ("ZTITLE", models.TextField), ("ZIDENTIFIER", models.BinaryField), ("ZPAYLOAD", models.BinaryField))]
    indexes = [models.Index(fields=["zcreatedat"], name="Z_Item_createdAt"),
               models.Index(fields=["ztitle"], name="Z_Item_title")]

    def table(name):
        return migrations.CreateModel(name, [("id", models.BigAutoField(primary_key=True)),
                                             ("name", models.TextField(null=True))])

    def renumber(apps, _):
        apps.get_model("items", "Item").objects.update(z_ent=2)

    def fill(apps, _):
        apps.get_model("items", "Item").objects.filter(znote=None).update(znote="none")

    operations = {
        "add": [migrations.AddField("Item", "ztag", column(models.TextField, "ZTAG"))],
        "rename": [migrations.AlterField("Item", "znote", column(models.TextField, "ZREMARK"))],
        "drop": [migrations.RemoveField("Item", "zpayload")],
        "type, equal storage": [migrations.AlterField("Item", "zrank", column(models.IntegerField, "ZRANK"))],
        "index": [migrations.AddIndex("Item", models.Index(fields=["zcount"], name="Z_Item_count"))],
        "entity, last": [table("Zone")],
        "entity, first": [table("Aisle"), migrations.RunPython(renumber)],
        "required": [migrations.RunPython(fill), migrations.AlterField(
            "Item", "znote", models.TextField(db_column="ZNOTE", default="none"))],
        "type, other storage": [migrations.AlterField("Item", "zcount", column(models.FloatField, "ZCOUNT"))],
    }[kind]
    migration = migrations.Migration("0002", "items")
    migration.operations = operations
    state = ProjectState()
    migrations.CreateModel("Item", fields, {"db_table": "ZITEM", "indexes": indexes}).state_forwards("items", state)
    # A command of Django's has a transaction for each migration.
    begun = time.perf_counter()
    with connection.schema_editor(atomic=True) as editor:
        migration.apply(state, editor)
    connection.close()
    return time.perf_counter() - begun


def alembic(kind, store):
    import sqlalchemy as sa
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    begun = time.perf_counter()
    engine = sa.create_engine(f"sqlite:///{store}")
    with engine.begin() as connection:
        op = Operations(MigrationContext.configure(connection))

        def batch(change):
            with op.batch_alter_table("ZITEM") as items:
                change(items)

        def table(name):
            op.create_table(name, sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.Text))

        if kind == "add":
            batch(lambda items: items.add_column(sa.Column("ZTAG", sa.VARCHAR)))
        elif kind == "rename":
            batch(lambda items: items.alter_column("ZNOTE", new_column_name="ZREMARK"))
        elif kind == "drop":
            batch(lambda items: items.drop_column("ZPAYLOAD"))
        elif kind == "type, equal storage":
            batch(lambda items: items.alter_column("ZRANK", type_=sa.INTEGER))
        elif kind == "index":
            batch(lambda items: items.create_index("Z_Item_count", ["ZCOUNT"]))
        elif kind == "entity, last":
            table("zone")
        elif kind == "entity, first":
            table("aisle")
            op.execute("UPDATE ZITEM SET Z_ENT = 2")
        elif kind == "required":
            op.execute("UPDATE ZITEM SET ZNOTE = 'none' WHERE ZNOTE IS NULL")
            batch(lambda items: items.alter_column("ZNOTE", nullable=False))
        else:
            batch(lambda items: items.alter_column("ZCOUNT", type_=sa.FLOAT))
    engine.dispose()
    return time.perf_counter() - begun


def sqlite_utils(kind, store):
    import sqlite_utils

    begun = time.perf_counter()
    db = sqlite_utils.Database(store)
    items = db["ZITEM"]
    if kind == "add":
        items.add_column("ZTAG", str)
    elif kind == "rename":
        items.transform(rename={"ZNOTE": "ZREMARK"})
    elif kind == "drop":
        items.transform(drop=["ZPAYLOAD"])
    elif kind == "type, equal storage":
        items.transform(types={"ZRANK": int})
    elif kind == "index":
        items.create_index(["ZCOUNT"], "Z_Item_count")
    elif kind == "entity, last":
        db["zone"].create({"id": int, "name": str}, pk="id")
    elif kind == "entity, first":
        db["aisle"].create({"id": int, "name": str}, pk="id")
        with db.conn:
            db.execute("UPDATE ZITEM SET Z_ENT = 2")
    elif kind == "required":
        with db.conn:
            db.execute("UPDATE ZITEM SET ZNOTE = 'none' WHERE ZNOTE IS NULL")
        items.transform(not_null={"ZNOTE"})
    else:
        items.transform(types={"ZCOUNT": float})
    db.close()
    return time.perf_counter() - begun


tool, kind, store = sys.argv[1:]
seconds = {"django": django, "alembic": alembic, "sqlite-utils": sqlite_utils}[tool](kind, store)
print(json.dumps({"run": seconds}))
