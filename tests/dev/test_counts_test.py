#!/usr/bin/env python3
"""The counts of ./dev test: the tests inside the programs that ctest ran."""

import itertools
import pathlib
import subprocess
import sys
import tempfile
import unittest

COUNTS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "test_counts.py"


def counts(*cases):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<testsuite>{''.join(cases)}</testsuite>")
        file.flush()
        return counts_of_file(file.name)


def counts_of_file(*paths):
    run = subprocess.run([sys.executable, COUNTS, *paths], capture_output=True, text=True, check=True)
    return tuple(map(int, run.stdout.split()))


names = itertools.count()


def case(status, output="", inside="", name=None):
    return f'<testcase name="{name or next(names)}" status="{status}">{inside}<system-out>{output}</system-out></testcase>'


class TestCountsTest(unittest.TestCase):
    def test_a_program_without_numbers_is_one_test(self):
        self.assertEqual(counts(case("run"), case("fail", inside='<failure message=""/>')), (1, 1, 0))

    def test_googletest(self):
        good = "[  PASSED  ] 12 tests.\n[  SKIPPED ] 1 test, listed below:"
        bad = "[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests, listed below:"
        self.assertEqual(counts(case("run", good), case("fail", bad)), (13, 2, 1))

    def test_unittest(self):
        bad = "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)"
        self.assertEqual(counts(case("run", "Ran 4 tests in 0.1s\n\nOK"), case("fail", bad)), (9, 3, 1))

    def test_failures_that_a_passed_program_prints_do_not_count(self):
        output = "Ran 2 tests in 0.1s\n\nFAILED (errors=1)"
        self.assertEqual(counts(case("run", output)), (2, 0, 0))

    def test_a_program_that_fails_after_its_tests_passed_is_a_failure(self):
        self.assertEqual(counts(case("fail", "[  PASSED  ] 3 tests.\nLeakSanitizer")), (3, 1, 0))

    def test_a_skipped_program_is_no_failure_but_a_missing_one_is(self):
        skipped = case("notrun", inside='<skipped message="SKIP_RETURN_CODE=77"/>')
        missing = case("notrun", inside='<skipped message="Unable to find executable"/>')
        self.assertEqual(counts(skipped, missing), (0, 1, 1))

    def test_a_second_run_counts_instead_of_the_first(self):
        bad = case("fail", "[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests, listed below:", name="shaky")
        with tempfile.TemporaryDirectory() as folder:
            first, good, still_bad = (pathlib.Path(folder) / name for name in ("first", "good", "still_bad"))
            first.write_text(f"<testsuite>{case('run')}{bad}</testsuite>")
            good.write_text(f"<testsuite>{case('run', '[  PASSED  ] 3 tests.', name='shaky')}</testsuite>")
            still_bad.write_text(f"<testsuite>{bad}</testsuite>")
            self.assertEqual(counts_of_file(first, good), (4, 0, 0))
            self.assertEqual(counts_of_file(first, still_bad), (2, 2, 0))
            self.assertEqual(counts_of_file(first, "/nonexistent"), (0, 1, 0))

    def test_no_results_are_a_failure(self):
        self.assertEqual(counts_of_file("/nonexistent"), (0, 1, 0))


if __name__ == "__main__":
    unittest.main()
