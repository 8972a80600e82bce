import MoultBasics
import MoultModel

/// The application of one fix, batch by batch.
struct FixApplication {
    private let rule: ValidationRule
    private let store: ObjectStore
    private let quarantine: QuarantineWriter
    private let ledger: RuleLedger
    private let author: String
    private let way: Way
    private var defaultObject: ObjectID?

    private enum Way {
        case set([String: Expression])
        case assign(String, ValidationRule.DefaultObject)
        case delete, quarantine
    }

    init(
        _ fix: ValidationRule.Fix, of rule: ValidationRule, _ store: ObjectStore, _ quarantine: QuarantineWriter,
        _ ledger: RuleLedger, author: String
    ) throws {
        (self.rule, self.store, self.quarantine, self.ledger, self.author) = (rule, store, quarantine, ledger, author)
        switch fix {
        case .set(let values): way = .set(values)
        case .nullify(let relationship): way = .set([relationship: .constant(.null)])
        case .assign(let relationship, let object): way = .assign(relationship, object)
        case .delete: way = .delete
        case .quarantine: way = .quarantine
        case .recount:
            guard case .count(let attribute, let expression) = rule.kind else {
                throw MigrationError(
                    .usage, "\(rule.name) is not about a count.", place: rule.name, remedy: "Give it another fix.")
            }
            way = .set([attribute: expression])
        }
    }

    mutating func apply(to ids: [ObjectID], _ outcome: inout RuleFixOutcome) throws {
        switch way {
        case .set(let values): try set(values, ids, &outcome)
        case .assign(let relationship, let object):
            let destination = try destination(relationship, object, &outcome)
            try set([relationship: .constant(.object(destination))], ids, &outcome)
        case .delete:
            let deleted = try store.deleteAll(fetch(ids), author: author, contextName: rule.name)
            try ledger.noteRemoval(of: deleted)
            outcome.deleted += Int64(deleted.count)
            outcome.add(deleted) { ids.contains($0) ? "deleted" : "deleted by a delete rule" }
        case .quarantine: try quarantine(ids, &outcome)
        }
    }

    // MARK: - Values

    private func set(_ values: [String: Expression], _ ids: [ObjectID], _ outcome: inout RuleFixOutcome) throws {
        let names = values.keys.inByteOrder()
        let shown = Array(ids.prefix(RuleFinding.exampleLimit - outcome.examples.count))
        let before = try texts(names, of: shown)
        for name in names { try noteOtherEnds(name, of: ids) }
        let changed = try store.updateAll(fetch(ids), set: values, author: author, contextName: rule.name)
        try ledger.noteChange(of: changed, names)
        outcome.changed += Int64(changed.count)
        let after = try texts(names, of: shown)
        outcome.add(shown, withValues: true) { id in
            zip(names, zip(before[id] ?? [], after[id] ?? [])).map { "\($0): \($1.0) → \($1.1)" }
                .joined(separator: ", ")
        }
    }

    /// Records the other ends of a one-to-one relationship: their keys are cleared too.
    private func noteOtherEnds(_ name: String, of ids: [ObjectID]) throws {
        guard let entity = store.model.entity(rule.entityName),
            let relationship = store.model.relationship(name, of: entity),
            let inverse = store.model.inverse(of: relationship), !inverse.isToMany
        else { return }
        let destinations = try store.destinations(of: name, owners: ids).values.flatMap { $0 }
        try ledger.noteChange(of: destinations, [inverse.name])
    }

    private func texts(_ names: [String], of ids: [ObjectID]) throws -> [ObjectID: [String]] {
        var texts: [ObjectID: [String]] = [:]
        for snapshot in try store.snapshots(of: ids) {
            let shape = try store.columns(of: snapshot.id.entityName).shape
            texts[snapshot.id] = names.map { name in
                switch shape.position(of: name).flatMap({ snapshot.values[$0] }) {
                case .attribute(let value)?: ExpressionValue(value).literal.format
                case .toOne(let id)?: id.map { "\($0.entityName) \($0.key)" } ?? "nil"
                case .toMany?, nil: "?"
                }
            }
        }
        return texts
    }

    // MARK: - The default object

