/// An archive of `NSKeyedArchiver`: a flat table of objects that refer to each other.
///
/// Nothing is instantiated: an object is a class name and its fields. References may form cycles, so a recursive walk
/// must track ``Value/identity`` or limit its depth.
package final class KeyedArchive: Sendable {
    let objects: [PropertyList]
    private let top: [String: PropertyList]

    /// - Throws: `MigrationError` with code `propertyListInvalid` if the bytes are no property list or no archive.
    package init(parsing bytes: [UInt8]) throws(MigrationError) {
        let list = try PropertyList(parsing: bytes)
        guard let objects = list["$objects"]?.array, let top = list["$top"]?.dictionary,
            list["$archiver"]?.string == "NSKeyedArchiver"
        else { throw .propertyList("it is not a keyed archive", at: 0) }
        self.objects = objects
        self.top = top
    }

    /// The archived object; nil if the archive has no root.
    package var root: Value? { Value(top["root"] ?? top["$0"] ?? (top.count == 1 ? top.first?.value : nil), in: self) }

    /// A value of an archive, with references followed.
    package struct Value: Sendable {
        private let archive: KeyedArchive
        /// The object's number in the archive; nil for a value stored directly in a field.
        package let identity: Int?
        /// The object's fields, or the plain value.
        package let content: PropertyList

        /// Returns nil for an absent field, the archive's null, or a dangling reference.
        init?(_ value: PropertyList?, in archive: KeyedArchive) {
            guard let value else { return nil }
            self.archive = archive
            identity = value.uid
            guard let index = value.uid else {
                content = value
                return
            }
            guard index > 0, index < archive.objects.count else { return nil }
            content = archive.objects[index]
        }
    }
}

