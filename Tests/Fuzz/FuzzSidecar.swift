import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultTools
import TestSupport

/// The files that Moult keeps beside a store or carries elsewhere, each in place of a sound one.
struct FuzzSidecar: Sendable {
    static let shared = Result { try FuzzSidecar() }

    private let scratch: ScratchFolder
    private let system = POSIXSystem()
    private let versions: ModelVersions
    private let version: ModelVersion
    /// A sound store, with the pages of one that nobody has touched.
    private let store: String
    private let pages: [UInt8]
    private let sidecar: StoreRecords
    private let prepared: PreparedMigration

    private init() throws {
        scratch = try ScratchFolder()
        versions = try FuzzSeeds.forum()
        version = try versions.versions.first.map { $0 } ?? { throw CocoaError(.fileNoSuchFile) }()
        pages = try FuzzSeeds.store(framework: 1526)
        let folder = try system.resolve(scratch.path)
        store = folder + "/Forum.sqlite"
        try system.write(pages, to: store)
        sidecar = StoreRecords(store: store)
        try sidecar.make(system)
        prepared = try PreparedMigration(store, versions: versions)
    }

    // MARK: - Beside a store

    /// What the next run after a death does with its journal; the store stays what it is.
    func journal(_ bytes: [UInt8]) throws {
        for name in try system.list(sidecar.folder) { try system.removeTree(sidecar.folder + "/" + name) }
        try system.write(bytes, to: sidecar.journal)
        expectUsefulErrors { _ = try Journal.read(sidecar, system) }
        expectUsefulErrors {
            _ = try Migrator().recover(store)
            if try system.exists(sidecar.journal) { stop("a journal is left after the recovery") }
        }
        if try system.read(store) != pages { stop("the recovery has changed the store") }
    }

    /// A record that is added to whatever is there is read again as the last one.
    func runs(_ bytes: [UInt8]) throws {
        let history = RunHistory(sidecar)
        try system.write(Array(FuzzSeeds.runs.utf8), to: sidecar.runs)
        guard let record = try history.records().first else { stop("a sound record is not read") }
        try system.write(bytes, to: sidecar.runs)
        let before = try history.records()
        try history.append(record)
        let after = try history.records()
        if after.last != record || after.count != before.count + 1 { stop("a record is lost") }
    }

    /// The whole file of the quarantine.
    func quarantine(_ bytes: [UInt8]) throws {
        try system.write(bytes, to: sidecar.quarantine)
        defer {
            for suffix in ["", "-journal", "-wal", "-shm"] { _ = try? system.remove(sidecar.quarantine + suffix) }
        }
        let quarantine = Quarantine(sidecar)
        expectUsefulErrors { try quarantine.forEachEntry { _ = try quarantine.entry($0.id) } }
        expectUsefulErrors { _ = try quarantine.newest() }
        expectUsefulErrors { _ = try quarantine.count(run: "1") }
        expectUsefulErrors {
            _ = try Migrator().rehearse(Restoration(into: store, at: version).migration, on: store)
        }
    }

    /// The document of one object, put back into a store: `{"entity", "key", "object"}`.
    func quarantinedObject(_ bytes: [UInt8]) throws {
        let document = try JSONValue(parsing: bytes, place: "object", code: .metadataInvalid)
        let object = QuarantinedObject(
            entity: document["entity"]?.string ?? "", key: document["key"]?.integer ?? 1, reason: "", origin: "",
            object: (document["object"] ?? .null).compact)
        let path = scratch.path + "/objects.sqlite"
        try system.write(pages, to: path)
        let connection = try Connection(path, mode: .readWrite)
        defer { connection.close() }
        let objects = try ObjectStore(over: connection, model: version.model, external: ExternalStorage(store: path))
        _ = try QuarantineRestorer(objects, connection).run { try $0(1, object) }
        try connection.checkSoundness(place: path)
    }

    /// A plan that somebody has kept.
    func plan(_ bytes: [UInt8]) throws {
        let plan = try StorePlan(json: bytes, place: "plan.json")
        expectUsefulErrors { try plan.checkCode(MigrationRegistry()) }
        expectUsefulErrors { try plan.check(prepared) }
    }

    /// The manifest of a fleet, whole or begun, or the result of its first store.
    func fleet(_ bytes: [UInt8]) throws {
        let path = scratch.path + "/fleet.jsonl"
        let results = ResultsFolder(scratch.path + "/fleet")
        let shard = results.shard(0)
        if try !system.exists(shard.path) {
            try system.makeFolder(results.path)
            try shard.make()
        }
        try system.write(bytes, to: shard.path + "/1.json")
        try system.write(bytes, to: shard.attemptsPath)
        if let result = try shard.contents().results[1] { _ = result.cause }
        _ = try AttemptLog(shard).records(isAfterwards: true)
        try system.write(bytes, to: path)
        expectUsefulErrors { _ = try FleetStatus(manifest: path, results: results, verb: nil).page(at: system.now) }
        expectUsefulErrors { _ = try FleetManifest(beginningOf: path) }
    }

