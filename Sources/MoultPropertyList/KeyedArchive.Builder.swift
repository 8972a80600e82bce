import MoultModel

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

        /// A reference to a string, number or data, which the archive keeps once.
        package mutating func leaf(_ value: PropertyList) -> PropertyList {
            if case .string(let text) = value { return string(text) }
            if let known = leaves[value] { return known }
            let reference = append(value)
            leaves[value] = reference
            return reference
        }

        /// A reference to a string that is an object of its own, although the archive may have an equal one.
        package mutating func separateString(_ text: String) -> PropertyList { append(.string(text)) }

        package mutating func string(_ text: String?) -> PropertyList {
            guard let text else { return Self.null }
            if let known = strings[text] { return known }
            let reference = append(.string(text))
            strings[text] = reference
            return reference
        }

        /// A reference to an object that is given later: how objects that refer to each other are written.
        package mutating func reserve() -> PropertyList { append(.dictionary([:])) }

        /// Gives a reserved object its class, the nearest first of those it inherits from, and its fields.
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

        /// Takes in all objects of another archive; returns the reference to its root.
        /// - Throws: `MigrationError` with code `propertyListInvalid` when the bytes are no archive.
        package mutating func embed(archive bytes: [UInt8]) throws(MigrationError) -> PropertyList {
            let archive = try KeyedArchive(parsing: bytes)
            guard let root = archive.root?.identity else {
                throw .propertyList("the archive has no root object", at: 0)
            }
            // The archive's null is this archive's null; all other objects move behind those already here.
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
