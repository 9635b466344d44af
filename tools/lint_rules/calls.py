"""Calls that would escape simulation: clocks, sleep, randomness, environment, sockets, threads, processes, files.

They belong to `internal/real_*` files; all other code under src/ gets them through base/env and net::HttpService. Names that
are ordinary words too (open, connect, sleep) are recognised as ::open, by their typical arguments or by their system header. A
function that is not called where it stands (&std::getenv, or passed as a value) is called somewhere else, so it counts as well.
"""

import re

from . import source

_ADVICE = {
    "clock": "take a Clock from base/env",
    "sleep": "wait on a Clock from base/env",
    "random": "take a Random from base/env",
    "environment": "read it in app/ and pass the value down",
    "socket": "use net::HttpService",
    "thread": "use Task and TaskGroup, or blocking() from base/env",
    "process": "use the Launcher from base/env",
    "file": "use the FileSystem from base/env",
}
RULES = tuple(_ADVICE)

# C functions with names of their own: whatever is not a member counts.
_FUNCTIONS = {
    "clock": "gettimeofday clock_gettime timespec_get ftime",
    "sleep": "usleep nanosleep clock_nanosleep",
    "random": "rand srand rand_r srandom drand48 lrand48 getrandom getentropy arc4random RAND_bytes RAND_priv_bytes",
    "environment": "getenv secure_getenv setenv putenv unsetenv clearenv",
    "socket": "socketpair accept4 getaddrinfo gethostbyname",
    "thread": "pthread_create thrd_create",
    "process": "vfork execv execve execvp execvpe execl execlp execle fexecve posix_spawn posix_spawnp popen system",
    "file": "fopen freopen fdopen mkstemp mkostemp mkdtemp opendir tmpfile openat creat",
}
# Of those, what variables are called too: without :: or std:: only a call counts.
_VARIABLES = frozenset({"system"})
# C functions named by everyday words: only ::name and std::name count.
_WORDS = {
    "clock": "time clock",
    "sleep": "sleep pause",
    "random": "random",
    "socket": "socket connect bind listen accept send recv sendto recvfrom sendmsg recvmsg",
    "process": "fork clone kill daemon",
    "file": "open unlink rename mkdir rmdir truncate",
}
_PATTERNS = {
    "clock": r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\s*::\s*now\b"
    r"|(?<![\w.>:])time\s*\(\s*(?:nullptr|NULL|0|&\s*\w+)\s*\)",
    "sleep": r"\bthis_thread\s*::\s*(?:sleep_for|sleep_until|yield)\b|(?:^|[;{}])[ \t]*sleep\s*\(|(?<![\w.>:])sleep\s*\(\s*\d+\s*\)",
    "random": r"\brandom_device\b",
    "environment": r"\benviron\b",
    "socket": r"(?<![\w.>:])socket\s*\(\s*[AP]F_",
    "thread": r"\bstd\s*::\s*(?:jthread|thread|async)\b|\bboost\s*::\s*thread\b|\basio\s*::\s*thread_pool\b",
    "process": r"(?<![\w.>:])fork\s*\(\s*\)",
    "file": r"\bstd\s*::\s*(?:basic_)?(?:[io]?fstream|filebuf)\b|\bfilesystem\s*::\s*(?!path\b)\w+",
}
_HEADERS = {
    "clock": "sys/time.h",
    "random": "sys/random.h",
    "socket": "sys/socket.h sys/un.h netdb.h",
    "thread": "thread future pthread.h threads.h",
    "process": "spawn.h sys/wait.h sched.h",
    "file": "fstream fcntl.h dirent.h",
}
_HEADER_RULE = {header: rule for rule, headers in _HEADERS.items() for header in headers.split()}

_REAL = re.compile(r"/internal/real_[^/]*$")
# `Type name(` declares, unless the word before is one of these.
_DECLARATION = re.compile(r"(?:([\w>])|[\w>][&*]+)[ \t]+$")
_BEFORE_CALL = re.compile(r"\b(?:return|co_return|co_yield|else|do|throw|case|and|or|not|using)[ \t]+$")
# Awaiting proves that it is one of our coroutines.
_AWAITED = re.compile(r"\bco_await[ \t]+$")


def _alternation(names):
    return "|".join(names.split())


_FUNCTION = {
    rule: re.compile(rf"(?<![\w.>:])(std\s*::\s*|::\s*)?({_alternation(names)})\b(\s*\()?") for rule, names in _FUNCTIONS.items()
}
_OTHER = {
    rule: re.compile(
        "|".join(
            ([_PATTERNS[rule]] if rule in _PATTERNS else [])
            + ([rf"(?<![\w>:])(?:std\s*)?::\s*(?:{_alternation(_WORDS[rule])})\b(?:\s*\()?"] if rule in _WORDS else [])
        ),
        re.M,
    )
    for rule in RULES
}


def check(tree, report):
    for file in tree.cpp:
        if not file.path.startswith("src/") or _REAL.search(file.path):
            continue
        for rule in RULES:
            # Tests may lay out and read files of their own in a temporary folder.
            if rule != "file" or not file.is_test:
                _check_rule(file, rule, report)


def _check_rule(file, rule, report):
    for include in file.includes:
        if not include.quoted and _HEADER_RULE.get(include.target) == rule:
            _add(file, include.line, rule, f"<{include.target}>", report)
    code = file.code
    for match in _OTHER[rule].finditer(code):
        offset = match.end() - len(match.group().lstrip(" \t\n;{}"))
        _add(file, source.line_of(code, offset), rule, _shown(match.group()), report)
    for match in _FUNCTION[rule].finditer(code):
        qualifier, name, called = match.groups()
        if name in _VARIABLES and not qualifier and not called:
            continue
        before = code[code.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _AWAITED.search(before) or (_DECLARATION.search(before) and not _BEFORE_CALL.search(before)):
            continue
        _add(file, source.line_of(code, match.start()), rule, _shown(match.group()), report)


def _shown(text):
    name = re.sub(r"\s+", "", text).lstrip(";{}")
    return name.partition("(")[0] + "()" if "(" in name else name


def _add(file, line, rule, what, report):
    report.add(file, line, rule, f"{what} outside internal/real_* ({_ADVICE[rule]})")
