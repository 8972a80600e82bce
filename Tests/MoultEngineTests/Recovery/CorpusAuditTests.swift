import Foundation
import Moult
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Every rule of `moult validate` over every real store, against the kept table Documentation/Tables/validate.csv.
@Suite("Validation of real stores", .enabled(if: Corpus.isAvailable))
struct CorpusAuditTests {
    /// By store, its objects, and each finding as `rule place`.
    private static func judged() throws -> [String: (objects: Int64, findings: Set<String>)] {
        let table = try String(
            contentsOf: packageRoot.appendingPathComponent("Documentation/Tables/validate.csv"), encoding: .utf8)
        var judged: [String: (objects: Int64, findings: Set<String>)] = [:]
        for row in table.split(separator: "\n").dropFirst() {
            let cells = row.components(separatedBy: ",")
            var store = judged[cells[0]] ?? (Int64(cells[1]) ?? -1, [])
            if cells[2] != "none" { store.findings.insert("\(cells[2]) \(cells[3])") }
            judged[cells[0]] = store
        }
        return judged
    }

    /// Whether a store of another SQLite is in WAL mode without a WAL, by the bytes of its header.
    private static func isAlone(_ path: String) throws -> Bool {
        let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(100)
        let writer = header.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        let own = try SQLiteShell.run(":memory:", "SELECT sqlite_version()").dropLast().split(separator: ".")
            .reduce(0) { $0 * 1_000 + (Int($1) ?? 0) }
        return Array(header[18...19]) == [2, 2] && writer != own
            && !FileManager.default.fileExists(atPath: path + "-wal")
    }

    @Test func `every store has the findings that were judged one by one, and no others`() throws {
        let judged = try Self.judged()
        #expect(!Corpus.isWhole || Set(CorpusStores.distinct.map(CorpusStores.name)) == Set(judged.keys))
        var stores = 0
        for path in CorpusStores.distinct {
            let name = CorpusStores.name(of: path)
            // Of two equal stores the page names the first.
            guard judged[name] != nil else { continue }
            stores += 1
            let snapshot = try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection) }
            let model = try #require(snapshot.corpusModel(of: path), "\(name)")
            let audit = try StoreAudit(path, model: model, full: true)
            // A file that was committed without its WAL.
            let ofRows = audit.findings.filter { $0.code != "wal-missing" }
            #expect(Set(ofRows.map { "\($0.code) \($0.place)" }) == judged[name]?.findings, "\(name)")
            let isAlone = try Self.isAlone(path)
            #expect((ofRows.count < audit.findings.count) == isAlone, "\(name)")
            #expect(audit.rowCounts.values.reduce(0, +) == judged[name]?.objects, "\(name)")
        }
        #expect(stores == (Corpus.isSmall ? CorpusStores.distinct.count - 3 : judged.count))
    }
}
