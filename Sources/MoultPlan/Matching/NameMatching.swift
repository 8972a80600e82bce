import MoultModel

/// The matching of things of the destination with things of the source, by names and renaming identifiers alone.
///
/// Both spellings of a chain are understood: an identifier may be the earliest name, kept through all renames (Core
/// Data's own rule), or the name in the version before. In order: an answer decides; an identifier claims what bears
/// or bore that name; an equal name matches; a source identifier that equals a destination's name matches. Where an
/// identifier could mean two things, nothing is matched and the candidates are named.
struct NameMatching {
    /// An entity or a property, with its current and former names.
    struct Item {
        var name: String
        var identifier: String?
        /// Its names in earlier versions, and its former identifiers.
        var formerNames: Set<String> = []

        /// Whether its identifier is another name than its own.
        var isRenamed: Bool { identifier.map { $0 != name } ?? false }

        func isKnown(as name: String) -> Bool { identifier == name || formerNames.contains(name) }
    }

    /// Source names by destination name.
    private(set) var sources: [String: String] = [:]
    /// Destination names whose identifier is ambiguous, with the source names it could mean.
    private(set) var ambiguities: [String: [String]] = [:]

    /// - Parameter answers: by destination name: the old name, or nil in the optional for a thing that is new.
    init(from source: [Item], to destination: [Item], answers: [String: String?] = [:]) {
        let sourceNames = Set(source.map(\.name))
        guard !answers.isEmpty || source.contains(where: \.isRenamed) || destination.contains(where: \.isRenamed) else {
            // Then only equal names match.
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
            // Unchanged since it was renamed.
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
                ambiguities[name] = possible.sorted { $0.precedesInByteOrder($1) }
            }
        }
    }
}
