"""Builds the graph of nodes: Go says which fields there are and how they travel, OpenAPI what lists and maps mean."""

import dataclasses
import json

from apitables_parts.go_types import Expression, TypeId

_META = "k8s.io/apimachinery/pkg/apis/meta/v1"
_EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
_TYPE_META = TypeId(_META, "TypeMeta")
_PROPS = TypeId(_EXTENSIONS, "JSONSchemaProps")

# Structures in Go that are something else in JSON.
_SPECIAL = {
    TypeId(_META, "Time"): ("time", "plain"),
    TypeId(_META, "MicroTime"): ("micro_time", "plain"),
    TypeId(_META, "Duration"): ("duration", "plain"),
    TypeId(_META, "FieldsV1"): ("any", "plain"),
    TypeId("k8s.io/apimachinery/pkg/api/resource", "Quantity"): ("quantity", "plain"),
    TypeId("k8s.io/apimachinery/pkg/util/intstr", "IntOrString"): ("int_or_string", "plain"),
    TypeId("k8s.io/apimachinery/pkg/runtime", "RawExtension"): ("any", "plain"),
    TypeId(_EXTENSIONS, "JSON"): ("any", "plain"),
    TypeId(_EXTENSIONS, "JSONSchemaPropsOrArray"): ("any", "schema_or_list"),
    TypeId(_EXTENSIONS, "JSONSchemaPropsOrBool"): ("any", "schema_or_boolean"),
    TypeId(_EXTENSIONS, "JSONSchemaPropsOrStringArray"): ("any", "schema_or_strings"),
}
_SCALARS = {
    "string": ("string", 0),
    "bool": ("boolean", 0),
    "int": ("integer", 64),
    "int32": ("integer", 32),
    "int64": ("integer", 64),
    "float64": ("number", 0),
}
_OPENAPI_TYPES = {
    "boolean": "boolean", "integer": "integer", "number": "number", "string": "string", "time": "string",
    "micro_time": "string", "duration": "string", "bytes": "string", "structure": "object", "map": "object", "list": "array",
}
_WIRE_TYPES = {"boolean": "varint", "integer": "varint", "number": "fixed64"}
_ZERO = (None, "", 0, False, [], {})


class GraphError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Node:
    shape: str
    bits: int = 0
    list_type: str = "atomic"
    patch: str = "none"
    retain_keys: bool = False
    atomic: bool = False
    nullable: bool = False
    encoding: str = "plain"
    type: TypeId | None = None  # of a structure
    items: "Node | None" = None
    map_keys: tuple = ()
    merge_key: str = ""
    default: str = ""


@dataclasses.dataclass(frozen=True)
class Wire:
    number: int = 0
    type: str = "length"
    pointer: bool = False
    omit_empty: bool = False


@dataclasses.dataclass(frozen=True)
class Field:
    name: str
    node: Node
    wire: Wire
    required: bool = False


@dataclasses.dataclass
class Structure:
    type: TypeId
    fields: list  # sorted by name
    inlined: list


