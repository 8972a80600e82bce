#!/usr/bin/env python3
"""Compares compiled models object for object, whatever the order in which an archive has its objects.

An independent witness for what `moult compile` writes: both files are read with plistlib and resolved to what their
objects say. The objects of an archive are told apart by their class and all that they refer to; a reference back to an
entity or a property is its name. The version of the compiler is no part of the model.

usage: compiled.py ONE OTHER [ONE OTHER ...]: of models or of mapping models, a line for each pair, `equal` or the differences, separated by tabs
       compiled.py --mappings ONE OTHER [ONE OTHER ...]: the same of the two models in each xcmapping.xml
       compiled.py --versions LIST ...: what each VersionInfo.plist says, as one line of JSON with sorted keys
"""
import base64
import json
import plistlib
import sys
import xml.etree.ElementTree as ElementTree

COMPILER = {"CDMCompilerToolVersion", "CDMCompilerXcodeVersion"}
# What Xcode's model editor makes of an entity and its properties.
EDITED = {"XDPMEntity", "XDPMAttribute", "XDPMRelationship"}


class Archive:
    def __init__(self, data):
        archive = plistlib.loads(data)
        assert archive["$archiver"] == "NSKeyedArchiver" and archive["$version"] == 100000
        self.objects = archive["$objects"]
        assert self.objects[0] == "$null"
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
        if classes[0] in EDITED and "editor" in back:
            return f"{classes[0]} {self.name(value, '_name')}"
        if classes[0] in ("XDPMModel", "XDModelPackage") and "editor" in back:
            return classes[0]
        if classes[0].startswith("XD"):
            # Xcode identifies elements by random numbers.
            return {"class": classes} | {
                key: self.owner(item) if key == "_owner" else self.tree(item, {"editor"})
                for key, item in value.items() if key not in ("$class", "_uniqueElementID")}
        return {"class": classes} | {
            key: self.tree(item, back) for key, item in value.items() if key != "$class" and key not in COMPILER}

    def owner(self, reference):
        value = self.get(reference)
        return value if value == "$null" else f"{self.classes(value)[0]} {self.get(value.get('_name'))}"

    def edited(self):
        """The parts of a model of Xcode's editor."""
        parts = {}
        for value in self.objects:
            if not isinstance(value, dict) or "$class" not in value:
                continue
            kind = self.classes(value)[0]
            if kind not in EDITED and kind not in ("XDPMModel", "XDModelPackage"):
                continue
            name = self.get(value.get("_name"))
            owner = self.get(value.get("_owner"))
            above = f"{self.name(owner, '_name')}." if kind in EDITED and kind != "XDPMEntity" else ""
            parts[f"{kind} {above}{name}"] = {"class": self.classes(value)} | {
                key: self.owner(item) if key == "_owner" else self.tree(item, {"editor"})
                for key, item in value.items() if key not in ("$class", "_uniqueElementID")}
        return parts

    def parts(self):
        """The model, each entity, property and index on its own, by a path that names it."""
        model = self.get(self.root)
        if self.classes(model)[0] == "XDPMModel":
            return self.edited()
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


def content(path):
    with open(path, "rb") as file:
        return file.read()


def inside(path):
    """The source and the destination model that the source of a mapping model contains."""
    found = {one.get("name"): one.text for one in ElementTree.fromstring(content(path)).iter("attribute")}
    return [base64.b64decode(found[side + "modeldata"]) for side in ("source", "destination")]


def main(arguments):
    if arguments[:1] == ["--versions"]:
        for path in arguments[1:]:
            with open(path, "rb") as file:
                print(json.dumps(plain(plistlib.load(file)), sort_keys=True))
        return
    models = inside if arguments[:1] == ["--mappings"] else lambda path: [content(path)]
    paths = [path for path in arguments if path != "--mappings"]
    for one, other in zip(paths[::2], paths[1::2]):
        found = [
            difference for first, second in zip(models(one), models(other))
            for difference in differences(Archive(first).parts(), Archive(second).parts(), "")]
        print("\t".join(found) if found else "equal", flush=True)


main(sys.argv[1:])
