import MoultBasics

extension VersionRegistry {
    /// The migrations that lead from one version to a later one: fewest first, over registered ones and neighbours, of
    /// which the rest is inferred.
    ///
    /// - Returns: none where the two are one.
    /// - Throws: `incompatibleVersion` if the way would lead back, or a version is not registered.
    public func path(from: SemanticVersion, to: SemanticVersion) throws -> [VersionedMigration] {
        guard let start = versions.firstIndex(where: { $0.version == from }),
            let end = versions.firstIndex(where: { $0.version == to }), start <= end
        else {
            throw incompatible(from, to)
        }
        guard start < end else { return [] }
        var best: [SemanticVersion: [VersionedMigration]] = [from: []]
        for position in (start + 1)...end {
            let (older, newer) = (versions[position - 1], versions[position])
            var arrivals = migrations.filter { $0.to == newer.version }
            if !arrivals.contains(where: { $0.from == older.version }) {
                arrivals.append(
                    VersionedMigration(
                        from: older.version, to: newer.version, type: newer.type, description: newer.description))
            }
            let ways = arrivals.compactMap { last in best[last.from].map { $0 + [last] } }
            best[newer.version] = ways.min { $0.count < $1.count }
        }
        return best[to] ?? []
    }

    /// The whole way from one version to a later one as one migration: its time is the sum, its steps are all steps.
    ///
    /// - Returns: nil if the two are one.
    /// - Throws: `incompatibleVersion` if the way would lead back, or a version is not registered.
    public func migrationPlan(from: SemanticVersion, to: SemanticVersion) throws -> VersionedMigration? {
        VersionedMigration(try path(from: from, to: to))
    }

    func incompatible(_ from: SemanticVersion, _ to: SemanticVersion) -> MigrationError {
        let names = versions.map(\.version.description).joined(separator: ", ")
        let missing = [from, to].filter { self[$0] == nil }.map(\.description)
        return MigrationError(
            .incompatibleVersion,
            missing.isEmpty
                ? "No migration leads from \(from) back to \(to)."
                : "The version \(missing.joined(separator: " and ")) is not registered.",
            place: missing.first ?? from.description,
            remedy: missing.isEmpty
                ? "Roll back to a backup of \(to), or choose a later version." : "Name one of: \(names).")
    }
}
