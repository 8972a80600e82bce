#!/usr/bin/env python3
"""Reads models in three forms and compares what they say, without any of Moult's code.

The forms are a source (the file `contents` of an .xcdatamodel), a compiled model (.mom), and the model inside a store
(the content of Z_MODELCACHE, raw DEFLATE). What a compiled model does not keep is not compared. Of a predicate or an
expression, the key paths, variables, functions and constants are.

usage: models.py ONE OTHER [ONE OTHER ...]: a line for each pair, `equal` or the differences, separated by tabs
"""
import base64
import decimal
import json
import plistlib
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree
import zlib

TYPES = {
    "Integer 16": 100, "Integer 32": 200, "Integer 64": 300, "Decimal": 400, "Double": 500, "Float": 600,
    "String": 700, "Boolean": 800, "Date": 900, "Binary": 1000, "UUID": 1100, "URI": 1200, "Transformable": 1800,
    "ObjectID": 2000, "Composite": 2100}
CLASSES = {
    100: "NSNumber", 200: "NSNumber", 300: "NSNumber", 400: "NSDecimalNumber", 500: "NSNumber", 600: "NSNumber",
    700: "NSString", 800: "NSNumber", 900: "NSDate", 1000: "NSData", 1100: "NSUUID", 1200: "NSURL",
    2100: "NSDictionary"}
RULES = {"No Action": 0, "Nullify": 1, "Cascade": 2, "Deny": 3}
LIMITS = {1610: "max", 1620: "min", 1630: "max", 1640: "min", 1660: "max", 1670: "min", 1680: "regex"}
WORDS = set(
    "and or not in contains beginswith endswith like matches between self nil null true false yes no any all none "
    "truepredicate falsepredicate c d cd".split())


def number(text):
    """A number in one form, whatever its own."""
    try:
        value = decimal.Decimal(str(text))
    except decimal.InvalidOperation:
        return str(text)
    return str(value.normalize() + 0) if value.is_finite() else str(text)


# Text of predicates and expressions

