import MoultBasics
import MoultModel

/// Lists every difference between two corresponding models, entity by entity.
struct Differ {
    let correspondence: EntityMatching
    private(set) var changes: [ModelChange] = []
    /// By property that the source declares, its fate.
    private(set) var fates: [PropertyID: Fate] = [:]
    /// By property that the destination declares, its source properties.
    private(set) var origins: [PropertyID: [PropertyID]] = [:]

    /// The identity of a property: its name and the entity that declares it.
    struct PropertyID: Hashable {
        var entity: String
        var name: String
        var text: String { "\(entity).\(name)" }
    }

    struct Fate {
        var isCarried = false
        /// The entities, by their names in the destination, whose objects lose the property's values.
        var losers: [String] = []
        /// Whether objects of some entity lose the property's values.
        var losesData: Bool { !losers.isEmpty }
    }

    init(_ correspondence: EntityMatching) { self.correspondence = correspondence }

    mutating func run() {
        tracePropertiesThroughEntities()
        for name in entityNames {
            if let pair = correspondence.pair(name) {
                if !isUntouched(pair) { compare(pair) }
            } else if let added = correspondence.destination[name] {
                reportAdded(added.description)
            }
            if correspondence.entityDestinations[name] == nil, let removed = correspondence.source[name] {
                reportRemoved(removed.description)
            }
        }
        compareModels()
    }

    /// The entities of both versions, each once, in byte order.
    private var entityNames: [String] {
        let names = correspondence.destination.names
        let removed = correspondence.source.names.filter { correspondence.entityDestinations[$0] == nil }
        // The names of each version are already in order.
        return removed.isEmpty ? names : Set(removed + names).inByteOrder()
    }

    mutating func report(_ change: ModelChange) { changes.append(change) }

    /// Compares the facts of two entities, attributes or relationships.
    mutating func compare<Subject>(
        _ old: Subject, _ new: Subject, by facts: [ComparedProperty<Subject>], entity: String, member: String? = nil,
        isHashed: (ModelChange.Kind) -> Bool = { _ in true }
    ) where Subject: Equatable {
        guard old != new else { return }
        for fact in facts {
            let (before, after) = (fact.read(old), fact.read(new))
            guard before != after, fact.kind != .cloudEncryption || comparesEncryption else { continue }
            report(
                ModelChange(
                    fact.kind, entity: entity, member: member, old: before, new: after,
                    isHashed: fact.isHashed && isHashed(fact.kind), losesData: fact.losesData(old, new),
                    mayFail: fact.mayFail(old, new) && !(fact.kind == .optional && hasValue(member, of: entity))))
        }
    }

    /// Whether both versions say which attributes are encrypted.
    private var comparesEncryption: Bool {
        let (older, newer) = (correspondence.source.model, correspondence.destination.model)
        return older.describesCloudEncryption && newer.describesCloudEncryption
    }

    /// Whether an answer supplies a value for objects without a value of the property.
    private func hasValue(_ member: String?, of entity: String) -> Bool {
        member.flatMap { correspondence.answers.property($0, declaredBy: entity) }?.is == .value
    }

    /// Follows each property through every entity that has it, so that moves up or down the hierarchy are found.
    private mutating func tracePropertiesThroughEntities() {
        for oldName in correspondence.source.names {
            guard let source = correspondence.source[oldName] else { continue }
            guard let name = correspondence.entityDestinations[oldName], let pair = correspondence.pair(name),
                !isUntouched(pair)
            else { continue }
            let destinations = Dictionary(
                (correspondence.propertySources[name] ?? [:]).map { ($0.value, $0.key) }
            ) { first, _ in first }
            for property in Array(source.attributes.keys) + Array(source.relationships.keys) {
                let id = PropertyID(entity: source.declaringEntity(of: property), name: property)
                guard let goal = destinations[property] else {
                    if holdsData(property, in: source) { fates[id, default: Fate()].losers.append(name) }
                    continue
                }
                fates[id, default: Fate()].isCarried = true
                let goalID = PropertyID(entity: pair.destination.declaringEntity(of: goal), name: goal)
                // Most properties have one origin; sub-entities repeat an inherited one.
                if origins[goalID]?.contains(id) != true { origins[goalID, default: []].append(id) }
            }
        }
    }

