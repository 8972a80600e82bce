import MoultModel

/// An entity of an optimised model, which refers to other parts by number.
struct OptimisedEntity {
    let number: Int
    let name: String
    let className: String
    let versionHash: [UInt8]
    let superentity: Int?
    private(set) var isAbstract = false
    private(set) var fetchIndexes: [FetchIndexDescription] = []
    private(set) var uniquenessConstraints: [[String]] = []
    /// Whether the entity has these model flags, which must match the contents.
    private(set) var hasConstraints = false
    private(set) var hasTransients = false
    /// The entity's own properties.
    private(set) var properties: [Int] = []
    /// The cursor after the head.
    private var rest: OptimisedModelCursor
    private let end: Int

    /// Reads the head, and moves the cursor past the entity.
    init(
        _ number: Int, _ cursor: inout OptimisedModelCursor, sections: OptimisedModelSections,
        use: inout OptimisedModelUse
    ) throws {
        self.number = number
        try cursor.expectWord(OptimisedModelCursor.entityMark, "the mark before an entity")
        let size = try cursor.word()
        end = cursor.position - 4 + size
        try cursor.expectEmptyWord(of: "an entity")
        versionHash = try use.hash(cursor.word(), sections, cursor)
        className = try use.text(cursor.word(), sections, cursor)
        name = try use.text(cursor.word(), sections, cursor)
        superentity = try cursor.flag() ? cursor.word() : nil
        // The root of the inheritance tree.
        _ = try cursor.word()
        let hasSubentities = try cursor.flag()
        try Self.map(&cursor, sections)
        if hasSubentities {
            for _ in 0..<(try cursor.word()) { _ = try cursor.long() }
            try Self.map(&cursor, sections)
        }
        rest = cursor
        guard end > cursor.position else { throw cursor.refused("the entity \(name) has \(size) bytes") }
        cursor.position = end
    }

    private static func map(_ cursor: inout OptimisedModelCursor, _ sections: OptimisedModelSections) throws {
        let number = try cursor.word()
        guard number < sections.mapCount else {
            throw cursor.refused("map \(number) of \(sections.mapCount) is named", at: cursor.position - 4)
        }
    }

    /// Reads the part after the head.
    ///
    /// - Parameters:
    ///   - propertyCount: the number of properties, including inherited ones.
    ///   - owners: the declaring entity of each property, by number.
    mutating func readRest(
        propertyCount: Int, owners: [Int], sections: OptimisedModelSections, use: inout OptimisedModelUse
    ) throws {
        let owner = "the entity \(name)"
        for _ in 0..<propertyCount { try rest.expectEmptyLong(of: owner) }
        for _ in 0..<propertyCount { try readProperty(owners: owners) }
        try rest.expectLong(0, "the first property of \(name)")
        try rest.expectLong(propertyCount, "the number of properties of \(name)")
        for _ in 1..<sections.layout.ranges {
            guard try rest.long() + rest.long() <= propertyCount else {
                throw rest.refused("a range of properties of \(name) does not fit", at: rest.position - 16)
            }
        }
        let flags = try rest.word()
        guard flags & ~0x1801 == 0xC else { throw rest.notKnown(owner, at: rest.position - 4) }
        isAbstract = flags & 1 != 0
        hasConstraints = flags & 0x800 != 0
        hasTransients = flags & 0x1000 != 0
        for _ in 0..<sections.layout.reserved { try rest.expectEmptyLong(of: owner) }
        guard try use.wideText(rest.long(), sections, rest) == name else {
            throw rest.notKnown(owner, at: rest.position - 4)
        }
        switch sections.layout.lists {
        case .absent(let zeros): for _ in 0..<zeros { try rest.expectEmptyLong(of: owner) }
        case .indexesAndConstraints:
            try rest.expectEmptyLong(of: owner)
            for _ in 0..<(try rest.long()) { try readFetchIndex(sections: sections, use: &use) }
            try readConstraints(sections: sections, use: &use)
        }
        // The entity and all its descendants.
        let count = try rest.long()
        try rest.expectEmptyLong(of: owner)
        try rest.expectEmptyLong(of: owner)
        try rest.expectLong(count, "the number of entities from \(name) down")
        for _ in 0..<count { _ = try rest.long() }
        try rest.expectWord(number, "the number of the entity \(name)")
        try Self.map(&rest, sections)
        try Self.map(&rest, sections)
        try rest.expectWord(OptimisedModelCursor.entityMark, "the mark after \(name)")
        guard rest.position == end else { throw rest.refused("the entity \(name) ends elsewhere") }
    }

