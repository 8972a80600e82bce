#!/usr/bin/env python3
"""The CloudKit schema that the mirroring of a model needs, from Core Data's XML, and what another schema lacks of it.

  cloudkit.py schema MODEL [--configuration NAME] [--minimal]   print the .ckdb
  cloudkit.py check MODEL --production FILE [--configuration NAME]
  cloudkit.py parse FILE                                        parse a .ckdb and print it canonically
  cloudkit.py pairs DIR                                         compare every pair under DIR
MODEL: `contents` of an .xcdatamodel. Exit: 0 nothing to deploy, 1 findings (deploy, or impossible: the code says which), 64 usage.
"""
import os, re, sys
import xml.etree.ElementTree as ET

SYSTEM = [("___createTime", "TIMESTAMP"), ("___createdBy", "REFERENCE"), ("___etag", "STRING"),
          ("___modTime", "TIMESTAMP"), ("___modifiedBy", "REFERENCE"), ("___recordID", "REFERENCE")]
GRANTS = [(("WRITE",), "_creator"), (("CREATE",), "_icloud"), (("READ",), "_world")]
# attributeType -> (CloudKit type, has a companion `_ckAsset`)
TYPES = {"String": ("STRING", True), "UUID": ("STRING", False), "URI": ("STRING", False),
         "Boolean": ("INT64", False), "Integer 16": ("INT64", False), "Integer 32": ("INT64", False),
         "Integer 64": ("INT64", False), "Float": ("DOUBLE", False), "Double": ("DOUBLE", False),
         "Decimal": ("DOUBLE", False), "Date": ("TIMESTAMP", False),
         "Binary": ("BYTES", True), "Transformable": ("BYTES", True),
         "Composite": ("BYTES", False)}
OPTIONS = {"STRING": ("QUERYABLE", "SEARCHABLE", "SORTABLE"), "INT64": ("QUERYABLE", "SORTABLE"),
           "DOUBLE": ("QUERYABLE", "SORTABLE"), "TIMESTAMP": ("QUERYABLE", "SORTABLE"),
           "BYTES": ("QUERYABLE", "SORTABLE"), "ASSET": ()}
RESERVED = {"grant", "preferred", "queryable", "sortable", "searchable"}


class Field:
    def __init__(self, type, options=(), encrypted=False, origin=""):
        self.type, self.options, self.encrypted, self.origin = type, tuple(options), encrypted, origin

    def __repr__(self):
        return ("ENCRYPTED " if self.encrypted else "") + self.type


class RecordType:
    def __init__(self, name):
        self.name, self.fields, self.grants = name, {}, []


class Schema:
    def __init__(self):
        self.roles, self.types = [], {}


# ---------------------------------------------------------------- language

TOKEN = re.compile(r'\s+|//[^\n]*|--[^\n]*|/\*.*?\*/|"([^"]*)"|([A-Za-z_][A-Za-z0-9_]*)|([(),;<>])', re.S)


class Fault(Exception):
    pass


def tokens(text):
    at, out = 0, []
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise Fault(f"line {text.count(chr(10), 0, at) + 1}: {text[at:at + 12]!r} is not part of the language")
        if m.group(1) is not None: out.append(("q", m.group(1), at))
        elif m.group(2): out.append(("w", m.group(2), at))
        elif m.group(3): out.append(("p", m.group(3), at))
        at = m.end()
    out.append(("e", "", at))
    return out


