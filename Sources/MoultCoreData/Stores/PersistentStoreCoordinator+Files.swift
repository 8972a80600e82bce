import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

extension PersistentStoreCoordinator {
    /// Removes a store and all files that belong to it except Moult's backups. Does nothing if there is no store.
    ///
    /// At every moment, either the whole store exists or none: SQLite first checkpoints and removes the side files. The
    /// coordinators of this process that have the store open lose it: add it again. Unsaved changes of its objects can no
    /// longer be saved.
    /// - Throws: `locked` if another process has the store open; `notAStore`, unless the option
    ///   ``PersistentStoreOption/forceDestroy`` is set; `usage` while this process opens or saves it. The coordinators
    ///   then continue with the store.
    public static func destroyPersistentStore(
        at url: URL, type: PersistentStore.StoreType = .sqlite, options: [String: any Sendable]? = nil
    ) throws {
        try destroy(url, type, options, leavingFile: false)
    }

    /// Destroys a store, and leaves an empty database in its place if `leavingFile` is true, as Core Data does.
    package static func destroy(
        _ url: URL, _ type: PersistentStore.StoreType, _ options: [String: any Sendable]?, leavingFile: Bool
    ) throws {
        let options = try StoreOptions(options)
        let system = POSIXSystem()
        guard type == .sqlite, try system.exists(url.path) else { return }
        let path = try system.resolve(url.path)
        try OpenStoreRegistry.shared.replacing(path) { try destroy(path, options, leavingFile: leavingFile, system) }
    }

    private static func destroy(
        _ path: String, _ options: StoreOptions, leavingFile: Bool, _ system: POSIXSystem
    ) throws {
        if try isEmptyDatabase(path, system) {
            if !leavingFile { try removeFiles(of: path, naming: [], system) }
            return
        }
        do {
            try ReadOnlyStore.read(path) { _ in }
        } catch let error as MigrationError {
            guard options.forcesDestruction else { throw error }
            try removeFiles(of: path, naming: [], system)
            return
        }
        let lock = try StoreLock(path, system, patience: options.busyTimeout)
        defer { lock.release() }
        // A process that opens the path meanwhile finds a whole store or none, never the log of a removed store.
        try lock.connection.keepWALOnClose(false)
        try lock.connection.execute("PRAGMA journal_mode = DELETE")
        let names = try ExternalStorage.names(in: lock.connection)
        if leavingFile {
            let empty = try Connection(":memory:", mode: .create)
            defer { empty.close() }
            try lock.connection.proving {
                try Backup(from: empty, to: lock.connection).run(stepPages: -1) { _, _ in true }
            }
        }
        try removeFiles(of: path, keepingDatabase: leavingFile, naming: names, system)
    }

    /// - Parameters:
    ///   - keepsDatabase: whether the database file itself stays.
    ///   - names: the external data files referenced by the store's rows.
    private static func removeFiles(
        of path: String, keepingDatabase keepsDatabase: Bool = false, naming names: Set<String>, _ system: POSIXSystem
    ) throws {
        if !keepsDatabase { for suffix in ["", "-wal", "-shm", "-journal"] { try system.remove(path + suffix) } }
        let external = ExternalStorage(store: path)
        try external.forgetUnsaved(on: system)
        if try external.isShared(by: path, on: system) {
            // A store with the same base name keeps its own files in this folder.
            for name in try external.droppable(names, of: path, on: system) {
                try system.remove(Path.join(external.folder, name))
            }
        } else {
            _ = try system.removeTree(external.supportFolder)
        }
        try system.synchronise(Path.folder(of: path))
    }

    /// Returns whether a file that this process does not have open is an SQLite database without tables: one page, or no
    /// bytes. A file of no bytes where Moult or Core Data has kept something of a store is what is left of that store.
    static func isEmptyDatabase(_ path: String, _ system: any System) throws -> Bool {
        guard let status = try system.status(of: path), status.kind == .file,
            try (512...65_536).contains(status.size)
                || status.size == 0 && !keepsSomething(of: path, system),
            try ReadOnlyStore.sideFileSuffixes.allSatisfy({ try system.status(of: path + $0)?.size ?? 0 == 0 }),
            let connection = try? Connection(path, mode: .immutable)
        else { return false }
        defer { connection.close() }
        return (try? connection.catalogue().entries.isEmpty) ?? false
    }

    /// Whether there are records, backups or external data of a store at a path.
    private static func keepsSomething(of path: String, _ system: any System) throws -> Bool {
        func names(in folder: String) throws -> [String] {
            try system.status(of: folder)?.kind == .folder ? system.list(folder) : []
        }
        let records = StoreRecords(store: path)
        return try !names(in: ExternalStorage(store: path).folder).isEmpty
            || names(in: records.folder).contains { $0 != Path.name(of: records.lock) }
    }

