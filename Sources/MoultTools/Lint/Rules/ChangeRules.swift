import MoultBasics
import MoultModel
import MoultPlan

/// The rules about data and source, from the differences between two versions.
enum ChangeRules {
    // MARK: Data

    static func entityRemoved(_ step: LintStep) -> [LintMatch] { risks(step, "DATA001") }

    static func propertyRemoved(_ step: LintStep) -> [LintMatch] { risks(step, "DATA002") }

    static func noLongerStored(_ step: LintStep) -> [LintMatch] { risks(step, "DATA003") }

    static func narrowed(_ step: LintStep) -> [LintMatch] { risks(step, "DATA004") }

    static func order(_ step: LintStep) -> [LintMatch] { risks(step, "DATA005") }

    static func required(_ step: LintStep) -> [LintMatch] {
        risks(step, "DATA006") { $0.kind == .optional ? .init(("optional", "YES")) : nil }
    }

    static func unique(_ step: LintStep) -> [LintMatch] { risks(step, "DATA007") }

    static func leftConfiguration(_ step: LintStep) -> [LintMatch] { risks(step, "DATA012") }

    static func conversions(_ step: LintStep) -> [LintMatch] { risks(step, "DATA008") }

    /// Returns matches for join tables within one entity whose name depends on properties that have changed.
    static func joinNames(_ step: LintStep) -> [LintMatch] {
        step.newer.model.entities.flatMap { entity -> [LintMatch] in
            // Skip the costly comparison of all properties for the many entities without such a relationship.
            guard entity.relationships.contains(where: { $0.isToMany && $0.destinationEntityName == entity.name })
            else { return [] }
            let renamed = step.diff.changes.first { $0.kind == .entityRenamed && $0.entity == entity.name }?.old
            guard let before = step.older.model.entity(renamed ?? entity.name),
                step.older.model.propertyKinds(of: before) != step.newer.model.propertyKinds(of: entity)
            else { return [] }
            return entity.relationships.compactMap { relationship in
                guard relationship.isToMany, !relationship.isTransient,
                    relationship.destinationEntityName == entity.name,
                    let other = entity.relationships.first(where: { $0.name == relationship.inverseName }),
                    other.isToMany, relationship.name.precedesInByteOrder(other.name),
                    // A new table has no name to keep.
                    before.relationships.contains(where: { $0.isToMany && $0.inverseName != nil })
                else { return nil }
                let place = "\(entity.name).\(relationship.name)"
                return LintMatch(
                    step.newer.name, entity.name, relationship.name,
                    "\(step.words): The join table of \(place) and \(entity.name).\(other.name) is named after one of the "
                        + "two. The properties of \(entity.name) change, so Core Data may name it after the other one.",
                    remedy:
                        "Migrate a store with Moult, open it with Core Data, and fetch both relationships before the "
                        + "release. To be certain of the name, add the properties to another entity.")
            }
        }
    }

    static func moved(_ step: LintStep) -> [LintMatch] {
        let (older, newer) = (step.older.model, step.newer.model)
        let moved = step.inferred.mapping?.movedEntities(from: older, to: newer) ?? []
        return changes(step, [.parent]) { _ in true }.map { change in
            let former = change.entity.flatMap { step.inferred.mapping?.mapping(toEntity: $0)?.sourceEntityName }
            let hasNewKeys = former.map(moved.contains) == true
            var finding = match(
                change, step,
                remedy: hasNewKeys
                    ? "If the app stores object identifiers, store an attribute of your own in their place first. "
                        + "Otherwise nothing needs to be done; the plan says how far the keys move (keys-shifted)."
                    : "Check fetches of the old and the new parent, which find other objects now.")
            finding.message += hasNewKeys ? " Its objects get new keys, so stored URIs of them lead nowhere." : ""
            finding.severity = hasNewKeys ? .warning : .note
            return finding
        }
    }

    // MARK: Source

    static func className(_ step: LintStep) -> [LintMatch] {
        changes(step, [.className]) { _ in true }.map { change in
            match(
                change, step,
                remedy:
                    "Rename the class in the source too. Until then, Core Data uses NSManagedObject, and casts fail.")
        }
    }

    static func renamed(_ step: LintStep) -> [LintMatch] {
        changes(step, [.entityRenamed, .attributeRenamed, .relationshipRenamed]) { _ in true }.map { change in
            match(
                change, step,
                remedy:
                    "Replace \(change.old ?? "the old name") in the source, also in predicates, sort descriptors and "
                    + "key paths, which the compiler does not check.")
        }
    }

    static func swiftType(_ step: LintStep) -> [LintMatch] {
        changes(step, [.type, .scalar, .valueClass, .cardinality, .order]) { _ in true }.map { change in
            match(change, step, remedy: "Generate the class again, or correct the type of the property in the source.")
        }
    }

    static func optionality(_ step: LintStep) -> [LintMatch] {
        changes(step, [.optional]) { _ in true }.map { change in
            match(
                change, step,
                remedy: change.new == "optional"
                    ? "Declare it as an optional in a class written by hand, and handle nil where it is read."
                    : "Set it before each save, also where the source sets it to nil.")
        }
    }

