"""Sends a dashboard through the published types of Grafana's dashboard model.

    python model.py riskdex.json

The dashboard is loaded into the model and written again. Every value must come
back as it was, and must be of the type that the model declares. What the model
adds by itself are its defaults.
"""

import enum
import json
import sys
import typing

from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard, units

# Fields of Grafana that the published model leaves out, or knows only as part
# of another type. They were looked up in Grafana's own documentation.
NOT_IN_MODEL = {
    "annotations.list[].step",
    "annotations.list[].titleFormat",
}


def lost(before, after, path=""):
    """Yields the places where before is not found again in after."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            place = f"{path}.{key}".lstrip(".")
            if key in after:
                yield from lost(value, after[key], place)
            elif place not in NOT_IN_MODEL:
                yield f"{place}: lost"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after):
            yield from lost(one, other, path + "[]")
    elif before != after or type(before) is not type(after):
        yield f"{path}: {before!r} became {after!r}"


def mistyped(value, declared, path=""):
    """Yields the places where value is not what the model declares."""
    if isinstance(declared, (str, typing.ForwardRef)):
        return  # a name that could not be resolved: an open set of types
    origin, inner = typing.get_origin(declared), typing.get_args(declared)
    if declared in (typing.Any, object):
        pass
    elif origin is typing.Union:
        tried = [list(mistyped(value, t, path)) for t in inner]
        if all(tried):
            yield min(tried, key=len)[0]
    elif origin is list:
        if not isinstance(value, list):
            yield f"{path}: {value!r} is no list"
            return
        for one in value:
            yield from mistyped(one, inner[0], path + "[]")
    elif origin is dict:
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is no object"
            return
        for key, one in value.items():
            yield from mistyped(one, inner[1], f"{path}.{key}")
    elif origin is typing.Literal:
        if value not in inner:
            yield f"{path}: {value!r} is none of {inner}"
    elif isinstance(declared, type) and issubclass(declared, enum.Enum):
        if value not in [member.value for member in declared] and not isinstance(value, declared):
            yield f"{path}: {value!r} is none of {[member.value for member in declared]}"
    elif declared is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{path}: {value!r} is no number"
    elif not isinstance(value, declared) or declared is int and isinstance(value, bool):
        if isinstance(value, dict) and hasattr(declared, "from_json"):  # left as it came
            yield from mistyped_fields(declared.from_json(value), path)
        else:
            yield f"{path}: {value!r} is no {declared.__name__}"
    else:
        yield from mistyped_fields(value, path)


def mistyped_fields(value, path):
    """Yields what is mistyped in an object of the model."""
    cls = type(value)
    if not cls.__module__.startswith("grafana_foundation_sdk.models"):
        return
    names = vars(sys.modules[cls.__module__])
    for field, declared in typing.get_type_hints(cls, globalns=names).items():
        content = getattr(value, field, None)
        if content is not None:
            yield from mistyped(content, declared, f"{path}.{field}".lstrip("."))
            if declared in (typing.Any, object, typing.Optional[object], typing.Optional[typing.Any]):
                yield from mistyped_fields(content, f"{path}.{field}".lstrip("."))


def main(path):
    plugins.register_default_plugins()
    with open(path, encoding="utf-8") as file:
        before = json.load(file)
    model = dashboard.Dashboard.from_json(before)
    after = json.loads(json.dumps(model, cls=JSONEncoder))
    problems = sorted(set(lost(before, after)) | set(mistyped_fields(model, "")))
    known_units = {value for name, value in vars(units).items() if isinstance(value, str) and not name.startswith("_")}
    panels = [p for row in before["panels"] for p in [row, *row.get("panels", [])]]
    for panel in panels:
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit")
        if unit is not None and unit not in known_units:
            problems.append(f"panel {panel['id']}: Grafana has no unit {unit!r}")
    for problem in problems:
        print(problem)
    print(f"{len(panels)} panels and rows, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
