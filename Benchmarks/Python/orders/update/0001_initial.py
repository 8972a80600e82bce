from orders.initial import Migration  # noqa: F401
