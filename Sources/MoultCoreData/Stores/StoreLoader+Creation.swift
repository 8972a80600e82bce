import Foundation
import MoultBasics
import MoultEngine
import MoultObjects
import MoultSQLite
import MoultStore

// MARK: - New stores

extension StoreLoader {
    /// Creates the store at a free path.
    func make(_ path: String) throws {
        guard !options.isReadOnly else {
            throw MigrationError(
                .fileNotFound, "There is no store at this path, and it was opened for reading only.", place: path,
                remedy: "Check the path, or open it for writing once, which creates it.")
        }
        try makeDefaultFolder(of: path)
        guard try system.exists(Path.folder(of: path)) else {
            throw MigrationError(
                .fileNotFound, "The folder of the store does not exist.", place: Path.folder(of: path),
                remedy: "Create the folder first.")
        }
        let maker = try creator()
        let start = system.monotonicNanoseconds
        while true {
            do {
                // If the program dies meanwhile, the next launch finds no store rather than a part of one.
                return try maker.makeWhole(at: path) { _ in }
            } catch let error as MigrationError where [.locked, .usage].contains(error.code) {
                // Another process is creating the same store, such as an app extension at the first launch. Any other
                // file at the path is left alone.
                let patience = error.code == .locked ? Int64(options.busyTimeout) : 100
                if try system.exists(path) { return try bringUpToDate(path) }
                guard (system.monotonicNanoseconds - start) / 1_000_000 < patience else { throw error }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }
    }

    /// Creates the store in an empty database, such as one that the destruction of a store leaves.
    ///
    /// - Returns: false for any other file, which is unchanged.
    func fillIfEmpty(_ path: String) throws -> Bool {
        guard try isToBeFilled(path) else { return false }
        let path = try system.resolve(path)
        try options.stagedMigrationManager?.validate(model, in: versions)
        let maker = try creator()
        let new = try Connection(":memory:", mode: .create)
        defer { new.close() }
        try maker.fill(new)
        let lock = try StoreLock(path, system, patience: options.busyTimeout)
        defer { lock.release() }
        // Another process may have created its store in the meantime.
        guard try lock.connection.catalogue().entries.isEmpty else { return false }
        if maker.layout.hasExternalStorage { try ExternalStorage(store: path).makeFolder(on: system) }
        try lock.connection.keepWALOnClose(false)
        try lock.connection.proving {
            try Backup(from: new, to: lock.connection).run(stepPages: -1) { _, _ in true }
            if maker.layout.level.writesAheadLog { try lock.connection.execute("PRAGMA journal_mode = WAL") }
        }
        return true
    }

    /// Whether there is an empty database, which opening the store for writing fills.
    func isToBeFilled(_ path: String) throws -> Bool {
        guard !options.isReadOnly, try system.exists(path) else { return false }
        let path = try system.resolve(path)
        guard !OpenStoreRegistry.shared.contains(path) else { return false }
        return try PersistentStoreCoordinator.isEmptyDatabase(path, system)
    }

    /// Returns the creator of the part of the model that the store holds.
    ///
    /// - Throws: `unsupported` if a hash would be a guess, and the options do not allow that.
    private func creator() throws -> StoreCreator {
        try checkHashes()
        return try StoreCreator(
            modelVersion(), history: options.tracksHistory, experimental: options.run.isExperimental)
    }

    /// Creates the folder of a store if it is a default folder: the program's own, or one for a group next to it. Any
    /// other folder must already exist.
    private func makeDefaultFolder(of path: String) throws {
        let own = PersistentContainer.defaultDirectoryURL().standardizedFileURL
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL
        guard folder == own || folder.deletingLastPathComponent() == own.deletingLastPathComponent() else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
}
