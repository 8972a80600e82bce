"""The first migration of both ways: the table as Moult made it; applied with --fake."""
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "Order",
            [
                ("id", models.BigAutoField(primary_key=True, db_column="Z_PK")),
                ("ent", models.IntegerField(db_column="Z_ENT")),
                ("opt", models.IntegerField(db_column="Z_OPT")),
                ("quantity", models.IntegerField(db_column="ZQUANTITY")),
                ("discount", models.FloatField(db_column="ZDISCOUNT")),
                ("placed_at", models.FloatField(db_column="ZPLACEDAT", null=True)),
                ("price", models.FloatField(db_column="ZPRICE")),
                ("city", models.TextField(db_column="ZCITY")),
                ("customer", models.TextField(db_column="ZCUSTOMER")),
                ("note", models.TextField(db_column="ZNOTE", null=True)),
                ("street", models.TextField(db_column="ZSTREET")),
            ],
            options={"db_table": "ZORDER"},
        )
    ]
