import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import Synchronization
import TestSupport
import Testing

/// A migration in calls that each end on their budget.
struct BudgetTests {  // tier: long
    @Test(arguments: [false, true])
    func `stopped at every piece it ends with the store of one run`(isWAL: Bool) throws {
        let paced = try PacedStore(isWAL: isWAL)
        let (old, new) = (try paced.fixture.logicalHash(), try paced.hashOfOneRun())
        #expect(old != new)
        var last = 0.0
        let (pauses, outcome) = try paced.callUntilDone { pause throws in
            #expect(try paced.fixture.logicalHash() == old)
            #expect(pause.fraction >= last && pause.fraction < 1 && pause.startedOver == nil)
            last = pause.fraction
            #expect(try !Migrator().isUnfinished(paced.store))
            #expect(try Migrator().paused(paced.store)?.fraction == pause.fraction)
        }
        #expect(outcome?.backup != nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
        // Two tables have several ranges each.
        #expect(pauses.count > 20)
        #expect(Set(pauses.map(\.run)).count == 1)
        #expect(try Migrator().backups(of: paced.store).list().count == 1)
    }

    /// What it has done stays in the working copy: no call begins again.
    @Test func `each call does one piece more`() throws {
        let paced = try PacedStore()
        let (pauses, _) = try paced.callUntilDone()
        let nexts = pauses.map(\.next)
        let rows = nexts.filter { $0.hasPrefix("Copy the rows of ZITEM") }
        #expect(rows.count >= 150 / 60)
        #expect(
            nexts.first == "Back up the store." && nexts.last == "Commit the new store, in one transaction.")
        #expect(pauses.map(\.calls) == Array(1...pauses.count))
    }

    @Test(arguments: [3, 25])
    func `a store that was written to in between is migrated from the start`(calls: Int) throws {
        let paced = try PacedStore()
        for _ in 0..<calls { #expect(try paced.call().pause != nil) }
        _ = try paced.fixture.shell("UPDATE ZITEM SET ZNAME = 'written in between' WHERE Z_PK = 7")
        let new = try paced.hashOfOneRun()
        let again = try paced.call()
        #expect(again.startedOver == "The store was written to since the last call.")
        #expect(again.pause?.calls == 1)
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try paced.fixture.shell("SELECT ZNAME FROM ZITEM WHERE Z_PK = 7") == "written in between\n")
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    /// The byte of the header, which makes the file none of SQLite's, or of the kind of the first page.
    @Test(arguments: [0, 100])
    func `a working copy that was damaged between two calls is made again`(place: Int) throws {
        let paced = try PacedStore(isWAL: true)
        let new = try paced.hashOfOneRun()
        for _ in 0..<12 { #expect(try paced.call().pause != nil) }
        let work = try #require(
            try FileManager.default.contentsOfDirectory(atPath: paced.fixture.sidecar).first { $0.hasPrefix("work-") })
        let copy = "\(paced.fixture.sidecar)/\(work)/\(Path.name(of: paced.store))"
        var bytes = try POSIXSystem().read(copy)
        bytes[place] = 0xEE
        try POSIXSystem().write(bytes, to: copy)
        let again = try paced.call()
        #expect(again.startedOver == "The working files of the last call are damaged.")
        #expect(again.pause?.calls == 1)
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    @Test func `another target starts over`() throws {
        var paced = try PacedStore()
        for _ in 0..<10 { _ = try paced.call() }
        var changed = paced.versions.versions[1].model.entities
        changed = changed.map { entity in
            var entity = entity
            if entity.name == "Author" { entity.attributes.append(.init(name: "born", type: .date)) }
            return entity
        }
        paced.versions = ModelVersions(versions: [
            paced.versions.versions[0], ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: changed)),
        ])
        #expect(try paced.call().startedOver?.contains("with another plan") == true)
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.fixture.shell("SELECT count(ZBORN) FROM ZAUTHOR") == "0\n")
    }

    @Test func `a run without a budget takes its place`() throws {
        let paced = try PacedStore()
        let new = try paced.hashOfOneRun()
        for _ in 0..<12 { _ = try paced.call() }
        _ = try paced.migrator.run(try paced.prepared())
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
        guard case .nothingToDo = try paced.call() else {
            Issue.record("there is nothing to do")
            return
        }
    }

    @Test func `a backup in between does no harm`() throws {
        let paced = try PacedStore()
        let new = try paced.hashOfOneRun()
        for _ in 0..<12 { _ = try paced.call() }
        _ = try paced.migrator.backUp(paced.store, version: "1")
        let next = try paced.call()
        #expect(next.startedOver == nil && next.pause?.calls == 13)
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
    }

    @Test(arguments: [0, -1, Double.nan, 0.001])
    func `a budget that is too small is refused with the longest unit`(budget: Double) throws {
        let paced = try PacedStore()
        let old = try paced.fixture.logicalHash()
        let longest = try #require(try paced.prepared().longestUnit)
        let error = #expect(throws: MigrationError.self) { try paced.call(.seconds(budget)) }
        #expect(error?.code == .budgetTooSmall)
        #expect(error?.message.contains("\((longest.seconds * 1000).rounded(.up) / 1000) s") == true)
        #expect(error?.message.contains(longest.sentence) == true)
        #expect(try paced.fixture.logicalHash() == old)
        #expect(!FileManager.default.fileExists(atPath: paced.fixture.sidecar))
    }

    @Test func `calls that end on their budget are no crashes, and calls that die are`() throws {
        var paced = try PacedStore()
        paced.options.maximumAttempts = 2
        for _ in 0..<10 { #expect(try paced.call().pause != nil) }
        // A process that dies leaves the journal as the call had written it at its beginning.
        for _ in 0..<2 {
            let journal = paced.fixture.sidecar + "/journal.json"
            let text = try String(contentsOfFile: journal, encoding: .utf8)
            try text.replacingOccurrences(of: "\"paused\"", with: "\"started\"")
                .write(toFile: journal, atomically: true, encoding: .utf8)
            if let outcome = try? paced.call() { #expect(outcome.startedOver == nil) }
        }
        let results = try RunHistory(StoreRecords(store: paced.store)).records().map(\.result)
        #expect(results.count { $0 == .undone } == 2 && results.count { $0 == .paused } >= 10)
    }

    @Test func `a frugal migration keeps no backup`() throws {
        var paced = try PacedStore()
        paced.options.isFrugal = true
        let new = try paced.hashOfOneRun()
        let outcome = try paced.callUntilDone().outcome
        #expect(outcome != nil && outcome?.backup == nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try Migrator().backups(of: paced.store).list().isEmpty)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }

    /// How far a copy has come is noted in it; that is no part of the store. A manifest is no part of a backup's store.
    @Test(arguments: [("checkpoint.json", "\"isChanged\": true"), ("manifest.json", "checksum")])
    func `a call that dies leaves nothing of its own in the store or the backup`(file: String, text: String) throws {
        var paced = try PacedStore()
        let new = try paced.hashOfOneRun()
        let dying = DyingSystem(after: file, with: text)
        paced.system = dying
        #expect(throws: MigrationError.self) { try paced.callUntilDone(.all) }
        #expect(dying.isDead)
        paced.system = POSIXSystem()
        #expect(try paced.callUntilDone(.all).outcome != nil)
        #expect(try paced.fixture.logicalHash() == new)
        let contents = try Migrator().backups(of: paced.store).contents()
        #expect(!contents.backups.isEmpty && contents.unreadable.isEmpty, "\(contents)")
    }

    @Test func `cancelling leaves the old store, and the next call goes on`() throws {
        let paced = try PacedStore()
        let (old, new) = (try paced.fixture.logicalHash(), try paced.hashOfOneRun())
        for _ in 0..<15 { _ = try paced.call() }
        let impatient = MigrationObserver(isCancelled: { true })
        var error: MigrationError?
        for _ in 0..<60 where error == nil {
            do { _ = try paced.call(.one, impatient) } catch let thrown as MigrationError { error = thrown }
        }
        #expect(error?.code == .cancelled)
        #expect(try paced.fixture.logicalHash() == old)
        let done = try #require(try paced.migrator.paused(paced.store))
        #expect(done.calls > 15)
        let outcome = try paced.call(.all)
        #expect(outcome.finished?.run == done.run && outcome.startedOver == nil)
        #expect(try paced.fixture.logicalHash() == new)
        #expect(try paced.fixture.sidecarNames() == IdentityMigrationTests.tidy)
    }
}

/// Writes nothing more once a file has a text.
private final class DyingSystem: ForwardingSystem {
    private let file: String
    private let text: String
    private let dead = Mutex(false)

    init(after file: String, with text: String) { (self.file, self.text) = (file, text) }

    var isDead: Bool { dead.withLock { $0 } }

    private func check(_ path: String) throws {
        if isDead { throw MigrationError.system("write", path, error: EIO) }
    }

    func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try check(path)
        try real.write(bytes, to: path, rights)
    }
    func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try check(path)
        try real.append(bytes, to: path, rights)
    }
    func synchronise(_ path: String) throws {
        try check(path)
        try real.synchronise(path)
    }
    func rename(_ path: String, to newPath: String) throws {
        try check(path)
        try real.rename(path, to: newPath)
        guard newPath.hasSuffix(file) else { return }
        let contents = String(decoding: try real.read(newPath), as: UTF8.self)
        if contents.contains(text) { dead.withLock { $0 = true } }
    }
    func remove(_ path: String) throws -> Bool {
        try check(path)
        return try real.remove(path)
    }
}
