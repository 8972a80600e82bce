import MoultBasics
import MoultModel
import MoultSQLite

/// The metadata of a store: the one row of `Z_METADATA`.
///
/// Known keys have typed access; every key, known or not, is kept as it was read, for an application may keep its own.
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
    /// - Throws: `metadataInvalid` if they are no property list or hold no dictionary.
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

// MARK: - What Core Data writes

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
        /// Present while a deferred migration has work left.
        package static let deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
        package static let historyHashes = "_NSStoreAncillaryModelVersionHashesMetadataKey"

        /// Every key of Core Data's own; any other is an application's.
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

    /// The model's version identifiers; `[""]` where its file names none.
    package var versionIdentifiers: [String] { entries[Key.identifiers]?.array?.compactMap(\.string) ?? [] }
    /// The framework that made the store or migrated it last.
    package var framework: Int? { entries[Key.framework]?.integer.map(Int.init) }
    package var hashesDigest: String? { entries[Key.digest]?.string }
    package var modelChecksum: String? { entries[Key.checksum]?.string }
    /// Whether a deferred migration has work left; set, it is what Core Data looks for.
    package var hasDeferredWork: Bool {
        get {
            guard let value = entries[Key.deferredMigration] else { return false }
            return value.boolean ?? true
        }
        set { entries[Key.deferredMigration] = newValue ? .boolean(true) : nil }
    }
    package var applicationEntries: [String: PropertyList] { entries.filter { !Key.all.contains($0.key) } }

    /// The metadata of a new store.
    ///
    /// - Parameter uuid: upper case.
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

    /// Makes it the metadata of a store of another version; what an application wrote stays.
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

    /// Puts itself in place of the row that is there.
    package func write(to connection: Connection, schema: String = "main") throws {
        let table = "\(schema.quotedName).Z_METADATA"
        try connection.run("DELETE FROM \(table)")
        try connection.run(
            "INSERT INTO \(table) (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)", [.text(uuid), .blob(propertyList)])
    }
}

/// A store's record of restores that took numbers back: kept in its own metadata under a key of an application's, so
/// that it comes in the same transaction as the restored pages.
///
/// Whoever has followed the store (a token of persistent history, a mirror) knows by it that what it has seen is gone.
package struct RestoreMark: Equatable, Sendable {
    package static let key = "MoultRestored"

    /// The last run that restored a backup.
    package var run: String
    /// The numbers of transactions that are gone, in ascending ranges.
    package var lost: [ClosedRange<Int64>]

    package init(run: String, lost: [ClosedRange<Int64>]) { (self.run, self.lost) = (run, lost) }

    /// Nil if no restore has taken numbers back.
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

    /// Adds the transactions that a restore has taken back.
    package mutating func lose(_ range: ClosedRange<Int64>) {
        lost.removeAll { range.contains($0.lowerBound) && range.contains($0.upperBound) }
        lost.append(range)
        lost.sort { $0.lowerBound < $1.lowerBound }
    }
}
