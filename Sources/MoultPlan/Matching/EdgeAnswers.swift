import MoultModel

/// The answers about one pair of versions, found by entity and property.
struct EdgeAnswers: Sendable {
    let all: [Answer]
    private let byEntity: [String: Answer]
    private let byProperty: [String: [String: Answer]]

    init(_ answers: [Answer] = []) {
        all = answers
        var byEntity: [String: Answer] = [:]
        var byProperty: [String: [String: Answer]] = [:]
        for answer in answers {
            if let property = answer.property {
                byProperty[answer.entity, default: [:]][property] = answer
            } else {
                byEntity[answer.entity] = answer
            }
        }
        self.byEntity = byEntity
        self.byProperty = byProperty
    }

    func entity(_ name: String) -> Answer? { byEntity[name] }

    /// The answer about a property, by the entity that declares it.
    func property(_ name: String, declaredBy entity: String) -> Answer? { byProperty[entity]?[name] }

    /// The decided entity names alone, for `NameMatching`.
    var entityNames: [String: String?] { byEntity.compactMapValues(\.decidedName) }

    func propertyNames(of entity: ResolvedEntity) -> [String: String?] {
        guard !byProperty.isEmpty else { return [:] }
        var names: [String: String?] = [:]
        for declaring in entity.lineage {
            for (property, answer) in byProperty[declaring.name] ?? [:] {
                if let decided = answer.decidedName { names[property] = .some(decided) }
            }
        }
        return names
    }
}

extension Answer {
    /// The old name of a rename, nil within for a new thing; nil if the answer decides neither.
    fileprivate var decidedName: String?? {
        switch self.is {
        case .rename: .some(old)
        case .new: .some(nil)
        case .keep, .drop, .value: .none
        }
    }
}

extension EdgeAnswers {
    /// Refuses an answer about things that the two versions do not have.
    func check(from source: ResolvedModel, to destination: ResolvedModel, sourceOf entitySources: [String: String])
        throws(MigrationError)
    {
        for answer in all {
            guard let entity = destination[answer.entity] else {
                throw answer.refused("\(answer.to) has no entity \(answer.entity)")
            }
            guard let property = answer.property else {
                try answer.checkEntity(in: source)
                continue
            }
            guard entity.attributes[property] != nil || entity.relationships[property] != nil else {
                throw answer.refused("\(answer.entity) of \(answer.to) has no property \(property)")
            }
            let declaring = entity.declaringEntity(of: property)
            guard declaring == answer.entity else {
                throw answer.refused("\(property) is declared by \(declaring); answer for that entity")
            }
            guard answer.is == .rename, let old = answer.old else { continue }
            let isAttribute = entity.attributes[property] != nil
            let sources = destination.family(of: answer.entity).compactMap { entitySources[$0] }
            let exists = sources.contains { name in
                isAttribute ? source[name]?.attributes[old] != nil : source[name]?.relationships[old] != nil
            }
            guard exists else {
                throw answer.refused(
                    "\(answer.from) has no \(isAttribute ? "attribute" : "relationship") \(old) there")
            }
        }
    }
}

extension Answer {
    fileprivate func checkEntity(in source: ResolvedModel) throws(MigrationError) {
        switch self.is {
        case .rename:
            if let old, source[old] == nil { throw refused("\(from) has no entity \(old)") }
        case .new: break
        case .keep, .drop, .value: throw refused("an entity that is in only one of the versions is renamed or new")
        }
    }

    func refused(_ reason: String) -> MigrationError {
        MigrationError(
            .usage, "The answer \(json) fits no question: \(reason).", place: place,
            remedy:
                "Remove it with \(.answer, .anyModel, .forget(place)), or correct it in the answers file."
        )
    }
}