class Graph:
    def __init__(self, packages, definitions):
        self._packages = packages
        self._definitions = definitions  # OpenAPI: name → schema
        self.structures = {}  # TypeId → Structure, all that was reached

    def add(self, type_id):
        """The node of a structure; everything that it reaches is built as well."""
        todo = [type_id]
        while todo:
            next_id = todo.pop()
            if next_id in self.structures:
                continue
            built = self._build(next_id)
            self.structures[next_id] = built
            for field in built.fields + built.inlined:
                node = field.node
                while node is not None:
                    if node.type is not None:
                        todo.append(node.type)
                    node = node.items
        return self._structure_node(type_id)

    def kinds_of(self, package):
        """Name → TypeId of everything with an apiVersion and kind."""
        found = {}
        for name in self._packages.types(package):
            type_id, _ = self._packages.resolve(Expression("named", TypeId(package, name)))
            fields = self._packages.find(type_id).fields or []
            if any(f.type == Expression("named", _TYPE_META) and f.tags.get("json") == ",inline" for f in fields):
                found[name] = type_id
        return found

    def _structure_node(self, type_id):
        map_type = self._definitions.get(type_id.openapi_name(), {}).get("x-kubernetes-map-type")
        return Node("structure", type=type_id, atomic=map_type == "atomic")

    def _build(self, type_id):
        definition = self._definitions.get(type_id.openapi_name())
        fields, inlined = self._fields(type_id, definition)
        names = [field.name for field in fields]
        if len(set(names)) != len(names):
            raise GraphError(f"{type_id}: a field comes twice")
        if definition is not None and set(names) != set(definition.get("properties", {})):
            difference = set(names) ^ set(definition.get("properties", {}))
            raise GraphError(f"{type_id}: Go and OpenAPI differ in {sorted(difference)}")
        return Structure(type_id, sorted(fields, key=lambda field: field.name), inlined)

    def _fields(self, type_id, definition):
        fields, inlined = [], []
        for go_field in self._packages.find(type_id).fields:
            name, _, options = go_field.tags["json"].partition(",")
            if name == "-":
                continue
            if name:
                fields.append(self._field(type_id, go_field, name, options.split(","), definition))
                continue
            if options != "inline" and options != "omitempty,inline":
                raise GraphError(f"{type_id}: {go_field.name} has neither a name nor is it inlined")
            inner, _ = self._packages.resolve(go_field.type)
            nested, nested_inlined = self._fields(inner, definition)
            numbered = "protobuf" in go_field.tags
            if nested_inlined and not numbered:
                raise GraphError(f"{type_id}: {go_field.name} inlines messages but has no number itself")
            fields += [dataclasses.replace(f, wire=dataclasses.replace(f.wire, number=0)) for f in nested]
            if numbered:
                node = self._structure_node(inner)
                inlined.append(Field("", node, self._wire(go_field, node, pointer=False, omit=True)))
        return fields, inlined

    def _field(self, type_id, go_field, name, options, definition):
        prop = (definition or {}).get("properties", {}).get(name, {})
        declared = go_field.type
        pointer = declared.form == "pointer"
        if pointer:
            declared = declared.of
        node = self._node(declared, type_id)
        if definition is not None:
            self._check_type(f"{type_id}.{name}", node, prop)
            required = name in definition.get("required", [])
        else:
            required = "omitempty" not in options and "optional" not in go_field.markers
            prop = _marked_list(go_field.markers)
        # A structure that is not a pointer has no empty value for Go's JSON.
        is_structure = not pointer and (node.shape == "structure" or self._is_special(declared))
        omit = "omitzero" in options or ("omitempty" in options and not is_structure)
        wire = self._wire(go_field, node, pointer, omit)
        return Field(name, self._refine(node, prop, go_field, wire), wire, required)

    def _is_special(self, declared):
        name, _ = self._packages.resolve(declared)
        return name in _SPECIAL

    def _wire(self, go_field, node, pointer, omit):
        # The type that the tag names is often wrong (the generator does not need it); the number is right.
        element = node.items if node.shape == "list" else node
        wire_type = _WIRE_TYPES.get(element.shape, "length")
        tag = go_field.tags.get("protobuf")
        return Wire(int(tag.split(",")[1]) if tag else 0, wire_type, pointer, omit)

    def _node(self, expression, place):
        name, resolved = self._packages.resolve(expression)
        if name in _SPECIAL:
            shape, encoding = _SPECIAL[name]
            items = self._structure_node(_PROPS) if encoding != "plain" else None
            return Node(shape, encoding=encoding, items=items)
        if resolved.form == "named":
            return self._structure_node(resolved.of)
        if resolved.form == "scalar" and resolved.of in _SCALARS:
            shape, bits = _SCALARS[resolved.of]
            return Node(shape, bits)
        if resolved == Expression("list", Expression("scalar", "byte")):
            return Node("bytes")
        if resolved.form in ("list", "map"):
            inner = resolved.of
            element = self._node(inner.of if inner.form == "pointer" else inner, place)
            # Protobuf can't repeat or map to a list, so upstream wraps named lists in a message.
            wrapped = resolved.form == "list" and name is not None and self._packages.is_message(name)
            return Node(resolved.form, items=element, encoding="items" if wrapped else "plain")
        raise GraphError(f"{place}: no shape for {resolved}")

    def _refine(self, node, prop, go_field, wire):
        """The field's additions to its value's type."""
        changes = {"nullable": bool(prop.get("nullable"))}
        strategy = prop.get("x-kubernetes-patch-strategy", "").split(",")
        if set(strategy) - {"", "merge", "replace", "retainKeys"}:
            raise GraphError(f"{go_field.name}: patch strategy {strategy}")
        changes["retain_keys"] = "retainKeys" in strategy
        changes["patch"] = next((s for s in strategy if s in ("merge", "replace")), "none")
        changes["merge_key"] = prop.get("x-kubernetes-patch-merge-key", "")
        if node.shape == "list":
            changes |= _list_semantics(prop)
        if prop.get("x-kubernetes-map-type") == "atomic":
            changes["atomic"] = True
        if "default" in go_field.markers and "default" in prop:
            # Other defaults in OpenAPI only repeat Go's zero values; one that JSON would leave out says nothing either.
            if wire.pointer or not wire.omit_empty or prop["default"] not in _ZERO:
                changes["default"] = json.dumps(prop["default"])
        return dataclasses.replace(node, **changes)

    def _check_type(self, place, node, prop):
        """Whether OpenAPI calls the value what Go made it."""
        reference = prop.get("$ref") or next((part["$ref"] for part in prop.get("allOf", []) if "$ref" in part), None)
        if reference is not None:
            name = reference.rpartition("/")[2]
            if node.type is not None:
                if node.type.openapi_name() != name:
                    raise GraphError(f"{place}: {node.type} in Go, {name} in OpenAPI")
                return
            prop = self._definitions[name]
        expected = _OPENAPI_TYPES.get(node.shape)
        if expected is not None and prop.get("type") != expected:
            raise GraphError(f"{place}: {node.shape} in Go, {prop.get('type')} in OpenAPI")
        if node.shape == "integer" and prop.get("format") != f"int{node.bits}":
            raise GraphError(f"{place}: {node.bits} bits in Go, {prop.get('format')} in OpenAPI")
        if node.shape == "list":
            self._check_type(f"{place}[]", node.items, prop["items"])
        elif node.shape == "map":
            self._check_type(f"{place}{{}}", node.items, prop["additionalProperties"])


def _marked_list(markers):
    """The part of an OpenAPI property that Go's comments hold, for types that OpenAPI does not publish."""
    found = {}
    if "listType" in markers:
        found["x-kubernetes-list-type"] = markers["listType"][0]
    if "listMapKey" in markers:
        found["x-kubernetes-list-map-keys"] = markers["listMapKey"]
    return found


def _list_semantics(prop):
    """As upstream's conversion for server-side apply reads them: the patch strategy speaks when the list type is absent."""
    list_type = prop.get("x-kubernetes-list-type")
    keys = tuple(prop.get("x-kubernetes-list-map-keys", ()))
    if list_type is None and "merge" in prop.get("x-kubernetes-patch-strategy", "").split(","):
        merge_key = prop.get("x-kubernetes-patch-merge-key")
        list_type, keys = ("map", (merge_key,)) if merge_key else ("set", ())
    return {"list_type": list_type or "atomic", "map_keys": keys if list_type == "map" else ()}
