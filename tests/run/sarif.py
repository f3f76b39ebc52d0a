"""What SARIF 2.1.0 asks of a log, for the objects that ctilec writes: properties and no others, those that must be there, types, words,
sets without repetition, and what its text says of regions, addresses and rules. `problems(doc)`: sentences, none where all is well."""
import json
import re

URI = re.compile(r"(file:///)?[A-Za-z0-9._~-](?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*|(?:%[0-9A-F]{2}|[A-Za-z0-9._~/-])+")


def text(value):
    return isinstance(value, str) and value != ""


def words(*allowed):
    return lambda value: value in allowed


def positive(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


# object: {property: what it is}; a name is an object, [name] a list, {name} a list without repetition, + at least one;
# ! marks what must be there
OBJECTS = {
    "log": {"version!": words("2.1.0"), "$schema": text, "runs!": ["run"]},
    "run": {"tool!": "tool", "columnKind": words("utf16CodeUnits", "unicodeCodePoints"), "results": ["result"]},
    "tool": {"driver!": "component"},
    "component": {"name!": text, "version": text, "rules": {"rule"}},
    "rule": {"id!": text, "shortDescription": "message"},
    "message": {"text!": text},
    "result": {"message!": "message", "ruleId": text, "level": words("none", "note", "warning", "error"), "locations": ["location"],
               "relatedLocations": {"location"}, "fixes": {"fix"}},
    "location": {"physicalLocation": "place", "message": "message"},
    "place": {"artifactLocation!": "artifact", "region": "region"},
    "artifact": {"uri!": lambda value: text(value) and URI.fullmatch(value) is not None},
    "region": {"startLine!": positive, "startColumn": positive, "endLine": positive, "endColumn": positive},
    "fix": {"description": "message", "artifactChanges!": {"+change"}},
    "change": {"artifactLocation!": "artifact", "replacements!": ["+replacement"]},
    "replacement": {"deletedRegion!": "region", "insertedContent": "content"},
    "content": {"text!": lambda value: isinstance(value, str)},
}


def visit(kind, value, path, found):
    if not isinstance(value, dict):
        found.append("%s is no object" % path)
        return
    known = {name.rstrip("!"): (name.endswith("!"), what) for name, what in OBJECTS[kind].items()}
    found += ["%s has no %s" % (path, name) for name, (must, _) in known.items() if must and name not in value]
    for name, inner in value.items():
        at = "%s.%s" % (path, name)
        what = known.get(name, (False, None))[1]
        if what is None:
            found.append("%s: there is no such property" % at)
        elif callable(what):
            if not what(inner):
                found.append("%s may not be %r" % (at, inner))
        elif isinstance(what, str):
            visit(what, inner, at, found)
        elif not isinstance(inner, list):
            found.append("%s is no list" % at)
        else:
            member = next(iter(what))
            if member[0] == "+" and not inner:
                found.append("%s is empty" % at)
            if isinstance(what, set) and len({json.dumps(v, sort_keys=True) for v in inner}) < len(inner):
                found.append("%s repeats itself" % at)
            for i, v in enumerate(inner):
                visit(member.lstrip("+"), v, "%s[%d]" % (at, i), found)
    if kind == "region" and not found:
        begin, end = (value["startLine"], value.get("startColumn", 1)), (value.get("endLine", value["startLine"]), value.get("endColumn", 1 << 30))
        if end < begin:
            found.append("%s ends before it begins" % path)
    if kind == "change" and not found:
        spans = sorted((r["deletedRegion"]["startLine"], r["deletedRegion"]["startColumn"], r["deletedRegion"]["endLine"], r["deletedRegion"]["endColumn"])
                       for r in value["replacements"])
        if any(a[2:] > b[:2] for a, b in zip(spans, spans[1:])):
            found.append("%s: replacements overlap" % path)
    if kind == "fix" and not found and len({c["artifactLocation"]["uri"] for c in value["artifactChanges"]}) < len(value["artifactChanges"]):
        found.append("%s changes one artifact twice" % path)


def problems(doc):
    found = []
    visit("log", doc, "log", found)
    for run in [] if found else doc["runs"]:
        ids = [rule["id"] for rule in run["tool"]["driver"].get("rules", [])]
        used = {result.get("ruleId") for result in run.get("results", [])}
        if len(set(ids)) < len(ids) or used != set(ids):
            found.append("rules are %s, results name %s" % (ids, sorted(used)))
    return found