    /// Whether an entity without a hierarchy is unchanged, including the destinations of its relationships.
    private func isUntouched(_ pair: EntityMatching.Pair) -> Bool {
        let entity = pair.source
        guard entity === pair.destination, !entity.isInHierarchy(of: correspondence.source.model),
            !entity.isInHierarchy(of: correspondence.destination.model)
        else { return false }
        if correspondence.kept.contains(entity.name) { return true }
        guard correspondence.isSame(entity.name) else { return false }
        return entity.relationships.values.allSatisfy { relationship in
            let destination = relationship.destinationEntityName
            guard correspondence.entitySources[destination] == destination else { return false }
            return relationship.inverseName.map { correspondence.source(of: $0, in: destination) == $0 } ?? true
        }
    }

    private func holdsData(_ property: String, in entity: ResolvedEntity) -> Bool {
        guard !entity.description.isAbstract else { return false }
        if let attribute = entity.attributes[property] { return attribute.isStored && attribute.derivation == nil }
        return entity.relationships[property]?.isTransient == false
    }

    // MARK: - Entities

    private mutating func reportAdded(_ entity: EntityDescription) {
        report(ModelChange(.entityAdded, entity: entity.name, new: summary(entity), isHashed: true))
    }

    private mutating func reportRemoved(_ entity: EntityDescription) {
        report(
            ModelChange(
                .entityRemoved, entity: entity.name, old: summary(entity), isHashed: true,
                losesData: !entity.isAbstract))
        // Its sub-entities may stay, without the inherited properties.
        reportRemovedProperties(of: entity, named: entity.name)
    }

    private func summary(_ entity: EntityDescription) -> String {
        let parent = entity.superentityName.map { ", a kind of \($0)" } ?? ""
        return Quantity.count(entity.attributes.count, "attribute") + ", "
            + Quantity.count(entity.relationships.count, "relationship") + parent
    }

    private mutating func compare(_ pair: EntityMatching.Pair) {
        let (old, new) = (pair.source.description, pair.destination.description)
        if old.name != new.name { report(ModelChange(.entityRenamed, entity: new.name, old: old.name, isHashed: true)) }
        compareParents(old, new)
        compare(old, new, by: entityFacts, entity: new.name)
        compareProperties(of: pair)
        compareFetchedProperties(old, new)
        compareIndexes(old, new)
        compareConstraints(old, new)
    }

    private mutating func compareParents(_ old: EntityDescription, _ new: EntityDescription) {
        let mapped = new.superentityName.flatMap { correspondence.entitySources[$0] }
        guard mapped != old.superentityName || (new.superentityName == nil) != (old.superentityName == nil) else {
            return
        }
        report(
            ModelChange(.parent, entity: new.name, old: old.superentityName, new: new.superentityName, isHashed: true))
    }
}

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
        // Use the present names of the properties: a constraint follows a rename.
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
            report(ModelChange(.constraintRemoved, entity: new.name, member: constraint.joinedNames, isHashed: true))
        }
    }

    /// Compares two lists of named parts; `text` returns a full description of a part.
    private mutating func compareLists<Part>(
        _ old: [Part], _ new: [Part], name: (Part) -> String, entity: String?,
        kinds: (added: ModelChange.Kind, removed: ModelChange.Kind, changed: ModelChange.Kind),
        hashed: Set<String> = [], text: (Part) -> String
    ) {
        let before = Dictionary(old.map { (name($0), text($0)) }) { first, _ in first }
        let after = Dictionary(new.map { (name($0), text($0)) }) { first, _ in first }
        for member in Set(before.keys).union(after.keys).inByteOrder() {
            let (was, becomes) = (before[member], after[member])
            guard was != becomes else { continue }
            let kind = was == nil ? kinds.added : becomes == nil ? kinds.removed : kinds.changed
            report(
                ModelChange(
                    kind, entity: entity, member: member, old: was, new: becomes, isHashed: hashed.contains(member)))
        }
    }

    // MARK: - The model as a whole

    mutating func compareModels() {
        let (old, new) = (correspondence.source.model, correspondence.destination.model)
        compareConfigurations(old, new)
        compareLists(
            old.configurations, new.configurations, name: \.name, entity: nil,
            kinds: (.configurationAdded, .configurationRemoved, .configuration),
            // A store of a configuration has the hashes of that configuration's entities only.
            hashed: Set(
                new.configurations.filter { configuration in
                    old.entities(inConfiguration: configuration.name).map { Set($0.map(\.name)) }
                        .map { $0 != Set(configuration.entityNames) } == true
                }.map(\.name))
        ) { configuration in
            configuration.entityNames.inByteOrder().joined(separator: ", ")
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

    /// Reports the entities that stay in the model but leave a configuration, so that its stores lose their objects.
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
