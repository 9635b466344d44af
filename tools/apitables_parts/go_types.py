"""Go type declarations with their struct tags, read line by line from gofmt's layout.

Only what API packages use is understood; anything else in a structure that a kind reaches is an error, and the fields found
are compared with OpenAPI's properties, so a line that was read wrongly can't pass unnoticed.
"""

import dataclasses
import re

_IMPORT = re.compile(r'^\s*(?:import\s+)?(?:(?P<alias>[\w.]+)\s+)?"(?P<path>[^"]+)"\s*(?://.*)?$')
_STRUCT = re.compile(r"^type (\w+) struct \{$")
_EMPTY = re.compile(r"^type (\w+) struct\s*\{\s*\}$")
_NAMED = re.compile(r"^type (\w+) (?:= )?([\w.*\[\]]+)(?:\s*//.*)?$")
_FIELD = re.compile(r"^\t(?P<lead>[^`/]+?)\s*`(?P<tags>[^`]*)`")
_TAG = re.compile(r'(\w+):"([^"]*)"')
_MARKER = re.compile(r"^\s*//\s*\+([\w:]+)(?:=(.*))?$")
_GROUP = re.compile(r'^\s*(?:const )?GroupName\s*=\s*"([^"]*)"', re.M)
_VERSION = re.compile(r'SchemeGroupVersion = schema\.GroupVersion\{Group: GroupName, Version: "(\w+)"\}')
_SCALARS = frozenset(
    "string bool int int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 byte".split()
)


class GoError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class TypeId:
    package: str
    name: str

    def __str__(self):
        return f"{self.package}.{self.name}"

    def openapi_name(self):
        """k8s.io/api/core/v1.Pod → io.k8s.api.core.v1.Pod"""
        host, _, path = self.package.partition("/")
        return ".".join([*reversed(host.split(".")), *path.split("/"), self.name])


@dataclasses.dataclass(frozen=True)
class Expression:
    """A type as written: `[]*Pod` is list of pointer to named."""

    form: str  # scalar, named, pointer, list, map
    of: object  # a scalar's name, a TypeId, an Expression


@dataclasses.dataclass
class GoField:
    name: str  # in Go; of the type when it is embedded
    type: Expression
    tags: dict
    markers: dict  # name → all its values


@dataclasses.dataclass
class GoType:
    id: TypeId
    fields: list | None  # None: not a structure
    target: Expression | None = None


class Packages:
    """Reads packages when they are first asked for."""

    def __init__(self, modules):
        self._modules = modules
        self._packages = {}

    def folder(self, package):
        for path, folder in self._modules.items():
            if package == path or package.startswith(path + "/"):
                return folder / package[len(path) + 1 :]
        raise GoError(f"package {package} is in none of the modules")

    def types(self, package):
        if package not in self._packages:
            self._packages[package] = dict(self._read(package))
        return self._packages[package]

    def find(self, type_id):
        found = self.types(type_id.package).get(type_id.name)
        if found is None:
            raise GoError(f"no type {type_id}")
        return found

    def group_version(self, package):
        text = (self.folder(package) / "register.go").read_text(encoding="utf-8")
        group, version = _GROUP.search(text), _VERSION.search(text)
        if not group or not version:
            raise GoError(f"{package}: register.go names no group and version")
        return group[1], version[1]

    def is_message(self, type_id):
        """Whether the protobuf form has a message of this name: of lists only some have."""
        text = (self.folder(type_id.package) / "generated.proto").read_text(encoding="utf-8")
        return f"\nmessage {type_id.name} {{" in text

    def resolve(self, expression):
        """The structure, scalar, list or map behind named types; the last name on the way comes first, or None."""
        name = None
        while expression.form == "named":
            name = expression.of
            found = self.find(name)
            if found.fields is not None:
                break
            expression = found.target
        return name, expression

    def _read(self, package):
        for path in sorted(self.folder(package).glob("*.go")):
            if not path.name.endswith(("_test.go", ".pb.go")) and not path.name.startswith("zz_"):
                yield from _read_file(package, path.read_text(encoding="utf-8").split("\n"))


def imports_of(lines):
    """Alias → package."""
    found = {}
    inside = False
    for line in lines:
        if line.startswith("import ("):
            inside = True
        elif inside and line.startswith(")"):
            break
        elif (inside or line.startswith("import ")) and (match := _IMPORT.match(line)):
            found[match["alias"] or match["path"].rpartition("/")[2]] = match["path"]
    return found


def parse_type(text, package, imports):
    def parse(rest):
        if rest.startswith("*"):
            return Expression("pointer", parse(rest[1:]))
        if rest.startswith("[]"):
            return Expression("list", parse(rest[2:]))
        if rest.startswith("map["):
            return Expression("map", parse(rest[rest.index("]") + 1 :]))
        if rest in _SCALARS:
            return Expression("scalar", rest)
        qualifier, _, name = rest.rpartition(".")
        if qualifier and qualifier not in imports:
            raise GoError(f"{package}: {text} refers to an unknown import")
        return Expression("named", TypeId(imports[qualifier] if qualifier else package, name))

    return parse(text)


def _read_file(package, lines):
    imports = imports_of(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if match := _STRUCT.match(line):
            end = lines.index("}", at)
            yield match[1], GoType(TypeId(package, match[1]), list(_read_fields(package, imports, lines[at:end])))
            at = end
        elif match := _EMPTY.match(line):
            yield match[1], GoType(TypeId(package, match[1]), [])
        elif (match := _NAMED.match(line)) and match[2] not in ("interface", "func", "struct"):
            try:
                yield match[1], GoType(TypeId(package, match[1]), None, parse_type(match[2], package, imports))
            except GoError:
                pass  # helpers that no kind reaches; find() complains if one does


def _read_fields(package, imports, lines):
    markers = {}
    for line in lines:
        if match := _MARKER.match(line):
            markers.setdefault(match[1], []).append(match[2])
        elif match := _FIELD.match(line):
            words = match["lead"].split()
            if len(words) > 2:
                raise GoError(f"{package}: can't read the field {line.strip()}")
            declared = parse_type(words[-1], package, imports)
            name = words[0] if len(words) == 2 else words[0].rpartition(".")[2].lstrip("*")
            yield GoField(name, declared, dict(_TAG.findall(match["tags"])), markers)
            markers = {}
        elif not line.strip():
            markers = {}
        elif not line.lstrip().startswith("//"):
            # Without a tag: only types that are treated by name have such fields.
            markers = {}