    /// Reads an own property by number; an inherited one repeats data of the parent entity.
    private mutating func readProperty(owners: [Int]) throws {
        switch try rest.word() {
        case 0:
            let property = try rest.word()
            guard owners.indices.contains(property), owners[property] == number else {
                throw rest.refused("the property \(property) is not one of \(name)", at: rest.position - 4)
            }
            properties.append(property)
        case 1:
            _ = try (rest.word(), rest.word())
            for _ in 0..<3 { try rest.expectEmptyLong(of: "an inherited property of \(name)") }
            try rest.expectEmptyWord(of: "an inherited property of \(name)")
        default: throw rest.notKnown("the entity \(name)", at: rest.position - 4)
        }
    }

    /// Reads a fetch index. All known ones have one property, ascending.
    private mutating func readFetchIndex(sections: OptimisedModelSections, use: inout OptimisedModelUse) throws {
        let index = try use.text(rest.long(), sections, rest)
        let owner = "the fetch index \(index) of \(name)"
        try rest.expectEmptyLong(of: owner)
        guard try rest.long() == 1 else { throw rest.notKnown(owner, at: rest.position - 4) }
        let property = try use.text(rest.long(), sections, rest)
        try rest.expectEmptyLong(of: owner)
        guard try rest.long() == 1 else { throw rest.notKnown(owner, at: rest.position - 4) }
        try rest.expectEmptyLong(of: owner)
        fetchIndexes.append(FetchIndexDescription(name: index, elements: [.init(subject: .property(property))]))
    }

    /// Reads the uniqueness constraints. No known entity has more than one.
    private mutating func readConstraints(sections: OptimisedModelSections, use: inout OptimisedModelUse) throws {
        switch try rest.long() {
        case 0: return
        case 1:
            try rest.expectEmptyLong(of: "the uniqueness constraint of \(name)")
            try rest.expectEmptyLong(of: "the uniqueness constraint of \(name)")
            var names: [String] = []
            for _ in 0..<(try rest.long()) { names.append(try use.text(rest.long(), sections, rest)) }
            uniquenessConstraints = [names]
        default: throw rest.notKnown("the uniqueness constraints of \(name)", at: rest.position - 4)
        }
    }
}

/// A property of an optimised model, which refers to other parts by number.
struct OptimisedProperty {
    enum Content {
        case attribute(AttributeDescription)
        case relationship(RelationshipDescription, destination: Int, inverse: Int?)
    }

    /// The number of its entity among all entities.
    let entity: Int
    let name: String
    let content: Content

    private static let transient = 2
    private static let optional = 4
    private static let indexed = 8
    private static let preservedInHistory = 0x1000

    init(_ cursor: inout OptimisedModelCursor, sections: OptimisedModelSections, use: inout OptimisedModelUse) throws {
        let begin = cursor.position
        let size = try cursor.word()
        let kind = try cursor.word()
        let flags = try cursor.word()
        let flagsPlace = cursor.position - 4
        try cursor.expectEmptyWord(of: "a property")
        try use.hash(cursor.word(), sections, cursor)
        entity = try cursor.word()
        name = try use.text(cursor.word(), sections, cursor)
        for _ in 0..<3 { try cursor.expectEmptyWord(of: "the property \(name)") }
        // The position among the properties of the entity, which the entity's own list repeats.
        _ = try cursor.word()
        var known = Self.transient | Self.optional
        switch kind {
        case 2:
            known |= Self.indexed | Self.preservedInHistory
            content = .attribute(try Self.attribute(name, flags: flags, &cursor, sections: sections, use: &use))
        case 4:
            let mark = sections.layout.marksRelationships ? Self.indexed : 0
            guard flags & Self.indexed == mark else {
                throw cursor.notKnown("the relationship \(name)", at: flagsPlace)
            }
            known |= Self.indexed
            content = try Self.relationship(name, flags: flags, &cursor)
        default: throw cursor.notKnown("the kind of the property \(name)", at: begin + 4)
        }
        guard flags & ~known == 0 else { throw cursor.notKnown("the property \(name)", at: flagsPlace) }
        guard cursor.position == begin + size else {
            throw cursor.refused("the property \(name) has \(size) bytes", at: begin)
        }
    }

