"""Runs the tests of the local page: tests.py BUILD-FOLDER [--pictures FOLDER] [names of tests]."""
import argparse
import pathlib
import sys
import time
import unittest

import diagrams
import lists
import pictures
import starts
import walk
import wire
from browsing import browser

CASES = (walk.Walk, lists.Lists, pictures.Pictures, starts.Starts, wire.Wire, diagrams.Diagrams)
parser = argparse.ArgumentParser()
parser.add_argument("bin")
parser.add_argument("--pictures", type=pathlib.Path)
parser.add_argument("names", nargs="*")
arguments = parser.parse_intermixed_args()
for case in CASES:
    case.bin, case.browser, case.pictures_folder = arguments.bin, staticmethod(browser), arguments.pictures

class Timed(unittest.TextTestResult):
    """Prints how long each test takes: continuous integration has little time for them."""

    def startTest(self, test):
        self.begun = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"    {time.monotonic() - self.begun:.1f} s")


loader = unittest.TestLoader()
loader.testNamePatterns = [f"*{name}*" for name in arguments.names] or None
suites = [loader.loadTestsFromTestCase(case) for case in CASES]
result = unittest.TextTestRunner(verbosity=2, resultclass=Timed).run(unittest.TestSuite(suites))
print(f"browser: {result.testsRun} tests in a browser and over the wire")
sys.exit(not result.wasSuccessful())
