import MoultModel

extension EntityNumbering {
    /// The numbers that a store gave the entities of `model` that it holds.
    ///
    /// After a rename `Z_NAME` may keep the old name: a row is matched by the entity's name, then by its renaming
    /// identifier, then by the number a new store would give, then as the only one left under a parent.
    init(actual snapshot: StoreSnapshot, model: ManagedObjectModel, findings: inout [Finding]) throws {
        let held = try Self.entitiesHeld(by: snapshot, of: model, findings: &findings)
        var matching = RowMatching(rows: snapshot.entityRows, model: model)
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

    /// The numbers of the entities that a store holds, those that it lacks included.
    ///
    /// A row is matched by the entity's name or its renaming identifier alone: where rows are missing, no other can be
    /// told from one that belongs to a removed entity.
    ///
    /// - Parameter missing: gets a row for each entity without one: with the number that a new store would give, where
    ///   no row has it, otherwise with the next one that is free.
    /// - Throws: `storeCorrupted` if the store has rows that no entity is named after, too.
    init(
        completing snapshot: StoreSnapshot, model: ManagedObjectModel, missing: inout [PrimaryKeyRow],
        findings: inout [Finding]
    ) throws {
        let held = try Self.entitiesHeld(by: snapshot, of: model, findings: &findings)
        var matching = RowMatching(rows: snapshot.entityRows, model: model)
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

    /// The roots of the trees that the entities belong to, in the order of the numbers.
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

/// Rows of `Z_PRIMARYKEY` on their way to the entities they stand for.
private struct RowMatching {
    private(set) var numbers: [String: Int] = [:]
    private let rows: [PrimaryKeyRow]
    private let byName: [String: [PrimaryKeyRow]]
    private var matched: Set<Int> = []
    private let model: ManagedObjectModel

    init(rows: [PrimaryKeyRow], model: ManagedObjectModel) {
        self.rows = rows
        byName = Dictionary(grouping: rows, by: \.name)
        self.model = model
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

    /// Gives `entity` the one row left of the candidates that stands under the same parent, if there is exactly one.
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

    /// A row under its own name is believed whatever its parent; any other must stand where the entity stands.
    private func isParent(_ number: Int, of entity: EntityDescription, row: PrimaryKeyRow) -> Bool {
        if row.name == entity.name { return true }
        guard let parent = entity.superentityName else { return number == 0 }
        return numbers[parent] == number
    }
}
