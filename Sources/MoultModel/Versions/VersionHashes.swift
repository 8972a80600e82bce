import MoultBasics

/// The version hashes of a model, which Core Data compares to decide whether a store is compatible.
package struct VersionHashes: Sendable, Equatable {
    /// The hash of each entity, 32 bytes.
    package let entities: [String: [UInt8]]
    /// Entities with an attribute whose stored form is uncertain, each with the reason. Their hashes are Moult's best
    /// guess; writing them to a new store needs the caller's consent.
    package let uncertain: [String: String]

    package init(of model: ManagedObjectModel) {
        var known = KnownEntityHashes()
        self.init(of: model, known: &known)
    }

    /// - Parameter known: the hashes of other versions' entities; those of this model are added.
    package init(of model: ManagedObjectModel, known: inout KnownEntityHashes) {
        self = model.hashes.value { VersionHashes(computedOf: model, known: &known) }
    }

    private init(computedOf model: ManagedObjectModel, known: inout KnownEntityHashes) {
        var hasher = EntityHasher(model: model, others: known)
        var hashes: [String: [UInt8]] = [:]
        for entity in model.entities { hashes[entity.name] = hasher.hash(of: entity) }
        entities = hashes
        uncertain = hasher.uncertain
        known = hasher.others
    }

    /// Creates hashes that were read and not computed, from a store's metadata or a VersionInfo.plist.
    package init(read entities: [String: [UInt8]]) {
        self.entities = entities
        uncertain = [:]
    }

    /// The value of `NSStoreModelVersionChecksumKey`: SHA-256 over the entity hashes in name order.
    package var checksum: [UInt8] { Digest.sha256(sorted.flatMap(\.value)) }

    /// The value of `NSStoreModelVersionHashesDigest`: SHA-512 over names and hashes, in name order.
    package var digest: [UInt8] { Digest.sha512(sorted.flatMap { Array($0.key.utf8) + $0.value }) }

    private var sorted: [(key: String, value: [UInt8])] { entities.inByteOrder { $0.key } }

    /// Whether a store with these hashes opens with the other's model: equal names, equal hashes.
    package func isCompatible(with other: VersionHashes) -> Bool { entities == other.entities }
}

/// The hashes of the entities of several versions. An entity's hash depends only on the entity and its ancestors, so an
/// entity that is equal in two versions is hashed once.
package struct KnownEntityHashes {
    fileprivate struct Known {
        let lineage: [EntityDescription]
        let hash: [UInt8]
        let uncertainty: String?
    }

    private var byName: [String: [Known]] = [:]

    package init() {}

    fileprivate subscript(lineage: [EntityDescription]) -> Known? {
        byName[lineage[0].name]?.last { $0.lineage == lineage }
    }

    fileprivate mutating func add(_ known: Known) { byName[known.lineage[0].name, default: []].append(known) }
}

/// Computes entity hashes, and hashes each entity's parent once.
private struct EntityHasher {
    let model: ManagedObjectModel
    var others: KnownEntityHashes
    private var known: [String: [UInt8]] = [:]
    private(set) var uncertain: [String: String] = [:]

    init(model: ManagedObjectModel, others: KnownEntityHashes) { (self.model, self.others) = (model, others) }

    mutating func hash(of entity: EntityDescription) -> [UInt8] {
        if let hash = known[entity.name] { return hash }
        let lineage = model.lineage(of: entity)
        if let other = others[lineage] {
            uncertain[entity.name] = other.uncertainty
            known[entity.name] = other.hash
            return other.hash
        }
        let hash = Digest.sha256(bytes(of: entity))
        known[entity.name] = hash
        others.add(.init(lineage: lineage, hash: hash, uncertainty: uncertain[entity.name]))
        return hash
    }

