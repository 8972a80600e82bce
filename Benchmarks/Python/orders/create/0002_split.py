"""A new model filled by RunPython with bulk_create, which then takes the place of the old one."""
import time

from django.db import migrations, models

from orders import computing

KEPT = ["id", "ent", "opt", "quantity", "discount", "placed_at", "price", "city", "note", "street"]


def split(apps, schema_editor):
    begun = time.perf_counter()
    order, new = apps.get_model("orders", "Order"), apps.get_model("orders", "NewOrder")
    batch = []

    def write():
        new.objects.bulk_create(batch)
        batch.clear()

    for row in order.objects.order_by("pk").iterator(chunk_size=2000):
        first, last = computing.split(row.customer)
        batch.append(
            new(
                first=first, last=last, total=computing.total(row.quantity, row.price, row.discount),
                **{name: getattr(row, name) for name in KEPT}))
        if len(batch) == 1000:
            write()
    write()
    computing.seconds = time.perf_counter() - begun


class Migration(migrations.Migration):
    dependencies = [("orders", "0001_initial")]
    operations = [
        migrations.CreateModel(
            "NewOrder",
            [
                ("id", models.BigAutoField(primary_key=True, db_column="Z_PK")),
                ("ent", models.IntegerField(db_column="Z_ENT")),
                ("opt", models.IntegerField(db_column="Z_OPT")),
                ("quantity", models.IntegerField(db_column="ZQUANTITY")),
                ("discount", models.FloatField(db_column="ZDISCOUNT")),
                ("placed_at", models.FloatField(db_column="ZPLACEDAT", null=True)),
                ("price", models.FloatField(db_column="ZPRICE")),
                ("city", models.TextField(db_column="ZCITY")),
                ("note", models.TextField(db_column="ZNOTE", null=True)),
                ("street", models.TextField(db_column="ZSTREET")),
                ("first", models.TextField(db_column="ZFIRST", null=True)),
                ("last", models.TextField(db_column="ZLAST", null=True)),
                ("total", models.FloatField(db_column="ZTOTAL", null=True)),
            ],
            options={"db_table": "ZNEW"},
        ),
        migrations.RunPython(split, migrations.RunPython.noop),
        migrations.DeleteModel("Order"),
        migrations.RenameModel("NewOrder", "Order"),
        migrations.AlterModelTable("Order", "ZORDER"),
    ]
