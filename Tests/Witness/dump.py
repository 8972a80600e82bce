#!/usr/bin/env python3
"""Prints every object of a Core Data store, one a line, by the rules of the store format alone.

An independent witness for the reader of Moult: it shares no code with it, and takes the model from the store's own
model cache. A line is `Entity key name=value …`, names in byte order, values as:

    -            NULL                      i:5        an integer            b:0  b:1   a Boolean
    f:<bits>     a double, 64 bits in hex  d:<bits>   a date likewise       n:12.5     a decimal
    s:<hex>      a string's UTF-8          u:<hex>    a URI's UTF-8         U:<hex>    a UUID
    x:<hex>      bytes                     o:E/1      a to-one              m:E/1,E/2  a to-many in its order
    ?            a value that is not what the model declares

usage: dump.py STORE [MODEL]     (STORE is opened read-only; give a copy)
       dump.py -                 (reads STORE, or STORE, a tab and MODEL, from each line; an empty line ends each answer)

MODEL stands for the model of a store without a cache. It has one line for each entity and property:

    entity NAME [PARENT]
    attribute ENTITY NAME TYPE EXTERNAL
    relationship ENTITY NAME DESTINATION INVERSE|- MANY ORDERED
"""
import decimal
import plistlib
import re
import sqlite3
import struct
import sys
import zlib
from pathlib import Path


class Archive:
    """A keyed archive whose references are followed when asked for."""

    def __init__(self, data):
        self.objects = plistlib.loads(data)["$objects"]
        self.top = plistlib.loads(data)["$top"]

    def get(self, value):
        while isinstance(value, plistlib.UID):
            value = self.objects[value.data]
        return None if value == "$null" else value

    def cls(self, value):
        value = self.get(value)
        return self.get(value["$class"])["$classname"] if isinstance(value, dict) and "$class" in value else None

    def text(self, value):
        value = self.get(value)
        return self.get(value["NS.string"]) if isinstance(value, dict) else value

    def items(self, value):
        """The keys and values of a dictionary of either kind."""
        value = self.get(value)
        if "NS.keys" in value:
            return [(self.text(k), self.get(v)) for k, v in zip(value["NS.keys"], value["NS.objects"])]
        mapping = self.get(value["NS.searchMapping"]) if "NS.searchMapping" in value else self.get(value["searchMapping"])
        keys = self.get(mapping.get("NS.keys", mapping.get("keys")))
        values = self.get(value.get("NS.values", value.get("values")))
        unlist = lambda v: self.get(v)["NS.objects"] if isinstance(self.get(v), dict) else v
        return [(self.text(k), self.get(v)) for k, v in zip(unlist(keys), unlist(values))]


class Entity:
    def __init__(self, name):
        self.name, self.parent, self.children = name, None, []
        self.attributes, self.relationships = {}, {}  # own and inherited, by name; a composite's leaves by their paths

    def root(self):
        return self.parent.root() if self.parent else self

    def inherits(self, name):
        return self.parent is not None and (name in self.parent.attributes or name in self.parent.relationships)


def read_model(cache):
    archive = Archive(zlib.decompress(cache, -15))
    model = archive.get(archive.top["root"])
    entities, raw = {}, {}
    for name, value in archive.items(model["NSEntities"]):
        entities[name], raw[name] = Entity(name), value
    for name, value in raw.items():
        above = archive.get(value.get("NSSuperentity"))
        if above:
            entity, parent = entities[name], entities[archive.text(above["NSEntityName"])]
            entity.parent = parent
            parent.children.append(entity)
        for property_name, item in archive.items(value["NSProperties"]):
            while archive.cls(item) == "_NSPropertyDescriptionProxy":
                item = archive.get(item["NSUnderlyingProperty"])
            if item.get("NSIsTransient"):
                continue
            if "Attribute" in archive.cls(item):
                entities[name].attributes.update(leaves(archive, property_name, item))
            elif "Relationship" in archive.cls(item):
                there = archive.get(item.get("NSDestinationEntity"))
                there = archive.text(there["NSEntityName"]) if there else archive.text(item["_NSDestinationEntityName"])
                inverse = archive.get(item.get("NSInverseRelationship"))
                inverse = archive.text(inverse["NSPropertyName"]) if inverse else archive.text(
                    item.get("_NSInverseRelationshipName"))
                entities[name].relationships[property_name] = dict(
                    to=there, inverse=inverse, many=item.get("NSMaxCount", 1) != 1,
                    ordered=bool(item.get("NSIsOrdered", False)))
    return entities


