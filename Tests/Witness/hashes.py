#!/usr/bin/env python3
"""Computes the version hashes of models in XML, as Documentation/Formats describes them.

An independent witness for the hashes by which `moult lint` finds edits of released versions; it shares no code with
Moult, and is checked itself against the hashes that Xcode's compiler wrote.

usage: hashes.py LIST: for each path of a `contents` file in LIST, one a line, prints a line of JSON:
       {"path": "<path>", "checksum": "<base64>", "entities": {"<name>": "<base64>"}}
"""
import base64
import hashlib
import json
import struct
import sys
import xml.etree.ElementTree as ElementTree

TYPES = {
    "Undefined": 0, "Integer 16": 100, "Integer 32": 200, "Integer 64": 300, "Decimal": 400, "Double": 500, "Float": 600,
    "String": 700, "Boolean": 800, "Date": 900, "Binary": 1000, "UUID": 1100, "URI": 1200, "Transformable": 1800,
    "ObjectID": 2000, "Composite": 2100}


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def is_set(element, name):
    return element.get(name) == "YES"


class Model:
    def __init__(self, path):
        root = ElementTree.parse(path).getroot()
        self.entities = {entity.get("name"): entity for entity in root.iter("entity")}
        self.composites = {one.get("name"): one for one in root.findall("composite")}

    def lineage(self, entity):
        parent = self.entities.get(entity.get("parentEntity"))
        return [entity] + (self.lineage(parent) if parent is not None else [])

    def property(self, element, is_read_only=False):
        flags = is_set(element, "optional") | is_set(element, "transient") << 1 | is_read_only << 2
        modifier = element.get("versionHashModifier", "")
        return digest(element.get("name").encode(), struct.pack("<H", flags), modifier.encode())

    def attribute(self, element):
        if is_set(element, "derived"):
            text = element.get("derivationExpression")
            head, _, tail = text.rpartition(".")
            text = f"count:({head})" if tail == "@count" else text
            return digest(text.encode(), element.get("derivationFilter", "").encode())
        kind = element.get("attributeType", "Undefined")
        if kind == "Composite":
            leaves = self.leaves(element)
            return digest(*[self.attribute(leaf) for leaf in sorted(leaves, key=lambda leaf: leaf.get("name").encode())])
        return digest(
            self.property(element), struct.pack("<i", TYPES[kind]),
            b"\1" if is_set(element, "allowsExternalBinaryDataStorage") else b"",
            b"\1" if is_set(element, "preserveAfterDeletion") else b"")

    def leaves(self, element):
        for leaf in self.composites[element.get("composite")].findall("attribute"):
            if leaf.get("attributeType") == "Composite":
                yield from self.leaves(leaf)
            else:
                yield leaf

    def relationship(self, element, owner):
        inverse = element.get("inverseName", "")
        if inverse == element.get("name") and element.get("destinationEntity") == owner.get("name"):
            inverse = ""
        many = is_set(element, "toMany")
        return digest(
            self.property(element), element.get("destinationEntity", "").encode(), inverse.encode(),
            struct.pack("<i", int(element.get("maxCount", 0 if many else 1))),
            struct.pack("<i", int(element.get("minCount", 0))),
            struct.pack("<H", 1) if is_set(element, "ordered") else b"")

    def entity(self, entity):
        properties = []
        for owner in self.lineage(entity):
            for element in owner:
                if element.tag == "attribute" and not is_set(element, "transient"):
                    properties.append((element.get("name").encode(), self.attribute(element)))
                elif element.tag == "relationship" and not is_set(element, "transient"):
                    properties.append((element.get("name").encode(), self.relationship(element, owner)))
        unique = sorted(
            ".".join(one.get("value") for one in constraint) for constraint in entity.iter("uniquenessConstraint"))
        parent = self.lineage(entity)[1:2]
        return digest(
            entity.get("name").encode(), bytes([is_set(entity, "isAbstract")]), *[self.entity(one) for one in parent],
            *[hashed for _, hashed in sorted(properties)], entity.get("versionHashModifier", "").encode(),
            *[text.encode() for text in unique])

    def hashes(self):
        return {name: self.entity(entity) for name, entity in self.entities.items()}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        paths = file.read().splitlines()
    for path in paths:
        hashes = Model(path).hashes()
        checksum = digest(*[hashes[name] for name in sorted(hashes, key=str.encode)])
        print(json.dumps({
            "path": path, "checksum": base64.b64encode(checksum).decode(),
            "entities": {name: base64.b64encode(value).decode() for name, value in hashes.items()}}))


main()
