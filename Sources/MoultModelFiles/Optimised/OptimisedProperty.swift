import MoultModel

/// A property of an optimised model, whose other parts are named by number.
struct OptimisedProperty {
    enum Content {
        case attribute(AttributeDescription)
        case relationship(RelationshipDescription, destination: Int, inverse: Int?)
    }

    /// Among all entities.
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
        // The position among the properties of the entity, which its own list repeats.
        _ = try cursor.word()
        var known = Self.transient | Self.optional
        switch kind {
        case 2:
            known |= Self.indexed | Self.preservedInHistory
            content = .attribute(
                try Self.attribute(name, flags: flags, &cursor, sections: sections, use: &use))
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

    /// No known file has a number other than zero, a date, data, a UUID or a URI: how they are written is not known.
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