    // MARK: - Carried from elsewhere

    /// The manifest of an exported folder whose store is sound.
    func manifest(_ bytes: [UInt8]) throws {
        let exported = scratch.path + "/exported"
        if try !system.exists(exported) { try system.makeFolder(exported) }
        try system.write(pages, to: exported + "/Forum.sqlite")
        try system.write(bytes, to: exported + "/manifest.json")
        let folder = BackupFolder(scratch.path + "/backups")
        expectUsefulErrors { _ = try folder.take(exported) }
        try expectOnly(["Forum.sqlite", "manifest.json"], below: exported)
        try clear(folder)
    }

    /// An archive; its headers get the checksums that they ask for.
    func archive(_ bytes: [UInt8]) throws {
        let place = scratch.path + "/archives"
        try system.makeFolder(place)
        let path = place + "/backup.tar"
        let unpacked = place + "/unpacked"
        try system.write(Self.withChecksums(bytes), to: path)
        try system.makeFolder(unpacked)
        expectUsefulErrors { _ = try TapeArchive.Reader(path, system).unpack(into: unpacked) }
        if try system.size(below: unpacked) > Int64(bytes.count) { stop("more came out than was in the archive") }
        try system.removeTree(unpacked)
        let folder = BackupFolder(place + "/backups")
        expectUsefulErrors { _ = try folder.take(path) }
        try clear(folder)
        let strays = try system.list(place).filter { !["backup.tar", "backups"].contains($0) }
        if !strays.isEmpty { stop("\(strays) lie about") }
    }

    /// A `-wal` beside a store that was copied by hand.
    func writeAheadLog(_ bytes: [UInt8]) throws {
        let copied = scratch.path + "/copied"
        try system.makeFolder(copied)
        defer { _ = try? system.removeTree(copied) }
        let path = copied + "/Forum.sqlite"
        var pages = pages
        // The SQLite file format, section 1.3.3: a store in WAL mode.
        if pages.count > 20 { (pages[18], pages[19]) = (2, 2) }
        try system.write(bytes, to: path + "-wal")
        try system.write(pages, to: path)
        expectUsefulErrors { _ = try WriteAheadLog(beside: path, system)?.strangeness() }
        let folder = BackupFolder(scratch.path + "/backups")
        expectUsefulErrors { _ = try folder.take(path) }
        try clear(folder)
    }

    /// A damaged store; what comes out of it is sound.
    func salvage(_ bytes: [UInt8]) throws {
        // A folder for each input: where something is left beside the new store, a salvage is refused.
        let folder = scratch.path + "/salvage"
        try system.makeFolder(folder)
        defer { _ = try? system.removeTree(folder) }
        let (damaged, new) = (folder + "/damaged.sqlite", folder + "/salvaged.sqlite")
        try system.write(bytes, to: damaged)
        expectUsefulErrors {
            _ = try StoreSalvage(version).run(damaged, into: new)
            expectUsefulErrors { _ = try StoreRepair(new, at: version).found }
        }
        if try system.list(folder).contains(where: { $0.hasSuffix(".salvage") }) {
            stop("a working folder stays")
        }
    }

    // MARK: - Parts

    private func clear(_ folder: BackupFolder) throws {
        for backup in try folder.list() {
            expectUsefulErrors { try folder.verify(backup) }
            try system.removeTree(backup.folder)
        }
        guard try system.exists(folder.folder) else { return }
        let left = try system.list(folder.folder)
        if !left.isEmpty { stop("\(left) lie among the backups") }
    }

    private func expectOnly(_ names: [String], below folder: String) throws {
        let found = try system.files(below: folder)
        if found != names { stop("\(found) lie in the exported folder") }
    }

    /// Nobody finds a sum by chance: of each block that says that it is a header (POSIX.1-2017, ustar) it is set.
    private static func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for start in stride(from: 0, to: bytes.count - 511, by: 512)
        where bytes[(start + 257)..<(start + 262)].elementsEqual("ustar".utf8) {
            let block = bytes[start..<(start + 512)]
            let own = bytes[(start + 148)..<(start + 156)]
            let sum = block.reduce(0) { $0 + Int($1) } - own.reduce(0) { $0 + Int($1) } + 8 * 32
            let digits = String(sum, radix: 8)
            let text = String(repeating: "0", count: 6 - digits.count) + digits + "\0 "
            bytes.replaceSubrange((start + 148)..<(start + 156), with: text.utf8)
        }
        return bytes
    }
}
