import MoultBasics

/// A SHA-256 of the whole model, including parts that are not in the version hash, such as indexes, default values,
/// delete rules and class names.
///
/// Equal version hashes mean that a store opens with either model (`VersionHashes.isCompatible(with:)`); equal
/// fingerprints mean that the models are equal. The fingerprint ignores a file's own metadata (`documentAttributes`,
/// `diagram`) and the order of lists that represent sets.
package struct ModelFingerprint: Sendable, Hashable {
    /// The 32 bytes of the hash.
    package let bytes: [UInt8]
    /// The fingerprint of each entity alone, so that a difference can be located.
    package let entities: [String: [UInt8]]

    package init(of model: ManagedObjectModel) {
        let parts = model.entities.map { entity in
            var part = CanonicalBytes()
            part.add(entity)
            return (name: entity.name, digest: part.digest)
        }
        entities = Dictionary(parts.map { ($0.name, $0.digest) }) { first, _ in first }
        var whole = CanonicalBytes()
        whole.list(parts) { $0.append($1.digest) }
        whole.list(model.configurations) { $0.add($1) }
        whole.list(model.composites) { $0.add($1) }
        whole.list(model.fetchRequestTemplates) { $0.add($1) }
        whole.add(model.versionIdentifiers.inByteOrder())
        bytes = whole.digest
    }
}

extension ManagedObjectModel {
    /// Whether both models are equal except for the metadata of their files.
    package func isIdentical(to other: ManagedObjectModel) -> Bool {
        ModelFingerprint(of: self) == ModelFingerprint(of: other)
    }
}

/// The canonical bytes of the parts of a model, from which a fingerprint is computed. Every text is preceded by its
/// length and every optional by its presence, so that no two models have the same bytes.
struct CanonicalBytes {
    /// The prefix of all canonical bytes; raise the number when the form changes.
    private static let format = Array("moult fingerprint 1\0".utf8)

    private var bytes = Self.format

    var digest: [UInt8] { Digest.sha256(bytes) }

