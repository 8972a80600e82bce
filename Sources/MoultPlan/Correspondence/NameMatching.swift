import MoultBasics
import MoultModel

/// The matching of items of the destination with items of the source, by names and renaming identifiers alone.
///
/// An identifier may be the earliest name, kept through all renames (Core Data's own rule), or the name in the version
/// before. The rules apply in this order: an answer decides; an identifier claims the item with that name, past or
/// present; equal names match; a source identifier matches an equal destination name. An ambiguous identifier matches
/// nothing, and its candidates are listed.
struct NameMatching {
    /// An entity or a property, with its current and former names.
    struct Item {
        var name: String
        var identifier: String?
        /// Its names in earlier versions, and its former identifiers.
        var formerNames: Set<String> = []

        /// Whether its identifier differs from its name.
        var isRenamed: Bool { identifier.map { $0 != name } ?? false }

        func isKnown(as name: String) -> Bool { identifier == name || formerNames.contains(name) }
    }

    /// Source names by destination name.
    private(set) var sources: [String: String] = [:]
    /// Destination names whose identifier is ambiguous, with the source names it could mean.
    private(set) var ambiguities: [String: [String]] = [:]

    /// - Parameter answers: by destination name, the old name, or an inner nil for a new item.
    init(from source: [Item], to destination: [Item], answers: [String: String?] = [:]) {
        let sourceNames = Set(source.map(\.name))
        guard !answers.isEmpty || source.contains(where: \.isRenamed) || destination.contains(where: \.isRenamed) else {
            // Without answers or renames, only equal names match.
            sources.reserveCapacity(destination.count)
            for item in destination where sourceNames.contains(item.name) { sources[item.name] = item.name }
            return
        }
        var taken: Set<String> = []
        for (name, old) in answers {
            guard let old, sourceNames.contains(old) else { continue }
            sources[name] = old
            taken.insert(old)
        }
        let open = destination.filter { answers[$0.name] == nil }
        claimByIdentifier(open, source: source.filter { !taken.contains($0.name) }, taken: &taken)
        for item in open where sources[item.name] == nil && ambiguities[item.name] == nil {
            guard sourceNames.contains(item.name), taken.insert(item.name).inserted else { continue }
            sources[item.name] = item.name
        }
        let byIdentifier = Dictionary(grouping: source) { $0.identifier }
        for item in open where sources[item.name] == nil && ambiguities[item.name] == nil {
            let matches = byIdentifier[item.name, default: []].filter { !taken.contains($0.name) }
            guard matches.count == 1, let match = matches.first else { continue }
            sources[item.name] = match.name
            taken.insert(match.name)
        }
    }

    private mutating func claimByIdentifier(_ open: [Item], source: [Item], taken: inout Set<String>) {
        guard open.contains(where: \.isRenamed) else { return }
        let byName = Dictionary(source.map { ($0.name, $0) }) { first, _ in first }
        let openNames = Set(open.map(\.name))
        var known: [String: [String]] = [:]
        for item in source {
            for name in item.formerNames.union([item.name, item.identifier].compactMap { $0 }) {
                known[name, default: []].append(item.name)
            }
        }
        var claims: [String: [String]] = [:]
        for item in open {
            guard item.isRenamed, let identifier = item.identifier else { continue }
            // The item has not changed since its rename.
            if let same = byName[item.name], same.isKnown(as: identifier) { continue }
            if let candidates = known[identifier] { claims[item.name] = candidates }
        }
        let claimants = Dictionary(grouping: claims.flatMap { claim in claim.value.map { ($0, claim.key) } }, by: \.0)
        for (name, candidates) in claims {
            var possible = Set(candidates)
            if byName[name] != nil, claimants[name] == nil { possible.insert(name) }
            let rivals = candidates.contains { candidate in
                claimants[candidate, default: []].count > 1 || openNames.contains(candidate) && claims[candidate] == nil
            }
            if possible.count == 1, !rivals, let old = possible.first {
                sources[name] = old
                taken.insert(old)
            } else {
                ambiguities[name] = possible.inByteOrder()
            }
        }
    }
}

/// The former names of the entities and properties of one version, through all earlier versions.
///
/// Only renamed entities and properties have entries, so the others cost nothing.
package struct RenamingHistory: Sendable, Equatable {
    private(set) var entities: [String: Set<String>] = [:]
    /// By entity, inherited properties included.
    private(set) var properties: [String: [String: Set<String>]] = [:]

    package init() {}

    /// Returns the names of an entity in earlier versions.
    package func names(ofEntity entity: String) -> Set<String> { entities[entity] ?? [] }

    /// Returns the names of a property in earlier versions.
    package func names(of property: String, in entity: String) -> Set<String> { properties[entity]?[property] ?? [] }

    /// Returns the history up to the next version.
    package func advanced(along correspondence: EntityMatching) -> RenamingHistory {
        var next = RenamingHistory()
        let hasNames = !entities.isEmpty || !properties.isEmpty || correspondence.source.hasRenamingIdentifiers
        for (entity, source) in correspondence.entitySources {
            // An unchanged entity adds no names.
            if !hasNames, correspondence.kept.contains(entity) { continue }
            var names = entities[source] ?? []
            if source != entity { names.insert(source) }
            if let identifier = correspondence.source[source]?.description.renamingIdentifier {
                names.insert(identifier)
            }
            names.remove(entity)
            if !names.isEmpty { next.entities[entity] = names }
            let known = advancedProperties(of: entity, from: source, along: correspondence)
            if !known.isEmpty { next.properties[entity] = known }
        }
        return next
    }

    private func advancedProperties(of entity: String, from source: String, along correspondence: EntityMatching)
        -> [String: Set<String>]
    {
        let former = properties[source] ?? [:]
        let old = correspondence.source[source]
        if former.isEmpty, let old, !old.hasRenamedProperties, old.sameNames == correspondence.propertySources[entity] {
            return [:]
        }
        var known: [String: Set<String>] = [:]
        for (property, sourceProperty) in correspondence.propertySources[entity] ?? [:] {
            var names = former[sourceProperty] ?? []
            if property != sourceProperty { names.insert(sourceProperty) }
            let identifier =
                old?.attributes[sourceProperty]?.renamingIdentifier
                ?? old?.relationships[sourceProperty]?.renamingIdentifier
            if let identifier { names.insert(identifier) }
            names.remove(property)
            if !names.isEmpty { known[property] = names }
        }
        return known
    }
}
