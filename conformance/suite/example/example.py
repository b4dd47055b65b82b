"""An implementation of the conformance suite's protocol: types, required fields, and enums."""
import json
import sys

KNOWN = {"type", "properties", "required", "items", "additionalProperties", "enum", "description"}
TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "integer": int, "number": (int, float)}


class Unsupported(Exception):
    """The schema needs more than this implementation has."""


def of_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def valid(schema, value):
    if set(schema) - KNOWN or "type" not in schema or value is None:
        raise Unsupported("keywords or null")
    children = []
    if isinstance(value, dict):
        properties, rest = schema.get("properties", {}), schema.get("additionalProperties")
        children = [(properties.get(k, rest), v) for k, v in value.items() if properties.get(k, rest)]
    elif isinstance(value, list) and "items" in schema:
        children = [(schema["items"], v) for v in value]
    results = [valid(s, v) for s, v in children]  # all of them, to find what is not supported
    return (all(results) and of_type(value, schema["type"])
            and ("enum" not in schema or value in schema["enum"])
            and all(k in value for k in schema.get("required", []) if isinstance(value, dict)))


def decide(request):
    if "oldObject" in request or request["fieldValidation"] != "Ignore":
        raise Unsupported("updates and field validation")
    versions = request["crd"]["spec"]["versions"]
    schema = next(v for v in versions if v["name"] == request["version"])["schema"]["openAPIV3Schema"]
    if set(request["object"]["metadata"]) - {"name", "namespace"}:
        raise Unsupported("metadata")
    if "subresources" in str(versions):
        raise Unsupported("subresources")
    return valid(schema, {k: v for k, v in request["object"].items() if k in schema.get("properties", {})})


for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        answer.update(name="example.py", levels=["verdict"])
    else:
        try:
            answer["allowed"] = decide(request)
        except Unsupported as reason:
            answer["unsupported"] = str(reason)
    print(json.dumps(answer), flush=True)
