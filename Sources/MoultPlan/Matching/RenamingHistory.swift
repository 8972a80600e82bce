import MoultModel

/// The former names of the entities and properties of one version, through all earlier versions.
///
/// It has entries only for renamed things, so it costs nothing for the rest.
package struct RenamingHistory: Sendable, Equatable {
    private(set) var entities: [String: Set<String>] = [:]
    /// By entity, inherited properties included.
    private(set) var properties: [String: [String: Set<String>]] = [:]

    package init() {}

    /// Returns the names of an entity in earlier versions.
    package func names(ofEntity entity: String) -> Set<String> { entities[entity] ?? [] }

    /// Returns the names of a property in earlier versions.
    package func names(of property: String, in entity: String) -> Set<String> { properties[entity]?[property] ?? [] }

    /// The history one version later.
    package func advanced(along correspondence: Correspondence) -> RenamingHistory {
        var next = RenamingHistory()
        let hasNames =
            !entities.isEmpty || !properties.isEmpty || correspondence.source.hasRenamingIdentifiers
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

    private func advancedProperties(of entity: String, from source: String, along correspondence: Correspondence)
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
