import Foundation
import MoultBasics
import TestSupport
import Testing

@testable import MoultEngine

/// Another process reads the journal of a run from another working folder.
@Suite("The journal of a run")
struct RunJournalTests {
    private let system = POSIXSystem()

    private func kept(_ saved: String, _ backups: String) throws -> Journal? {
        let folder = try ScratchFolder()
        let sidecar = StoreRecords(store: try system.resolve(folder.path) + "/app.sqlite")
        try system.makeFolder(sidecar.folder)
        var journal = Journal(
            run: "r", operation: .rollback, state: .started, from: "2", to: "1", startedAt: "", schemaVersion: 0,
            oldChecksum: "", newChecksum: nil, backup: "b", backups: backups, newExternalFiles: [])
        journal.saved = saved
        try journal.write(sidecar, system)
        return try Journal.read(sidecar, system)
    }

    @Test func `a path that is relative is kept as an absolute one, also where nothing is there`() throws {
        let here = FileManager.default.currentDirectoryPath
        let missing = "nowhere-\(UUID().uuidString)/kept"
        let journal = try kept("\(missing)/b", missing)
        #expect(journal?.saved == "\(here)/\(missing)/b")
        #expect(journal?.backups == "\(here)/\(missing)")
        #expect(try kept("b", ".")?.saved == "\(here)/b")
        #expect(try kept("/nowhere/b", "/nowhere")?.saved == "/nowhere/b")
    }
}