def parse(text):
    ts, i, schema = tokens(text), 0, Schema()

    def fail(what):
        raise Fault(f"line {text.count(chr(10), 0, ts[i][2]) + 1}: {what}, found {ts[i][1] or 'the end'!r}")

    def word(*any):
        nonlocal i
        if ts[i][0] == "w" and ts[i][1].upper() in any:
            i += 1
            return ts[i - 1][1].upper()
        return None

    def need(*any):
        return word(*any) or fail("expected " + " or ".join(any))

    def mark(p, must=True):
        nonlocal i
        if ts[i][:2] == ("p", p):
            i += 1
            return True
        if must: fail(f"expected {p!r}")
        return False

    def name():
        nonlocal i
        if ts[i][0] in "qw":
            i += 1
            return ts[i - 1][1]
        fail("expected a name")

    def primitive():
        enc = bool(word("ENCRYPTED"))
        t = need("ASSET", "BYTES", "DOUBLE", "INT64", "LOCATION", "NUMBER", "REFERENCE", "STRING", "TIMESTAMP")
        if enc and t not in ("BYTES", "STRING", "DOUBLE", "INT64", "LOCATION", "TIMESTAMP"):
            fail(f"{t} cannot be encrypted")
        if t == "NUMBER" and word("PREFERRED"):
            need("AS")
            t = "NUMBER PREFERRED AS " + need("INT64", "DOUBLE")
        return t, enc

    need("DEFINE")
    need("SCHEMA")
    while ts[i][0] != "e":
        if word("CREATE"):
            need("ROLE")
            schema.roles.append(name())
        else:
            need("RECORD")
            need("TYPE")
            rt = RecordType(name())
            if rt.name in schema.types: fail(f"{rt.name} is defined twice")
            mark("(")
            while not mark(")", False):
                # a field may be called grant only in quotes
                if ts[i][0] == "w" and word("GRANT"):
                    rights = [need("READ", "CREATE", "WRITE")]
                    while mark(",", False): rights.append(need("READ", "CREATE", "WRITE"))
                    need("TO")
                    rt.grants.append((tuple(rights), name()))
                else:
                    field = name()
                    if field in rt.fields: fail(f"{field} is there twice")
                    if word("LIST"):
                        mark("<")
                        t, enc = primitive()
                        mark(">")
                        t = f"LIST<{t}>"
                    else:
                        t, enc = primitive()
                    options = []
                    while (o := word("QUERYABLE", "SORTABLE", "SEARCHABLE")): options.append(o)
                    rt.fields[field] = Field(t, options, enc)
                if not mark(",", False):
                    mark(")")
                    break
            schema.types[rt.name] = rt
        mark(";")
    return schema


def quoted(name):
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and name.lower() not in RESERVED
    return name if plain else f'"{name}"'


def emit(schema):
    """The order and the columns of exports: types and fields by their bytes (so CD_ before ___ before lower case)."""
    out = ["DEFINE SCHEMA", ""]
    for role in schema.roles: out.append(f"    CREATE ROLE {quoted(role)};")
    if schema.roles: out.append("")
    for rt in sorted(schema.types.values(), key=lambda t: t.name.encode()):
        names = sorted(rt.fields, key=lambda n: n.encode())
        width = max(len(quoted(n)) for n in names)
        lines = []
        for n in names:
            f = rt.fields[n]
            lines.append(f"        {quoted(n).ljust(width)} " + " ".join([repr(f), *f.options]))
        lines += [f"        GRANT {', '.join(r)} TO {quoted(w)}" for r, w in rt.grants]
        out += [f"    RECORD TYPE {quoted(rt.name)} (", ",\n".join(lines), "    );", ""]
    return "\n".join(out)


# ---------------------------------------------------------------- model

class Entity:
    pass


def read_model(path, configuration=None):
    root = ET.parse(path).getroot()
    entities = {}
    for x in root.findall("entity"):
        e = Entity()
        e.name, e.parent, e.abstract = x.get("name"), x.get("parentEntity"), x.get("isAbstract") == "YES"
        e.attributes, e.relationships = x.findall("attribute"), x.findall("relationship")
        e.unique = bool(x.find("uniquenessConstraints"))
        entities[e.name] = e
    member = None
    if configuration:
        for c in root.findall("configuration"):
            if c.get("name") == configuration: member = {m.get("name") for m in c.findall("memberEntity")}
        if member is None: raise Fault(f"the model has no configuration {configuration!r}")
    for e in entities.values():
        e.included = member is None or e.name in member
    for e in [e for e in entities.values() if e.included]:
        # A member inherits the attributes of parents that are no members.
        while e.parent:
            e = entities[e.parent]
            e.included = True
    return entities


def top(entities, e):
    while e.parent: e = entities[e.parent]
    return e


def to_many(r):
    return r.get("toMany") == "YES" or r.get("maxCount", "1" if r.get("toMany") is None else "0") == "0"