TOKEN = re.compile(
    r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\$\w+)|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|([A-Za-z_@][\w.@]*)(:?\()?""")


def tokens(text):
    if text is None:
        return None
    found = []
    for single, double, variable, digits, name, call in TOKEN.findall(text):
        if variable:
            found.append(variable)
        elif digits:
            found.append(number(digits))
        elif name and call:
            found.append("call " + name)
        elif ".@" in name:
            path, operator = name.split(".@", 1)
            found += ["path " + path, "call " + operator]
        elif name and name.lower() not in WORDS:
            found.append("path " + name)
        elif name.lower() in ("yes", "true", "no", "false"):
            found.append(str(name.lower() in ("yes", "true")))
        elif not name:
            found.append("text " + (single or double))
    return sorted(found)


# Sources

def on(element, key):
    return element.get(key) == "YES"


def user_info(element):
    return {entry.get("key"): entry.get("value") for entry in element.iterfind("userInfo/entry")}


def default(kind, element):
    text = element.get("defaultDateTimeInterval" if kind == 900 else "defaultValueString")
    if text is None or kind == 1800:
        return None
    if kind == 800:
        return text.lower() in ("yes", "true", "1")
    if kind in (500, 900):
        return float(text)
    if kind == 600:
        return struct.unpack("<f", struct.pack("<f", float(text)))[0]
    if kind == 1000:
        return base64.b64decode(text).hex()
    if kind == 1100:
        return text.replace("-", "").lower()
    return text if kind in (700, 1200) else number({"YES": 1, "NO": 0}.get(text, text))


def named(element, **more):
    return {
        "optional": on(element, "optional"), "renaming": element.get("elementID") or element.get("name"),
        "modifier": element.get("versionHashModifier"), "userInfo": user_info(element), **more}


def attribute_of(element, composites):
    kind = 2100 if element.get("composite") else TYPES.get(element.get("attributeType"), 0)
    limits = {"min": None, "max": None, "regex": element.get("regularExpressionString")}
    for side in ("min", "max"):
        text = element.get(side + "ValueString") or element.get(side + "DateTimeInterval")
        limits[side] = text and number(text)
    return named(
        element, kind="attribute", type=kind, transient=on(element, "transient"), default=default(kind, element),
        limits={side: text for side, text in limits.items() if text is not None},
        external=on(element, "allowsExternalBinaryDataStorage"), preserved=on(element, "preserveAfterDeletion"),
        spotlight=on(element, "spotlightIndexingEnabled"), record=on(element, "storedInTruthFile"),
        transformer=element.get("valueTransformerName"),
        valueClass=element.get("customClassName") or CLASSES.get(kind),
        derivation=tokens(element.get("derivationExpression")) if on(element, "derived") else None,
        filter=tokens(element.get("filteringPredicate")) if on(element, "derived") else None,
        elements=[[part.get("name"), attribute_of(part, composites)] for part in composites[element.get("composite")]]
        if element.get("composite") else [])


def relationship_of(element):
    top = 0 if on(element, "toMany") else 1
    return named(
        element, kind="relationship", transient=on(element, "transient"), ordered=on(element, "ordered"),
        max=int(element.get("maxCount", top)), min=int(element.get("minCount", 0)),
        rule=RULES[element.get("deletionRule", "Nullify")], destination=element.get("destinationEntity"),
        inverse=element.get("inverseName"), spotlight=on(element, "spotlightIndexingEnabled"),
        record=on(element, "storedInTruthFile"))


def fetched_of(element):
    request = element.find("fetchRequest")
    return named(
        element, kind="fetched", entity=request.get("entity"), predicate=tokens(request.get("predicateString")))


def source(data):
    root = ElementTree.fromstring(data)
    composites = {
        one.get("name"): one.findall("attribute") for one in root if one.tag in ("composite", "compositeAttribute")}
    entities = {}
    for entity in root.iterfind("entity"):
        properties = {one.get("name"): attribute_of(one, composites) for one in entity.iterfind("attribute")}
        properties |= {one.get("name"): relationship_of(one) for one in entity.iterfind("relationship")}
        properties |= {one.get("name"): fetched_of(one) for one in entity.iterfind("fetchedProperty")}
        indexes = {
            index.get("name"): {
                "elements": [
                    [one.get("property") or one.get("expression"), 1 if one.get("type") == "RTree" else 0,
                     one.get("order") != "descending"] for one in index.iterfind("fetchIndexElement")],
                "partial": tokens(index.get("partialIndexPredicate"))}
            for index in entity.iterfind("fetchIndex")}
        entities[entity.get("name")] = {
            "class": entity.get("representedClassName"), "abstract": on(entity, "isAbstract"),
            "parent": entity.get("parentEntity"), "renaming": entity.get("elementID") or entity.get("name"),
            "modifier": entity.get("versionHashModifier"), "userInfo": user_info(entity), "properties": properties,
            "indexes": indexes,
            "unique": sorted(
                [one.get("value") for one in names.iterfind("constraint")]
                for names in entity.iterfind("uniquenessConstraints/uniquenessConstraint"))}
    return {
        "entities": entities,
        "configurations": {
            one.get("name"): sorted(member.get("name") for member in one.iterfind("memberEntity"))
            for one in root.iterfind("configuration")},
        "requests": {
            one.get("name"): {"entity": one.get("entity"), "predicate": tokens(one.get("predicateString"))}
            for one in root.iterfind("fetchRequest")},
        "identifiers": [root.get("userDefinedModelVersionIdentifier", "")],
        "added indexes": sum(on(one, "indexed") for one in root.iter("attribute"))
        + len(root.findall("entity/compoundIndexes/compoundIndex"))
        + sum(len(repeated(entity)) for entity in root.iterfind("entity"))}


def repeated(entity):
    """The attributes that get an index of their own name besides a fetch index of them alone under another name."""
    alone = {
        elements[0].get("property") for index in entity.iterfind("fetchIndex")
        if len(elements := index.findall("fetchIndexElement")) == 1 and elements[0].get("type") != "RTree"
        and elements[0].get("order") != "descending" and not index.get("partialIndexPredicate")}
    names = {index.get("name") for index in entity.iterfind("fetchIndex")}
    return [
        one for one in entity.iterfind("attribute")
        if one.get("name") in alone - names and not on(one, "indexed") and not on(one, "transient")]


# Archives

class Archive:
    def __init__(self, data):
        archive = plistlib.loads(data)
        self.objects = archive["$objects"]
        self.root = self.get(archive["$top"]["root"])

    def get(self, value):
        if isinstance(value, plistlib.UID):
            value = None if value.data == 0 else self.objects[value.data]
        return self.get(value["NS.string"]) if isinstance(value, dict) and "NS.string" in value else value

    def field(self, value, key):
        return self.get(value.get(key))

    def list(self, value):
        return [self.get(one) for one in value["NS.objects"]] if value else []

    def entries(self, value):
        if not value:
            return {}
        if "NS.keys" in value:
            return dict(zip((self.get(key) for key in value["NS.keys"]), self.list(value)))
        keys = self.list(self.field(self.field(value, "searchMapping"), "keys"))
        values = self.field(value, "values")
        return dict(zip(keys, self.list(values) if isinstance(values, dict) else map(self.get, values)))

    def name(self, value):
        return self.get(value["$class"])["$classes"][0]

    def notes(self, value):
        return {key: self.note(note) for key, note in self.entries(self.field(value, "NSUserInfo")).items()}

    def note(self, value):
        """A source says in text what SwiftData archives as a flag or a list."""
        if isinstance(value, dict):
            return ",".join(self.list(value))
        return str(int(value)) if isinstance(value, bool) else value

    def tokens(self, value):
        return None if value is None else sorted(self.walk(value))

    def walk(self, value):
        """What a predicate or an expression refers to."""
        if not isinstance(value, dict) or "$class" not in value:
            return
        name = self.name(value)
        if name == "NSConstantValueExpression":
            if "NSConstantValueClassName" in value:
                return
            constant = self.field(value, "NSConstantValue")
            if isinstance(constant, bool):
                yield str(constant)
            elif isinstance(constant, (int, float)):
                yield number(constant)
            elif isinstance(constant, str):
                yield "text " + constant
            elif isinstance(constant, dict):
                yield number(self.plain(400, constant))
            return
        if name == "NSVariableExpression":
            yield "$" + self.field(value, "NSVariable")
        elif name == "NSKeyPathSpecifierExpression":
            yield "path " + self.field(value, "NSKeyPath")
        elif name == "NSFunctionExpression":
            yield "call " + self.field(value, "NSSelectorName").rstrip(":")
        for key in ("NSLeftExpression", "NSRightExpression", "NSOperand"):
            yield from self.walk(self.field(value, key))
        for key in ("NSArguments", "NSSubpredicates", "NSCollection"):
            for part in self.list(self.field(value, key)):
                yield from self.walk(part)

    def plain(self, kind, value):
        if value is None or kind in (1800, 2100):
            return None
        if kind == 400:
            if not isinstance(value, dict):
                return number(value)
            mantissa = int.from_bytes(value["NS.mantissa"][:2 * value["NS.length"]], "little")
            digits = tuple(int(digit) for digit in str(mantissa))
            return number(decimal.Decimal((int(value["NS.negative"]), digits, value["NS.exponent"])))
        if kind == 800:
            return bool(value)
        if kind == 900:
            return float(value["NS.time"])
        if kind == 600:
            return struct.unpack("<f", struct.pack("<f", value))[0]
        if kind == 1100:
            return value["NS.uuidbytes"].hex()
        if kind == 1200:
            return self.field(value, "NS.relative")
        if kind == 1000:
            return value.hex()
        return float(value) if kind == 500 else value if kind == 700 else number(value)

    def named(self, value, **more):
        return {
            "optional": bool(value.get("NSIsOptional")), "renaming": self.field(value, "NSRenamingIdentifier"),
            "modifier": self.field(value, "NSVersionHashModifier"), "userInfo": self.notes(value), **more}

    def property(self, value):
        classes = self.get(value["$class"])["$classes"]
        if "NSRelationshipDescription" in classes:
            return self.named(
                value, kind="relationship", transient=bool(value.get("NSIsTransient")),
                ordered=bool(value.get("NSIsOrdered")), max=value["NSMaxCount"], min=value["NSMinCount"],
                rule=value["NSDeleteRule"], destination=self.field(value, "_NSDestinationEntityName"),
                inverse=self.field(value, "_NSInverseRelationshipName"),
                spotlight=bool(value.get("NSIsIndexedBySpotlight")),
                record=bool(value.get("NSIsStoredInExternalRecord")))
        if "NSFetchedPropertyDescription" in classes:
            request = self.field(value, "NSFetchRequest")
            return self.named(
                value, kind="fetched", entity=self.field(value, "_NSFetchRequestEntityName"),
                predicate=self.tokens(self.field(request, "NSPredicate")))
        kind, flags, derived = value["NSAttributeType"], value["NSFlagsKey"], "NSDerivationExpression" in value
        codes = self.list(self.field(value, "NSValidationWarnings"))
        limits = {}
        for code, rule in zip(codes, self.list(self.field(value, "NSValidationPredicates"))):
            constant = self.field(self.field(rule, "NSRightExpression"), "NSConstantValue")
            constant = self.plain(400, constant) if isinstance(constant, dict) else constant
            limits[LIMITS[code]] = constant if code == 1680 else number(constant)
        return self.named(
            value, kind="attribute", type=kind, transient=bool(value.get("NSIsTransient")),
            default=self.plain(kind, self.field(value, "NSDefaultValue")), limits=limits, external=bool(flags & 4),
            preserved=bool(flags & 16), spotlight=bool(value.get("NSIsIndexedBySpotlight")),
            record=bool(value.get("NSIsStoredInExternalRecord")),
            transformer=self.field(value, "NSValueTransformerName"),
            valueClass=self.field(value, "NSAttributeValueClassName"),
            derivation=self.tokens(self.field(value, "NSDerivationExpression")) if derived else None,
            filter=self.tokens(self.field(value, "NSFilteringPredicate")) if derived else None,
            elements=[
                [self.field(part, "NSPropertyName"), self.property(part)]
                for part in self.list(self.field(value, "NSCompositeElements"))])

    def entity(self, value):
        above = self.field(value, "NSSuperentity")
        inherited = self.entries(self.field(above, "NSProperties")) if above else {}
        indexes = {}
        for index in self.list(self.field(value, "NSFetchIndexDescriptions")):
            indexes[self.field(index, "NSIndexName")] = {
                "elements": [
                    [self.field(one, "NSPropertyName"), one["NSFetchIndexElementType"], bool(one["NSAscending"])]
                    for one in self.list(self.field(index, "NSIndexElements"))],
                "partial": self.tokens(self.field(index, "NSPartialIndexPredicate"))}
        return {
            "class": self.field(value, "NSClassNameForEntity"), "abstract": bool(value.get("NSIsAbstract")),
            "parent": above and self.field(above, "NSEntityName"), "renaming": self.field(value, "NSRenamingIdentifier"),
            "modifier": self.field(value, "NSVersionHashModifier"), "userInfo": self.notes(value),
            "properties": {
                name: self.property(one) for name, one in self.entries(self.field(value, "NSProperties")).items()
                if name not in inherited},
            "indexes": indexes,
            "unique": sorted(self.list(one) for one in self.list(self.field(value, "NSUniqueTuples")))}

    def model(self):
        requests = self.entries(self.field(self.root, "NSFetchRequestTemplates"))
        configurations = self.entries(self.field(self.root, "NSConfigurations"))
        return {
            "entities": {
                name: self.entity(one) for name, one in self.entries(self.field(self.root, "NSEntities")).items()},
            "configurations": {
                name: sorted(self.field(one, "NSEntityName") for one in self.list(members))
                for name, members in configurations.items()},
            "requests": {
                name: {
                    "entity": self.field(self.field(one, "NSEntity"), "NSEntityName"),
                    "predicate": self.tokens(self.field(one, "NSPredicate"))}
                for name, one in requests.items()},
            "identifiers": self.list(self.field(self.root, "NSVersionIdentifiers"))}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"bplist"):
        return Archive(data).model()
    return source(data) if data.lstrip().startswith(b"<") else Archive(zlib.decompress(data, -15)).model()


def differences(one, other, place=""):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(set(one) | set(other)):
            if key not in other or key not in one:
                yield f"{place}/{key}: only in the {'first' if key in one else 'second'}"
            else:
                yield from differences(one[key], other[key], f"{place}/{key}")
    elif one != other:
        yield f"{place}: {json.dumps(one)[:120]} and {json.dumps(other)[:120]}"


def compared(one, other):
    """The differences. A compiler makes fetch indexes of indexed attributes and compound indexes."""
    for first, second in ((one, other), (other, one)):
        added = first.pop("added indexes", None)
        if added is None:
            continue
        for name, entity in second["entities"].items():
            own = first["entities"].get(name, {}).get("indexes", {})
            added -= len(set(entity["indexes"]) - set(own))
            entity["indexes"] = {key: index for key, index in entity["indexes"].items() if key in own}
        # Old compilers made none.
        if added < 0:
            yield f"{-added} indexes too many"
        elif added > 0:
            yield f"{added} indexes are not made"
    yield from differences(one, other)


def main(paths):
    for one, other in zip(paths[::2], paths[1::2]):
        found = list(compared(read(one), read(other)))
        print("\t".join(found) if found else "equal", flush=True)


main(sys.argv[1:])
