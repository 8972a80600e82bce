import MoultEngine
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import MoultSystem

/// A copy of a store with ``StoreViews`` in it, in one file.
package struct ReadableCopy {
    private let store: String
    private let versions: ModelVersions?
    private let system: any System

    package init(of store: String, versions: ModelVersions?, _ system: any System = POSIXSystem()) {
        self.store = store
        self.versions = versions
        self.system = system
    }

    /// Makes the copy; it has its name only when it is whole.
    ///
    /// - Throws: `usage` if the path is taken; `locked` if another process makes it; what reading the store and writing the copy throws.
    package func make(at path: String) throws {
        let part = try UnfinishedPath.begin(path, isStore: true, system)
        do {
            try StoreProbe.read(store, system: system) { probe in
                try removeFiles(of: part)
                try copy(probe, to: part)
                let contents = try StoreContents(probe, in: versions)
                let connection = try Connection(part, mode: .readWrite, followsLinks: false, isProven: true)
                defer { connection.close() }
                // One file, whatever the store's own journal is.
                _ = try connection.text("PRAGMA journal_mode = DELETE")
                try connection.transaction { try StoreViews(contents).make(on: connection, isTemporary: false) }
            }
            try system.synchronise(part)
            try UnfinishedPath.end(part, as: path, isStore: true, system)
        } catch {
            try? removeFiles(of: part)
            throw error
        }
    }

    private func copy(_ probe: StoreProbe, to part: String) throws {
        if probe.way == .immutable {
            // By a clone where the volume can; the probe shows whether another process wrote meanwhile.
            try system.copy(probe.path, to: part, .like(store))
            return
        }
        try system.makeFile(part, .like(store))
        let connection = try Connection(part, mode: .readWrite, followsLinks: false, isProven: true)
        defer { connection.close() }
        try Backup(from: probe.connection, to: connection).run(stepPages: 1_000) { _, _ in true }
        try connection.proveWrites()
    }

    private func removeFiles(of part: String) throws {
        for suffix in [""] + StoreProbe.sideFileSuffixes { try system.remove(part + suffix) }
    }
}
