import MoultModel

/// Models that say everything that a model source can say, made from a seed.
package struct RandomModel {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func isTrue(_ oneIn: Int = 2) -> Bool { Int.random(in: 0..<oneIn, using: &generator) == 0 }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func text(_ oneIn: Int = 4) -> String? {
        isTrue(oneIn) ? ["a", "é & <b>", "\"q\"", "x\ny", "1.0"][number(0...4)] : nil
    }

    private mutating func userInfo() -> [String: String] {
        isTrue(4) ? ["key": text(1) ?? "", "other": ""] : [:]
    }

    package mutating func model() throws -> ManagedObjectModel {
        let count = number(1...5)
        var entities = (0..<count).map { EntityDescription(name: "Entity\($0)") }
        for position in entities.indices {
            if position > 0, isTrue(3) { entities[position].superentityName = "Entity\(number(0...(position - 1)))" }
            entities[position].managedObjectClassName = isTrue() ? ".Entity\(position)" : "Module.Entity\(position)"
            entities[position].isAbstract = isTrue(5)
            entities[position].renamingIdentifier = isTrue(4) ? "Old\(position)" : nil
            entities[position].versionHashModifier = isTrue(5) ? "2" : nil
            entities[position].userInfo = userInfo()
            entities[position].attributes = (0..<number(1...6)).map { attribute("a\(position)_\($0)") }
            entities[position].isSyncable = !isTrue(6)
            entities[position].codeGenerationType = isTrue(4) ? "category" : nil
            entities[position].fetchedProperties = isTrue(4) ? [fetched("f\(position)", of: count)] : []
        }
        for pair in 0..<number(0...4) { relate(&entities, pair) }
        for position in entities.indices { index(&entities[position]) }
        derive(&entities)
        let composites = isTrue(3) ? structure(in: &entities) : []
        let names = entities.map(\.name)
        return try ManagedObjectModel(
            entities: entities,
            configurations: (0..<number(0...2)).map {
                Configuration(
                    name: "Part \($0)", entityNames: names.filter { _ in isTrue() }, usedWithCloudKit: isTrue())
            }, composites: composites,
            fetchRequestTemplates: (0..<number(0...2)).map {
                FetchRequestTemplate(
                    name: "request\($0)", entityName: names[number(0...(count - 1))], predicate: predicate(),
                    options: isTrue() ? ["fetchLimit": "5", "fetchBatchSize": "20"] : [:])
            },
            versionIdentifiers: [isTrue() ? "" : "1.2"],
            documentAttributes: ["type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0"])
    }

    private mutating func attribute(_ name: String) -> AttributeDescription {
        let types: [AttributeType] = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid,
            .uri, .transformable,
        ]
        let type = types[number(0...(types.count - 1))]
        var attribute = AttributeDescription(name: name, type: type, isOptional: isTrue())
        attribute.isTransient = isTrue(6)
        attribute.defaultValue = isTrue() ? defaultValue(type) : nil
        attribute.renamingIdentifier = isTrue(5) ? "old" + name : nil
        attribute.versionHashModifier = isTrue(6) ? "m" : nil
        attribute.userInfo = userInfo()
        attribute.preservesValueInHistoryOnDeletion = isTrue(6)
        attribute.isIndexedBySpotlight = isTrue(6)
        attribute.isStoredInExternalRecord = isTrue(6)
        attribute.allowsCloudEncryption = isTrue(6)
        attribute.isSyncable = !isTrue(6)
        attribute.usesScalarValueType = isTrue() ? isTrue() : nil
        if type == .binary { attribute.allowsExternalBinaryDataStorage = isTrue() }
        if type == .transformable {
            attribute.valueTransformerName = isTrue() ? "Transformer" : nil
            attribute.attributeValueClassName = isTrue() ? "[String]" : nil
        }
        if type == .string, isTrue(3) {
            attribute.validation = .init(minimum: "1", maximum: "64", regularExpression: isTrue() ? "[a-z]+" : nil)
        }
        if type == .integer32, isTrue(3) { attribute.validation = .init(minimum: "-1", maximum: "9") }
        if type == .double, isTrue(3) {
            attribute.validation = .init(minimum: "-0.5", maximum: isTrue() ? "2.25" : nil)
        }
        if type == .date, isTrue(3) { attribute.validation = .init(minimum: "0", maximum: "86400") }
        if !attribute.isTransient, isTrue(8) {
            attribute.defaultValue = nil
            attribute.derivation = .init(expression: "now()")
        }
        return attribute
    }

    private mutating func defaultValue(_ type: AttributeType) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: .integer(Int64(number(-9...9)))
        case .decimal: .decimal("\(number(-9...9)).25")
        case .double, .float: .double(Double(number(-9...9)) / 4)
        case .string: text(1).map(AttributeValue.string)
        case .boolean: .boolean(isTrue())
        case .date: .date(Double(number(0...1_000_000)))
        case .uuid: .uuid((0..<16).map { UInt8($0) })
        case .uri: .uri("https://example.org/?a=1&b=\(number(0...9))")
        default: nil
        }
    }

    private mutating func predicate() -> String {
        [
            "TRUEPREDICATE", "name BEGINSWITH[cd] \"a b\" AND count > 3", "NOT (owner.name IN $NAMES OR x == nil)",
            "rating BETWEEN {1, 5.5}", "name MATCHES \"[a-z]+\"", "name LIKE \"*'q'\" OR isDone == YES",
        ][number(0...5)]
    }

    /// Gives some entities an attribute that is derived from another, or counts a relationship.
    private mutating func derive(_ entities: inout [EntityDescription]) {
        for position in entities.indices where isTrue(4) {
            let many = entities[position].relationships.first { $0.isToMany }?.name
            let text = entities[position].attributes.first { $0.type == .string && $0.isStored }?.name
            if let many {
                let derivation = AttributeDescription.Derivation(expression: "\(many).@count")
                entities[position].attributes.append(
                    .init(name: "count\(position)", type: .integer64, derivation: derivation))
            }
            if let text {
                let derivation = AttributeDescription.Derivation(
                    expression: "canonical:(\(text))", filter: isTrue() ? "\(text) != nil" : nil)
                entities[position].attributes.append(
                    .init(name: "plain\(position)", type: .string, derivation: derivation))
            }
        }
    }

    /// Gives some entities an attribute of a composite type, with another inside of it.
    private mutating func structure(in entities: inout [EntityDescription]) -> [CompositeDescription] {
        func composite(_ name: String, _ type: String) -> AttributeDescription {
            // What a reader of XML says of every composite attribute.
            .init(
                name: name, type: .composite, isOptional: isTrue(), compositeName: type,
                uncertainty: RichModel.unseenSpelling)
        }
        for position in entities.indices where isTrue() {
            entities[position].attributes.append(composite("place\(position)", isTrue() ? "Place" : "Point"))
        }
        let point = [("x", AttributeType.double), ("y", .float), ("label", .string)].map { name, type in
            AttributeDescription(name: name, type: type, isOptional: isTrue(), defaultValue: defaultValue(type))
        }
        return [
            CompositeDescription(
                name: "Place", elements: [composite("point", "Point"), .init(name: "at", type: .date)]),
            CompositeDescription(name: "Point", elements: point),
        ]
    }

    private mutating func fetched(_ name: String, of count: Int) -> FetchedPropertyDescription {
        FetchedPropertyDescription(
            name: name, destinationEntityName: "Entity\(number(0...(count - 1)))",
            predicate: isTrue() ? "SELF != $FETCH_SOURCE" : predicate(), options: isTrue() ? ["fetchLimit": "3"] : [:],
            userInfo: userInfo())
    }

    private mutating func relate(_ entities: inout [EntityDescription], _ pair: Int) {
        let (one, other) = (number(0...(entities.count - 1)), number(0...(entities.count - 1)))
        func make(_ name: String, _ destination: Int, _ inverse: String) -> RelationshipDescription {
            var made = RelationshipDescription(
                name: name, destinationEntityName: entities[destination].name, inverseName: inverse)
            made.isOptional = isTrue()
            made.maxCount = isTrue() ? 1 : [0, 0, 7][number(0...2)]
            made.minCount = isTrue(3) ? 1 : 0
            made.isOrdered = made.isToMany && isTrue(3)
            made.isIndexedBySpotlight = isTrue(6)
            made.isStoredInExternalRecord = isTrue(6)
            made.isSyncable = !isTrue(6)
            made.deleteRule = DeleteRule.allCases[number(0...3)]
            made.renamingIdentifier = isTrue(5) ? "old" + name : nil
            made.versionHashModifier = isTrue(6) ? "r" : nil
            made.userInfo = userInfo()
            return made
        }
        entities[one].relationships.append(make("r\(pair)", other, "s\(pair)"))
        entities[other].relationships.append(make("s\(pair)", one, "r\(pair)"))
    }

    private mutating func index(_ entity: inout EntityDescription) {
        let stored = entity.attributes.filter { $0.isStored && $0.type != .transformable }.map(\.name)
        guard let first = stored.first else { return }
        if isTrue(3) {
            entity.fetchIndexes = [
                .init(
                    name: "by\(entity.name)",
                    elements: stored.prefix(2).map { .init(subject: .property($0), isAscending: isTrue()) },
                    partialIndexPredicate: isTrue(3) ? "\(first) != nil" : nil)
            ]
        }
        if entity.superentityName == nil, isTrue(3) { entity.uniquenessConstraints = [[first]] }
        // The indexes of models before 2017.
        guard entity.fetchIndexes.isEmpty else { return }
        for position in entity.attributes.indices where stored.contains(entity.attributes[position].name) {
            entity.attributes[position].isIndexed = isTrue(8)
        }
        if stored.count > 1, isTrue(4) {
            entity.compoundIndexes = [Array(stored.prefix(2))]
        }
    }
}
