#!/usr/bin/env python3
"""The shapes of a model at the tags of a git repository, without any of Moult's code.

Two versions are one shape if what the version hash covers (Documentation/Formats/VersionHash.md) is the same text. No hash
is computed. Only models in XML are read.

usage: shapes.py check REPOSITORY PATTERN PATH…
           prints the shapes of the model that is at one of the paths at each tag, the first that is there: a line of JSON
           {"tags": [...], "shapes": [{"tags": [...], "releases": [...]}]}, where a release is a tag of which the shape
           is the current version
       shapes.py make BUNDLE REPOSITORY COUNT [FILES]
           makes a repository with COUNT tags, v1 and on: a bundle Edited.xcdatamodeld of one version, which is edited in
           place at each tag, to the next version of BUNDLE and, after the last, to further ones; among FILES other files
"""
import json
import plistlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], stdout=subprocess.PIPE, check=True).stdout


def natural(name):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.lower()) for part in re.split(r"(\d+)", name) if part]


# The text of a model

def on(element, key):
    return element.get(key) == "YES"


def attribute(element, composites):
    if on(element, "derived"):
        return ["derived", element.get("derivationExpression"), element.get("derivationFilter", "")]
    if element.get("attributeType") == "Composite":
        return ["composite", sorted(leaves(element, composites))]
    return [
        "attribute", element.get("name"), on(element, "optional"), element.get("attributeType", "Undefined"),
        on(element, "allowsExternalBinaryDataStorage"), on(element, "preserveAfterDeletion"),
        element.get("versionHashModifier", "")]


def leaves(element, composites):
    for leaf in composites[element.get("composite")].findall("attribute"):
        if leaf.get("attributeType") == "Composite":
            yield from leaves(leaf, composites)
        else:
            yield attribute(leaf, composites)


def relationship(element, owner):
    inverse = element.get("inverseName", "")
    if inverse == element.get("name") and element.get("destinationEntity") == owner.get("name"):
        inverse = ""
    return [
        "relationship", element.get("name"), on(element, "optional"), element.get("destinationEntity", ""), inverse,
        int(element.get("maxCount", 0 if on(element, "toMany") else 1)), int(element.get("minCount", 0)),
        on(element, "ordered"), element.get("versionHashModifier", "")]


def shape(text):
    root = ElementTree.fromstring(text)
    entities = {one.get("name"): one for one in root.findall("entity")}
    composites = {one.get("name"): one for one in root.findall("composite")}

    def lineage(entity):
        parent = entities.get(entity.get("parentEntity"))
        return [entity] + (lineage(parent) if parent is not None else [])

    def described(entity):
        properties = []
        for owner in lineage(entity):
            for element in owner:
                if on(element, "transient"):
                    continue
                if element.tag == "attribute":
                    properties.append((element.get("name"), attribute(element, composites)))
                elif element.tag == "relationship":
                    properties.append((element.get("name"), relationship(element, owner)))
        unique = sorted([one.get("value") for one in names] for names in entity.iter("uniquenessConstraint"))
        # The names only give the order: that of a derived attribute is not covered.
        ordered = [value for _, value in sorted(properties, key=lambda pair: pair[0].encode())]
        return [
            entity.get("name"), on(entity, "isAbstract"), [described(one) for one in lineage(entity)[1:2]], ordered,
            entity.get("versionHashModifier", ""), unique]

    return json.dumps([described(entities[name]) for name in sorted(entities)])


# The model at a tag

def versions(files, path):
    """The text of each version at a path by its name, and the names of those that may be the current one."""
    found = {}
    for file in files:
        if file.startswith(path + "/") and file.endswith("/contents"):
            found[file.split("/")[-2].removesuffix(".xcdatamodel")] = file
    if not found:
        return {}, set()
    current = {max(found, key=natural)}
    mark = path + "/.xccurrentversion"
    if mark in files and len(found) > 1:
        name = plistlib.loads(files[mark]())["_XCCurrentVersionName"].removesuffix(".xcdatamodel")
        current = {name} if name in found else set(found)
    return {name: files[file]() for name, file in found.items()}, current


def check(repository, pattern, paths):
    tags = git(repository, "tag", "--list", pattern).decode().split("\n")[:-1]
    shapes = {}
    for tag in tags:
        listed = git(repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", tag).decode().split("\0")[:-1]
        files = {name: (lambda name=name: git(repository, "show", f"{tag}:{name}")) for name in listed}
        for path in paths:
            there, current = versions(files, path)
            if not there:
                continue
            for name, text in there.items():
                one = shapes.setdefault(shape(text), {"tags": set(), "releases": set()})
                one["tags"].add(tag)
                if name in current:
                    one["releases"].add(tag)
            break
    print(json.dumps({
        "tags": sorted(tags),
        "shapes": sorted(({key: sorted(value) for key, value in one.items()} for one in shapes.values()), key=str)}))


def make(bundle, repository, count, files):
    texts = [(one / "contents").read_bytes() for one in sorted(
        Path(bundle).glob("*.xcdatamodel"), key=lambda one: natural(one.stem)) if (one / "contents").exists()]
    stream = []

    def data(content):
        stream.append(b"data %d\n%s\n" % (len(content), content))

    for number in range(count):
        text = texts[number % len(texts)]
        if number >= len(texts):
            added = b'<attribute name="added%d" optional="YES" attributeType="String"/>' % number
            text = re.sub(rb"(<entity [^>]*[^/]>)", rb"\1" + added, text, count=1)
        stream.append(b"commit refs/heads/main\ncommitter A <a@example.com> %d +0000\n" % (1_500_000_000 + number * 86_400))
        data(b"Change")
        if number == 0:
            for other in range(files):
                stream.append(b"M 100644 inline Sources/%d/%d.swift\n" % (other // 40, other))
                data(b"let number = %d" % other)
        stream.append(b"M 100644 inline Sources/%d/changed.swift\n" % (number % max(1, files // 40)))
        data(b"let change = %d" % number)
        stream.append(b'M 100644 inline App/Edited.xcdatamodeld/Edited.xcdatamodel/contents\n')
        data(text)
        stream.append(b"reset refs/tags/v%d\nfrom refs/heads/main\n\n" % (number + 1))
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", repository], check=True)
    subprocess.run(["git", "-C", repository, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    git(repository, "checkout", "--quiet", "-f", "main")


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 0)
else:
    check(sys.argv[2], sys.argv[3], sys.argv[4:])
