"""Columns added, filled by RunPython with bulk_update, and the old one removed."""
import time

from django.db import migrations, models

from orders import computing


def split(apps, schema_editor):
    begun = time.perf_counter()
    order = apps.get_model("orders", "Order")
    batch = []

    def write():
        order.objects.bulk_update(batch, ["first", "last", "total"])
        batch.clear()

    for row in order.objects.order_by("pk").iterator(chunk_size=2000):
        row.first, row.last = computing.split(row.customer)
        row.total = computing.total(row.quantity, row.price, row.discount)
        batch.append(row)
        if len(batch) == 1000:
            write()
    write()
    computing.seconds = time.perf_counter() - begun


class Migration(migrations.Migration):
    dependencies = [("orders", "0001_initial")]
    operations = [
        migrations.AddField("Order", "first", models.TextField(db_column="ZFIRST", null=True)),
        migrations.AddField("Order", "last", models.TextField(db_column="ZLAST", null=True)),
        migrations.AddField("Order", "total", models.FloatField(db_column="ZTOTAL", null=True)),
        migrations.RunPython(split, migrations.RunPython.noop),
        migrations.RemoveField("Order", "customer"),
    ]