def generate(entities, full=True, share=False):
    """-> (Schema, notes). full: what initialising the schema makes; else only what plain records need."""
    schema, notes, pairs = Schema(), [], []

    def put(rt, name, field):
        old = rt.fields.get(name)
        if old and (old.type, old.encrypted) != (field.type, field.encrypted):
            notes.append(f"{rt.name}.{name}: {old!r} from {old.origin}, {field!r} from {field.origin}")
            return
        rt.fields.setdefault(name, field)

    def add(rt, name, type, asset, origin, encrypted=False):
        # A field that is encrypted cannot have an index.
        put(rt, name, Field(type, () if encrypted else OPTIONS[type], encrypted, origin))
        if asset and full: put(rt, name + "_ckAsset", Field("ASSET", (), False, origin))

    for e in entities.values():
        if not e.included: continue
        name = "CD_" + top(entities, e).name
        rt = schema.types.get(name)
        if rt is None:
            rt = schema.types[name] = RecordType(name)
            rt.grants = list(GRANTS)
            for n, t in SYSTEM: rt.fields[n] = Field(t)
            add(rt, "CD_entityName", "STRING", False, "framework")
            if full: add(rt, "CD_moveReceipt", "BYTES", True, "framework")
        for a in e.attributes:
            if a.get("transient") == "YES": continue
            kind, origin = a.get("attributeType"), f"{e.name}.{a.get('name')}"
            if kind not in TYPES:
                notes.append(f"{origin}: {kind} is not mirrored")
                continue
            if a.get("name") in ("entityName", "moveReceipt"):
                notes.append(f"{origin}: collides with a field of the framework")
            if a.get("derived") == "YES": notes.append(f"{origin}: derived; whether it is mirrored is not known")
            add(rt, "CD_" + a.get("name"), *TYPES[kind], origin, a.get("allowsCloudEncryption") == "YES")
        for r in e.relationships:
            origin = f"{e.name}.{r.get('name')}"
            inverse = None
            if r.get("inverseEntity") in entities:
                inverse = next((x for x in entities[r.get("inverseEntity")].relationships
                                if x.get("name") == r.get("inverseName")), None)
            if inverse is None: notes.append(f"{origin}: has no inverse; CloudKit needs one")
            if r.get("ordered") == "YES": notes.append(f"{origin}: ordered; CloudKit refuses it")
            if r.get("optional") != "YES": notes.append(f"{origin}: not optional; CloudKit refuses it")
            if r.get("deletionRule") == "Deny": notes.append(f"{origin}: rule Deny; CloudKit refuses it")
            if not to_many(r):
                add(rt, "CD_" + r.get("name"), "STRING", False, origin)
            elif inverse is None or to_many(inverse):
                pairs.append(origin)
    if pairs:
        rt = schema.types["CDMR"] = RecordType("CDMR")
        rt.grants = list(GRANTS)
        for n, t in SYSTEM: rt.fields[n] = Field(t)
        for n in ("CD_entityNames", "CD_recordNames", "CD_relationships"):
            rt.fields[n] = Field("STRING", OPTIONS["STRING"], False, ", ".join(pairs))
    for rt in schema.types.values():
        if len(rt.fields) > 256: notes.append(f"{rt.name}: {len(rt.fields)} fields, CloudKit allows 256")
    return schema, notes


# ---------------------------------------------------------------- compare

def sort_of(name):
    return ("system" if name.startswith("___") else
            "receipt" if name in ("CD_moveReceipt", "CD_moveReceipt_ckAsset") else
            "companion" if name.endswith("_ckAsset") else "core")


