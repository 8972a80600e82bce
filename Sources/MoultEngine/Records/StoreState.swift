import MoultModel
import MoultPropertyList
import MoultSQLite
import MoultVerify

/// The properties of a store by which the engine tells one state of it from another.
package struct StoreState: Sendable, Equatable {
    /// `NSStoreUUID`; empty where there is none.
    package var uuid: String
    /// Nil if the metadata cannot be read.
    package var hashes: VersionHashes?
    /// SQLite's own counter, which every change of a table and every copy over the store moves on.
    package var schemaVersion: Int64
    package var pageSize: Int64
    package var pageCount: Int64
    package var usesWAL: Bool

    /// Bytes of the database, what lies in a WAL included.
    package var size: Int64 { pageSize * pageCount }
    /// The model's checksum in hexadecimal, empty where it is not known.
    package var checksum: String { hashes?.checksum.hexadecimal ?? "" }
    /// The name of a version whose own name is not known: eight digits of its checksum, the same for each store of it.
    package var unnamedVersion: String { String(checksum.prefix(8)) }

    package init(_ connection: Connection, schema: String = "main") throws {
        let name = schema.quotedName
        schemaVersion = try connection.integer("PRAGMA \(name).schema_version") ?? 0
        pageSize = try connection.integer("PRAGMA \(name).page_size") ?? 0
        pageCount = try connection.integer("PRAGMA \(name).page_count") ?? 0
        usesWAL = try connection.text("PRAGMA \(name).journal_mode") == "wal"
        uuid = try connection.text("SELECT Z_UUID FROM \(name).Z_METADATA LIMIT 1") ?? ""
        let list = try connection.value("SELECT Z_PLIST FROM \(name).Z_METADATA LIMIT 1")?.blob
        let entries = list.flatMap { try? PropertyList(parsing: $0) }?["NSStoreModelVersionHashes"]?.dictionary
        hashes = entries.map { VersionHashes(read: $0.compactMapValues(\.data)) }
    }
}

extension Connection {
    /// The rows of every ordinary table, by its name.
    package func rowCounts(schema: String = "main") throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        // A virtual table's rows lie in tables of their own, and its module may be missing.
        for table in try catalogue(schema: schema).tables where !table.isVirtual {
            counts[table.name] = try integer("SELECT count(*) FROM \(schema.quotedName).\(table.name.quotedName)")
        }
        return counts
    }

    /// Throws unless every page is sound and each index lists as many rows as its table has; reads every page.
    ///
    /// - Parameter place: the path that the error names.
    package func checkSoundness(schema: String = "main", place: String) throws {
        if let stale = try checkPages(schema: schema, place: place).first { throw stale.refusal(place) }
    }

    /// Throws unless SQLite finds every page sound, and no index lists rows that its table has lost.
    ///
    /// - Returns: the indexes that a repair makes again, because they do not list as many rows as their tables have.
    @discardableResult
    package func checkPages(schema: String = "main", place: String) throws -> [IndexCount] {
        let complaint = try text("PRAGMA \(schema.quotedName).quick_check(1)") ?? "no answer"
        guard complaint == "ok" else {
            throw MigrationError(
                .storeCorrupted, "The database is damaged.", place: place,
                remedy: MigrationError.damagedStoreRemedy,
                cause: complaint)
        }
        let counts = try IndexCount.differences(self, schema: schema)
        if let damage = counts.first(where: \.lacksRows) ?? counts.first(where: \.isDamage) {
            throw damage.refusal(place)
        }
        return counts
    }
}
