#!/usr/bin/env python3
"""Plants one violation of each rule in a small tree and expects tools/lint.py to name the rule and the place."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

import lint  # noqa: E402

# A tree that breaks no rule; every test changes one thing in it.
CLEAN = {
    "src/base/clock.h": """\
#pragma once

namespace codeflare {

int now();

}  // namespace codeflare
""",
    "src/base/clock.cc": """\
#include "base/clock.h"

namespace codeflare {

int now() {
  return 1;
}

}  // namespace codeflare
""",
    "src/base/env/internal/real_clock.cc": """\
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <thread>

long ticks() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
const char* home() {
  return std::getenv("HOME");
}
""",
    "src/net/link.h": """\
#pragma once

#include "base/clock.h"

struct Link {
  int opened = codeflare::now();
};
""",
    "src/net/internal/socket.h": """\
#pragma once

#include <boost/asio/ip/address.hpp>

using Address = boost::asio::ip::address;
""",
    "src/net/link_test.cc": """\
#include "net/link.h"

#include "net/internal/socket.h"

int opened() {
  return Link{}.opened;
}
""",
    "src/model/pod.h": '#pragma once\n\n#include "net/link.h"\n\nstruct Pod {\n  Link link;\n};\n',
    "src/kube/client.h": '#pragma once\n\n#include "model/pod.h"\n\nstruct Client {\n  Pod pod;\n};\n',
    "src/sched/core.h": '#pragma once\n\n#include "model/pod.h"\n\nstruct Core {\n  Pod pod;\n};\n',
    "src/apiserver/store.h": '#pragma once\n\n#include "model/pod.h"\n\nstruct Store {\n  Pod pod;\n};\n',
    "examples/hello.cc": '#include "kube/client.h"\n#include "sched/core.h"\n\nClient client;\n',
    "tools/tool.py": 'print("hello")\n',
}


def lines_with(line, text):
    """A file that is right except for `text` on the given line."""
    return "\n" * (line - 1) + text + "\n"


class LintTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Shared by all tests: it is keyed by content, so unchanged headers compile only once.
        cls.cache = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.cache.cleanup()

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path, text in CLEAN.items():
            self.write(path, text)
        shutil.copy(REPOSITORY / ".clang-format", self.root)
        shutil.copy(REPOSITORY / "tools" / "layers.toml", self.root / "tools")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def lint(self, clang):
        """{(file, line, rule)}"""
        _, found = lint.lint(self.root, pathlib.Path(self.cache.name), clang)
        for _, _, _, message in found:
            self.assertRegex(message, r"\(.+\)$", "it does not say what to do instead")
        return {(path, line, rule) for path, line, rule, _ in found}

    def expect(self, *findings, clang=False):
        self.assertEqual(self.lint(clang), set(findings))

    def expect_planted(self, path, text, line, rule):
        """Only this rule may complain, and only there."""
        with self.subTest(rule=rule, text=text):
            self.write(path, text)
            self.expect((path, line, rule))
            if path in CLEAN:
                self.write(path, CLEAN[path])
            else:
                (self.root / path).unlink()

    def run_program(self):
        command = [REPOSITORY / "tools" / "lint.py", "--root", self.root, "--cache", self.cache.name]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout

    def test_the_program_passes_a_clean_tree(self):
        self.assertEqual(self.run_program(), (0, f"lint: {len(CLEAN) + 1} files, 0 findings\n"))

    def test_the_program_prints_place_rule_and_advice_and_fails(self):
        self.write("src/base/later.cc", "\nint x;  \n")
        code, output = self.run_program()
        self.assertEqual(code, 1)
        self.assertIn("src/base/later.cc:2: trailing-space: space at the end of the line (remove it)\n", output)

    def test_every_rule_is_planted_here(self):
        here = pathlib.Path(__file__).read_text()
        rules = lint.EXCUSABLE | {r for part in (lint.compiled, lint.folders, lint.links, lint.prose, lint.text) for r in part.RULES}
        self.assertEqual({rule for rule in rules if f'"{rule}"' not in here}, set())

    def test_layers(self):
        plant = '#pragma once\n\n#include "{}"\n'.format
        for path, target in (
            ("src/json/up.h", "model/pod.h"),  # higher
            ("src/json/side.h", "net/link.h"),  # sideways
            ("src/sched/wide.h", "net/link.h"),  # sched sees only base and model
            ("src/apiserver/knows.h", "kube/client.h"),  # never
            ("src/nowhere/new.h", "base/clock.h"),  # in no layer
        ):
            self.expect_planted(path, plant(target), 3, "layer")

    def test_a_listed_neighbour_may_be_included(self):
        table = self.root / "tools" / "layers.toml"
        table.write_text(table.read_text().replace("[sideways]\n", '[sideways]\njson = ["net"]\n'))
        self.write("src/json/side.h", '#pragma once\n\n#include "net/link.h"\n')
        self.expect()

    def test_layers_of_sub_folders(self):
        plant = '#pragma once\n\n#include "{}"\n'.format
        for part in ("agent", "holder", "keeper", "wire"):
            self.write(f"src/node/{part}/part.h", "#pragma once\n")
        self.write("src/node/wire/internal/own.h", "#pragma once\n")
        for path, target, rule in (
            ("src/node/wire/up.h", "node/agent/part.h", "layer"),  # higher
            ("src/node/keeper/side.h", "node/holder/part.h", "layer"),  # sideways
            ("src/node/agent/knows.h", "node/keeper/part.h", "layer"),  # never
            ("src/node/nowhere/new.h", "node/wire/part.h", "layer"),  # in no layer
            ("src/node/direct.h", "node/wire/part.h", "layer"),  # in no sub-folder
            ("src/node/agent/peeps.h", "node/wire/internal/own.h", "internal"),  # of another sub-folder
        ):
            self.expect_planted(path, plant(target), 3, rule)
        self.write("src/node/agent/down.h", plant("node/wire/part.h"))
        self.write("src/node/wire/own.h", plant("node/wire/internal/own.h"))
        self.write("src/node/wire/crossing_test.cc", '#include "node/agent/part.h"\n')
        self.expect()

    def test_cycles(self):
        self.write("src/base/a.h", '#pragma once\n\n#include "base/b.h"\n')
        self.write("src/base/b.h", '#pragma once\n\n#include "base/a.h"\n')
        self.expect(("src/base/b.h", 3, "cycle"))

    def test_cycles_of_folders(self):
        self.write("src/kube/parts/part.h", '#pragma once\n\n#include "kube/client.h"\n')
        for user in ("src/kube/a.cc", "src/kube/internal/b.cc"):  # no file includes itself: only the folders do
            self.write(user, '#include "kube/parts/part.h"\n')
        self.expect(("src/kube/parts/part.h", 3, "folder-cycle"))
        _, [(_, _, _, message)] = lint.lint(self.root, pathlib.Path(self.cache.name), clang=False)
        self.assertTrue(message.startswith(
            "folders kube → kube/parts → kube: src/kube/a.cc:1 includes kube/parts/part.h (one of 2),"
            " src/kube/parts/part.h:3 includes kube/client.h (move what part.h needs "
        ), message)
        code, output = self.run_program()
        self.assertEqual(code, 1, output)
        # Exceptions are in layers.toml alone.
        comment = "  // lint: allow(folder-cycle) a reason\n"
        self.write("src/kube/parts/part.h", '#pragma once\n\n#include "kube/client.h"' + comment)
        self.expect(("src/kube/parts/part.h", 3, "allow"))

    def test_each_cycle_of_folders_is_reported_at_its_rarest_include(self):
        for user, used in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "c")):
            self.write(f"src/kube/{user}/uses_{used}.cc", f'#include "kube/{used}/part.h"\n')
            self.write(f"src/kube/{used}/part.h", "#pragma once\n")
        self.write("src/kube/a/more.cc", '#include "kube/b/part.h"\n')
        self.write("src/kube/b/more.cc", '#include "kube/c/part.h"\n')
        self.expect(("src/kube/c/uses_a.cc", 1, "folder-cycle"), ("src/kube/c/uses_d.cc", 1, "folder-cycle"))

    def test_tests_may_close_a_cycle_of_folders(self):
        self.write("src/kube/parts/part.h", "#pragma once\n")
        self.write("src/kube/user.cc", '#include "kube/parts/part.h"\n')
        for test in ("part_test.cc", "part_fuzz.cc", "testing/world.cc"):
            self.write(f"src/kube/parts/{test}", '#include "kube/client.h"\n')
        self.expect()

    def test_folders_that_may_include_each_other(self):
        table = self.root / "tools" / "layers.toml"
        clean = table.read_text()
        line = clean.count("\n") + 3
        group = '\n[[together]]\nfolders = ["kube", "kube/parts"]\n'
        self.write("src/kube/parts/part.h", '#pragma once\n\n#include "kube/client.h"\n')
        self.write("src/kube/user.cc", '#include "kube/parts/part.h"\n')
        table.write_text(clean + group + 'reason = "one library"\n')
        self.expect()
        table.write_text(clean + group)
        self.expect(("tools/layers.toml", line, "folder-cycle"))
        self.write("src/kube/user.cc", "")
        table.write_text(clean + group + 'reason = "one library"\n')
        self.expect(("tools/layers.toml", line, "folder-cycle"))

    def test_spelling_of_includes(self):
        for include in ('"clock.h"', '"base/gone.h"', '"base/../base/clock.h"', "<base/clock.h>"):
            self.expect_planted("src/base/user.cc", f"\n#include {include}\n", 2, "include-path")

    def test_the_own_header_comes_first(self):
        self.expect_planted("src/base/clock.cc", '\n#include <string>\n\n#include "base/clock.h"\n', 2, "own-header")

    def test_pragma_once(self):
        self.expect_planted("src/base/twice.h", "// pragma once\n", 1, "pragma-once")

    def test_standard_headers(self):
        for name in ("map<int, int>", "string", "int64_t", "size_t", "optional<int>", "unique_ptr<int>", "chrono::hours"):
            plant = f"#pragma once\n\nstruct Needy {{\n  std::{name} value;\n}};\n"
            self.expect_planted("src/base/needy.h", plant, 4, "std-include")
        self.write("src/base/text.h", "#pragma once\n\n#include <string>\n")
        self.write("src/base/user.h", '#pragma once\n\n#include "base/text.h"\n\nstd::string_view text(std::string name);\n')
        self.write("src/base/user.cc", '#include "base/user.h"\n\nstd::map<int, int> what_sources_use_is_compiled;\n')
        self.expect()

    def test_a_header_that_only_the_prelude_completes(self):
        # The build compiles it with its source, but behind precompiled headers that bring more than it asked for.
        self.write("src/base/needy.cc", '#include "base/needy.h"\n')
        for use in ("tuple<int, int>", "deque<int>", "numeric_limits<int>"):
            self.expect_planted("src/base/needy.h", f"#pragma once\n\nusing Needy = std::{use};\n", 3, "std-include")
        self.write("src/base/needy.h", "#pragma once\n\n#include <tuple>\n\nusing Needy = std::tuple<int, int>;\n")
        self.expect(clang=True)

    def test_a_name_of_the_standard_library_that_the_rule_does_not_know(self):
        self.expect_planted("src/base/needy.h", "#pragma once\n\nusing Bits = std::bitset<8>;\n", 3, "std-include")
        self.write("src/base/needy.cc", "std::bitset<8> what_sources_use_is_compiled;\n")
        self.expect()

    def test_heavy_headers(self):
        for header in (
            "boost/json.hpp", "boost/url.hpp", "openssl/ssl.h", "CLI/CLI.hpp", "fmt/core.h", "spdlog/spdlog.h", "sqlite3.h",
            "yaml.h", "re2/re2.h", "zlib.h", "snappy.h",
        ):
            self.expect_planted("src/json/public.h", f"#pragma once\n\n#include <{header}>\n", 3, "heavy-header")

    def test_a_heavy_header_behind_an_internal_one(self):
        self.expect_planted("src/net/leak.h", '#pragma once\n\n#include "net/internal/socket.h"\n', 3, "heavy-header")

    def test_heavy_headers_are_free_in_sources_and_internal_headers(self):
        self.write("src/json/parse.cc", "#include <boost/json.hpp>\n")
        self.write("src/json/internal/parse.h", "#pragma once\n\n#include <boost/json.hpp>\n")
        self.expect()

    def test_asio_stays_in_base_and_net(self):
        for path in ("src/kube/watch.cc", "src/net/watch.cc", "src/kube/internal/watch.cc"):
            self.expect_planted(path, "#include <boost/asio/io_context.hpp>\n", 1, "asio")
            self.expect_planted(path, "#include <boost/beast.hpp>\n", 1, "asio")

    def test_internal_headers_stay_in_their_folder(self):
        self.expect_planted("src/model/peek.cc", '#include "net/internal/socket.h"\n', 1, "internal")
        self.expect_planted("tests/peek.cc", '#include "net/internal/socket.h"\n', 1, "internal")

    def test_banned_calls(self):
        for rule, calls in {
            "clock": (
                "auto t = std::chrono::system_clock::now();", "auto t = std::chrono::steady_clock::now();",
                "auto t = std::chrono::high_resolution_clock::now();", "auto t = time(nullptr);", "auto t = ::time(&x);",
                "gettimeofday(&t, nullptr);", "clock_gettime(CLOCK_REALTIME, &t);", "#include <sys/time.h>",
            ),
            "sleep": (
                "sleep(1);", "  sleep(seconds);", "usleep(5);", "nanosleep(&t, nullptr);", "::sleep(n);",
                "std::this_thread::sleep_for(d);", "std::this_thread::sleep_until(d);",
            ),
            "random": ("return rand();", "srand(1);", "std::random_device device;", "RAND_bytes(p, 4);", "x = a * rand();"),
            "environment": ('auto h = std::getenv("HOME");', "if (!secure_getenv(n)) {}", 'setenv("A", "B", 1);'),
            "socket": (
                "int s = socket(AF_INET, SOCK_STREAM, 0);", "::connect(s, a, n);", "::bind(s, a, n);",
                "#include <sys/socket.h>", "getaddrinfo(a, b, c, d);",
            ),
            "thread": (
                "std::thread t(f);", "std::jthread t(f);", "auto f = std::async(g);", "pthread_create(&t, nullptr, f, nullptr);",
                "#include <thread>",
            ),
            "process": (
                "if (fork() == 0) {}", "vfork();", "execve(p, a, e);", 'execlp("a", "b");', "posix_spawn(&p, a, 0, 0, 0, 0);",
                'system("ls");', 'auto f = popen("ls", "r");', "#include <sys/wait.h>",
            ),
            "file": (
                "std::ifstream in(p);", "std::ofstream out(p);", 'auto f = fopen("a", "r");', "int fd = ::open(p, 0);",
                "std::filesystem::remove(p);", "#include <fstream>",
            ),
        }.items():
            for call in calls:
                self.expect_planted("src/kube/caller.cc", lines_with(7, call), 7, rule)

    def test_banned_functions_that_are_called_elsewhere(self):
        for rule, uses in {
            "clock": ("auto f = &std::time;", "apply(::clock);", "Clock c{clock_gettime};"),
            "sleep": ("wait_with(&usleep);", "std::function<int(unsigned)> wait = ::sleep;"),
            "random": ("std::generate(a, b, std::rand);", "std::generate(a, b, rand);", "auto draw = &RAND_bytes;"),
            "environment": (
                "auto read = &std::getenv;", "auto read = std::getenv;", "std::transform(a, b, c, std::getenv);",
                "return getenv;", "Lookup lookup{&::getenv};", "using std::getenv;", "using Read = decltype(&getenv);",
            ),
            "socket": ("Calls calls{.connect = &::connect};", "auto resolve = getaddrinfo;"),
            "thread": ("auto start = &pthread_create;",),
            "process": ("run_with(std::system);", "auto f = ::fork;", "auto replace = execve;"),
            "file": ("auto reader = std::fopen;", "Calls calls{.open = ::open};"),
        }.items():
            for use in uses:
                self.expect_planted("src/kube/caller.cc", lines_with(7, use), 7, rule)

    def test_what_only_looks_like_a_banned_call(self):
        for text in (
            "// std::thread and getenv(\"X\") in a comment", "/* time(nullptr)\n   fork() */", 'auto s = "fork() getenv(1)";',
            'auto s = R"(system("ls");\nfork();)";', "co_await sleep(clock, d);", "env.time(0);", "launcher->system(x);",
            "Task<int> getenv(Name name);", "Time time(Clock& clock);", "bool connect(Address a);", "peer.connect(a);",
            "loop.bind(x);", "Strategy::rand(5);", "int my_rand(int);", "auto n = 1'000; auto m = 'x';", "std::filesystem::path p;",
            "lifetime(nullptr);", "std::this_thread_like x;", "const Spot system = spec[0];", "f(system, system.text());",
            "auto f = &Launcher::system;", "calls.getenv = f;", "auto f = Calls{.getenv = nullptr};", "auto g = peer->connect;",
            "Kind kind = Kind::open;", "std::time_t seconds = 0;", "std::random_access_iterator_tag t;", "int getenv_calls = 0;",
            "Lookup getenv;",
        ):
            with self.subTest(text=text):
                self.write("src/kube/caller.cc", text + "\n")
                self.expect()

    def test_banned_calls_are_free_outside_src_and_files_are_free_in_tests(self):
        self.write("tests/tool.cc", "#include <thread>\n\nstd::thread start();\n")
        self.write("src/kube/client_test.cc", "#include <fstream>\n\nstd::ifstream read();\n")
        self.expect()

    def test_an_excuse_needs_a_reason(self):
        call = 'auto h = std::getenv("HOME");'
        self.write("src/kube/caller.cc", f"{call}  // lint: allow(environment) the reason\n")
        self.expect()
        self.write("src/kube/caller.cc", f"// lint: allow(environment) the reason\n{call}\n")
        self.expect()
        self.write("src/kube/caller.cc", f"{call}  // lint: allow(environment)\n")
        self.expect(("src/kube/caller.cc", 1, "environment"), ("src/kube/caller.cc", 1, "allow"))
        self.write("src/kube/caller.cc", f"{call}  // lint: allow(clock) the wrong rule\n")
        self.expect(("src/kube/caller.cc", 1, "environment"), ("src/kube/caller.cc", 1, "allow"))

    def test_an_excuse_for_nothing_is_a_finding(self):
        self.write("src/kube/caller.cc", "int x;  // lint: allow(clock) there is no clock\n")
        self.expect(("src/kube/caller.cc", 1, "allow"))
        self.write("src/kube/caller.cc", "int x;  // lint: allow(weather) no such rule\n")
        self.expect(("src/kube/caller.cc", 1, "allow"))

    def test_long_files(self):
        self.expect_planted("src/base/long.cc", "int x;\n" * 801, 801, "long-file")
        self.expect_planted("src/base/long_test.cc", "int x;\n" * 1001, 1001, "long-file")
        self.write("src/base/generated.cc", "// Generated from schema.json.\n" + "int x;\n" * 900)
        self.write("src/base/long_test.cc", "int x;\n" * 1000)
        self.expect()

    def test_text(self):
        for path, text, line, rule in (
            ("tools/tool.py", "a = 1\r\n", 1, "crlf"),
            ("tools/tool.py", "\n\ta = 1\n", 2, "tab"),
            ("tools/tool.py", "\n\na = 1 \n", 3, "trailing-space"),
            ("tools/tool.py", "a = 1", 1, "final-newline"),
            ("examples/path.cc", '\nauto p = "/root/x";\n', 2, "home-path"),
            ("examples/path.cc", "// see /home/someone\n", 1, "home-path"),
            ("python/path.py", 'p = "/work/x"\n', 1, "home-path"),
            ("python/later.py", "# TO" "DO later\n", 1, "marker"),
            ("src/base/later.cc", "\n// FIX" "ME\n", 2, "marker"),
            ("src/base/later.cc", "int x;  // X" "XX\n", 1, "marker"),
        ):
            self.expect_planted(path, text, line, rule)

    def test_an_invented_home_is_nobodys_path(self):
        self.write("src/base/path.cc", "// such as /home/me/.kube/config\n")
        self.expect()

    def test_links_of_pages(self):
        self.write("docs/other.md", "# Other\n\n## The `code` of it\n\n## Twice\n\n## Twice\n")
        for link in ("gone.md", "../docs/gone.md", "other.md#absent", "#absent", "../src/absent"):
            self.expect_planted("docs/page.md", f"# Page\n\nSee [this]({link}).\n", 3, "broken-link")
        links = ("other.md", "other.md#the-code-of-it", "other.md#twice-1", "#page", "../src/base", "https://example.org/x#y")
        self.write("docs/page.md", "# Page\n\n" + "".join(f"[x]({link})\n" for link in links) + "`[x](gone.md)`\n")
        self.expect()

    def test_formatting(self):
        self.write("src/base/ugly.cc", "int x;\nint   y;\n")
        self.expect(("src/base/ugly.cc", 2, "format"), clang=True)

    def test_headers_that_do_not_compile_alone(self):
        self.write("src/base/needy.h", "#pragma once\n\nstruct Needy {\n  Bits bits;\n};\n")
        self.expect(("src/base/needy.h", 4, "header-alone"), clang=True)

    def test_a_header_that_only_our_part_of_the_prelude_completes(self):
        # Its source proves nothing: in the build the prelude stands before it.
        self.write("cmake/prelude.h", '#pragma once\n\n#include "base/clock.h"\n')
        self.write("src/net/needy.cc", '#include "net/needy.h"\n')
        self.write("src/net/needy.h", "#pragma once\n\nstruct Needy {\n  int opened = codeflare::now();\n};\n")
        self.expect(("src/net/needy.h", 4, "header-alone"), clang=True)
        # The same word of another.
        self.write("src/net/needy.h", "#pragma once\n\nstruct Needy {\n  int now = 1;\n};\n")
        self.expect(clang=True)

    def test_a_header_of_the_prelude_is_not_proven_by_its_source(self):
        self.write("cmake/prelude.h", '#pragma once\n\n#include "base/clock.h"\n#include "base/needy.h"\n')
        self.write("src/base/needy.cc", '#include "base/needy.h"\n')
        self.write("src/base/needy.h", "#pragma once\n\ninline int later() {\n  return codeflare::now() + 1;\n}\n")
        self.expect(("src/base/needy.h", 4, "header-alone"), clang=True)

    def test_a_header_is_compiled_again_when_something_it_includes_changes(self):
        self.expect(clang=True)
        for path in ("src/base/clock.h", "src/base/clock.cc"):
            self.write(path, CLEAN[path].replace("now", "later"))
        self.assertIn(("src/net/link.h", 6, "header-alone"), self.lint(clang=True))

    def prose(self):
        """{(file, line, rule)} of the words of the whole tree."""
        _, found = lint.lint_prose(self.root)
        for _, _, _, message in found:
            self.assertRegex(message, r"\(.+\)$", "it does not say what to do instead")
        return {(path, line, rule) for path, line, rule, _ in found}

    def test_sentences_name_what_acts(self):
        self.assertEqual(self.prose(), set())
        for sentence in ("Who waits is shown.", "Whoever waits is shown.", "What waits is shown.", "Those who wait are shown."):
            self.write("docs/page.md", f"# Page\n\nA first sentence. {sentence}\n")
            self.assertEqual(self.prose(), {("docs/page.md", 3, "clause-subject")}, sentence)
        self.write("docs/page.md", "# What is this?\n\nWhat is short? The CPUs.\n\n    Who\n\n```\nWho waits\n```\n`Who waits`\n")
        self.assertEqual(self.prose(), set())

    def test_plain_words(self):
        for word in ("is heeded", "dear calls", "is told", "waits for ever", "is no number", "is taken back", "refuses it"):
            self.write("src/base/later.cc", f"// First line,\n// which {word} here.\n")
            self.assertEqual(self.prose(), {("src/base/later.cc", 1, "plain-word")}, word)
            self.write("src/base/later.cc", f'const char* text = "the server {word} now";\n')
            self.assertEqual(self.prose(), {("src/base/later.cc", 1, "plain-word")}, word)
        self.write("src/base/later.cc", "// It is not a number, is no longer there and told nobody.\n")
        self.assertEqual(self.prose(), set())

    def test_words_of_scripts(self):
        for path, text, line in (
            ("tools/later.py", '"""First line.\n\nWho waits is shown.\n"""\n', 3),
            ("tools/later.py", "import os\n\n# A line,\n# which is told here.\n", 3),
            ("tools/later.py", 'text = "a # b"  # What waits is shown.\n', 1),
            ("cmake/later.cmake", "# What waits is shown.\n", 1),
            ("CMakeLists.txt", "# What waits is shown.\n", 1),
            ("tools/later.yaml", "a: b\n# What waits is shown.\n", 2),
            ("tools/later", "#!/bin/sh\n# What waits is shown.\n", 2),
        ):
            self.write(path, text)
            self.assertEqual({(p, n) for p, n, _ in self.prose()}, {(path, line)}, text)
            (self.root / path).unlink()
        self.write("tools/later.py", '"""Fine."""\ntext = "it is told # Who waits"\nmore = """\nWho waits\n"""\n')
        self.write("tools/list.txt", "# Who waits\n")
        self.assertEqual(self.prose(), set())

    def test_wire_words_are_exceptions(self):
        self.write("src/base/later.cc", 'const char* text = "dial tcp: connection refused";\n')
        self.assertEqual(self.prose(), {("src/base/later.cc", 1, "plain-word")})
        shutil.copy(REPOSITORY / "tools" / "prose_exceptions.txt", self.root / "tools")
        self.assertEqual(self.prose(), set())

    def test_words_are_checked_in_added_lines(self):
        def git(*words):
            identity = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"]
            subprocess.run(["git", *identity, *words], cwd=self.root, check=True, capture_output=True)

        git("init", "-q")
        self.write("docs/page.md", "# Page\n\nWho waits is shown.\n")
        git("add", "-A")
        git("commit", "-qm", "first")
        git("commit", "-qm", "second", "--allow-empty")
        self.expect()  # an old sentence
        self.write("docs/page.md", "# Page\n\nWho waits is shown.\n\nWho runs is shown.\n")
        self.expect(("docs/page.md", 5, "clause-subject"))
        git("commit", "-qam", "third")
        self.expect(("docs/page.md", 5, "clause-subject"))


if __name__ == "__main__":
    unittest.main()
