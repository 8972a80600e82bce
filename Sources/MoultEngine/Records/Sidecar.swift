import MoultModel
import MoultSystem

/// The folder beside a store where Moult keeps everything that is not the store: `<name>.moult/`.
package struct Sidecar: Sendable, Hashable {
    /// The store's path, without symbolic links.
    package let store: String

    package init(store: String) { self.store = store }

    /// A name that would be too long with what is added is cut, and told apart by its digest: SQLite takes paths of
    /// 512 bytes at most.
    package var folder: String {
        let name = Path.name(of: store)
        guard name.utf8.count > Self.longestName else { return store + ".moult" }
        let digest = Array(Digest.sha256(name.utf8).prefix(8)).hexadecimal
        let start = name.unicodeScalars.reduce(into: "") { text, scalar in
            if text.utf8.count < 60 { text.unicodeScalars.append(scalar) }
        }
        return Path.join(Path.folder(of: store), "\(start)-\(digest).moult")
    }

    /// What file systems allow is 255 bytes.
    private static let longestName = 249

    /// The store's name, for a copy beside which SQLite may put a `-journal`.
    package var nameOfCopy: String {
        let name = Path.name(of: store)
        return name.utf8.count + "-journal".utf8.count > 255 ? "store" : name
    }
    package var lock: String { Path.join(folder, "lock") }
    package var journal: String { Path.join(folder, "journal.json") }
    package var runs: String { Path.join(folder, "runs.jsonl") }
    package var log: String { Path.join(folder, "log.txt") }
    package var backups: String { Path.join(folder, "backups") }
    /// The objects that runs took out of the store.
    package var quarantine: String { Path.join(folder, "quarantine.sqlite") }
    /// What is known of the store's mirror.
    package var mirror: String { Path.join(folder, "mirror.json") }
    /// How the mirror left the file of its second store.
    package var mirrorSeen: String { Path.join(folder, "mirror.seen") }
    /// Where a store that could not be opened is put before a backup takes its place.
    package var damaged: String { Path.join(folder, "damaged") }

    /// The working folder of a run.
    package func work(_ run: String) -> String { Path.join(folder, "work-\(run)") }

    /// Core Data's folder for a store's external data (STORE_FORMAT_MORE 2), beside the store or in a backup.
    package static func supportName(ofStore name: String) -> String { ".\(Path.stem(of: name))_SUPPORT" }

    package var support: String { Path.join(Path.folder(of: store), Self.supportName(ofStore: Path.name(of: store))) }
    package var externalData: String { Path.join(support, "_EXTERNAL_DATA") }

    package func make(_ system: any System) throws {
        guard try !system.exists(folder) else { return }
        try system.makeFolder(folder)
        try system.synchronise(Path.folder(of: folder))
    }
}
