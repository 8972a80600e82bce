import MoultModel

// The parts of an entity that hold no data of their own.
extension Differ {
    mutating func compareFetchedProperties(_ old: EntityDescription, _ new: EntityDescription) {
        compareLists(
            old.fetchedProperties, new.fetchedProperties, name: \.name, entity: new.name,
            kinds: (.fetchedPropertyAdded, .fetchedPropertyRemoved, .fetchedProperty)
        ) { property in
            [
                property.isOptional ? "optional" : "required", property.destinationEntityName ?? "nothing",
                property.predicate.map { "where \($0)" }, property.userInfo.listed,
                property.isSyncable ? nil : "not syncable",
            ].compactMap { $0 }.joined(separator: " ")
        }
    }

    mutating func compareIndexes(_ old: EntityDescription, _ new: EntityDescription) {
        compareLists(
            old.fetchIndexes, new.fetchIndexes, name: \.name, entity: new.name,
            kinds: (.indexAdded, .indexRemoved, .index)
        ) { index in
            index.elements.map(\.text).joined(separator: ", ")
                + (index.partialIndexPredicate.map { " where \($0)" } ?? "")
        }
        compareLists(
            old.compoundIndexes, new.compoundIndexes, name: \.joinedNames, entity: new.name,
            kinds: (.compoundIndexAdded, .compoundIndexRemoved, .index)
        ) { $0.joinedNames }
    }

    mutating func compareConstraints(_ old: EntityDescription, _ new: EntityDescription) {
        // By the names that the properties have now: a constraint follows a rename.
        let names = Dictionary(
            (correspondence.propertySources[new.name] ?? [:]).map { ($0.value, $0.key) }
        ) { first, _ in first }
        let before = Set(old.uniquenessConstraints.map { $0.map { names[$0] ?? $0 } })
        let after = Set(new.uniquenessConstraints)
        for constraint in after.subtracting(before).sorted(by: { $0.joinedNames < $1.joinedNames }) {
            report(
                ModelChange(
                    .constraintAdded, entity: new.name, member: constraint.joinedNames, isHashed: true, mayFail: true))
        }
        for constraint in before.subtracting(after).sorted(by: { $0.joinedNames < $1.joinedNames }) {
            report(
                ModelChange(.constraintRemoved, entity: new.name, member: constraint.joinedNames, isHashed: true))
        }
    }

    /// Compares two lists of named parts; `text` says everything about one.
    private mutating func compareLists<Part>(
        _ old: [Part], _ new: [Part], name: (Part) -> String, entity: String?,
        kinds: (added: ModelChange.Kind, removed: ModelChange.Kind, changed: ModelChange.Kind),
        hashed: Set<String> = [], text: (Part) -> String
    ) {
        let before = Dictionary(old.map { (name($0), text($0)) }) { first, _ in first }
        let after = Dictionary(new.map { (name($0), text($0)) }) { first, _ in first }
        for member in Set(before.keys).union(after.keys).sorted(by: { $0.precedesInByteOrder($1) }) {
            let (was, becomes) = (before[member], after[member])
            guard was != becomes else { continue }
            let kind = was == nil ? kinds.added : becomes == nil ? kinds.removed : kinds.changed
            report(
                ModelChange(
                    kind, entity: entity, member: member, old: was, new: becomes, isHashed: hashed.contains(member)))
        }
    }
}

// MARK: - The model as a whole

extension Differ {
    mutating func compareModels() {
        let (old, new) = (correspondence.source.model, correspondence.destination.model)
        compareConfigurations(old, new)
        compareLists(
            old.configurations, new.configurations, name: \.name, entity: nil,
            kinds: (.configurationAdded, .configurationRemoved, .configuration),
            // A store of the configuration has the hashes of its entities only.
            hashed: Set(
                new.configurations.filter { configuration in
                    old.entities(inConfiguration: configuration.name).map { Set($0.map(\.name)) }
                        .map { $0 != Set(configuration.entityNames) } == true
                }.map(\.name))
        ) { configuration in
            configuration.entityNames.sorted { $0.precedesInByteOrder($1) }.joined(separator: ", ")
                + (configuration.usedWithCloudKit ? " with CloudKit" : "")
        }
        compareLists(
            old.composites, new.composites, name: \.name, entity: nil,
            kinds: (.compositeAdded, .compositeRemoved, .composite)
        ) { composite in composite.elements.map { "\($0.name) \($0.type.name)" }.joined(separator: ", ") }
        compareLists(
            old.fetchRequestTemplates, new.fetchRequestTemplates, name: \.name, entity: nil,
            kinds: (.fetchRequestAdded, .fetchRequestRemoved, .fetchRequest)
        ) { template in
            [template.entityName, template.predicate.map { "where \($0)" }, template.options.listed]
                .compactMap { $0 }.joined(separator: " ")
        }
        guard old.versionIdentifiers != new.versionIdentifiers else { return }
        report(
            ModelChange(
                .versionIdentifiers, old: text(old.versionIdentifiers), new: text(new.versionIdentifiers),
                isHashed: false))
    }

    /// The entities that stay in the model and leave a configuration, whose stores lose their objects.
    private mutating func compareConfigurations(_ old: ManagedObjectModel, _ new: ManagedObjectModel) {
        for configuration in new.configurations {
            let held = Set(configuration.entityNames)
            for name in old.entities(inConfiguration: configuration.name)?.map(\.name) ?? [] {
                guard let heir = correspondence.entityDestinations[name], !held.contains(heir) else { continue }
                let others = new.configurations.filter { $0.entityNames.contains(heir) }.map(\.name)
                report(
                    ModelChange(
                        .entityLeft, entity: heir, old: configuration.name,
                        new: others.isEmpty ? nil : others.joinedNames, isHashed: true, losesData: true))
            }
        }
    }

    private func text(_ identifiers: [String]) -> String? {
        let named = identifiers.filter { !$0.isEmpty }
        return named.isEmpty ? nil : named.joined(separator: ", ")
    }
}

extension [String] {
    var joinedNames: String { joined(separator: ", ") }
}

extension FetchIndexDescription.Element {
    fileprivate var text: String {
        let subject =
            switch self.subject {
            case .property(let name): name
            case .expression(let expression): "(\(expression))"
            }
        return subject + (isAscending ? "" : " descending") + (kind == .rTree ? " in an R-tree" : "")
    }
}