def compare(expected, actual):
    """Counts per sort of field: equal, type, missing (in the export), surplus; and of options."""
    count = {s: dict(equal=0, type=0, missing=0, surplus=0) for s in ("core", "companion", "receipt", "system")}
    detail, options = [], [0, 0]
    types = dict(equal=0, missing=0, surplus=0)
    for name, want in expected.types.items():
        have = actual.types.get(name)
        if have is None:
            types["missing"] += 1
            detail.append(f"- type {name}")
            continue
        types["equal"] += 1
        for f, w in want.fields.items():
            s, h = sort_of(f), have.fields.get(f)
            if h is None:
                count[s]["missing"] += 1
                if s == "core": detail.append(f"- {name}.{f} {w!r}")
            elif (h.type, h.encrypted) != (w.type, w.encrypted):
                count[s]["type"] += 1
                detail.append(f"! {name}.{f} {w!r}, export {h!r}")
            else:
                count[s]["equal"] += 1
                if s == "core":
                    options[0] += set(h.options) == set(w.options)
                    options[1] += 1
        for f, h in have.fields.items():
            if f not in want.fields:
                count[sort_of(f)]["surplus"] += 1
                detail.append(f"+ {name}.{f} {h!r}")
    for name in actual.types:
        if name not in expected.types and (name.startswith("CD_") or name == "CDMR"):
            types["surplus"] += 1
            detail.append(f"+ type {name}")
    return types, count, options, detail


def check(expected, production):
    """-> list of (code, text); codes: add-type, add-field, add-companion, add-receipt, retype, encrypt, orphan."""
    out = []
    for name, want in sorted(expected.types.items()):
        have = production.types.get(name)
        if have is None:
            out.append(("add-type", f"{name}: not in Production; no object of it is exported"))
            continue
        for f, w in sorted(want.fields.items()):
            h, s = have.fields.get(f), sort_of(f)
            if s == "system": continue
            base = f.removesuffix("_ckAsset")
            # A companion of a field that has another type serves nothing.
            if h is None and base != f and {base} <= have.fields.keys() & want.fields.keys() and have.fields[base].type != want.fields[base].type: continue
            if h is None:
                out.append(({"core": "add-field", "companion": "add-companion", "receipt": "add-receipt"}[s],
                            f"{name}.{f} {w!r} ({w.origin})"))
            elif h.type != w.type: out.append(("retype", f"{name}.{f} is {h!r} in Production for ever, the model needs {w!r} ({w.origin})"))
            elif h.encrypted != w.encrypted: out.append(("encrypt", f"{name}.{f} is {h!r} in Production for ever, the model needs {w!r} ({w.origin})"))
        for f in sorted(have.fields):
            if f not in want.fields and f.startswith("CD_"): out.append(("orphan", f"{name}.{f} {have.fields[f]!r}"))
    for name in sorted(production.types):
        if name.startswith("CD_") and name not in expected.types: out.append(("orphan", f"{name}"))
    return out


def read(path):
    with open(path, encoding="utf-8") as f: return f.read()


def main(args):
    if len(args) < 2: sys.exit(__doc__)
    verb, path, rest = args[0], args[1], args[2:]

    def option(name):
        return rest[rest.index(name) + 1] if name in rest else None
    if verb == "parse":
        sys.stdout.write(emit(parse(read(path))))
        return 0
    if verb == "schema":
        schema, notes = generate(read_model(path, option("--configuration")), "--minimal" not in rest)
        sys.stdout.write(emit(schema))
        for n in notes: print("note:", n, file=sys.stderr)
        return 0
    if verb == "check":
        schema, notes = generate(read_model(path, option("--configuration")))
        found = check(schema, parse(read(option("--production"))))
        for n in notes: print("note          ", n)
        for code, text in found: print(code.ljust(14), text)
        codes = {c for c, _ in found}
        return 1 if codes - {"orphan"} else 0
    if verb == "pairs":
        for d in sorted(x for x, _, files in os.walk(path) if "schema.ckdb" in files):
            conf = None
            if os.path.exists(os.path.join(d, "configuration")): conf = read(os.path.join(d, "configuration")).strip()
            schema, notes = generate(read_model(os.path.join(d, "contents"), conf))
            types, count, options, detail = compare(schema, parse(read(os.path.join(d, "schema.ckdb"))))
            print(f"== {os.path.relpath(d, path)}: types {types}")
            for s in ("core", "companion", "receipt"): print(f"   {s:9} {count[s]}")
            print(f"   default options on core fields: {options[0]} of {options[1]}")
            if "--detail" in rest:
                for x in detail: print("     ", x)
                for x in notes: print("      note:", x)
        return 0
    sys.exit(64)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Fault as f:
        print("error:", f, file=sys.stderr)
        sys.exit(65)