    /// Returns whether this process has the store open.
    package static func isOpen(_ url: URL) throws -> Bool {
        let system = POSIXSystem()
        return try system.exists(url.path) && OpenStoreRegistry.shared.contains(try system.resolve(url.path))
    }

    /// - Throws: `usage` for a store that is open in this process.
    package static func checkIsNotOpen(_ url: URL) throws {
        let system = POSIXSystem()
        if try system.exists(url.path) { try checkIsNotOpen(try system.resolve(url.path)) }
    }

    static func checkIsNotOpen(_ path: String) throws {
        guard OpenStoreRegistry.shared.contains(path) else { return }
        throw MigrationError(
            .usage, "The store is open in this process.", place: path,
            remedy: "Remove it from its coordinator first.")
    }

    /// - Throws: `usage` for a URL where a file already exists.
    package static func checkIsFree(_ url: URL) throws {
        guard try POSIXSystem().exists(url.path) else { return }
        throw MigrationError(
            .usage, "There is already something at \(url.path).", place: url.path,
            remedy: "Destroy that store first, or give another place.")
    }

    /// Replaces a store, or creates a new one, with a copy of another store.
    ///
    /// SQLite copies the pages in one transaction on the destination's file, so if the process dies, either the old
    /// store or the new one remains.
    ///
    /// If the source is an older state of the same store, such as a backup, the counters of keys and of persistent
    /// history stay at least as high as at the destination. No number is assigned twice, and history tokens from the
    /// discarded period have expired.
    /// The coordinators of this process that have the destination open lose it: add it again. Contexts then read its
    /// rows anew, and cannot save what they had changed in the old ones.
    /// - Throws: `fileNotFound`, `notAStore`; `locked` if another process has the destination open; `usage` while this
    ///   process opens or saves it. The coordinators then continue with the old store.
    public static func replacePersistentStore(
        at destination: URL, withPersistentStoreFrom source: URL, type: PersistentStore.StoreType = .sqlite
    ) throws {
        let system = POSIXSystem()
        let exists = try system.exists(destination.path)
        let path = try exists ? system.resolve(destination.path) : destination.path
        let from = try system.resolve(source.path)
        guard from != path else {
            throw MigrationError(
                .usage, "A store cannot be replaced by itself.", place: path, remedy: "Give two different stores.")
        }
        try OpenStoreRegistry.shared.replacing(path) {
            if exists, try !isEmptyDatabase(path, system) { try ReadOnlyStore.read(path) { _ in } }
            try StoreCopy(from: from, to: path, exists: exists).run()
        }
    }

    /// Copies an open store to another URL and continues with the copy: `migratePersistentStore`. The old file remains.
    ///
    /// Identities stay valid, because the copy has the same `NSStoreUUID`, and objects that were read stay as they are.
    /// - Throws: `usage` for a store of another coordinator, or for a destination in memory; the errors of
    ///   ``replacePersistentStore(at:withPersistentStoreFrom:type:)``.
    @discardableResult
    public func migratePersistentStore(
        _ store: PersistentStore, to url: URL, options: [String: any Sendable]? = nil,
        type: PersistentStore.StoreType = .sqlite
    ) throws -> PersistentStore {
        guard type == .sqlite else {
            throw MigrationError(
                .unsupported, "A store cannot be moved into memory.", place: url.path,
                remedy: "Add a store in memory and insert the objects there.")
        }
        let options = try StoreOptions(options)
        return try objects.lock.withLock {
            try Self.checkIsFree(url)
            try store.store.copy(to: url.path)
            let loader = StoreLoader(
                model: managedObjectModel, versions: modelVersions, url: url, type: .sqlite,
                configuration: store.configurationName, options: options)
            let copy = try loader.open()
            try replace(store, by: copy)
            return copy
        }
    }

    /// Returns the metadata of a store, which need not be open, without changing its file.
    ///
    /// - Throws: `fileNotFound`, `notAStore`, `metadataInvalid`.
    public static func metadataForPersistentStore(
        type: PersistentStore.StoreType = .sqlite, at url: URL
    ) throws -> [String: Any] {
        try storedMetadata(at: url).dictionary
    }

    /// Returns the model that is kept inside a store, which need not be open.
    ///
    /// - Throws: `fileNotFound`, `notAStore`, `metadataInvalid`; `modelNotFound` if there is no readable model.
    package static func modelInStore(at url: URL) throws -> ManagedObjectModel {
        try read(url) { try StoreSnapshot($0).ownVersion().model }
    }

    private static func storedMetadata(at url: URL) throws -> StoreMetadata {
        try read(url) { try StoreMetadata(from: $0) }
    }

    /// Reads a store, through SQLite's locks if this process has it open.
    private static func read<Result>(_ url: URL, _ body: (Connection) throws -> Result) throws -> Result {
        guard try isOpen(url) else { return try ReadOnlyStore.read(url.path) { try body($0.connection) } }
        let connection = try Connection(try POSIXSystem().resolve(url.path), mode: .readOnly, busyTimeout: 5_000)
        defer { connection.close() }
        return try body(connection)
    }

