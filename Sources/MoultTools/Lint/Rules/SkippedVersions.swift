import MoultBasics
import MoultModel
import MoultPlan

/// The rule about stores that skip versions. Core Data infers a migration from the store's own version straight to the
/// current one, and knows no names of the versions between them.
enum SkippedVersions {
    /// A rename that the versions between show, and the current version alone does not.
    private struct Rename {
        let entity: String
        let property: String?
        let old: String
        /// The names of the older versions.
        var versions: [String]
    }

    static func droppedIdentifiers(_ subject: LintSubject) -> [LintMatch] {
        // The stages of a plan lead through every version.
        guard subject.planFindings == nil, let newest = subject.nodes.versions.last else { return [] }
        return renames(subject).flatMap { rename in
            let place = [rename.entity, rename.property].compactMap { $0 }.joined(separator: ".")
            let what = rename.property == nil ? "objects" : "values"
            let match = LintMatch(
                newest.name, rename.entity, rename.property,
                "A later version renames \(rename.old) of \(rename.versions.joined(separator: ", ")), and \(place) of "
                    + "\(newest.name) no longer says so. Core Data migrates such a store straight to \(newest.name), and "
                    + "loses the \(what).",
                remedy: "Set the renaming identifier to the oldest name: "
                    + "\(markup: "elementID=\"\(rename.old.escapedForXML)\"", rename.old).",
                edit: .init(("elementID", rename.old)))
            return subject.released([match], of: newest)
        }
    }

    /// Returns the renames from each older version, oldest first; only from released ones if it is known which these are.
    private static func renames(_ subject: LintSubject) -> [Rename] {
        let versions = subject.nodes.versions
        let steps = Array(subject.steps.suffix(versions.count - 1))
        let kinds: Set<ModelChange.Kind> = [.entityRenamed, .attributeRenamed, .relationshipRenamed]
        guard versions.count > 2, steps.contains(where: { $0.diff.changes.contains { kinds.contains($0.kind) } }) else {
            return []
        }
        guard let chains = try? EntityMatching.chains(subject.nodes) else { return [] }
        var found: [Rename] = []
        for (position, older) in versions.dropLast(2).enumerated() {
            // A mapping model decides about the values itself.
            guard subject.releases.isEmpty || subject.isReleased(older),
                !steps[position...].contains(where: \.isRegistered)
            else { continue }
            for rename in renames(from: older, along: chains[position], subject.nodes) {
                if let same = found.firstIndex(where: { ($0.entity, $0.property) == (rename.entity, rename.property) })
                {
                    found[same].versions += rename.versions
                } else {
                    found.append(rename)
                }
            }
        }
        return found
    }

    private static func renames(
        from older: ModelVersion, along chain: EntityMatching, _ nodes: ModelVersions
    ) -> [Rename] {
        guard let newest = nodes.versions.last, let direct = try? EntityMatching(from: older, to: newest) else {
            return []
        }
        return newest.model.entities.flatMap { entity -> [Rename] in
            let name = entity.name
            guard let source = chain.entitySources[name], let former = older.model.entity(source) else { return [] }
            guard direct.entitySources[name] == source else {
                return [Rename(entity: name, property: nil, old: source, versions: [older.name])]
            }
            let stored =
                older.model.attributes(of: former).filter(\.isStored).map(\.name)
                + older.model.relationships(of: former).filter { !$0.isTransient }.map(\.name)
            let properties =
                entity.attributes.filter(\.isStored).map(\.name)
                + entity.relationships.filter { !$0.isTransient }.map(\.name)
            return properties.compactMap { property in
                guard let old = chain.propertySources[name]?[property], old != property, stored.contains(old),
                    direct.propertySources[name]?[property] != old
                else { return nil }
                return Rename(entity: name, property: property, old: old, versions: [older.name])
            }
        }
    }
}
