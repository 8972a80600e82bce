import MoultModel

extension ModelLock {
    /// Returns the findings about what has happened to the released versions of a model since they were locked.
    ///
    /// - `released-version-changed` (error): its hashes are others, so that stores of it are no longer recognised.
    /// - `released-version-changed-unhashed` (warning): something that hashes leave out differs.
    /// - `released-version-missing` (warning), `version-not-locked` (note).
    ///
    /// - Parameter versions: one for each file, as in `ModelBundle.versions`.
    package func check(_ versions: [ModelVersion], of modelPath: String) -> [Finding] {
        guard let locked = self.versions(of: modelPath) else {
            return [
                Finding(
                    code: "model-not-locked", severity: .note, place: Self.path(besideModelAt: modelPath),
                    message: "The lock file has no entry for \(modelPath.fileName).",
                    remedy: "Run \(.lock) when its versions are released.")
            ]
        }
        let current = (try? versions.concurrentMap(Version.init)) ?? []
        let place = Self.path(besideModelAt: modelPath)
        let changes = locked.compactMap { released -> Finding? in
            guard let version = current.first(where: { $0.name == released.name }) else {
                return Self.missing(released, place: place)
            }
            return version == released ? nil : Self.changed(released, to: version, place: place)
        }
        let new = current.filter { version in !locked.contains { $0.name == version.name } }
        return changes
            + new.map { version in
                Finding(
                    code: "version-not-locked", severity: .note, place: place,
                    message: "The version \(version.name) is not locked.",
                    remedy: "Run \(.lock) when it is released.")
            }
    }

    private static func missing(_ released: Version, place: String) -> Finding {
        Finding(
            code: "released-version-missing", severity: .warning, place: place,
            message: "The released version \(released.name) is missing.",
            remedy: "Restore it: stores of that version cannot be migrated without it.")
    }

    private static func changed(_ released: Version, to version: Version, place: String) -> Finding {
        let added = version.entities.keys.filter { released.entities[$0] == nil }
        let removed = released.entities.keys.filter { version.entities[$0] == nil }
        let hashed = differing(released, version, \.hash)
        let unhashed = differing(released, version, \.fingerprint).filter { !hashed.contains($0) }
        let parts = [
            list(hashed, "changed"), list(added, "added"), list(removed, "removed"),
            list(unhashed, "changed in parts that the version hash does not cover"),
        ].compactMap(\.self)
        let what = parts.isEmpty ? "its configurations, composites or fetch requests" : parts.joined(separator: "; ")
        let isHashed = released.checksum != version.checksum
        return Finding(
            code: isHashed ? "released-version-changed" : "released-version-changed-unhashed",
            severity: isHashed ? .error : .warning, place: place,
            message: "The released version \(released.name) differs from the locked one: \(what).",
            remedy: isHashed
                ? "Undo the change and make it in a new version. If this version was never released, lock it again."
                : "Stores of that version open without a migration, so the change does not reach them: "
                    + "make it in a new version, or lock it again.")
    }

    private static func differing(_ left: Version, _ right: Version, _ part: (Entity) -> [UInt8]) -> [String] {
        left.entities.compactMap { name, entity in
            guard let other = right.entities[name], part(entity) != part(other) else { return nil }
            return name
        }
    }

    private static func list(_ names: [String], _ what: String) -> String? {
        names.isEmpty ? nil : "\(names.sorted { $0.precedesInByteOrder($1) }.joined(separator: ", ")) \(what)"
    }
}