    /// Writes the app's own entries to the metadata of a store, which need not be open.
    ///
    /// - Throws: `usage` for a change of Core Data's own entries; `fileNotFound`, `notAStore`; `locked`.
    public static func setMetadata(_ metadata: [String: Any]?, at url: URL) throws {
        // Report a file that is not a store before anything opens it for writing.
        _ = try storedMetadata(at: url)
        let path = try POSIXSystem().resolve(url.path)
        let connection = try Connection(path, mode: .readWrite, busyTimeout: 5_000, isProven: true)
        defer { connection.close() }
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.transaction {
            var stored = try StoreMetadata(from: connection)
            try stored.setApplicationEntries(of: metadata ?? [:])
            try stored.write(to: connection)
        }
    }

    /// Returns the metadata of an open store.
    public func metadata(for store: PersistentStore) throws -> [String: Any] {
        try objects.lock.withLock { try store.store.metadata().dictionary }
    }

    /// Writes the app's own entries to the metadata of an open store immediately.
    ///
    /// - Throws: `usage` for a change of Core Data's own entries, `readOnly`.
    public func setMetadata(_ metadata: [String: Any]?, for store: PersistentStore) throws {
        try objects.lock.withLock {
            try store.store.writing {
                var stored = try store.store.metadata()
                try stored.setApplicationEntries(of: metadata ?? [:])
                let entries = stored.applicationEntries
                try store.store.updateMetadata { $0 = entries }
            }
        }
    }
}

extension StoreMetadata {
    /// The metadata in Core Data's form.
    var dictionary: [String: Any] {
        var result = entries.mapValues(\.foundation)
        result[StoreMetadataKey.storeUUID] = uuid
        return result
    }

    /// Sets the entries that an app may change. Core Data's own entries must stay the same.
    ///
    /// - Throws: `usage` for a change of Core Data's own entries, or for a value that a property list cannot contain.
    mutating func setApplicationEntries(of dictionary: [String: Any]) throws {
        var changed = entries.filter { Key.all.contains($0.key) }
        for (key, value) in dictionary where key != StoreMetadataKey.storeUUID {
            let list = try PropertyList(foundation: value, place: key)
            guard changed[key] == nil || changed[key] == list, !Key.all.contains(key) || changed[key] != nil else {
                throw MigrationError(
                    .usage, "The metadata's \(key) belongs to Core Data and cannot be set.", place: key,
                    remedy: "Use a key of your own.")
            }
            changed[key] = list
        }
        entries = changed
    }
}

extension PropertyList {
    /// The value as a Foundation type: `Bool`, `Int`, `Double`, `Date`, `Data`, `String`, an array or a dictionary.
    var foundation: Any {
        switch self {
        case .null: NSNull()
        case .boolean(let flag): flag
        case .integer(let number): Int(number)
        case .unsignedInteger(let number): number
        case .real(let number): number
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): Data(bytes)
        case .string(let text): text
        case .array(let elements): elements.map(\.foundation)
        case .dictionary(let entries): entries.mapValues(\.foundation)
        case .uid(let index): index
        }
    }

    /// - Throws: `usage` for a value that a property list cannot contain.
    init(foundation value: Any, place: String) throws {
        switch value {
        case let text as String: self = .string(text)
        case let data as Data: self = .data([UInt8](data))
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let flag as Bool where type(of: value) == Bool.self: self = .boolean(flag)
        case let elements as [Any]: self = .array(try elements.map { try PropertyList(foundation: $0, place: place) })
        case let entries as [String: Any]:
            self = .dictionary(try entries.mapValues { try PropertyList(foundation: $0, place: place) })
        default:
            if let number = NumberReading.integer(value) {
                self = .integer(number)
            } else if let number = NumberReading.double(value) {
                self = .real(number)
            } else {
                throw MigrationError(
                    .usage, "A \(type(of: value)) cannot be stored in a store's metadata.", place: place,
                    remedy: "Give texts, numbers, dates, data, and arrays and dictionaries of them.")
            }
        }
    }
}

/// The keys of a store's metadata, in Core Data's spelling. Any other key belongs to the app.
public enum StoreMetadataKey {
    /// `NSStoreTypeKey`
    public static let storeType = "NSStoreType"
    /// `NSStoreUUIDKey`
    public static let storeUUID = "NSStoreUUID"
    /// `NSStoreModelVersionHashesKey`: `[String: Data]`.
    public static let modelVersionHashes = "NSStoreModelVersionHashes"
    /// `NSStoreModelVersionIdentifiersKey`: `[String]`.
    public static let modelVersionIdentifiers = "NSStoreModelVersionIdentifiers"
}
