import MoultModel
import MoultSQLite
import MoultStore

/// The data about an object that its own values do not contain and that would be lost with its row: the numbers that
/// order the lists in which it is a member and its own lists, and the links to it from relationships without an
/// inverse.
package struct ObjectSurroundings: Sendable, Hashable {
    /// The object's numbers in the ordered lists at the other end, by relationship, then by the key at that end.
    var places: [String: [Int64: Int64]] = [:]
    /// The members' numbers in the object's own ordered lists, by relationship, then by the member's key.
    var order: [String: [Int64: Int64]] = [:]
    var incoming: [IncomingLink] = []

    /// A link to the object from a relationship without an inverse.
    package struct IncomingLink: Sendable, Hashable {
        package var owner: ObjectID
        package var relationship: String
        /// The object's number in the owner's ordered list.
        package var place: Int64?

        package init(owner: ObjectID, relationship: String, place: Int64?) {
            (self.owner, self.relationship, self.place) = (owner, relationship, place)
        }
    }

    /// Returns the surroundings of objects of one entity, by key.
    static func all(of ids: [ObjectID], entity: EntityDescription, in store: ObjectStore, _ connection: Connection)
        throws -> [Int64: ObjectSurroundings]
    {
        var search = SurroundingsSearch(store: store, connection: connection, keys: ids.map(\.key))
        for relationship in store.model.relationships(of: entity) where !relationship.isTransient {
            try search.findPlaces(relationship, of: entity)
        }
        for owner in store.model.entities {
            for relationship in owner.relationships
            where !relationship.isTransient && store.model.inverse(of: relationship) == nil {
                guard let target = store.model.entity(relationship.destinationEntityName),
                    store.model.isKind(entity, of: target)
                else { continue }
                try search.findIncoming(relationship, of: owner)
            }
        }
        return search.found
    }
}

private struct SurroundingsSearch {
    let store: ObjectStore
    let connection: Connection
    let keys: [Int64]
    var found: [Int64: ObjectSurroundings] = [:]

    private var list: String { keys.map(String.init).joined(separator: ", ") }

    /// Finds the objects' numbers in the lists of others, and the members' numbers in the objects' own lists.
    mutating func findPlaces(_ relationship: RelationshipDescription, of entity: EntityDescription) throws {
        let name = relationship.name
        if let place = ListPlace(inInverseOf: relationship, of: entity, store) {
            try place.forEachNumber(members: list, on: connection) { member, owner, number in
                found[member, default: .init()].places[name, default: [:]][owner] = number
            }
        }
        if let place = ListPlace(in: relationship, of: entity, store) {
            try place.forEachNumber(owners: list, on: connection) { member, owner, number in
                found[owner, default: .init()].order[name, default: [:]][member] = number
            }
        }
    }

    mutating func findIncoming(_ relationship: RelationshipDescription, of owner: EntityDescription) throws {
        guard let storage = store.layout.storage(ofRelationship: relationship.name, in: owner),
            let table = store.layout.table(for: owner)?.name.quotedName
        else { return }
        let links: String
        switch storage {
        case .foreignKey(let own, let column, _):
            let numbers = store.layout.numbers(ofEntityAndDescendants: owner).map(String.init).joined(separator: ", ")
            links = """
                SELECT \(column.quotedName) AS key, Z_PK AS owner, NULL AS place FROM \(own.quotedName) \
                WHERE Z_ENT IN (\(numbers))
                """
        case .inverseless(let rows, let column, let order):
            links = """
                SELECT Z_PK AS key, \(column.quotedName) AS owner, \(order?.quotedName ?? "NULL") AS place \
                FROM \(rows.quotedName)
                """
        case .joinTable(let pairs, let own, let other, let order, _, _):
            links = """
                SELECT \(other.quotedName) AS key, \(own.quotedName) AS owner, \(order?.quotedName ?? "NULL") AS place \
                FROM \(pairs.quotedName)
                """
        case .inverseForeignKey: return
        }
        try connection.forEachRow(
            """
            SELECT l.key, l.owner, l.place, o.Z_ENT FROM (\(links)) AS l JOIN \(table) AS o ON o.Z_PK = l.owner \
            WHERE l.key IN (\(list)) ORDER BY l.key, l.owner
            """
        ) { row in
            guard let name = store.layout.entityName(number: Int(clamping: row.integer(3))) else { return }
            found[row.integer(0), default: .init()].incoming.append(
                .init(
                    owner: store.id(name, key: row.integer(1)),
                    relationship: relationship.name, place: row.value(2) == .null ? nil : row.integer(2)))
        }
    }
}

/// The table and the columns with the numbers that order the lists of a relationship.
package struct ListPlace {
    private let table: String
    /// The columns of the member's key, the owner's key and the number.
    private let member: String
    private let owner: String
    private let number: String

    private init(_ table: String, member: String, owner: String, number: String) {
        (self.table, self.member, self.owner) = (table.quotedName, member.quotedName, owner.quotedName)
        self.number = number.quotedName
    }

    /// Describes the lists of a relationship; nil for one without order.
    package init?(in relationship: RelationshipDescription, of entity: EntityDescription, _ store: ObjectStore) {
        switch store.layout.storage(ofRelationship: relationship.name, in: entity) {
        case .inverseForeignKey(let table, let column, _, let order?)?,
            .inverseless(let table, let column, let order?)?:
            self.init(table, member: "Z_PK", owner: column, number: order)
        case .joinTable(let table, let own, let other, let order?, _, _)?:
            self.init(table, member: other, owner: own, number: order)
        default: return nil
        }
    }

    /// Describes the lists at the other end of a relationship, of which its own objects are members; nil if there are
    /// none.
    package init?(inInverseOf relationship: RelationshipDescription, of entity: EntityDescription, _ store: ObjectStore)
    {
        guard let inverse = store.model.inverse(of: relationship),
            let there = store.model.entity(relationship.destinationEntityName)
        else { return nil }
        self.init(in: inverse, of: there, store)
    }

    func forEachNumber(
        members: String? = nil, owners: String? = nil, on connection: Connection,
        _ body: (_ member: Int64, _ owner: Int64, _ number: Int64) throws -> Void
    ) throws {
        let condition = members.map { "\(member) IN (\($0))" } ?? "\(owner) IN (\(owners ?? ""))"
        let query = "SELECT \(member), \(owner), \(number) FROM \(table) WHERE \(condition)"
        try connection.forEachRow("\(query) AND \(owner) IS NOT NULL AND \(number) IS NOT NULL") { row in
            try body(row.integer(0), row.integer(1), row.integer(2))
        }
    }

    /// Clears a member's number, so that it cannot conflict with another.
    package func clear(_ key: Int64, inListOf other: Int64, on connection: Connection) throws {
        try connection.run(
            "UPDATE \(table) SET \(number) = NULL WHERE \(member) = ? AND \(owner) = ?",
            [.integer(key), .integer(other)])
    }

    /// Sets a member's number. If another member of the list has it now, sets one greater than the last.
    package func put(_ key: Int64, inListOf other: Int64, at place: Int64, on connection: Connection) throws {
        try connection.run(
            """
            UPDATE \(table) SET \(number) = iif(EXISTS (SELECT 1 FROM \(table) AS p WHERE p.\(owner) = ?3 \
            AND p.\(number) = ?1 AND p.\(member) IS NOT ?2), (SELECT ifnull(max(p.\(number)), 0) + 1024 FROM \(table) AS p \
            WHERE p.\(owner) = ?3), ?1) WHERE \(member) = ?2 AND \(owner) = ?3
            """, [.integer(place), .integer(key), .integer(other)])
    }
}
