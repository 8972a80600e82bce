import MoultBasics
import MoultModel
import MoultSQLite

/// The numbers Core Data gives entities: starting from 1, depth first through the inheritance trees, with siblings
/// sorted by name, ignoring case.
package struct EntityNumbering: Sendable, Equatable {
    /// All entities, in the order of their numbers.
    package let entities: [EntityDescription]
    package let numbers: [String: Int]
    /// The to-many relationships without an inverse, by destination, in the order of the numbers.
    let inverselessToManys: [String: [RelationshipReference]]

    init(entities: [EntityDescription], numbers: [String: Int]) {
        self.entities = entities
        self.numbers = numbers
        var references: [String: [RelationshipReference]] = [:]
        for entity in entities {
            for relationship in entity.relationships where relationship.isInverselessToMany {
                references[relationship.destinationEntityName, default: []].append(
                    RelationshipReference(entity: entity.name, name: relationship.name))
            }
        }
        inverselessToManys = references
    }

    package init(of model: ManagedObjectModel) {
        var order: [EntityDescription] = []
        var pending = Self.sorted(model.entities.filter { $0.superentityName == nil }).reversed() as [EntityDescription]
        while let entity = pending.popLast() {
            order.append(entity)
            pending += Self.sorted(model.subentities(of: entity)).reversed()
        }
        self.init(
            entities: order,
            numbers: Dictionary(
                order.enumerated().map { ($1.name, $0 + 1) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Returns an entity and its descendants, in the order of their numbers.
    func tree(of entity: EntityDescription, in model: ManagedObjectModel) -> [EntityDescription] {
        ([entity] + model.descendants(of: entity)).sorted {
            numbers[$0.name, default: 0] < numbers[$1.name, default: 0]
        }
    }

    private static func sorted(_ entities: [EntityDescription]) -> [EntityDescription] {
        entities.map { (key: $0.name.lowercased(), entity: $0) }
            .sorted { left, right in
                left.key == right.key
                    ? left.entity.name.precedesInByteOrder(right.entity.name) : left.key.precedesInByteOrder(right.key)
            }
            .map(\.entity)
    }
}

/// One row of `Z_PRIMARYKEY`: the number of an entity, and the highest key in its table.
package struct PrimaryKeyRow: Sendable, Hashable {
    package let number: Int
    package let name: String
    /// The number of the parent entity, 0 for a root.
    package let superNumber: Int
    /// The highest `Z_PK` ever assigned; stored in the root entity's row and 0 in the others.
    package var max: Int64
    /// Whether the counter is unusable for Core Data because it is not a number with a successor.
    package var isUncountable = false

    package init(number: Int, name: String, superNumber: Int, max: Int64) {
        (self.number, self.name, self.superNumber, self.max) = (number, name, superNumber, max)
    }

    /// An SQL expression for the counter in a row of `Z_PRIMARYKEY`. A value that is not a number is converted as
    /// SQLite reads it; 0 if no key could follow.
    package static let highestSQL = "ifnull(CAST(Z_MAX AS INTEGER) * (CAST(Z_MAX AS INTEGER) < 9223372036854775807), 0)"
    /// An SQL condition for rows of `Z_PRIMARYKEY` whose counter Core Data cannot use.
    package static let isUncountableSQL = "(typeof(Z_MAX) <> 'integer' OR Z_MAX NOT BETWEEN 0 AND 9223372036854775806)"

    package var insertStatement: String {
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
            + "VALUES (\(number), \(name.quotedLiteral), \(superNumber), \(max))"
    }

    /// Returns the rows of a store's `Z_PRIMARYKEY` that have a name, by number.
    static func all(_ connection: Connection, columns: [Catalogue.Column], findings: inout [Finding]) throws
        -> [PrimaryKeyRow]
    {
        let needed = ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]
        if let missing = needed.first(where: { name in !columns.contains { $0.name == name } }) {
            throw MigrationError(
                .storeCorrupted, "The table Z_PRIMARYKEY has no column \(missing).", place: "Z_PRIMARYKEY",
                remedy: MigrationError.damagedStoreRemedy)
        }
        let sql = "SELECT Z_ENT, Z_NAME, Z_SUPER, \(highestSQL), \(isUncountableSQL) FROM Z_PRIMARYKEY ORDER BY Z_ENT"
        let rows = try connection.rows(sql) { row in
            var found = PrimaryKeyRow(
                number: Int(row.integer(0)), name: row.text(1) ?? "", superNumber: Int(row.integer(2)),
                max: row.integer(3))
            found.isUncountable = row.integer(4) == 1
            return found
        }
        for row in rows where row.name.isEmpty {
            findings.append(
                Finding(
                    code: "entity-without-name", severity: .warning, place: "Z_PRIMARYKEY",
                    message: "The entity number \(row.number) has no name.", remedy: MigrationError.damagedStoreRemedy)
            )
        }
        return rows.filter { !$0.name.isEmpty }
    }
}

extension EntityNumbering {
    /// Reads the numbers that a store has given to the entities of `model` that it contains.
    ///
    /// After a rename, `Z_NAME` may keep the old name. A row is therefore matched by the entity's name, then by its
    /// renaming identifier, then by the number in a new store, and finally as the only one left under a parent.
    init(actual snapshot: StoreSnapshot, model: ManagedObjectModel, findings: inout [Finding]) throws {
        let held = try Self.entitiesHeld(by: snapshot, of: model, findings: &findings)
        var matching = RowMatching(rows: snapshot.entityRows)
        matching.matchNames(of: held)
        if matching.numbers.count < held.count {
            let names = Set(held.map(\.name))
            let fresh = EntityNumbering(of: model).entities.filter { names.contains($0.name) }
            for (position, entity) in fresh.enumerated() { matching.match(entity, among: .numbered(position + 1)) }
            for entity in held { matching.match(entity, among: .all) }
        }
        for entity in held where matching.numbers[entity.name] == nil {
            throw MigrationError(
                .storeCorrupted, "The store has no number for the entity \(entity.name).", place: "Z_PRIMARYKEY",
                remedy: "Name the model that made the store, or restore the store from a backup.")
        }
        findings += matching.unmatched.map { row in
            Finding(
                code: "entity-unknown", severity: .warning, place: row.name,
                message: "Z_PRIMARYKEY names the entity \(row.name), which the model does not have.",
                remedy: "Name the model that made the store.")
        }
        let numbers = matching.numbers
        self.init(entities: held.sorted { numbers[$0.name] ?? 0 < numbers[$1.name] ?? 0 }, numbers: numbers)
    }

    /// Reads the numbers of the entities in a store, and assigns numbers to missing ones.
    ///
    /// A row is matched only by the entity's name or its renaming identifier. If rows are missing, any other row cannot
    /// be distinguished from one of a removed entity.
    ///
    /// - Parameter missing: receives a row for each entity without one, with the number in a new store if it is free,
    ///   or else with the next free number.
    /// - Throws: `storeCorrupted` if the store also has rows that match no entity's name.
    init(
        completing snapshot: StoreSnapshot, model: ManagedObjectModel, missing: inout [PrimaryKeyRow],
        findings: inout [Finding]
    ) throws {
        let held = try Self.entitiesHeld(by: snapshot, of: model, findings: &findings)
        var matching = RowMatching(rows: snapshot.entityRows)
        matching.matchNames(of: held)
        var numbers = matching.numbers
        let fresh = EntityNumbering(of: model)
        let names = Set(held.map(\.name))
        let lacking = fresh.entities.filter { names.contains($0.name) && numbers[$0.name] == nil }
        if let row = matching.unmatched.first, let entity = lacking.first {
            throw MigrationError(
                .storeCorrupted,
                "Z_PRIMARYKEY names the entity \(row.name), which the model does not have, and has no number for "
                    + "\(entity.name). It is not known whether the entity was renamed.", place: "Z_PRIMARYKEY",
                remedy:
                    "If it was, give \(entity.name) the renaming identifier \(row.name); otherwise restore the store from a "
                    + "backup.")
        }
        var taken = Set(snapshot.entityRows.map(\.number))
        for entity in lacking {
            let wanted = fresh.numbers[entity.name] ?? 0
            let number = taken.contains(wanted) ? (taken.max() ?? 0) + 1 : wanted
            taken.insert(number)
            numbers[entity.name] = number
            missing.append(
                PrimaryKeyRow(
                    number: number, name: entity.name,
                    superNumber: entity.superentityName.flatMap { numbers[$0] } ?? 0, max: 0))
        }
        self.init(entities: held.sorted { numbers[$0.name] ?? 0 < numbers[$1.name] ?? 0 }, numbers: numbers)
    }

    /// Returns the root entities of the entities, in the order of their numbers.
    func roots(in model: ManagedObjectModel) -> [EntityDescription] {
        var seen: Set<String> = []
        return entities.map { model.root(of: $0) }.filter { seen.insert($0.name).inserted }
    }

    private static func entitiesHeld(
        by snapshot: StoreSnapshot, of model: ManagedObjectModel, findings: inout [Finding]
    ) throws -> [EntityDescription] {
        let hashed = Set(snapshot.hashes.entities.keys)
        let named = hashed.isEmpty ? Set(snapshot.entityRows.map(\.name)) : hashed
        let held = model.entities.filter { named.contains($0.name) }
        guard !held.isEmpty || model.entities.isEmpty else {
            throw MigrationError(
                .storeUnknown, "The store has none of the model's entities.", place: snapshot.path,
                remedy: "Name the model that made the store.")
        }
        let strangers = named.subtracting(held.map(\.name)).sorted()
        if !strangers.isEmpty {
            findings.append(
                Finding(
                    code: "model-does-not-fit", severity: .error, place: strangers.joined(separator: ", "),
                    message: "The store's metadata name entities that the model does not have.",
                    remedy: "Name the model that made the store."))
        }
        return held
    }
}

/// Rows of `Z_PRIMARYKEY`, matched with their entities.
private struct RowMatching {
    private(set) var numbers: [String: Int] = [:]
    private let rows: [PrimaryKeyRow]
    private let byName: [String: [PrimaryKeyRow]]
    private var matched: Set<Int> = []

    init(rows: [PrimaryKeyRow]) {
        self.rows = rows
        byName = Dictionary(grouping: rows, by: \.name)
    }

    enum Candidates {
        case named(String)
        case numbered(Int)
        case all
    }

    var unmatched: [PrimaryKeyRow] { rows.filter { !matched.contains($0.number) } }

    /// Matches by the entities' names, then by their renaming identifiers.
    mutating func matchNames(of entities: [EntityDescription]) {
        for entity in entities { match(entity, among: .named(entity.name)) }
        for entity in entities {
            if let name = entity.renamingIdentifier { match(entity, among: .named(name)) }
        }
    }

    /// Matches `entity` with the only remaining candidate under the same parent, if there is exactly one.
    mutating func match(_ entity: EntityDescription, among candidates: Candidates) {
        guard numbers[entity.name] == nil else { return }
        let rows =
            switch candidates {
            case .named(let name): byName[name] ?? []
            case .numbered(let number): rows.filter { $0.number == number }
            case .all: rows
            }
        let fitting = rows.filter {
            !matched.contains($0.number) && isParent($0.superNumber, of: entity, row: $0)
        }
        guard fitting.count == 1, let row = fitting.first else { return }
        numbers[entity.name] = row.number
        matched.insert(row.number)
    }

    /// Returns whether the parent's number fits. A row with the entity's own name fits under any parent; any other must
    /// have the same parent as the entity.
    private func isParent(_ number: Int, of entity: EntityDescription, row: PrimaryKeyRow) -> Bool {
        if row.name == entity.name { return true }
        guard let parent = entity.superentityName else { return number == 0 }
        return numbers[parent] == number
    }
}
