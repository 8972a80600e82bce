"""The command ``moult``: this process becomes the program."""

import os
import sys
from typing import NoReturn

from moult import program


def main() -> NoReturn:
    """Replace this process by the program, with the same arguments."""
    os.execv(program(), ["moult", *sys.argv[1:]])


if __name__ == "__main__":
    main()
