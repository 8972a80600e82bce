import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultTools
import TestSupport

// Sound inputs for what lies beside a store, made by the engine itself.

extension FuzzSeeds {
    static func besides(for reader: FuzzReader) throws -> [[UInt8]] {
        let scratch = try ScratchFolder()
        let path = try POSIXSystem().resolve(scratch.path) + "/Forum.sqlite"
        let pages = try store(framework: 1526)
        try POSIXSystem().write(pages, to: path)
        switch reader {
        case .plan:
            let session = try StoreSession(StoreRequest(path, .plan), StoreSession.Context(forum()))
            return [Array(try session.plan().document.indented.utf8)]
        case .journal: return [Array(journal.utf8), Array(journalOfRollback.utf8)]
        case .runs: return [Array(runs.utf8), Array(runs.utf8.dropLast(40))]
        case .manifest: return try manifests(path, pages)
        case .archive: return [try archive(path)]
        case .quarantine: return [try quarantine(path)]
        case .quarantinedObject: return try objects(path)
        case .writeAheadLog: return [try writeAheadLog(path)]
        case .salvage: return [pages] + (1...8).map { pages.mutated(seed: $0) }
        case .fleet: return [try fleet(path), Array(result.utf8)]
        default: return []
        }
    }

    private static func fleet(_ store: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let manifest = FleetManifest(
            fleet: "0123456789abcdef", plannedAt: "2026-01-01T00:00:00Z", host: "here", roots: [store], options: [],
            versions: ["1"], modelDigest: "", target: "1", shards: 2)
        _ = try FleetPlan(manifest, look: StoreLook(forum(), target: nil), outlook: { $0.changes = ["One."] })
            .run([store]) { bytes += $0 }
        return bytes
    }

    private static let result = """
        {"format":1,"n":1,"path":"/s","state":"setAside","verb":"migrate","attempts":3,"deaths":3,"seconds":0.5,"memory":9,
        "signal":9,"error":{"code":"locked","message":"m","remedy":"r"},"backup":{"name":"b","folder":"/b"},"rows":7}
        """

    private static let journal = """
        {"format":1,"run":"20260101T000000Z-0123abcd","operation":"migrate","state":"committing","from":"1","to":"2",
        "startedAt":"2026-01-01T00:00:00Z","schemaVersion":7,"oldChecksum":"00ff","newChecksum":"ff00","backup":"b-1",
        "backups":"backups","newExternalFiles":["3F2504E0","..","a/b"],"steps":["copy"]}
        """

    private static let journalOfRollback = """
        {"format":1,"run":"r","operation":"rollback","state":"committing","from":"2","to":"1","startedAt":"",
        "schemaVersion":0,"oldChecksum":"","newChecksum":null,"backup":"missing","backups":"/nowhere",
        "newExternalFiles":[],"steps":[]}
        """

    static let runs = """
        {"format":1,"run":"a","operation":"migrate","result":"done","from":"1","to":"2","startedAt":"2026-01-01T00:00:00Z",\
        "endedAt":"2026-01-01T00:00:01Z","seconds":1.5,"backup":"b","rows":3,"bytes":4,"error":null,"quarantined":1,"fixed":2}
        {"format":1,"run":"b","operation":"rollback","result":"undone","from":"2","to":"1","error":"locked: \\"x\\""}

        """

    /// That of a backup, as it would be for these very pages, in either format.
    private static func manifests(_ path: String, _ pages: [UInt8]) throws -> [[UInt8]] {
        let backup = try Migrator().backUp(path, version: "1")
        let whole = try POSIXSystem().read(backup.folder + "/manifest.json")
        var json = String(decoding: whole, as: UTF8.self)
        json.replace(backup.manifest.sha256, with: Digest.sha256(pages).hexadecimal)
        json.replace("\"format\": 2", with: "\"format\": 1")
        return [Array(json.utf8), whole]
    }

    /// A backup with an external file whose name needs an extended header.
    private static func archive(_ path: String) throws -> [UInt8] {
        let system = POSIXSystem()
        let external = ExternalStorage(store: path).folder
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        try system.write([1, 2, 3], to: external + "/" + String(repeating: "n", count: 120))
        let backup = try Migrator().backUp(path, version: "1")
        try Migrator().backups(of: path).export(backup, to: path + ".tar")
        return try system.read(path + ".tar")
    }

    private static func quarantine(_ path: String) throws -> [UInt8] {
        try fillQuarantine(of: path)
        let file = StoreRecords(store: path).quarantine
        let connection = try Connection(file, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
        connection.close()
        return try POSIXSystem().read(file)
    }

    private static func objects(_ path: String) throws -> [[UInt8]] {
        try fillQuarantine(of: path)
        var seeds: [[UInt8]] = []
        try Quarantine(StoreRecords(store: path)).forEachEntry { entry in
            let object = try JSONValue(parsing: Array(entry.object.object.utf8), place: "", code: .internal)
            let document: JSONValue = [
                "entity": .string(entry.object.entity), "key": .integer(entry.object.key + 100), "object": object,
            ]
            seeds.append(Array(document.compact.utf8))
        }
        return seeds
    }

    private static func fillQuarantine(of path: String) throws {
        let rules = """
            {"format":1,"rules":[{"name":"p","entity":"Post","predicate":"FALSEPREDICATE","fix":"quarantine"},
            {"name":"u","entity":"User","predicate":"FALSEPREDICATE","fix":"quarantine"}]}
            """
        guard let version = try forum().versions.first else { return }
        let audit = try RuleAudit(
            path, RulesFile(json: Array(rules.utf8), place: "rules").rules, version: version)
        if let mending = try audit.mending() { _ = try Migrator().run(mending, on: path) }
    }

    private static func writeAheadLog(_ path: String) throws -> [UInt8] {
        let connection = try Connection(path, mode: .readWrite)
        defer { connection.close() }
        try connection.execute("PRAGMA journal_mode = WAL; UPDATE ZUSER SET ZNAME = 'x'; UPDATE ZUSER SET ZNAME = 'y'")
        return try POSIXSystem().read(path + "-wal")
    }
}
