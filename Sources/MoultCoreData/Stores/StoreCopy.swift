import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// A copy of a store's pages and external files that replaces another store or creates a new one.
struct StoreCopy {
    let source: String
    let destination: String
    let exists: Bool
    private let system: any System

    init(from source: String, to destination: String, exists: Bool, on system: any System = POSIXSystem()) {
        (self.source, self.destination, self.exists, self.system) = (source, destination, exists, system)
    }

    func run() throws {
        let connection: Connection
        if OpenStoreRegistry.shared.contains(source) {
            connection = try Connection(source, mode: .readOnly, busyTimeout: 5_000)
        } else {
            let probe = try ReadOnlyStore(source)
            defer { probe.close() }
            return try copy(from: probe.connection)
        }
        defer { connection.close() }
        try copy(from: connection)
    }

    func copy(from connection: Connection) throws {
        let old = try files(of: destination)
        // External files are named by UUIDs, so neither store sees the files of the other.
        let new = try source.isEmpty ? [] : copyFiles()
        if exists {
            let lock = try StoreLock(destination, system)
            defer { lock.release() }
            try lock.connection.keepWALOnClose(false)
            try replace(lock, by: connection)
            // Files that only the old pages name are removed below, once the new pages are proven.
            try lock.connection.writeBackLog(system)
        } else {
            try makeNew(from: connection)
        }
        let external = ExternalStorage(store: destination)
        for name in try external.droppable(Set(old).subtracting(new), of: destination, on: system) {
            try system.remove(Path.join(external.folder, name))
        }
    }

    /// Replaces the pages. If the source is an older state of the same store, the counters of keys and of persistent
    /// history stay at least as high as they are, in the same transaction, so that no number is assigned twice. Those of
    /// entities that the source does not have are kept in the records.
    private func replace(_ lock: StoreLock, by connection: Connection) throws {
        let present = lock.connection
        guard let uuid = try? StoreMetadata(from: present).uuid,
            uuid == (try? StoreMetadata(from: connection).uuid)
        else { return try Backup(from: connection, to: present).run(stepPages: -1) { _, _ in true } }
        try StagedPath.removeAbandoned(for: destination, system)
        let part = StagedPath.make(for: destination, system)
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { _ = try? system.remove(part + suffix) } }
        try system.makeFile(part, .like(destination))
        let pages = try Connection(part, mode: .readWrite, isProven: true)
        defer { pages.close() }
        try Backup(from: connection, to: pages).run(stepPages: -1) { _, _ in true }
        var given = try GivenNumbers(present)
        given.add(earlier: try KeptKeys.read(lock.sidecar, of: uuid, system))
        try pages.transaction {
            let run = "\(system.now.iso8601Basic)-\(system.uniqueName().prefix(8))"
            try given.keep(in: pages, run: run)
        }
        try KeptKeys.add(given.keys(unknownTo: pages), lock.sidecar, of: uuid, system)
        try Backup(from: pages, to: present).run(stepPages: -1) { _, _ in true }
    }

    /// Creates the new store under another name until it is complete.
    private func makeNew(from connection: Connection) throws {
        try StagedPath.removeAbandoned(for: destination, system)
        let part = StagedPath.make(for: destination, system)
        do {
            try system.makeFile(part, .like(source))
            let target = try Connection(part, mode: .readWrite, isProven: true)
            defer { target.close() }
            try Backup(from: connection, to: target).run(stepPages: -1) { _, _ in true }
            try target.proveWrites()
        } catch {
            try system.remove(part)
            throw error
        }
        for suffix in ["-wal", "-shm"] { try system.remove(part + suffix) }
        try system.synchronise(part)
        for suffix in ["-wal", "-shm", "-journal"] { try system.remove(destination + suffix) }
        // Otherwise they could reappear next to the new store after a power failure.
        try system.synchronise(Path.folder(of: destination))
        do {
            try system.rename(part, toUnused: destination)
        } catch {
            _ = try? system.remove(part)
            throw error
        }
        try system.synchronise(Path.folder(of: destination))
    }

    private func files(of store: String) throws -> [String] {
        let folder = ExternalStorage(store: store).folder
        return try system.exists(folder) ? system.list(folder) : []
    }

    private func copyFiles() throws -> [String] {
        let names = try files(of: source)
        guard !names.isEmpty else { return [] }
        let (from, to) = (ExternalStorage(store: source), ExternalStorage(store: destination))
        if try !system.exists(to.folder) { try to.makeFolder(on: system) }
        for path in try StagedPath.abandoned(in: to.folder, system) { try system.remove(path) }
        for name in names where try !system.exists(Path.join(to.folder, name)) {
            let part = StagedPath.make(for: Path.join(to.folder, name), system)
            do {
                try system.copyExactly(Path.join(from.folder, name), to: part, to.rights)
                try system.synchronise(part)
                try system.rename(part, to: Path.join(to.folder, name))
            } catch {
                _ = try? system.remove(part)
                throw error
            }
        }
        // The rows that name the files are committed later.
        for folder in [to.folder, to.supportFolder, Path.folder(of: destination)] { try system.synchronise(folder) }
        return names
    }
}