extension KeyedArchive.Value {
    /// The name of the object's class; nil for a plain value.
    package var className: String? {
        // An empty name is the same as none.
        self["$class"]?.content["$classname"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The names of the object's fields.
    package var keys: [String] { keys(outside: []) }

    /// Returns the names of the object's fields that are not in `known`.
    package func keys(outside known: Set<String>) -> [String] {
        content.dictionary.map { $0.keys.filter { $0 != "$class" && !known.contains($0) }.sorted() } ?? []
    }

    package subscript(key: String) -> KeyedArchive.Value? { KeyedArchive.Value(content[key], in: archive) }

    /// The value of a string, mutable ones included.
    package var string: String? { content.string ?? self["NS.string"]?.content.string }
    package var integer: Int64? { content.integer }
    package var boolean: Bool? { content.boolean }
    package var real: Double? { content.real }
    package var data: [UInt8]? { content.data ?? self["NS.data"]?.content.data }
    /// The seconds since 2001 of an `NSDate`.
    package var date: Double? {
        if case .date(let seconds) = content { seconds } else { content["NS.time"]?.real }
    }
    /// The sixteen bytes of an `NSUUID`.
    package var uuid: [UInt8]? { content["NS.uuidbytes"]?.data }

    /// The elements of an array or set.
    package var elements: [KeyedArchive.Value]? {
        (content.array ?? content["NS.objects"]?.array)?.compactMap { KeyedArchive.Value($0, in: archive) }
    }

    /// The entries of a dictionary with string keys, in archive order. This includes Core Data's own class
    /// `NSKnownKeysDictionary`, which keeps its keys in a separate table.
    package var entries: [(key: String, value: KeyedArchive.Value)]? {
        let keys = content["NS.keys"] != nil ? self["NS.keys"] : self["searchMapping"]?["keys"]
        let values = content["NS.keys"] != nil ? content["NS.objects"]?.array : self["values"]?.content.listed
        guard let keys = keys?.elements, let values else { return nil }
        return zip(keys, values).compactMap { key, value in
            guard let name = key.string, let value = KeyedArchive.Value(value, in: archive) else { return nil }
            return (name, value)
        }
    }

    /// The object and everything that it refers to, as a separate archive.
    package var archived: [UInt8] {
        guard let identity else { return KeyedArchive.bytes(root: .uid(1), objects: [.string("$null"), content]) }
        var numbers = [0: 0, identity: 1]
        var order = [identity]
        var objects: [PropertyList] = [.string("$null")]
        var position = 0
        while position < order.count {
            objects.append(
                archive.objects[order[position]].mappingReferences { old in
                    guard old > 0, old < archive.objects.count else { return 0 }
                    if let new = numbers[old] { return new }
                    order.append(old)
                    numbers[old] = order.count
                    return order.count
                })
            position += 1
        }
        return KeyedArchive.bytes(root: .uid(1), objects: objects)
    }
}

extension KeyedArchive {
    static func bytes(root: PropertyList, objects: [PropertyList]) -> [UInt8] {
        PropertyList.dictionary([
            "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
            "$top": .dictionary(["root": root]), "$objects": .array(objects),
        ]).binary
    }
}

extension PropertyList {
    /// The elements of an array, plain or archived.
    fileprivate var listed: [PropertyList]? { array ?? self["NS.objects"]?.array }

    /// Returns the list with all references renumbered.
    func mappingReferences(_ number: (Int) -> Int) -> PropertyList {
        switch self {
        case .uid(let index): .uid(number(index))
        case .array(let elements): .array(elements.map { $0.mappingReferences(number) })
        case .dictionary(let entries):
            .dictionary(
                Dictionary(
                    uniqueKeysWithValues: entries.sorted { $0.key < $1.key }.map {
                        ($0.key, $0.value.mappingReferences(number))
                    }))
        default: self
        }
    }
}

extension KeyedArchive {
    /// Builds an archive object by object, each with its class.
    package struct Builder {
        private(set) var objects: [PropertyList] = [.string("$null")]
        private var leaves: [PropertyList: PropertyList] = [:]
        private var strings: [String: PropertyList] = [:]
        private var classes: [[String]: PropertyList] = [:]

        package init() {}

        /// The archive's nil.
        package static var null: PropertyList { .uid(0) }

        /// Returns a reference to a string, number or data, which the archive stores once.
        package mutating func leaf(_ value: PropertyList) -> PropertyList {
            if case .string(let text) = value { return string(text) }
            if let known = leaves[value] { return known }
            let reference = append(value)
            leaves[value] = reference
            return reference
        }

        /// Returns a reference to a separate string object, even if the archive has an equal one.
        package mutating func separateString(_ text: String) -> PropertyList { append(.string(text)) }

        package mutating func string(_ text: String?) -> PropertyList {
            guard let text else { return Self.null }
            if let known = strings[text] { return known }
            let reference = append(.string(text))
            strings[text] = reference
            return reference
        }

        /// Returns a reference to an object to be filled in later, for objects that refer to each other.
        package mutating func reserve() -> PropertyList { append(.dictionary([:])) }

        /// Sets the class, with its superclasses from the nearest up, and the fields of a reserved object.
        package mutating func fill(
            _ reference: PropertyList, classes names: [String], _ fields: consuming [String: PropertyList]
        ) {
            guard let index = reference.uid, objects.indices.contains(index) else { return }
            fields["$class"] = classReference(names)
            objects[index] = .dictionary(fields)
        }

        package mutating func object(classes names: [String], _ fields: consuming [String: PropertyList])
            -> PropertyList
        {
            let reference = reserve()
            fill(reference, classes: names, fields)
            return reference
        }

        package mutating func array(_ elements: [PropertyList], isMutable: Bool = false) -> PropertyList {
            object(
                classes: isMutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
                ["NS.objects": .array(elements)])
        }

        package mutating func set(_ elements: [PropertyList]) -> PropertyList {
            object(classes: ["NSSet", "NSObject"], ["NS.objects": .array(elements)])
        }

        package mutating func dictionary(
            _ entries: [(key: String, value: PropertyList)], isMutable: Bool = false
        ) -> PropertyList {
            let keys = entries.map { string($0.key) }
            return object(
                classes: isMutable
                    ? ["NSMutableDictionary", "NSDictionary", "NSObject"] : ["NSDictionary", "NSObject"],
                ["NS.keys": .array(keys), "NS.objects": .array(entries.map(\.value))])
        }

        /// Copies all objects of another archive and returns the reference to its root.
        /// - Throws: `MigrationError` with code `propertyListInvalid` if the bytes are not an archive.
        package mutating func embed(archive bytes: [UInt8]) throws(MigrationError) -> PropertyList {
            let archive = try KeyedArchive(parsing: bytes)
            guard let root = archive.root?.identity else {
                throw .propertyList("the archive has no root object", at: 0)
            }
            // The two null objects become one; all other objects move behind the existing ones.
            let offset = objects.count - 1
            for object in archive.objects.dropFirst() {
                objects.append(object.mappingReferences { $0 > 0 ? $0 + offset : 0 })
            }
            return .uid(root + offset)
        }

        package func archive(root: PropertyList) -> [UInt8] { KeyedArchive.bytes(root: root, objects: objects) }

        private mutating func classReference(_ names: [String]) -> PropertyList {
            if let known = classes[names] { return known }
            let reference = append(
                .dictionary([
                    "$classname": .string(names.first ?? "NSObject"),
                    "$classes": .array(names.map(PropertyList.string)),
                ]))
            classes[names] = reference
            return reference
        }

        private mutating func append(_ value: PropertyList) -> PropertyList {
            objects.append(value)
            return .uid(objects.count - 1)
        }
    }
}