    mutating func append(_ raw: [UInt8]) { bytes += raw }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func add(_ number: Int) { withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 } }

    mutating func add(_ text: String) {
        add(text.utf8.count)
        bytes += text.utf8
    }

    mutating func add(_ text: String?) {
        add(text != nil)
        if let text { add(text) }
    }

    mutating func add(_ flag: Bool?) { bytes.append(flag.map { $0 ? 1 : 0 } ?? 2) }

    mutating func add(_ texts: [String]) { list(texts) { $0.add($1) } }

    mutating func add(_ entries: [String: String]) {
        list(entries.inByteOrder { $0.key }) { bytes, entry in
            bytes.add(entry.key)
            bytes.add(entry.value)
        }
    }

    mutating func list<Element>(_ elements: [Element], _ each: (inout CanonicalBytes, Element) -> Void) {
        add(elements.count)
        for element in elements { each(&self, element) }
    }

    mutating func add(_ entity: EntityDescription) {
        add(entity.name)
        add(entity.managedObjectClassName)
        add(entity.isAbstract)
        add(entity.superentityName)
        list(entity.attributes) { $0.add($1) }
        list(entity.relationships) { $0.add($1) }
        list(entity.fetchedProperties) { $0.add($1) }
        list(entity.fetchIndexes.inByteOrder { $0.name }) { $0.add($1) }
        addSet(entity.compoundIndexes)
        addSet(entity.uniquenessConstraints)
        add(entity.renamingIdentifier, unless: entity.name)
        add(entity.versionHashModifier)
        add(entity.userInfo)
        add(entity.isSyncable)
        add(entity.coreSpotlightDisplayNameExpression)
        add(entity.codeGenerationType)
    }

    mutating func add(_ attribute: AttributeDescription) {
        add(attribute.name)
        add(Int(attribute.type.rawValue))
        add(attribute.isOptional)
        add(attribute.isTransient)
        add(attribute.derivation?.expression)
        add(attribute.derivation?.filter)
        add(attribute.compositeName)
        // Only if there are any: the fingerprints of other attributes stay as in older releases.
        if !attribute.elements.isEmpty {
            add("elements")
            list(attribute.elements) { $0.add($1) }
        }
        if let uncertainty = attribute.uncertainty { add("uncertainty " + uncertainty) }
        add(attribute.defaultValue)
        add(attribute.allowsExternalBinaryDataStorage)
        add(attribute.preservesValueInHistoryOnDeletion)
        add(attribute.allowsCloudEncryption)
        add(attribute.valueTransformerName)
        add(attribute.attributeValueClassName)
        add(attribute.usesScalarValueType)
        add(attribute.isIndexed)
        add(attribute.isIndexedBySpotlight)
        add(attribute.isStoredInExternalRecord)
        add(attribute.validation.minimum)
        add(attribute.validation.maximum)
        add(attribute.validation.regularExpression)
        list(attribute.validation.rules) { bytes, rule in
            bytes.add(rule.predicate)
            bytes.add(rule.warning)
        }
        add(attribute.renamingIdentifier, unless: attribute.name)
        add(attribute.versionHashModifier)
        add(attribute.userInfo)
        add(attribute.isSyncable)
    }

    mutating func add(_ relationship: RelationshipDescription) {
        add(relationship.name)
        add(relationship.destinationEntityName)
        add(relationship.inverseName)
        add(relationship.isOptional)
        add(relationship.isTransient)
        add(relationship.maxCount)
        add(relationship.minCount)
        add(relationship.isOrdered)
        add(relationship.deleteRule.rawValue)
        add(relationship.isIndexed)
        add(relationship.isIndexedBySpotlight)
        add(relationship.isStoredInExternalRecord)
        add(relationship.renamingIdentifier, unless: relationship.name)
        add(relationship.versionHashModifier)
        add(relationship.userInfo)
        add(relationship.isSyncable)
    }

    mutating func add(_ property: FetchedPropertyDescription) {
        add(property.name)
        add(property.isOptional)
        add(property.destinationEntityName)
        add(property.predicate)
        add(property.options)
        add(property.isTransient)
        add(property.renamingIdentifier, unless: property.name)
        add(property.versionHashModifier)
        add(property.userInfo)
        add(property.isSyncable)
    }

    mutating func add(_ index: FetchIndexDescription) {
        add(index.name)
        list(index.elements) { bytes, element in
            switch element.subject {
            case .property(let name): bytes.add(["property", name])
            case .expression(let text): bytes.add(["expression", text])
            }
            bytes.add(element.kind.rawValue)
            bytes.add(element.isAscending)
            bytes.add(element.expressionType)
        }
        add(index.partialIndexPredicate)
    }

    mutating func add(_ configuration: Configuration) {
        add(configuration.name)
        add(configuration.entityNames.inByteOrder())
        add(configuration.usedWithCloudKit)
    }

    mutating func add(_ composite: CompositeDescription) {
        add(composite.name)
        list(composite.elements.inByteOrder { $0.name }) { $0.add($1) }
    }

    mutating func add(_ request: FetchRequestTemplate) {
        add(request.name)
        add(request.entityName)
        add(request.predicate)
        add(request.options)
    }

    // MARK: Smaller parts

    private mutating func add(_ value: AttributeValue?) {
        switch value {
        case nil: add("none")
        case .integer(let number): add(["integer", String(number)])
        case .boolean(let isTrue): add(["boolean", isTrue ? "1" : "0"])
        case .double(let number): add(["double", String(number.bitPattern)])
        case .decimal(let text): add(["decimal", text])
        case .string(let text): add(["string", text])
        case .date(let seconds): add(["date", String(seconds.bitPattern)])
        case .binary(let bytes): add(["binary", bytes.hexadecimal])
        case .uuid(let bytes): add(["uuid", bytes.hexadecimal])
        case .uri(let text): add(["uri", text])
        case .transformable(let bytes): add(["transformable", bytes.hexadecimal])
        }
    }

    /// Adds a renaming identifier. One that equals the name has no meaning.
    private mutating func add(_ identifier: String?, unless name: String) { add(identifier == name ? nil : identifier) }

    private mutating func addSet(_ lists: [[String]]) {
        let sorted = lists.sorted { left, right in
            left.lexicographicallyPrecedes(right) { $0.precedesInByteOrder($1) }
        }
        list(sorted) { $0.add($1) }
    }
}
