import MoultModel

/// An entity of an optimised model, whose other parts are named by number.
struct OptimisedEntity {
    let number: Int
    let name: String
    let className: String
    let versionHash: [UInt8]
    let superentity: Int?
    private(set) var isAbstract = false
    private(set) var fetchIndexes: [FetchIndexDescription] = []
    private(set) var uniquenessConstraints: [[String]] = []
    /// The model flags that it has, which must fit what is read.
    private(set) var hasConstraints = false
    private(set) var hasTransients = false
    /// Of its own.
    private(set) var properties: [Int] = []
    /// After the head.
    private var rest: OptimisedModelCursor
    private let end: Int

    /// Reads the head, and leaves the cursor behind the entity.
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
        // The root of the hierarchy.
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

    /// Reads what follows the head.
    ///
    /// - Parameters:
    ///   - propertyCount: how many it has, inherited ones included.
    ///   - owners: the number of the entity that declares each property.
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
        // The entity and all below it.
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

    /// Its own by number; an inherited one repeats what is known of the entity above.
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

    /// The known ones have one property, ascending.
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

    /// No known entity has more than one.
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
