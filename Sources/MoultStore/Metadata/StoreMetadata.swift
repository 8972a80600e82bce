import MoultModel
import MoultPropertyList

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
            .metadataInvalid, message, place: "Z_METADATA",
            remedy: MigrationError.damagedStoreRemedy, cause: cause)
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
}
