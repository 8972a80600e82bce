#!/usr/bin/env python3
"""Compares compiled models object for object, whatever the order in which an archive has its objects.

An independent witness for what `moult compile` writes: both files are read with plistlib and resolved to what their
objects say. The objects of an archive are told apart by their class and all that they refer to; a reference back to an
entity or a property is its name. The version of the compiler is no part of the model.

usage: compiled.py ONE OTHER [ONE OTHER ...]: of models or of mapping models, a line for each pair, `equal` or the differences, separated by tabs
       compiled.py --versions LIST ...: what each VersionInfo.plist says, as one line of JSON with sorted keys
"""
import base64
import json
import plistlib
import sys

COMPILER = {"CDMCompilerToolVersion", "CDMCompilerXcodeVersion"}


class Archive:
    def __init__(self, path):
        with open(path, "rb") as file:
            archive = plistlib.load(file)
        assert archive["$archiver"] == "NSKeyedArchiver" and archive["$version"] == 100000, path
        self.objects = archive["$objects"]
        assert self.objects[0] == "$null", path
        self.root = archive["$top"]["root"]

    def classes(self, value):
        return self.objects[value["$class"].data]["$classes"]

    def get(self, reference):
        return self.objects[reference.data] if isinstance(reference, plistlib.UID) else reference

    def name(self, value, key):
        return self.get(value[key])

    def tree(self, reference, back):
        """What an object says; `back` are the keys whose objects are only named, because they lead back."""
        value = self.get(reference)
        if isinstance(reference, plistlib.UID) and reference.data == 0:
            return None
        if isinstance(value, bool):
            return ["boolean", value]
        if isinstance(value, (int, float)):
            return [type(value).__name__, repr(value)]
        if isinstance(value, bytes):
            return ["data", value.hex()]
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return [self.tree(item, back) for item in value]
        classes = self.classes(value)
        if "NS.keys" in value:
            keys = [self.tree(key, back) for key in value["NS.keys"]]
            entries = dict(zip(keys, [self.tree(item, back) for item in value["NS.objects"]]))
            return {"class": classes, "entries": entries}
        if classes[0] == "NSSet":
            items = [self.tree(item, back) for item in value["NS.objects"]]
            return {"class": classes, "objects": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}
        if classes[0] == "NSManagedObjectModel" and back:
            return "the model"
        if classes[0] == "NSEntityDescription" and "entity" in back:
            return "entity " + self.name(value, "NSEntityName")
        if "NSPropertyDescription" in classes and "property" in back:
            return "property " + self.name(value, "NSPropertyName")
        if classes[0] == "NSFetchIndexDescription" and "index" in back:
            return "index " + str(self.tree(value["NSIndexName"], back))
        return {"class": classes} | {
            key: self.tree(item, back) for key, item in value.items() if key != "$class" and key not in COMPILER}

    def parts(self):
        """The model, each entity, property and index on its own, by a path that names it."""
        model = self.get(self.root)
        if self.classes(model)[0] == "NSMappingModel":
            return {"mapping": self.tree(self.root, set())}
        parts = {"model": {key: self.tree(item, {"entity"}) for key, item in model.items()
                           if key not in COMPILER | {"$class"}}}
        parts["model"]["class"] = self.classes(model)
        for index, value in enumerate(self.objects):
            if not isinstance(value, dict) or "$class" not in value:
                continue
            classes = self.classes(value)
            back = {"entity", "property", "index"}
            tree = {"class": classes} | {
                key: self.tree(item, back) for key, item in value.items() if key != "$class"}
            if classes[0] == "NSEntityDescription":
                parts["entity " + self.name(value, "NSEntityName")] = tree
            elif "NSPropertyDescription" in classes:
                owner = self.name(self.get(value["NSEntity"]), "NSEntityName")
                parts[f"property {owner}.{self.name(value, 'NSPropertyName')}"] = tree
            elif classes[0] == "NSFetchIndexDescription":
                elements = [self.name(self.get(element), "NSPropertyName")
                            for element in self.get(value["NSIndexElements"])["NS.objects"]]
                parts.setdefault(f"index {tree['NSIndexName']} of {'.'.join(elements)}", []).append(tree)
        for tree in parts.values():
            if isinstance(tree, list):
                tree.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return parts


def differences(one, other, place):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(set(one) | set(other)):
            if key not in other:
                yield f"{place}/{key}: only in the first"
            elif key not in one:
                yield f"{place}/{key}: only in the second"
            else:
                yield from differences(one[key], other[key], f"{place}/{key}")
    elif one != other:
        yield f"{place}: {json.dumps(one)[:120]} and {json.dumps(other)[:120]}"


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def main(arguments):
    if arguments[:1] == ["--versions"]:
        for path in arguments[1:]:
            with open(path, "rb") as file:
                print(json.dumps(plain(plistlib.load(file)), sort_keys=True))
        return
    for one, other in zip(arguments[::2], arguments[1::2]):
        found = list(differences(Archive(one).parts(), Archive(other).parts(), ""))
        print("\t".join(found) if found else "equal", flush=True)


main(sys.argv[1:])
