import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// Reads an optimised model, the contents of an `.omo` file.
    ///
    /// The reader accepts only the established parts of the form. It rejects anything else, and a model whose version
    /// hashes differ from those in the file.
    /// - Throws: `MigrationError` with code `modelInvalid`, which names the byte.
    package init(optimised bytes: [UInt8]) throws {
        var reader = OptimisedModelReader(sections: try OptimisedModelSections(bytes))
        self = try reader.model()
    }
}

/// Creates a model from an optimised model.
private struct OptimisedModelReader {
    let sections: OptimisedModelSections
    private var use = OptimisedModelUse()

    init(sections: OptimisedModelSections) { self.sections = sections }

    mutating func model() throws -> ManagedObjectModel {
        let properties = try self.properties()
        let entities = try self.entities(properties)
        let identifier = try modelRecord(hasConstraints: entities.contains(where: \.hasConstraints))
        let relationships = properties.filter { if case .relationship = $0.content { true } else { false } }
        try use.check(sections, relationships: Set(relationships.map(\.name)))
        var model = try ManagedObjectModel(
            entities: try entities.map { try description(of: $0, entities, properties) },
            versionIdentifiers: [identifier])
        model.describesCloudEncryption = false
        try check(model, entities)
        return model
    }

    private mutating func properties() throws -> [OptimisedProperty] {
        var cursor = OptimisedModelCursor(bytes: sections.bytes, position: sections.properties.offset)
        for count in sections.kinds { try cursor.expectWord(count, "the number of properties of a kind") }
        var properties: [OptimisedProperty] = []
        for _ in 0..<sections.properties.count {
            properties.append(try OptimisedProperty(&cursor, sections: sections, use: &use))
        }
        try cursor.expectEnd(of: "properties", before: sections.entities.offset)
        var kinds = sections.kinds.map { _ in 0 }
        for property in properties {
            switch property.content {
            case .attribute: kinds[0] += 1
            case .relationship: kinds[sections.layout.relationshipKind] += 1
            }
        }
        guard kinds == sections.kinds else { throw cursor.notKnown("the kind of a property") }
        return properties
    }

    private mutating func entities(_ properties: [OptimisedProperty]) throws -> [OptimisedEntity] {
        var cursor = OptimisedModelCursor(bytes: sections.bytes, position: sections.entities.offset)
        try cursor.expectWord(sections.entities.count, "the number of entities")
        var entities: [OptimisedEntity] = []
        for number in 0..<sections.entities.count {
            entities.append(try OptimisedEntity(number, &cursor, sections: sections, use: &use))
        }
        try cursor.expectEnd(of: "entities", before: sections.requestsOffset)
        try cursor.expectEmptyWord(of: "the list of fetch requests")
        try cursor.expectEnd(of: "fetch requests", before: sections.modelOffset)

        let owners = properties.map(\.entity)
        guard owners.allSatisfy(entities.indices.contains) else {
            throw cursor.refused("a property belongs to no entity", at: sections.properties.offset)
        }
        let own = Dictionary(grouping: owners.indices, by: { owners[$0] })
        for number in entities.indices {
            let count = try lineage(of: number, in: entities).map { own[$0]?.count ?? 0 }.reduce(0, +)
            try entities[number].readRest(propertyCount: count, owners: owners, sections: sections, use: &use)
            guard entities[number].properties.sorted() == own[number] ?? [] else {
                throw cursor.refused("the entity \(entities[number].name) does not list its properties")
            }
        }
        try checkFlags(of: entities, properties, at: cursor)
        guard entities.map(\.fetchIndexes.count).reduce(0, +) == sections.fetchIndexCount else {
            throw cursor.refused("the number of fetch indexes is not \(sections.fetchIndexCount)")
        }
        return entities
    }

    /// Returns the entity and its ancestors.
    private func lineage(of number: Int, in entities: [OptimisedEntity]) throws -> [Int] {
        var lineage = [number]
        while let parent = entities[lineage[lineage.count - 1]].superentity {
            guard entities.indices.contains(parent), lineage.count < entities.count else {
                throw OptimisedModelCursor(bytes: sections.bytes, position: sections.entities.offset)
                    .refused("the entity \(entities[number].name) has no end of entities above it")
            }
            lineage.append(parent)
        }
        return lineage
    }

    /// Checks the flags of each entity: whether it or an ancestor has a constraint or a transient attribute.
    private func checkFlags(
        of entities: [OptimisedEntity], _ properties: [OptimisedProperty], at cursor: OptimisedModelCursor
    ) throws {
        let transient = Set(
            properties.filter {
                if case .attribute(let attribute) = $0.content { attribute.isTransient } else { false }
            }.map(\.entity))
        for entity in entities {
            let lineage = try lineage(of: entity.number, in: entities)
            guard entity.hasConstraints == lineage.contains(where: { !entities[$0].uniquenessConstraints.isEmpty }),
                entity.hasTransients == lineage.contains(where: transient.contains)
            else { throw cursor.notKnown("the entity \(entity.name)") }
        }
    }

