import MoultBasics
import MoultModel
import MoultSQLite

/// The metadata of a store, in the single row of `Z_METADATA`.
///
/// Known keys have typed accessors. All entries, known or not, are kept as read, because an application may store its
/// own.
package struct StoreMetadata: Sendable, Equatable {
    /// `NSStoreUUID`, in upper case.
    package var uuid: String
    /// The entries of the property list.
    package var entries: [String: PropertyList]

    package init(uuid: String, entries: [String: PropertyList]) {
        self.uuid = uuid
        self.entries = entries
    }

    /// - Parameter propertyList: the bytes of `Z_PLIST`.
    /// - Throws: `metadataInvalid` if they are not a property list or do not contain a dictionary.
    package init(uuid: String, propertyList bytes: [UInt8]) throws {
        let list: PropertyList
        do {
            list = try PropertyList(parsing: bytes)
        } catch {
            throw Self.invalid("The metadata's property list is damaged.", cause: "\(error.message) (\(error.place))")
        }
        guard let entries = list.dictionary else {
            throw Self.invalid("The metadata's property list is not a dictionary.")
        }
        self.init(uuid: uuid, entries: entries)
    }

    /// The bytes of `Z_PLIST`.
    package var propertyList: [UInt8] { PropertyList.dictionary(entries).binary }

    static func invalid(_ message: String, cause: String? = nil) -> MigrationError {
        MigrationError(
            .metadataInvalid, message, place: "Z_METADATA", remedy: MigrationError.damagedStoreRemedy, cause: cause)
    }
}

// MARK: - Core Data's entries

extension StoreMetadata {
    package enum Key {
        package static let storeType = "NSStoreType"
        package static let hashes = "NSStoreModelVersionHashes"
        package static let hashesVersion = "NSStoreModelVersionHashesVersion"
        package static let identifiers = "NSStoreModelVersionIdentifiers"
        package static let framework = "NSPersistenceFrameworkVersion"
        package static let maximumFramework = "NSPersistenceMaximumFrameworkVersion"
        package static let autoVacuum = "_NSAutoVacuumLevel"
        package static let digest = "NSStoreModelVersionHashesDigest"
        package static let checksum = "NSStoreModelVersionChecksumKey"
        /// Present while a deferred migration has unfinished work.
        package static let deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
        package static let historyHashes = "_NSStoreAncillaryModelVersionHashesMetadataKey"

        /// All of Core Data's own keys; any other belongs to an application.
        package static let all: Set<String> = [
            storeType, hashes, hashesVersion, identifiers, framework, maximumFramework, autoVacuum, digest, checksum,
            deferredMigration, historyHashes,
        ]
    }

    /// The version hash of every entity; nil if the key is missing or holds anything else.
    package var hashes: VersionHashes? {
        guard let entries = entries[Key.hashes]?.dictionary else { return nil }
        let hashes = entries.compactMapValues(\.data)
        return hashes.count == entries.count ? VersionHashes(read: hashes) : nil
    }

    /// The model's version identifiers; `[""]` if its file contains none.
    package var versionIdentifiers: [String] { entries[Key.identifiers]?.array?.compactMap(\.string) ?? [] }
    /// The framework that created the store or last migrated it.
    package var framework: Int? { entries[Key.framework]?.integer.map(Int.init) }
    package var hashesDigest: String? { entries[Key.digest]?.string }
    package var modelChecksum: String? { entries[Key.checksum]?.string }
    /// Whether a deferred migration has unfinished work. Core Data checks this entry.
    package var hasDeferredWork: Bool {
        get {
            guard let value = entries[Key.deferredMigration] else { return false }
            return value.boolean ?? true
        }
        set { entries[Key.deferredMigration] = newValue ? .boolean(true) : nil }
    }
    package var applicationEntries: [String: PropertyList] { entries.filter { !Key.all.contains($0.key) } }

