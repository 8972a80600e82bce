import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import Synchronization

/// An examination of files: whether each is a store, its version and its size.
///
/// Only the header, the metadata and the table of keys are read, and no rows of objects, so a large store takes no
/// longer than a small one. Nothing is changed, and no lock is taken.
package final class StoreLook: Sendable {
    private let versions: ModelVersions
    private let target: String?
    private let goal: Int
    /// The versions recognised so far, by hashes and identifiers. Many stores share a few of them.
    private let known = Mutex<[(hashes: VersionHashes, identifiers: [String], version: Recognised)]>([])

    fileprivate struct Recognised: Sendable {
        var state: FleetEntry.State
        var version: String
    }

    /// - Parameter target: the name of the target version; nil for the current one.
    /// - Throws: `noPath` if there is no version of that name.
    package init(_ versions: ModelVersions, target: String?) throws {
        (self.versions, self.target) = (versions, target)
        goal = try versions.target(named: target)
    }

    /// Creates an examination without a model; a store's version is then known by its identifiers alone.
    package init() { (versions, target, goal) = (ModelVersions(versions: []), nil, 0) }

    /// The name of the target version; empty without a model.
    package var targetName: String { versions.versions.isEmpty ? "" : versions.versions[goal].name }

    /// - Returns: nil for a file that is not a database, or a database that is not a store.
    /// - Throws: any error from opening the file.
    package func look(at path: String, name: String? = nil) throws -> FleetEntry? {
        let system = POSIXSystem()
        let (status, header) = try system.header(of: path, count: 100)
        guard header.starts(with: Self.magic) else { return nil }
        let logs = try ["-wal", "-journal"].map { try system.status(of: path + $0)?.size ?? 0 }
        var entry = FleetEntry(
            number: 0, path: path, name: name, device: status.device, inode: status.inode,
            size: min(logs.reduce(status.size, &+), FleetEntry.most), counter: 0, uuid: "", version: "",
            state: .unreadable, rows: 0, estimate: 0, shard: 0, findings: [])
        entry.estimate = CostModel.store(bytes: entry.size)
        if header.count >= 28 { entry.counter = header[24..<28].reduce(0) { $0 << 8 | Int64($1) } }
        if status.links > 1 {
            entry.note(
                "hard-linked", "The file has \(status.links) names. Moult changes no store that has several names.")
        }
        do {
            guard try read(&entry, isAtRest: logs.allSatisfy { $0 == 0 }) else { return nil }
        } catch let error as MigrationError {
            // An unreadable database of another program cannot be distinguished from a store.
            entry.note(error.code.description, error.message)
        }
        if try system.status(of: path + Path.sidecarEnding + "/journal.json") != nil {
            entry.note("unfinished-run", "A run of Moult on this store has not ended. The next one recovers it first.")
        }
        return entry
    }

    private static let magic = Array("SQLite format 3\0".utf8)
    /// The size limit for reading a store with its log. A larger one is read without it.
    private static let mostCopied: Int64 = 16 << 20

    /// - Returns: false if the database is not a store.
    private func read(_ entry: inout FleetEntry, isAtRest: Bool) throws -> Bool {
        if isAtRest || entry.size > Self.mostCopied {
            if !isAtRest {
                entry.note("log-not-read", "The store is in use or was not closed. It was looked at without its log.")
            }
            let connection = try Connection(entry.path, mode: .immutable)
            defer { connection.close() }
            return try read(&entry, connection)
        }
        return try ReadOnlyStore.read(entry.path) { try read(&entry, $0.connection) }
    }

    private func read(_ entry: inout FleetEntry, _ connection: Connection) throws -> Bool {
        var tables = Set(
            try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'") { $0.text(0) ?? "" })
        guard tables.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) else { return false }
        let metadata = try StoreMetadata(from: connection)
        entry.uuid = metadata.uuid
        // The numbers of history and CloudKit entities start at 16001. Sub-entities count with their root entity.
        let rows = try connection.integer(
            "SELECT sum(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT < 16001 AND ifnull(Z_SUPER, 0) = 0")
        entry.rows = min(max(rows ?? 0, 0), FleetEntry.most)
        tables = tables.filter { $0.hasPrefix("ANSCK") }
        if !tables.isEmpty { entry.note("cloudkit", "The store is mirrored to CloudKit.") }
        if metadata.hasDeferredWork { entry.note("deferred-work", "A deferred migration has work left.") }
        let found = try recognise(metadata, connection)
        (entry.state, entry.version) = (found.state, found.version)
        return true
    }

    private func recognise(_ metadata: StoreMetadata, _ connection: Connection) throws -> Recognised {
        guard !versions.versions.isEmpty else {
            return Recognised(state: .unknown, version: metadata.versionIdentifiers.joined(separator: ", "))
        }
        let (hashes, identifiers) = (metadata.hashes ?? VersionHashes(read: [:]), metadata.versionIdentifiers)
        let earlier = known.withLock { all in
            all.first { $0.identifiers == identifiers && $0.hashes == hashes }?.version
        }
        if let earlier { return earlier }
        // A store without hashes is recognised by its tables, so its version cannot be reused for another store.
        let isToldByHashes = !hashes.entities.isEmpty
        let status =
            isToldByHashes
            ? try VersionStatus(of: hashes, identifiers: identifiers, in: versions, target: target)
            : try StoreRecognition(of: StoreSnapshot(connection), in: versions, target: target).status
        let found = Recognised(status)
        if isToldByHashes {
            known.withLock { all in
                // Limit the cache, because there may be many unknown versions.
                if all.count < 1_000 { all.append((hashes, identifiers, found)) }
            }
        }
        return found
    }
}

extension StoreLook.Recognised {
    fileprivate init(_ status: VersionStatus) {
        switch status {
        case .current(let version): self.init(state: .current, version: version)
        case .behind(let version, _, _): self.init(state: .behind, version: version)
        case .ahead(let version, _, _): self.init(state: .ahead, version: version)
        case .unknown, .notCoreData: self.init(state: .unknown, version: "")
        }
    }
}

extension FleetEntry {
    mutating func note(_ code: String, _ message: String) { findings.append(Note(code: code, message: message)) }
}