    /// Reads the record of the model itself, and checks that all entities are in the default configuration and no
    /// other.
    ///
    /// - Returns: the version identifier of the model.
    private mutating func modelRecord(hasConstraints: Bool) throws -> String {
        var cursor = OptimisedModelCursor(bytes: sections.bytes, position: sections.modelOffset)
        let count = sections.entities.count
        try cursor.expectWord(hasConstraints ? 0xF : 7, "what the model has")
        try cursor.expectWord(count, "the number of entities in the model")
        try cursor.expectEmptyWord(of: "the model")
        guard try use.text(cursor.word(), sections, cursor) == "PF_DEFAULT_CONFIGURATION_NAME" else {
            throw cursor.notKnown("the configuration of the model", at: cursor.position - 4)
        }
        let archive = try use.blob(cursor.word(), sections, cursor)
        guard let identifier = try? KeyedArchive(parsing: archive).root?.string else {
            throw cursor.notKnown("the version identifier of the model", at: cursor.position - 4)
        }
        // These numbers are the same in every known file.
        for expected in [0, 0, count] + Array(0..<count) + [0, 0, 1, 1] + Array(repeating: 0, count: count + 1) {
            guard try cursor.long() == expected else { throw cursor.notKnown("the model", at: cursor.position - 8) }
        }
        for _ in 0..<count {
            // The property names that a fetch of the entity may use, or names made from them.
            try cursor.expectEmptyLong(of: "the model")
            for _ in 0..<(try cursor.long()) { _ = try sections.entry(cursor.long(), of: sections.texts, at: cursor) }
            try cursor.expectEmptyLong(of: "the model")
        }
        guard cursor.position == sections.bytes.count else { throw cursor.refused("it continues after its end") }
        return identifier
    }

    private func description(
        of entity: OptimisedEntity, _ entities: [OptimisedEntity], _ properties: [OptimisedProperty]
    ) throws -> EntityDescription {
        let place = OptimisedModelCursor(bytes: sections.bytes, position: sections.properties.offset)
        var description = EntityDescription(
            name: entity.name, managedObjectClassName: entity.className.isEmpty ? nil : entity.className,
            isAbstract: entity.isAbstract, superentityName: entity.superentity.map { entities[$0].name },
            fetchIndexes: entity.fetchIndexes, uniquenessConstraints: entity.uniquenessConstraints)
        for number in entity.properties {
            switch properties[number].content {
            case .attribute(let attribute): description.attributes.append(attribute)
            case .relationship(var relationship, let destination, let inverse):
                guard entities.indices.contains(destination) else {
                    throw place.refused("the relationship \(relationship.name) has no destination entity")
                }
                relationship.destinationEntityName = entities[destination].name
                if let inverse {
                    guard properties.indices.contains(inverse) else {
                        throw place.refused("the relationship \(relationship.name) has an unknown inverse")
                    }
                    relationship.inverseName = properties[inverse].name
                }
                description.relationships.append(relationship)
            }
        }
        return description
    }

    /// Checks the version hashes, which cover most of the model and were computed by Core Data itself.
    private func check(_ model: ManagedObjectModel, _ entities: [OptimisedEntity]) throws {
        let hashes = VersionHashes(of: model).entities
        let others = entities.filter { hashes[$0.name] != $0.versionHash }.map(\.name)
        guard others.isEmpty else {
            throw OptimisedModelCursor(bytes: sections.bytes, position: sections.entities.offset)
                .refused("its contents do not match its version hashes (\(others.joined(separator: ", ")))")
        }
    }
}

/// The texts and data of an optimised model that have been used so far.
///
/// Unknown parts of a model (user info, configurations, renaming identifiers, validation rules) add their own texts or
/// data to the file. An entry that no known part refers to therefore reveals that something was not read.
struct OptimisedModelUse {
    private var texts: Set<Int> = [0]
    private var wideTexts: Set<Int> = [0]
    private var blobs: Set<Int> = [0]

    mutating func text(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> String {
        texts.insert(number)
        return try sections.entry(number, of: sections.texts, at: cursor)
    }

    mutating func wideText(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> String {
        wideTexts.insert(number)
        return try sections.entry(number, of: sections.wideTexts, at: cursor)
    }

    mutating func blob(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> [UInt8] {
        blobs.insert(number)
        return try sections.entry(number, of: sections.blobs, at: cursor)
    }

    /// Returns a version hash.
    @discardableResult
    mutating func hash(
        _ number: Int, _ sections: OptimisedModelSections, _ cursor: OptimisedModelCursor
    ) throws -> [UInt8] {
        let hash = try blob(number, sections, cursor)
        guard hash.count == 32 else { throw cursor.refused("a version hash has \(hash.count) bytes") }
        return hash
    }

    /// - Parameter relationships: the names of relationships, from which Core Data names columns and join tables.
    func check(_ sections: OptimisedModelSections, relationships: Set<String>) throws {
        let end = OptimisedModelCursor(bytes: sections.bytes, position: sections.bytes.count)
        let columns = Set(relationships.map { "_Z\($0.uppercased())" })
        func isDerived(_ text: String) -> Bool {
            if ["_pk", "_ent", "_opt", "NSManagedObject"].contains(text) || columns.contains(text) { return true }
            let isColumn = text.hasPrefix("_Z")
            let rest = text.dropFirst(isColumn ? 2 : 0)
            let name = rest.drop { $0.isNumber }
            guard name.count < rest.count else { return false }
            return isColumn ? columns.contains("_Z\(name)") : relationships.contains(String(name))
        }
        for (number, text) in sections.texts.enumerated() where !texts.contains(number) && !isDerived(text) {
            throw end.refused("its text \"\(text)\" belongs to nothing that Moult knows")
        }
        for (number, text) in sections.wideTexts.enumerated() where !wideTexts.contains(number) {
            throw end.refused("its text \"\(text)\" belongs to nothing that Moult knows")
        }
        guard blobs.count == sections.blobs.count else {
            throw end.refused("it holds data that belong to nothing that Moult knows")
        }
    }
}