    // MARK: Sync

    static func notAdditive(_ step: LintStep) -> [LintMatch] {
        // A part that is removed from the model stays in CloudKit, and prevents nothing there.
        let removals: Set<ModelChange.Kind> = [
            .entityRemoved, .attributeRemoved, .relationshipRemoved, .cardinality,
        ]
        let kinds = removals.union([
            .entityRenamed, .attributeRenamed, .relationshipRenamed, .type, .destination, .cloudEncryption,
        ])
        // A separate rule reports the renames that Core Data refuses.
        let renames = step.forbiddenRenames
        let mirrored = Set((step.older.model.mirroredEntities + step.newer.model.mirroredEntities).map(\.name))
        return changes(step, kinds) { change in
            change.isOfCloudKitField && !renames.contains(change)
                && change.entity.map { mirrored.contains($0) } ?? true
        }.map { change in
            var match = match(
                change, step,
                remedy: "Keep the old part as it was, add a new one next to it, and let the app write both while older "
                    + "versions of it are in use.")
            if removals.contains(change.kind) { match.severity = .warning }
            return match
        }
    }

    /// Returns matches for the renames that Core Data refuses in a mirrored store.
    static func renamedWithCloudKit(_ step: LintStep) -> [LintMatch] {
        step.forbiddenRenames.map { change in
            var match = match(change, step, remedy: Remedy(change.remedyForCloudKit))
            match.message += " \(ModelChange.forbiddenByCloudKit)"
            return match
        }
    }

    static func olderProcesses(_ step: LintStep) -> [LintMatch] {
        guard let change = step.diff.hashed.first else { return [] }
        return [
            LintMatch(
                step.newer.name, change.entity, nil,
                "\(step.words): the version hashes change, so an extension or an older app version that shares the store "
                    + "no longer opens it after the migration.",
                remedy:
                    "Ship the app and its extensions with the same model. Let the app alone migrate: in the extension, "
                    + "set shouldMigrateStoreAutomatically to false and handle error 134100.")
        ]
    }

    // MARK: Matches

    /// Returns the matches for the changes that a rule covers, with the remedies of a plan, unless the planner has
    /// asked about them already.
    private static func risks(
        _ step: LintStep, _ rule: String, edit: (ModelChange) -> LintMatch.Edit? = { _ in nil }
    ) -> [LintMatch] {
        changes(step, Set(ModelChange.Kind.allCases)) { $0.finding?.rule == rule && !$0.keepsArchives }.map {
            match($0, step, remedy: $0.remedy, edit: edit($0))
        }
    }

    private static func changes(
        _ step: LintStep, _ kinds: Set<ModelChange.Kind>, where isIncluded: (ModelChange) -> Bool
    ) -> [ModelChange] {
        // A mapping model decides about the values itself.
        guard !step.isRegistered else { return [] }
        let open = step.openPlaces
        return step.diff.changes.filter { change in
            kinds.contains(change.kind) && isIncluded(change) && !open.contains(change.place)
        }
    }

    private static func match(
        _ change: ModelChange, _ step: LintStep, remedy: Remedy, edit: LintMatch.Edit? = nil
    ) -> LintMatch {
        let rows = change.entity.flatMap { step.rowsSentence(of: $0) } ?? ""
        return LintMatch(
            step.newer.name, change.entity, change.member, "\(step.words): \(change.sentence)\(rows)", remedy: remedy,
            edit: edit)
    }
}

extension ModelChange {
    /// Whether the change is one of a record type or field: a composite attribute has one field for all its elements, and
    /// the integers have one type.
    fileprivate var isOfCloudKitField: Bool {
        guard member?.contains(".") != true else { return false }
        guard kind == .type, let old = old.flatMap(AttributeType.init(name:)),
            let new = new.flatMap(AttributeType.init(name:))
        else { return isHashed || kind == .cloudEncryption }
        return old.cloudKit?.primitive != new.cloudKit?.primitive
    }

    /// Whether both transformers read and write keyed archives, as the default one and two of Foundation's do.
    fileprivate var keepsArchives: Bool {
        let keyed = ["NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromData", nil]
        return kind == .valueTransformer && keyed.contains(old) && keyed.contains(new)
    }
}

extension ManagedObjectModel {
    /// Returns the properties that decide the name of a join table: all properties of an entity, including inherited
    /// ones, with their kinds.
    fileprivate func propertyKinds(of entity: EntityDescription) -> Set<[String]> {
        let attributes = attributes(of: entity).map { [$0.name, $0.isTransient ? "transient" : ""] }
        let relationships = relationships(of: entity).map {
            [$0.name, $0.isToMany ? "to-many" : "to-one", $0.isTransient ? "transient" : ""]
        }
        return Set(attributes + relationships)
    }
}

extension LintStep {
    /// Returns a sentence, with a leading space, about the number of a store's affected objects; nil without a store.
    fileprivate func rowsSentence(of entity: String) -> String? {
        guard !rows.isEmpty else { return nil }
        // The store has the entities of its own version. A missing name was renamed in a later one.
        guard let count = rows[entity] else { return nil }
        return " The store has \(Quantity.count(count, "object")) of \(entity)."
    }
}
