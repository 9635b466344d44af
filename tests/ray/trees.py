"""Random directories with ignore files of every level, links and odd names."""

import os
import pathlib

NAMES = ["a", "b.py", "x.log", "keep.log", "build", "data", ".hidden", "Ünï cödé", "sp ace", "[br]", "t\nl", "-dash", "#hash", "venv", "o.txt~"]
PATTERNS = ["*.log", "!keep.log", "build/", "/data", "**/a", "a/**", "a/**/b.py", "[!a-d]*", "*.py\r", ".h*", "# none", "", "  sp ace  ", "\\#hash",
            "data/*", "!data/b.py", "?", "[]br[]*", "/build/a/", "t*", "ü*", "*~", "b.?y", "[b-x].log", "-d*", "!/a", "venv", "\\[br\\]"]


def fill(random, directory, depth=0):
    if depth == 0:
        # Links lead here. None leads in a circle: Linux ends a circle after 40 links, but counts the links of a lookup twice when it has to begin
        # anew (memory is short, a directory is renamed). The depth of such a tree then differs from one moment to the next, for Ray as for us.
        os.mkdir(os.path.join(directory, "leaf"))
        for name in ("x.log", "b.py"):
            pathlib.Path(directory, "leaf", name).write_text(name)
    for name in random.sample(NAMES, random.randint(1, 6)):
        path = os.path.join(directory, name)
        kind = random.random()
        if kind < 0.35 and depth < 4:
            os.mkdir(path)
            if random.random() < 0.85:
                fill(random, path, depth + 1)
        elif kind < 0.45:
            os.symlink(random.choice(["a", "nowhere", "build/a", "../" * depth + "leaf"]), path)
        else:
            with open(path, "wb") as file:
                file.write(random.randbytes(random.choice([0, 1, 20, 5000])))
    for name in (".gitignore", ".rayignore"):
        if random.random() < 0.4:
            with open(os.path.join(directory, name), "w", newline="") as file:
                file.write("\n".join(random.sample(PATTERNS, random.randint(1, 4))) + random.choice(["", "\n"]))
