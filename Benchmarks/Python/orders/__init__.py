"""A Django app over the table of the benchmark's group "transform"."""
