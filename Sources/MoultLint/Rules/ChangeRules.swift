import MoultModel
import MoultPlan

/// What changes between two versions, from the differ: the rules about data and source.
enum ChangeRules {
    // MARK: Data

    static func entityRemoved(_ step: LintStep) -> [LintMatch] {
        losses(step, [.entityRemoved]) { _ in
            "If its objects are still needed, keep the entity, or move them in a custom stage. Otherwise nothing needs "
                + "to be done: the backup of the migration keeps them."
        }
    }

    static func propertyRemoved(_ step: LintStep) -> [LintMatch] {
        losses(step, [.attributeRemoved, .relationshipRemoved]) { change in
            "If its values are still needed, keep \(change.place), or move them in a custom stage. Otherwise nothing "
                + "needs to be done: the backup of the migration keeps them."
        }
    }

    static func noLongerStored(_ step: LintStep) -> [LintMatch] {
        losses(step, [.transient, .derivation, .type, .attributeMoved, .relationshipMoved]) { change in
            "To keep the values, leave the old property as it was, and add a new one next to it."
        }
    }

    static func narrowed(_ step: LintStep) -> [LintMatch] {
        losses(step, [.cardinality, .maximumCount]) { change in
            "To choose which destinations stay, keep the to-many relationship, add a new one, and fill it in a custom "
                + "stage."
        }
    }

    static func order(_ step: LintStep) -> [LintMatch] {
        losses(step, [.order]) { change in
            "To keep the order, leave the relationship ordered, or store the position in an attribute of the destination."
        }
    }

    static func required(_ step: LintStep) -> [LintMatch] {
        changes(step, [.optional, .minimumCount]) { $0.mayFail }.map { change in
            let isAttribute = step.isAttribute(change.entity ?? "", change.member)
            return match(
                change, step,
                remedy: isAttribute
                    ? "Give it a default value, which objects without a value get, or leave it optional: optional=\"YES\"."
                    : "Leave it optional, or give every object a destination in a custom stage.",
                edit: change.kind == .optional ? .init(("optional", "YES")) : nil)
        }
    }

    static func unique(_ step: LintStep) -> [LintMatch] {
        changes(step, [.constraintAdded]) { _ in true }.map { change in
            match(
                change, step,
                remedy: "Remove duplicates in a custom stage before this version, or in the app before the release. "
                    + "moult plan STORE --model MODEL counts them in a store.")
        }
    }

    static func conversions(_ step: LintStep) -> [LintMatch] {
        changes(step, [.valueTransformer, .valueClass, .abstract]) { $0.mayFail && !$0.keepsArchives }.map { change in
            match(
                change, step,
                remedy: change.kind == .abstract
                    ? "Delete its objects or give them another entity in a custom stage, or leave it concrete."
                    : "Make sure that the new transformer or class reads what the old one wrote, or convert the values in "
                        + "a custom stage.")
        }
    }

    /// The join tables within one entity whose name depends on properties that are others now.
    static func joinNames(_ step: LintStep) -> [LintMatch] {
        step.newer.model.entities.flatMap { entity -> [LintMatch] in
            let renamed = step.diff.changes.first { $0.kind == .entityRenamed && $0.entity == entity.name }?.old
            guard let before = step.older.model.entity(renamed ?? entity.name),
                step.older.model.propertyKinds(of: before) != step.newer.model.propertyKinds(of: entity)
            else { return [] }
            return entity.relationships.compactMap { relationship in
                guard relationship.isToMany, !relationship.isTransient,
                    relationship.destinationEntityName == entity.name,
                    let other = entity.relationships.first(where: { $0.name == relationship.inverseName }),
                    other.isToMany, relationship.name.precedesInByteOrder(other.name),
                    // A table that is new has no name to keep.
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
            match(
                change, step,
                remedy: "Generate the class again, or correct the type of the property in the source.")
        }
    }

    // MARK: Sync

    static func notAdditive(_ step: LintStep) -> [LintMatch] {
        let kinds: Set<ModelChange.Kind> = [
            .entityRemoved, .entityRenamed, .attributeRemoved, .attributeRenamed, .relationshipRemoved,
            .relationshipRenamed, .type, .cardinality, .destination,
        ]
        return changes(step, kinds) { $0.isHashed }.map { change in
            match(
                change, step,
                remedy: "Keep the old part as it was, add a new one next to it, and let the app write both while older "
                    + "versions of it are in use.")
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

    // MARK: Words

    /// The changes that lose data, where the planner has not asked about them already.
    private static func losses(
        _ step: LintStep, _ kinds: Set<ModelChange.Kind>, remedy: (ModelChange) -> String
    ) -> [LintMatch] {
        changes(step, kinds) { $0.losesData || $0.mayFail }.map { match($0, step, remedy: remedy($0)) }
    }

    private static func changes(
        _ step: LintStep, _ kinds: Set<ModelChange.Kind>, where isIncluded: (ModelChange) -> Bool
    ) -> [ModelChange] {
        // A mapping model says itself what becomes of the values.
        guard !step.isRegistered else { return [] }
        let open = step.openPlaces
        return step.diff.changes.filter { change in
            kinds.contains(change.kind) && isIncluded(change) && !open.contains(change.place)
        }
    }

    private static func match(
        _ change: ModelChange, _ step: LintStep, remedy: String, edit: LintMatch.Edit? = nil
    ) -> LintMatch {
        let rows = change.entity.flatMap { step.rowsSentence(of: $0) } ?? ""
        return LintMatch(
            step.newer.name, change.entity, change.member, "\(step.words): \(change.sentence)\(rows)", remedy: remedy,
            edit: edit)
    }
}

extension ModelChange {
    /// Whether both transformers read and write keyed archives: the default one, and the two of Foundation.
    fileprivate var keepsArchives: Bool {
        let keyed = ["NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromData", nil]
        return kind == .valueTransformer && keyed.contains(old) && keyed.contains(new)
    }
}

extension ManagedObjectModel {
    /// What decides about the name of a join table: every property of an entity, inherited ones included, with its kind.
    fileprivate func propertyKinds(of entity: EntityDescription) -> Set<[String]> {
        let attributes = attributes(of: entity).map { [$0.name, $0.isTransient ? "transient" : ""] }
        let relationships = relationships(of: entity).map {
            [$0.name, $0.isToMany ? "to-many" : "to-one", $0.isTransient ? "transient" : ""]
        }
        return Set(attributes + relationships)
    }
}

extension LintStep {
    /// How many objects of a store are concerned, with a space before it; nil without a store.
    fileprivate func rowsSentence(of entity: String) -> String? {
        guard !rows.isEmpty else { return nil }
        // The store has the entities of its own version; a name that is not there was renamed on the way.
        guard let count = rows[entity] else { return nil }
        return " The store has \(Quantity.count(count, "object")) of \(entity)."
    }
}