    /// Creates the metadata of a new store.
    ///
    /// - Parameter uuid: the UUID in upper case.
    package init(newStoreOf version: ModelVersion, level: FrameworkLevel, uuid: String) {
        self.init(
            uuid: uuid,
            entries: [
                Key.storeType: .string("SQLite"), Key.hashesVersion: .integer(3),
                Key.framework: .integer(Int64(level.number)),
            ])
        if level.hasAutoVacuum { entries[Key.autoVacuum] = .string("2") }
        if level.hasMaximumFramework { entries[Key.maximumFramework] = .integer(Int64(level.number)) }
        setVersion(version, level: level)
    }

    /// Changes the metadata to those of a store of another version. An application's entries are kept.
    package mutating func setVersion(_ version: ModelVersion, level: FrameworkLevel) {
        entries[Key.hashes] = .dictionary(version.hashes.entities.mapValues(PropertyList.data))
        entries[Key.identifiers] = .array(version.model.versionIdentifiers.map(PropertyList.string))
        if level.hasHashesDigest || entries[Key.digest] != nil {
            entries[Key.digest] = .string(version.hashes.digest.base64)
        }
        if level.hasModelChecksum || entries[Key.checksum] != nil {
            entries[Key.checksum] = .string(version.hashes.checksum.base64)
        }
    }

    /// Reads the row of `Z_METADATA`.
    ///
    /// - Throws: `notAStore` if there is no such table, `metadataInvalid` if the row is missing or damaged.
    package init(from connection: Connection, schema: String = "main") throws {
        let place = "\(schema.quotedName).Z_METADATA"
        guard
            try connection.integer(
                "SELECT count(*) FROM \(schema.quotedName).sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'")
                == 1
        else {
            throw MigrationError(
                .notAStore, "The database has no table Z_METADATA, which every Core Data store has.",
                place: connection.place, remedy: "Name the path of a Core Data store.")
        }
        let rows = try connection.rows("SELECT Z_UUID, Z_PLIST FROM \(place) ORDER BY Z_VERSION LIMIT 2") {
            (uuid: $0.text(0), list: $0.blob(1))
        }
        guard let row = rows.first else { throw Self.invalid("The metadata table has no row.") }
        guard rows.count == 1 else { throw Self.invalid("The metadata table has more than one row.") }
        guard let list = row.list else { throw Self.invalid("The metadata's property list is NULL.") }
        try self.init(uuid: row.uuid ?? "", propertyList: list)
    }

    /// Replaces the existing row with these metadata.
    package func write(to connection: Connection, schema: String = "main") throws {
        let table = "\(schema.quotedName).Z_METADATA"
        try connection.run("DELETE FROM \(table)")
        try connection.run(
            "INSERT INTO \(table) (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)", [.text(uuid), .blob(propertyList)])
    }
}

/// A store's record of restores that removed transactions. It is kept in the store's own metadata under an application
/// key, so that it is written in the same transaction as the restored pages.
///
/// It lets anything that follows the store (a token of persistent history, a mirror) detect that transactions it has
/// seen are gone.
package struct RestoreMark: Equatable, Sendable {
    package static let key = "MoultRestored"

    /// The last run that restored a backup.
    package var run: String
    /// The numbers of removed transactions, in ascending ranges.
    package var lost: [ClosedRange<Int64>]

    package init(run: String, lost: [ClosedRange<Int64>]) { (self.run, self.lost) = (run, lost) }

    /// Returns nil if no restore has removed transactions.
    package init?(_ metadata: StoreMetadata) {
        guard let entry = metadata.entries[Self.key], let run = entry["run"]?.string else { return nil }
        let ranges = (entry["lost"]?.array ?? []).compactMap { range -> ClosedRange<Int64>? in
            guard let ends = range.array?.compactMap(\.integer), ends.count == 2, ends[0] <= ends[1] else { return nil }
            return ends[0]...ends[1]
        }
        self.init(run: run, lost: ranges)
    }

    package var entry: PropertyList {
        .dictionary([
            "run": .string(run),
            "lost": .array(lost.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
        ])
    }

    /// Adds the transactions that a restore has removed.
    package mutating func lose(_ range: ClosedRange<Int64>) {
        lost.removeAll { range.contains($0.lowerBound) && range.contains($0.upperBound) }
        lost.append(range)
        lost.sort { $0.lowerBound < $1.lowerBound }
    }
}
