"""What every side computes, and how long the RunPython of a migration took."""

seconds = 0.0


def split(name):
    """First and last name: the last word is the last name, all before it the first."""
    first, _, last = name.rpartition(" ")
    return first, last


def total(quantity, price, discount):
    return quantity * price * (1 - discount)
