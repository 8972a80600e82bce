import MoultBasics
import MoultModel

/// The relation of a store to the versions of a model. The five cases exclude each other.
package enum VersionStatus: Sendable, Equatable {
    case current(version: String)
    /// The store is `by` versions older than the target, 1 or more.
    case behind(version: String, by: Int, target: String)
    /// The store is of a later version than the target.
    case ahead(version: String, by: Int, target: String)
    /// The store's hashes match no version. The nearest one comes with its differences; nil if there are no versions.
    case unknown(nearest: Nearest?)
    /// The file is not a Core Data store.
    case notCoreData(reason: String)

    /// The version that comes closest to an unknown store.
    package struct Nearest: Sendable, Equatable {
        package var version: String
        package var position: Int
        /// Entities that only the store has, in byte order.
        package var added: [String]
        /// Entities that only the version has.
        package var missing: [String]
        /// Entities that both have, with different hashes.
        package var changed: [String]
        /// Whether the store has so little in common with every version that it is of another app.
        package var isOfAnotherApp = false

        /// The difference, in one sentence.
        package var sentence: String {
            if isOfAnotherApp {
                let names = added.prefix(5).joined(separator: ", ") + (added.count > 5 ? ", …" : "")
                let common = changed.isEmpty ? "none" : "only \(changed.joined(separator: ", "))"
                return "It is of another app: the model has \(common) of its entities (\(names))."
            }
            let parts = [
                ("also has", added), ("lacks", missing), ("has different", changed),
            ].filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ", "))" }
            return parts.isEmpty
                ? "The store equals \(version)." : "Nearest is \(version): the store \(parts.joined(separator: ", "))."
        }
    }

    /// - Parameters:
    ///   - hashes: the hashes in the store's metadata.
    ///   - identifiers: the version identifiers there, which tell versions with these hashes apart.
    ///   - target: the target version; nil for the current one, or the last if none is marked as current.
    ///   - part: the part of the model to hold; nil for the part that the store holds now.
    /// - Throws: `noPath` if there is no version of that name; `unsupported` if it lacks the store's configuration.
    package init(
        of hashes: VersionHashes, identifiers: [String] = [], in versions: ModelVersions, target: String? = nil,
        as part: StorePart? = nil
    ) throws(MigrationError) {
        guard !versions.versions.isEmpty else {
            self = .unknown(nearest: nil)
            return
        }
        guard let way = try versions.way(of: hashes, identifiers: identifiers, to: target, as: part) else {
            self = .unknown(nearest: versions.nearest(to: hashes))
            return
        }
        let (position, goal) = (way.start, way.end)
        let (name, goalName) = (way.versions.versions[position].name, way.versions.versions[goal].name)
        if position == goal {
            self = .current(version: name)
        } else if position < goal {
            self = .behind(version: name, by: goal - position, target: goalName)
        } else {
            self = .ahead(version: name, by: position - goal, target: goalName)
        }
    }

    /// The name of the status in machine-readable output.
    package var name: String {
        switch self {
        case .current: "current"
        case .behind: "behind"
        case .ahead: "ahead"
        case .unknown: "unknown"
        case .notCoreData: "notCoreData"
        }
    }

    /// The status in one sentence.
    package var sentence: String {
        switch self {
        case .current(let version): "The store is of the current version \(version)."
        case .behind(let version, let count, let target):
            "The store is of version \(version), \(count) behind \(target)."
        case .ahead(let version, let count, let target):
            "The store is of version \(version), \(count) ahead of \(target)."
        case .unknown(let nearest):
            nearest.map { "The store is of no version of the model. \($0.sentence)" }
                ?? "The store contains no model that fits. Its rows can be read under the names of its tables."
        case .notCoreData(let reason): "It is not a Core Data store: \(reason)"
        }
    }
}

extension ModelVersions {
    /// Returns the position of the named version; without a name, of the current version, or else of the last.
    ///
    /// - Throws: `noPath`.
    package func target(named name: String?) throws(MigrationError) -> Int {
        if let name { return try knownPosition(of: name) }
        if let currentFault { throw currentFault }
        if let current = currentName.flatMap(position(named:)) { return current }
        guard !versions.isEmpty else {
            throw MigrationError(
                .noPath, "The model has no versions.", remedy: "Name a model with at least one version.")
        }
        return versions.count - 1
    }

    /// - Throws: `noPath` if there is no version of that name.
    package func knownPosition(of name: String) throws(MigrationError) -> Int {
        if let position = position(named: name) { return position }
        let near = Suggestion.sentence(for: name, among: versions.flatMap(\.names))
        let names = versions.map(\.name).joined(separator: ", ")
        throw MigrationError(
            .noPath, "There is no version \(name).\(near)", place: name, remedy: "Name one of these: \(names).")
    }

    /// Returns the version with the fewest differing entities, the latest of several; nil if there are no versions.
    package func nearest(to hashes: VersionHashes) -> VersionStatus.Nearest? {
        let store = hashes.entities
        func difference(from version: ModelVersion) -> Int {
            let known = version.hashes.entities
            return store.count { known[$0.key] != $0.value } + known.keys.count { store[$0] == nil }
        }
        let ranked = versions.enumerated().map { (position: $0.offset, count: difference(from: $0.element)) }
        guard let best = ranked.min(by: { ($0.count, -$0.position) < ($1.count, -$1.position) }) else { return nil }
        let version = versions[best.position]
        let known = version.hashes.entities
        func sorted(_ names: some Sequence<String>) -> [String] { names.inByteOrder() }
        return VersionStatus.Nearest(
            version: version.name, position: best.position, added: sorted(store.keys.filter { known[$0] == nil }),
            missing: sorted(known.keys.filter { store[$0] == nil }),
            changed: sorted(store.keys.filter { known[$0] != nil && known[$0] != store[$0] }),
            isOfAnotherApp: isOfAnotherApp(store))
    }

    /// Whether no entity of a store has a hash of any version, and hardly one has a name that is in them. A common name,
    /// such as User, may occur in any app.
    private func isOfAnotherApp(_ store: [String: [UInt8]]) -> Bool {
        guard !store.isEmpty, !versions.isEmpty else { return false }
        let known = versions.map(\.hashes.entities)
        let isShared = store.contains { name, hash in known.contains { $0[name] == hash } }
        return !isShared && store.keys.count { name in known.contains { $0[name] != nil } } * 4 < store.count
    }
}
