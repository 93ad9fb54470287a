"""Runs tests of CPython's own suite and writes the ids of those that pass, a line each."""
import os
import sys
import unittest
from test import support


class Passed(unittest.TestResult):
    def __init__(self, out):
        super().__init__()
        self.out = out

    def addSuccess(self, test):
        super().addSuccess(test)
        # At once: a test may end the process.
        print(test.id(), file=self.out, flush=True)


def main():
    support.verbose = False
    # Tests write wherever they like; what counts is which of them pass.
    out = os.fdopen(os.open(f'{os.environ["SKILLCELL_OUTPUT"]}/passed.txt', os.O_WRONLY | os.O_CREAT | os.O_APPEND), 'w')
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    suite.run(Passed(out))


if __name__ == '__main__':
    main()
