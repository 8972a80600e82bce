import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// A proof that a registered shortcut has the same result as migrating from version to version.
///
/// Both paths run on copies, and their resulting objects are compared: every column except the count of writes, every
/// link, the version. Data outside the model's versions, such as persistent history, is not compared.
package struct ShortcutProof {
    private let versions: ModelVersions
    private let options: PreparedMigration.Options
    private let system: any System

    package init(_ versions: ModelVersions, options: PreparedMigration.Options, system: any System = POSIXSystem()) {
        (self.versions, self.options, self.system) = (versions, options, system)
    }

    /// Returns the differences, one sentence for each table; empty if both paths have the same result.
    ///
    /// - Parameters:
    ///   - store: the store, which does not change.
    ///   - target: the target version; nil for the current one.
    /// - Throws: `usage` if no shortcut leads to the target; what either path throws.
    package func differences(on store: String, to target: String? = nil) throws -> [String] {
        let temporary = try TemporaryFolder("shortcut", system)
        let folder = temporary.path
        defer { temporary.remove() }
        var options = options
        // The copies lose nothing of the store itself.
        options.losses = .asTheVersionsSay()
        var walking = options
        walking.registered = try walking.registered.filter { try !isShortcut($0.from, $0.to) }
        walking.registry.stages = try walking.registry.stages.filter { try !isShortcut($0.from, $0.to) }
        walking.registry.mappings = try walking.registry.mappings.filter { try !isShortcut($0.from, $0.to) }
        let short = try copy(store, to: Path.join(folder, "short"))
        let walked = try copy(store, to: Path.join(folder, "walked"))
        let (shortEdges, walkedEdges) = (try migrate(short, target, options), try migrate(walked, target, walking))
        guard shortEdges < walkedEdges else {
            throw MigrationError(
                .usage, "No registered shortcut leads to \(target ?? "the current version") from the store's version.",
                place: store, remedy: "Register one, or give a store of the version that it starts at.")
        }
        return try compare(short, walked)
    }

    private func isShortcut(_ from: String, _ to: String) throws -> Bool {
        try versions.knownPosition(of: to) - versions.knownPosition(of: from) > 1
    }

    private func copy(_ store: String, to folder: String) throws -> String {
        try system.makeFolder(folder)
        return try ReadOnlyStore.read(store, system: system) { probe in
            let path = Path.join(folder, Path.name(of: probe.path))
            try BackupFolder(folder, system).copyPages(from: probe.connection, to: path, .own, .none)
            let (from, to) = (ExternalStorage(store: probe.path), ExternalStorage(store: path))
            if try system.exists(from.folder) {
                try system.copyTree(from.supportFolder, to: to.supportFolder, to.rights)
            }
            return path
        }
    }

    /// - Returns: the number of edges.
    private func migrate(_ path: String, _ target: String?, _ options: PreparedMigration.Options) throws -> Int {
        let prepared = try PreparedMigration(path, versions: versions, to: target, options: options, system: system)
        _ = try Migrator(options: MigrationOptions(isFrugal: true), system: system).run(prepared)
        return prepared.plan.edges.count
    }

    // MARK: - Comparing

    private static let uncompared: Set<String> = [
        "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
    ]

    private func compare(_ short: String, _ walked: String) throws -> [String] {
        let connection = try Connection(short, mode: .readOnly)
        defer { connection.close() }
        try connection.attach(walked, as: "walked", mode: .readOnly)
        var differences: [String] = []
        if try StoreState(connection).hashes != StoreState(connection, schema: "walked").hashes {
            differences.append("The two stores are of different versions.")
        }
        for table in try tables(connection) where !Self.uncompared.contains(table) {
            let columns = try texts(connection, "SELECT name FROM pragma_table_info(?)", [.text(table)])
                .filter { $0 != "Z_OPT" }.map(\.quotedName).joined(separator: ", ")
            let name = table.quotedName
            let only = try ["main", "walked"].map { one in
                let other = one == "main" ? "walked" : "main"
                return try connection.integer(
                    "SELECT count(*) FROM (SELECT \(columns) FROM \(one).\(name) EXCEPT SELECT \(columns) FROM \(other).\(name))"
                ) ?? 0
            }
            guard only != [0, 0] else { continue }
            differences.append(
                "\(table): \(Quantity.count(only[0], "row is", plural: "rows are")) made only by the shortcut, \(only[1]) only by the single migrations."
            )
        }
        return differences
    }

    private func tables(_ connection: Connection) throws -> [String] {
        try texts(
            connection,
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                + "AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
    }

    private func texts(_ connection: Connection, _ sql: String, _ values: [SQLiteValue] = []) throws -> [String] {
        let statement = try connection.prepare(sql)
        defer { statement.finalise() }
        for (position, value) in values.enumerated() { try statement.bind(value, at: position + 1) }
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0) ?? "") }
        return texts
    }
}
