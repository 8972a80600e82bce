import os

SECRET_KEY = "of no use here"
INSTALLED_APPS = ["orders"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["ORDERS_STORE"]}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = False
# "orders.update" or "orders.create": two ways to write the same migration.
MIGRATION_MODULES = {"orders": os.environ["ORDERS_MIGRATIONS"]}