    /// Returns the default object for orphans; makes it if there is none and the rule has its values.
    private mutating func destination(
        _ relationship: String, _ object: ValidationRule.DefaultObject, _ outcome: inout RuleFixOutcome
    ) throws -> ObjectID {
        if let defaultObject { return defaultObject }
        guard let entity = store.model.entity(rule.entityName),
            let entityName = store.model.relationship(relationship, of: entity)?.destinationEntityName
        else { throw store.noTable("\(rule.entityName).\(relationship)") }
        var fetch = ObjectFetch(entityName: entityName, predicate: object.predicate)
        fetch.limit = 2
        let found = try store.fetchIDs(fetch)
        guard found.count < 2 else {
            throw unclear("Several objects of \(entityName) satisfy \(object.predicate.format).", found)
        }
        let id = try found.first ?? make(entityName, object, &outcome)
        defaultObject = id
        return id
    }

    private func make(
        _ entityName: String, _ object: ValidationRule.DefaultObject, _ outcome: inout RuleFixOutcome
    ) throws -> ObjectID {
        guard let values = object.values else {
            throw unclear("No object of \(entityName) satisfies \(object.predicate.format).", [])
        }
        let constants = ConstantValues(now: store.system.now.sinceReferenceDate)
        let row = try values.mapValues { try $0.value(for: .null, in: constants) }
        let made = try store.insertAll(entityName, [row], author: author, contextName: rule.name)
        try ledger.noteInsertion(of: made)
        outcome.inserted += Int64(made.count)
        guard let id = made.first else { throw unclear("No object of \(entityName) could be made.", []) }
        return id
    }

    private func unclear(_ message: String, _ found: [ObjectID]) -> MigrationError {
        MigrationError(
            .dataConflict, "\(rule.name) has no default object. \(message)",
            place: found.first?.description ?? rule.entityName,
            remedy:
                "Correct the predicate of the default object, or give the values of a new one. The store is unchanged.")
    }

    // MARK: - Quarantine

    private func quarantine(_ ids: [ObjectID], _ outcome: inout RuleFixOutcome) throws {
        let present = try store.fetchIDs(fetch(ids))
        try refuseNeeded(present)
        let finding = RuleFinding(rule)
        try quarantine.add(present, of: store, reason: finding.sentence, by: rule.name)
        var changes = ObjectChanges()
        (changes.author, changes.contextName) = (author, rule.name)
        changes.deleted = present.map { .init(id: $0, version: nil) }
        _ = try store.save(changes)
        try ledger.noteRemoval(of: present)
        outcome.quarantined += Int64(present.count)
        outcome.add(present) { _ in "quarantined" }
    }

    /// Refuses to quarantine an object that is required by one that stays.
    private func refuseNeeded(_ ids: [ObjectID]) throws {
        let leaving = Set(ids)
        for (entityName, ids) in Dictionary(grouping: ids, by: \.entityName) {
            guard let entity = store.model.entity(entityName) else { continue }
            for relationship in store.model.relationships(of: entity) where !relationship.isTransient {
                guard let inverse = store.model.inverse(of: relationship), !inverse.isToMany, !inverse.isOptional
                else { continue }
                for (owner, needing) in try store.destinations(of: relationship.name, owners: ids) {
                    guard let one = needing.first(where: { !leaving.contains($0) }) else { continue }
                    throw MigrationError(
                        .dataConflict,
                        "\(rule.name) cannot move \(owner) to the quarantine: \(one) needs it for its "
                            + "\(inverse.name).", place: owner.description,
                        remedy: "Move the objects that need it first, with another rule before this one.")
                }
            }
        }
    }

    private func fetch(_ ids: [ObjectID]) -> ObjectFetch {
        ObjectFetch(
            entityName: rule.entityName,
            predicate: .comparison(.init(.evaluatedObject, .in, .aggregate(ids.map { .constant(.object($0)) }))))
    }
}

extension RuleFixOutcome {
    fileprivate mutating func add(
        _ ids: [ObjectID], withValues hasValues: Bool = false, _ detail: (ObjectID) -> String
    ) {
        for id in ids.prefix(RuleFinding.exampleLimit - examples.count) {
            examples.append(.init(id: id, detail: detail(id), hasValues: hasValues))
        }
    }
}

/// The values for expressions without an object, as in new objects: every key is refused.
private struct ConstantValues: ObjectValues {
    let now: Double

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue {
        throw MigrationError(
            .invalidPredicate, "A new object's value cannot refer to \(key).", place: key, remedy: "Give a constant.")
    }
}
