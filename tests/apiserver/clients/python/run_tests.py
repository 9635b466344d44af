"""run_tests.py CODEFLARE [NAME...]: starts a server and runs the tests beside this file against it."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import case  # noqa: E402
from server import running  # noqa: E402


def main():
    program, *names = sys.argv[1:]
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in names] or None
    with running(program) as server:
        case.SERVER = server
        suite = loader.discover(str(HERE), pattern="*_test.py")
        result = unittest.TextTestRunner(verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