    private static func attribute(
        _ name: String, flags: Int, _ cursor: inout OptimisedModelCursor, sections: OptimisedModelSections,
        use: inout OptimisedModelUse
    ) throws -> AttributeDescription {
        let transformer = try use.wideText(cursor.word(), sections, cursor)
        let number = try cursor.word()
        guard let type = Int32(exactly: number).flatMap(AttributeType.init(rawValue:)), type != .composite else {
            throw cursor.notKnown("the type of \(name)", at: cursor.position - 4)
        }
        let className = try use.text(cursor.word(), sections, cursor)
        let hasDefault = try cursor.word()
        guard hasDefault <= 1 else { throw cursor.notKnown("the default of \(name)", at: cursor.position - 4) }
        let defaultValue =
            hasDefault == 0 ? nil : try Self.defaultValue(of: name, type: type, &cursor, sections: sections, use: &use)
        let attributeFlags = try cursor.word()
        let isPreserved = flags & preservedInHistory != 0
        guard attributeFlags == (isPreserved ? Int(ModelArchive.preserveAfterDeletionFlag) : 0) else {
            throw cursor.notKnown("the attribute \(name)", at: cursor.position - 4)
        }
        return AttributeDescription(
            name: name, type: type, isOptional: flags & optional != 0, isTransient: flags & transient != 0,
            defaultValue: defaultValue, preservesValueInHistoryOnDeletion: isPreserved,
            valueTransformerName: transformer.isEmpty ? nil : transformer,
            attributeValueClassName: className.isEmpty || className == ModelArchive.valueClassNames[type]
                ? nil : className,
            isIndexed: flags & indexed != 0)
    }

    /// Reads a default value. The form of nonzero numbers, dates, data, UUIDs and URIs is unknown.
    private static func defaultValue(
        of name: String, type: AttributeType, _ cursor: inout OptimisedModelCursor, sections: OptimisedModelSections,
        use: inout OptimisedModelUse
    ) throws -> AttributeValue {
        switch type {
        case .string: return .string(try use.wideText(cursor.word(), sections, cursor))
        case .decimal:
            guard let number = DecimalNumber(try use.text(cursor.word(), sections, cursor)) else {
                throw cursor.refused("the default of \(name) is not a decimal number", at: cursor.position - 4)
            }
            return .decimal(number.text)
        case .integer32, .integer64, .float, .boolean:
            for _ in 0..<(type == .integer64 ? 2 : 1) { try cursor.expectEmptyWord(of: "the default of \(name)") }
            return type == .boolean ? .boolean(false) : type == .float ? .double(0) : .integer(0)
        default: throw cursor.notKnown("the default of \(name)")
        }
    }

    private static func relationship(
        _ name: String, flags: Int, _ cursor: inout OptimisedModelCursor
    ) throws -> Content {
        let destination = try cursor.word()
        let hasInverse = try cursor.word()
        guard hasInverse <= 1 else { throw cursor.notKnown("the inverse of \(name)", at: cursor.position - 4) }
        let inverse = hasInverse == 0 ? nil : try cursor.word()
        let maxCount = try cursor.word()
        let minCount = try cursor.word()
        guard let rule = DeleteRule(rawValue: try cursor.word()) else {
            throw cursor.notKnown("the delete rule of \(name)", at: cursor.position - 4)
        }
        return .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: "", isOptional: flags & optional != 0,
                isTransient: flags & transient != 0, maxCount: maxCount, minCount: minCount, deleteRule: rule),
            destination: destination, inverse: inverse)
    }
}
