#!/usr/bin/env python3
"""Prints mapping models, by the rules of its format alone: an independent witness for the readers of Moult.

It reads an xcmapping.xml or a compiled .cdm with Python's own XML and property list readers. The lines are

    file PATH                                    before the lines of each file
    mapping NAME TYPE SOURCE DESTINATION POLICY
    from EXPRESSION                              the source expression, where there is one
    hashes SOURCE DESTINATION                    in hexadecimal; of a .cdm only
    attribute NAME EXPRESSION
    relationship NAME EXPRESSION

with - for nothing, entity mappings in their order, properties by name.

usage: mapping.py FILE ...
"""
import base64
import plistlib
import sys
import xml.etree.ElementTree as ElementTree

TYPES = ["undefined", "custom", "add", "remove", "copy", "transform"]
NAMED = "destinationInstancesForEntityMappingNamed:sourceInstances:"
ANY = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
# Words of the format language, which are marked where they name a property.
RESERVED = {"size", "first", "last", "any", "all", "in", "like", "null", "nil", "self", "true", "false", "yes", "no"}
FETCH = "fetchRequestForSourceEntityNamed:predicateString:"


def escaped(path):
    return ".".join("#" + word if word.lower() in RESERVED else word for word in path.split("."))


class Archive:
    """A keyed archive whose references are followed when asked for."""

    def __init__(self, data):
        content = plistlib.loads(data)
        self.objects = content["$objects"]
        self.root = self.get(content["$top"]["root"])

    def get(self, value):
        while isinstance(value, plistlib.UID):
            value = self.objects[value.data]
        if isinstance(value, dict) and "NS.string" in value:
            return value["NS.string"]
        return None if value == "$null" else value

    def field(self, thing, key):
        return self.get(thing.get(key))

    def list(self, value):
        value = self.get(value)
        return [] if value is None else [self.get(element) for element in value["NS.objects"]]

    def dictionary(self, value):
        value = self.get(value)
        if value is None or "NS.keys" not in value:  # an empty one is archived as an array
            return {}
        return dict(zip(map(self.get, value["NS.keys"]), map(self.get, value["NS.objects"])))

    def kind(self, thing):
        return self.get(thing["$class"])["$classname"]

    def expression(self, thing):
        """As Core Data prints it; None for none."""
        thing = self.get(thing)
        if thing is None:
            return None
        kind = self.kind(thing)
        if kind == "NSConstantValueExpression":
            value = self.field(thing, "NSConstantValue")
            return '"%s"' % value if isinstance(value, str) else str(int(value))
        if kind == "NSVariableExpression":
            return "$" + self.field(thing, "NSVariable")
        arguments = self.list(thing.get("NSArguments"))
        if kind == "NSKeyPathExpression":
            return self.expression(thing["NSOperand"]) + "." + escaped(self.field(arguments[0], "NSKeyPath"))
        if kind == "NSFunctionExpression":
            parts = [self.expression(thing["NSOperand"]), '"%s"' % self.field(thing, "NSSelectorName")]
            return "FUNCTION(%s)" % ", ".join(parts + [self.expression(argument) for argument in arguments])
        if kind == "NSFetchRequestExpression":
            request = self.expression(thing["NSFRExpression"])
            context = self.expression(thing["NSMOCExpression"])
            return "FETCH(%s, %s, %s)" % (request, context, "YES" if thing["NSCountOnlyFlag"] else "NO")
        raise SystemExit("unknown expression " + kind)


class Model:
    """The properties of the entities of an embedded model, inherited ones included."""

    def __init__(self, data):
        archive = Archive(data)
        classes = archive.dictionary(
            archive.field(archive.root, "_xd_rootPackage")["XDBucketForClassesstorage"])
        self.parents, self.own = {}, {}
        for name, entity in classes.items():
            above = archive.list(entity.get("XDBucketForGeneralizationsstorage"))
            parents = [archive.field(archive.field(one, "_general"), "_name") for one in above]
            self.parents[name] = parents[0] if parents else None
            properties = archive.dictionary(entity.get("XDBucketForOwnedAttributesstorage"))
            self.own[name] = {key: self.property(archive, value) for key, value in properties.items()}

    @staticmethod
    def property(archive, value):
        facts = {}
        for stereotype in archive.dictionary(value.get("XDBucketForStereotypesstorage")).values():
            for key, fact in archive.dictionary(stereotype["XDBucketForOwnedAttributesstorage"]).items():
                facts[key] = archive.field(fact, "_default")
        if archive.kind(value) == "XDPMAttribute":
            return ("attribute", facts.get("XD_PAttK_attributeType"))
        destination = archive.field(facts["XD_PRK_destination"], "_name")
        return ("relationship", destination, bool(facts.get("XD_PRK_isToMany")))

    def lineage(self, entity):
        while entity is not None:
            yield entity
            entity = self.parents[entity]

    def properties(self, entity):
        """By name: the entity that declares it, and what it is."""
        if entity not in self.own:
            return {}
        return {name: (above, fact) for above in self.lineage(entity) for name, fact in self.own[above].items()}


