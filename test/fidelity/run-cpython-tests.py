"""Runs tests of CPython's own suite and writes the ids of the passing tests, one a line."""
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
        # Flush at once: a test may end the process.
        print(test.id(), file=self.out, flush=True)


def main():
    support.verbose = False
    # Tests may write anywhere. Only the list of passing tests counts.
    out = os.fdopen(os.open(f'{os.environ["SKILLCELL_OUTPUT"]}/passed.txt', os.O_WRONLY | os.O_CREAT | os.O_APPEND), 'w')
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    suite.run(Passed(out))


if __name__ == '__main__':
    main()
