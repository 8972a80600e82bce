import MoultModel
import MoultPropertyList

/// The one row of `Z_METADATA`: the store's UUID and its property list, Core Data's entries and the app's own
/// (STORE_FORMAT 2).
package struct StoreMetadata: Sendable, Equatable {
    /// `Z_UUID`, which Core Data calls NSStoreUUID.
    package var uuid: String
    /// Every entry of the property list, those that Moult does not know too.
    package var entries: [String: PropertyList]

    package init(uuid: String, entries: [String: PropertyList]) {
        self.uuid = uuid
        self.entries = entries
    }

    /// Reads the row of a real store.
    /// - Throws: `metadataInvalid` where the property list is NULL, damaged, or of another shape than Core Data's.
    package init(uuid: String?, propertyList bytes: [UInt8]?) throws {
        guard let bytes else { throw Self.invalid("Z_PLIST is NULL") }
        guard let uuid, !uuid.isEmpty else { throw Self.invalid("Z_UUID is NULL") }
        let list: PropertyList
        do {
            list = try PropertyList(parsing: bytes)
        } catch {
            throw Self.invalid("Z_PLIST is damaged", cause: "\(error.message) (\(error.place))")
        }
        guard let entries = list.dictionary else { throw Self.invalid("Z_PLIST holds no dictionary") }
        self.init(uuid: uuid, entries: entries)
        try check()
    }

    /// `Z_PLIST`, to be written.
    package var propertyList: [UInt8] { PropertyList.dictionary(entries).binary }

    package subscript(key: Key) -> PropertyList? {
        get { entries[key.rawValue] }
        set { entries[key.rawValue] = newValue }
    }

    private func check() throws {
        if let hashes = self[.versionHashes] {
            guard let entries = hashes.dictionary, entries.values.allSatisfy({ $0.data != nil }) else {
                throw Self.invalid("\(Key.versionHashes.rawValue) is no dictionary of hashes")
            }
        }
        if let framework = self[.frameworkVersion], framework.integer == nil {
            throw Self.invalid("\(Key.frameworkVersion.rawValue) is no number")
        }
    }

    static func invalid(_ what: String, cause: String? = nil) -> MigrationError {
        MigrationError(
            .metadataInvalid, "The store's metadata cannot be read: \(what).", place: "Z_METADATA",
            remedy: "Restore the store from a backup; Core Data would refuse it too.", cause: cause)
    }
}

// MARK: - Core Data's entries

extension StoreMetadata {
    /// The keys that Core Data itself writes.
    package enum Key: String, Sendable, CaseIterable {
        case storeType = "NSStoreType"
        case storeUUID = "NSStoreUUID"
        case versionHashes = "NSStoreModelVersionHashes"
        case versionHashesVersion = "NSStoreModelVersionHashesVersion"
        case versionIdentifiers = "NSStoreModelVersionIdentifiers"
        case frameworkVersion = "NSPersistenceFrameworkVersion"
        case maximumFrameworkVersion = "NSPersistenceMaximumFrameworkVersion"
        case autoVacuumLevel = "_NSAutoVacuumLevel"
        case versionHashesDigest = "NSStoreModelVersionHashesDigest"
        case versionChecksum = "NSStoreModelVersionChecksumKey"
        case ancillaryModelHashes = "_NSStoreAncillaryModelVersionHashesMetadataKey"
        /// There while a lightweight migration has put work off (MORE 10).
        case deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
    }

    /// The hashes of the store's entities, which say what model made it; none where the metadata have none.
    package var versionHashes: VersionHashes {
        VersionHashes(read: (self[.versionHashes]?.dictionary ?? [:]).compactMapValues(\.data))
    }

    package var versionIdentifiers: [String] { self[.versionIdentifiers]?.array?.compactMap(\.string) ?? [] }

    /// The build of Core Data that last wrote the metadata; 0 where they do not say.
    package var framework: Int { self[.frameworkVersion]?.integer.flatMap(Int.init(exactly:)) ?? 0 }

    /// Base64 of SHA-512 over names and hashes, from framework 977 on.
    package var versionHashesDigest: String? { self[.versionHashesDigest]?.string }

    /// Base64 of the model's checksum, from framework 1327 on.
    package var versionChecksum: String? { self[.versionChecksum]?.string }

    /// Whether a lightweight migration has left work to be done later.
    package var hasDeferredMigration: Bool {
        guard let entry = self[.deferredMigration] else { return false }
        return entry.boolean ?? true
    }

    /// What the app itself has put there.
    package var applicationEntries: [String: PropertyList] {
        entries.filter { Key(rawValue: $0.key) == nil }
    }
}
