"""Bodies that fit a schema of the OpenAPI description, at its edges and between."""

from typing import Any

from hypothesis import strategies as st


def bodies(schema: dict[str, Any], named: dict[str, Any]) -> st.SearchStrategy:
    """What fits the schema; `named` are those that others refer to."""
    if "$ref" in schema:
        return bodies(named[schema["$ref"].rpartition("/")[2]], named)
    if "anyOf" in schema:
        return st.one_of([bodies(part, named) for part in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if "prefixItems" in schema:
        return st.tuples(*(bodies(part, named) for part in schema["prefixItems"])).map(list)
    return _OF_TYPE[schema["type"]](schema, named)


def _object(schema: dict[str, Any], named: dict[str, Any]) -> st.SearchStrategy:
    if "properties" not in schema:
        values = bodies(schema["additionalProperties"], named)
        return st.dictionaries(st.text(max_size=12), values, max_size=4)
    parts = {name: bodies(part, named) for name, part in schema["properties"].items()}
    required = {name: parts.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=parts)


def _number(schema: dict[str, Any], named: dict[str, Any]) -> st.SearchStrategy:
    low, high = schema["minimum"], schema["maximum"]
    return st.sampled_from([low, high, 0.0]) | st.floats(low, high) | st.floats(-30.0, 30.0)


def _integer(schema: dict[str, Any], named: dict[str, Any]) -> st.SearchStrategy:
    high = schema["exclusiveMaximum"] - 1 if "exclusiveMaximum" in schema else schema.get("maximum")
    return st.integers(schema.get("minimum"), high)


def _array(schema: dict[str, Any], named: dict[str, Any]) -> st.SearchStrategy:
    return st.lists(bodies(schema["items"], named), max_size=min(schema["maxItems"], 4))


def _string(schema: dict[str, Any], named: dict[str, Any]) -> st.SearchStrategy:
    least, most = schema.get("minLength", 0), schema["maxLength"]
    return st.text(min_size=least, max_size=min(most, least + 40))


_OF_TYPE = {
    "array": _array,
    "object": _object,
    "number": _number,
    "integer": _integer,
    "string": _string,
    "null": lambda schema, named: st.none(),
    "boolean": lambda schema, named: st.booleans(),
}