class Mapping:
    def __init__(self, name, kind, source, destination, policy, fetch, hashes, properties):
        self.name, self.kind, self.source, self.destination = name, kind, source, destination
        self.policy, self.fetch, self.hashes, self.properties = policy, fetch, hashes, properties

    def print(self):
        print("mapping", self.name, TYPES[self.kind], self.source or "-", self.destination or "-", self.policy or "-")
        if self.fetch:
            print("from", self.fetch)
        if self.hashes:
            print("hashes", *[hash.hex() if hash else "-" for hash in self.hashes])
        for kind, name, expression in sorted(self.properties):
            print(kind, name, expression or "-")


def compiled(data):
    archive = Archive(data)
    for mapping in archive.list(archive.root["NSEntityMappings"]):
        text = lambda key: archive.field(mapping, key)
        properties = [
            (kind, archive.field(one, "NSDestinationPropertyName"), archive.expression(one["NSValueExpression"]))
            for kind, key in (("attribute", "NSAttributeMappings"), ("relationship", "NSRelationshipMappings"))
            for one in archive.list(mapping[key])]
        yield Mapping(
            text("NSMappingName"), text("NSMappingType"), text("NSSourceEntityName"), text("NSDestinationEntityName"),
            text("NSEntityMigrationPolicyClassName"), archive.expression(mapping["NSSourceExpression"]),
            (text("NSSourceEntityVersionHash"), text("NSDestinationEntityVersionHash")), properties)


class Source:
    """The editor's own file, with what it leaves out computed."""

    def __init__(self, data):
        self.objects = {
            one.get("id"): (
                {part.get("name"): part.text or "" for part in one.findall("attribute")},
                {part.get("name"): (part.get("idrefs") or "").split() for part in one.findall("relationship")})
            for one in ElementTree.fromstring(data).findall("object")}
        root = next(
            one.get("id") for one in ElementTree.fromstring(data).findall("object")
            if one.get("type") == "XDDEVMAPPINGMODEL")
        facts, links = self.objects[root]
        self.old = Model(base64.b64decode(facts["sourcemodeldata"]))
        self.new = Model(base64.b64decode(facts["destinationmodeldata"]))
        self.mappings = sorted(
            (self.objects[id] for id in links["entitymappings"]), key=lambda one: int(one[0]["mappingnumber"]))

    @staticmethod
    def name(facts):
        source, destination = facts.get("sourcename"), facts.get("destinationname")
        return facts.get("name") or (source + "To" + destination if source else destination)

    def kind(self, facts):
        source, destination = facts.get("sourcename"), facts.get("destinationname")
        if facts.get("migrationpolicyclassname"):
            return 1
        if not source:
            return 2
        if not destination:
            return 3
        new = self.new.properties(destination)
        stays = all(new.get(key) == value for key, value in self.old.properties(source).items())
        return 4 if source == destination and stays else 5

    def expression(self, kind, source, facts):
        name = facts["name"]
        if "valueexpressiondata" in facts:
            archive = Archive(base64.b64decode(facts["valueexpressiondata"]))
            return archive.expression(archive.root)
        path = "$source." + escaped(name)
        if facts.get("sourcemappingname"):
            return 'FUNCTION($manager, "%s", "%s", %s)' % (
                NAMED, facts["sourcemappingname"], facts.get("sourcekeypath") or path)
        found = self.old.properties(source).get(name, (None, ("nothing",)))[1]
        if found[0] != kind:
            return None
        if kind == "attribute":
            return path
        takers = [
            self.name(other) for other, _ in self.mappings
            if other.get("sourcename") and found[1] in self.old.lineage(other["sourcename"])]
        selector, argument = (NAMED, takers[0]) if len(takers) == 1 else (ANY, name)
        return 'FUNCTION($manager, "%s", "%s", %s)' % (selector, argument, path)

    def __iter__(self):
        for facts, links in self.mappings:
            source = facts.get("sourcename")
            properties = []
            for kind in ("attribute", "relationship"):
                for id in links[kind + "mappings"]:
                    one = self.objects[id][0]
                    properties.append((kind, one["name"], self.expression(kind, source, one)))
            filter = facts.get("sourcefilterpredicatestring") or "TRUEPREDICATE"
            fetch = source and 'FETCH(FUNCTION($manager, "%s", "%s", "%s"), $manager.sourceContext, NO)' % (
                FETCH, source, filter)
            yield Mapping(
                self.name(facts), self.kind(facts), source, facts.get("destinationname"),
                facts.get("migrationpolicyclassname"), fetch, None, properties)


for path in sys.argv[1:]:
    content = open(path, "rb").read()
    print("file", path)
    for mapping in compiled(content) if content.startswith(b"bplist") else Source(content):
        mapping.print()