    private mutating func bytes(of entity: EntityDescription) -> [UInt8] {
        var bytes = Array(entity.name.utf8) + [entity.isAbstract ? 1 : 0]
        if let parent = entity.superentityName.flatMap(model.entity) {
            bytes += hash(of: parent)
            if let reason = uncertain[parent.name] { uncertain[entity.name] = reason }
        }
        var properties: [(name: String, hash: [UInt8])] = []
        for attribute in model.attributes(of: entity) where !attribute.isTransient {
            let isEmpty = attribute.type == .composite && attribute.elements.isEmpty
            if let reason = attribute.uncertainty ?? (isEmpty ? "is composite and has no elements" : nil) {
                uncertain[entity.name] = "\(entity.name).\(attribute.name) \(reason)"
            }
            properties.append((attribute.name, hash(of: attribute)))
        }
        for relationship in model.relationships(of: entity) where !relationship.isTransient {
            properties.append((relationship.name, hash(of: relationship, in: entity)))
        }
        for property in properties.inByteOrder(of: { $0.name }) { bytes += property.hash }
        bytes += Array((entity.versionHashModifier ?? "").utf8)
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
        for constraint in constraints.inByteOrder() { bytes += Array(constraint.utf8) }
        return bytes
    }

    private func hash(of attribute: AttributeDescription) -> [UInt8] {
        if let derivation = attribute.derivation {
            let filter = derivation.filter.map(Predicate.canonicalFormat) ?? ""
            return Digest.sha256(Array((Expression.canonicalFormat(derivation.expression) + filter).utf8))
        }
        if attribute.type == .composite {
            // Only the leaves count, by their own names: neither the composite's name nor its optionality does.
            let leaves = attribute.flattened.filter { !$0.isTransient }.map { ($0.name, hash(of: $0)) }
            let inOrder = leaves.enumerated().sorted { one, other in
                one.element.0 == other.element.0
                    ? one.offset < other.offset : one.element.0.precedesInByteOrder(other.element.0)
            }
            return Digest.sha256(inOrder.flatMap(\.element.1))
        }
        var bytes = property(attribute.name, attribute.isOptional, attribute.isTransient, attribute.versionHashModifier)
        bytes += littleEndian(attribute.type.rawValue)
        if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
        return Digest.sha256(bytes)
    }

    private func hash(of relationship: RelationshipDescription, in entity: EntityDescription) -> [UInt8] {
        var bytes = property(
            relationship.name, relationship.isOptional, relationship.isTransient, relationship.versionHashModifier)
        bytes += Array(relationship.destinationEntityName.utf8)
        if let inverse = relationship.inverseName, !isItsOwnInverse(relationship, in: entity) {
            bytes += Array(inverse.utf8)
        }
        bytes += littleEndian(Int32(truncatingIfNeeded: relationship.maxCount))
        bytes += littleEndian(Int32(truncatingIfNeeded: relationship.minCount))
        if relationship.isOrdered { bytes += [1, 0] }
        return Digest.sha256(bytes)
    }

    /// Whether the relationship is its own inverse, inherited or not; its hash then omits the inverse's name.
    private func isItsOwnInverse(_ relationship: RelationshipDescription, in entity: EntityDescription) -> Bool {
        relationship.inverseName == relationship.name
            && model.declaringEntity(of: relationship.name, in: entity)?.name == relationship.destinationEntityName
    }

    private func property(_ name: String, _ isOptional: Bool, _ isTransient: Bool, _ modifier: String?) -> [UInt8] {
        Digest.sha256(
            Array(name.utf8) + [(isOptional ? 1 : 0) | (isTransient ? 2 : 0), 0] + Array((modifier ?? "").utf8))
    }

    private func littleEndian(_ number: Int32) -> [UInt8] {
        let bits = UInt32(bitPattern: number)
        return [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bits >> $0) }
    }
}

extension AttributeDescription {
    /// The leaves under their own names.
    fileprivate var flattened: [AttributeDescription] { type == .composite ? elements.flatMap(\.flattened) : [self] }
}
