import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

/// A store of a person's, copied for trials; the store itself and all next to it stay as they are.
struct StoreCopy {
    /// Copies the pages by SQLite, and the external data.
    static func make(of store: String, at copy: String) throws {
        let system = POSIXSystem()
        try StoreProbe.read(store, system: system) { probe in
            _ = try system.remove(copy)
            try system.makeFile(copy, .own)
            let destination = try Connection(copy, mode: .readWrite)
            defer { destination.close() }
            try destination.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try Backup(from: probe.connection, to: destination).run(stepPages: -1) { _, _ in true }
            let source = ExternalStorage(store: probe.path).supportFolder
            let support = ExternalStorage(store: copy).supportFolder
            if try system.exists(source) { try system.copyTree(source, to: support) }
        }
    }
}