def leaves(archive, path, item):
    """An attribute, or what a composite one consists of, in order of declaration."""
    if "NSCompositeElements" not in item:
        return {path: (item["NSAttributeType"], bool(item.get("NSFlagsKey", 0) & 4))}
    found = {}
    for element in archive.get(item["NSCompositeElements"])["NS.objects"]:
        element = archive.get(element)
        found.update(leaves(archive, f'{path}.{archive.text(element["NSPropertyName"])}', element))
    return found


def read_text_model(path):
    entities = {}
    for kind, *words in map(str.split, Path(path).read_text().splitlines()):
        if kind == "entity":
            entities[words[0]] = Entity(words[0])
            if words[1:]:
                entities[words[0]].parent = entities[words[1]]
                entities[words[1]].children.append(entities[words[0]])
        elif kind == "attribute":
            entities[words[0]].attributes[words[1]] = (int(words[2]), words[3] == "1")
        else:
            inverse = None if words[3] == "-" else words[3]
            entities[words[0]].relationships[words[1]] = dict(
                to=words[2], inverse=inverse, many=words[4] == "1", ordered=words[5] == "1")
    return entities


class Store:
    def __init__(self, path, model=None):
        self.path = path
        self.db = sqlite3.connect(Path(path).absolute().as_uri() + "?mode=ro", uri=True)
        self.db.text_factory = bytes
        cache = None if model else self.db.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()[0]
        self.entities = read_text_model(model) if model else read_model(cache)
        self.number = {name.decode(): n for n, name in self.db.execute("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY")}
        # A renamed entity's row may keep its old name: the one row left is the one entity's left.
        lost = [e for e in self.entities if e not in self.number]
        left = [n for n, k in self.number.items() if n not in self.entities and k < 16001]
        if len(lost) == 1 == len(left):
            self.number[lost[0]] = self.number.pop(left[0])
        self.named = {number: name for name, number in self.number.items()}
        self.tables = {n.decode() for n, in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.columns = {}
        for root in [e for e in self.entities.values() if e.parent is None]:
            self.name_columns(root)

    def tree(self, entity):
        below = [entity] + [x for child in entity.children for x in self.tree(child)]
        return sorted(below, key=lambda e: self.number[e.name])

    def name_columns(self, root):
        taken = set()

        def claim(name):
            suffix, candidate = 0, name
            while candidate in taken:
                suffix += 1
                candidate = f"{name}{suffix}"
            taken.add(candidate)
            return candidate

        for entity in self.tree(root):
            # The leaves of a composite attribute keep their order at the place of its name.
            own = lambda names: sorted((n for n in names if not entity.inherits(n)), key=lambda n: n.split(".")[0].encode())
            for name in own(entity.attributes):
                self.columns[root.name, entity.name, name] = claim("Z" + name.split(".")[-1].upper())
            for name in own(n for n, r in entity.relationships.items() if not r["many"]):
                self.columns[root.name, entity.name, name] = claim("Z" + name.upper())

    def declaring(self, entity, name):
        return self.declaring(entity.parent, name) if entity.inherits(name) else entity

    def column(self, entity, name):
        return self.columns[entity.root().name, self.declaring(entity, name).name, name]

    # One property of one object

    def attribute(self, kind, external, value):
        bits = lambda x: struct.pack(">d", float(x)).hex()
        if value is None:
            return "-"
        whole, real, text, blob = (isinstance(value, t) for t in (int, float, bytes, memoryview))
        if kind in (100, 200, 300) and whole:
            return f"i:{value}"
        if kind == 800 and value in (0, 1):
            return f"b:{value}"
        if kind in (500, 600) and (whole or real):
            return "f:" + bits(value)
        if kind == 900 and (whole or real):
            return "d:" + bits(value)
        if kind == 400 and (whole or real or text):
            number = decimal.Decimal(repr(value) if real else value.decode() if text else value)
            digits = format(number.normalize(decimal.Context(prec=60)), "f")
            return f"n:{digits}"
        if kind in (700, 1200) and text:
            return ("s:" if kind == 700 else "u:") + value.hex()
        if kind == 1100 and text and len(value) == 16:
            return "U:" + value.hex()
        if kind in (1000, 1800) and text:
            if not external:
                return "x:" + value.hex()
            if value[:1] == b"\x01":
                return "x:" + value[1:].hex()
            if value[:1] == b"\x02":
                store = Path(self.path)
                file = store.parent / f".{store.stem}_SUPPORT/_EXTERNAL_DATA" / value[1:37].decode()
                return "x:" + file.read_bytes().hex() if file.exists() else "?"
        return "?"

    def entity_of(self, destination, key):
        if len(self.tree(destination.root())) == 1:
            return destination.name
        found = self.db.execute(f'SELECT Z_ENT FROM "Z{destination.root().name.upper()}" WHERE Z_PK = ?', (key,))
        row = found.fetchone()
        return self.named[row[0]] if row else destination.name

    def references(self, destination, keys):
        return [f"{self.entity_of(destination, key)}/{key}" for key in keys]

    def to_many(self, entity, name, key):
        relationship = entity.relationships[name]
        there, inverse = self.entities[relationship["to"]], relationship["inverse"]
        order = ""
        if inverse is None:
            number = self.number[self.declaring(entity, name).name]
            table, column = "Z" + there.root().name.upper(), f"Z{number}{name.upper()}"
            order = f"Z_FOK_{number}{name.upper()}, " if relationship["ordered"] else ""
            rows = self.db.execute(f'SELECT Z_PK FROM "{table}" WHERE "{column}" = ? ORDER BY {order}Z_PK', (key,))
        elif not there.relationships[inverse]["many"]:
            table, column = "Z" + there.root().name.upper(), self.column(there, inverse)
            order = f"Z_FOK_{inverse.upper()}, " if relationship["ordered"] else ""
            rows = self.db.execute(f'SELECT Z_PK FROM "{table}" WHERE "{column}" = ? ORDER BY {order}Z_PK', (key,))
        else:
            here = self.number[self.declaring(entity, name).name]
            other = self.number[self.declaring(there, inverse).name]
            candidates = [f"Z_{here}{name.upper()}", f"Z_{other}{inverse.upper()}"]
            table = next(t for t in candidates if t in self.tables)
            mine, theirs = f"Z_{here}{inverse.upper()}", f"Z_{other}{name.upper()}"
            if (here, inverse) == (other, name):
                theirs = "REFLEXIVE"
            # A name that another join table took before has a number behind it.
            columns = [row[1].decode() for row in self.db.execute(f'PRAGMA table_info("{table}")')]
            actual = lambda name: next(c for c in columns if re.fullmatch(re.escape(name) + "[0-9]*", c))
            mine, theirs = actual(mine), actual(theirs)
            order = actual(f"Z_FOK_{other}{name.upper()}") + ", " if relationship["ordered"] else ""
            rows = self.db.execute(f'SELECT "{theirs}" FROM "{table}" WHERE "{mine}" = ? ORDER BY {order}1', (key,))
        return "m:" + ",".join(self.references(there, [row[0] for row in rows]))

    def dump(self, out):
        for entity in sorted(self.entities.values(), key=lambda e: e.name.encode()):
            table = "Z" + entity.root().name.upper()
            names = sorted([*entity.attributes, *entity.relationships], key=str.encode)
            cursor = self.db.execute(f'SELECT * FROM "{table}" WHERE Z_ENT = ? ORDER BY Z_PK', (self.number[entity.name],))
            labels = [column[0] for column in cursor.description]
            for values in cursor.fetchall():
                row = dict(zip(labels, values))
                fields = [self.field(entity, name, row) for name in names]
                out.write(" ".join([entity.name, str(row["Z_PK"]), *fields]) + "\n")

    def field(self, entity, name, row):
        if name in entity.attributes:
            kind, external = entity.attributes[name]
            if kind == 0:
                return ""
            return f"{name}={self.attribute(kind, external, row[self.column(entity, name)])}"
        relationship = entity.relationships[name]
        if relationship["many"]:
            return f"{name}={self.to_many(entity, name, row['Z_PK'])}"
        key = row[self.column(entity, name)]
        there = self.entities[relationship["to"]]
        return f"{name}=-" if key is None else f"{name}=o:{self.references(there, [key])[0]}"


def serve():
    for line in sys.stdin:
        try:
            store = Store(*line.rstrip("\n").split("\t"))
            store.dump(sys.stdout)
            store.db.close()
        except Exception as error:
            print(f"! {error!r}")
        print(flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        serve()
    else:
        Store(*sys.argv[1:]).dump(sys.stdout)
