import Foundation
import MoultCoreData
import TestSupport
import Testing

/// A second store that is kept in step, through the face that an app has.
@Suite struct PersistentStoreMirrorTests {
    private let store: TestStore
    private let versions: ModelVersions
    private var other: URL { store.url.deletingLastPathComponent().appendingPathComponent("Next.sqlite") }

    init() throws {
        store = try TestStore()
        versions = try ModelVersions([("1", Library.first()), ("2", Library.second())])
    }

    private func start() async throws -> PersistentStoreMirror {
        try await PersistentStoreMirror.start(storeAt: store.url, versions: versions, at: other)
    }

    /// The titles, as the sqlite3 shell finds them.
    private func titles(_ url: URL) throws -> String {
        try SQLiteShell.run(url.path, "SELECT group_concat(ZTITLE, ', ') FROM (SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK)")
            .trimmingCharacters(in: .newlines)
    }

    private func add(_ title: String, to container: PersistentContainer) throws {
        let context = container.viewContext
        try context.performAndWait {
            let book = try context.insertNewObject(forEntityName: "Book")
            try book.setValue(title, forKey: "title")
            try context.save()
        }
    }

    @Test(arguments: [true, false])
    func `what an app writes is taken over while it has the store open, and back after a cut-over`(
        history: Bool
    ) async throws {
        try store.populate(3, history: history)
        let mirror = try await start()
        #expect(try titles(other) == "Book 0, Book 1, Book 2")
        let container = try store.container(Library.first()) { description in
            description.setOption(false, forKey: PersistentStoreOption.migratePersistentStoresAutomatically)
            if history { description.setOption(true, forKey: PersistentStoreOption.historyTracking) }
        }
        try add("Fourth", to: container)
        let behind = try await mirror.status()
        #expect(behind.isBehind && !behind.isCutOver && behind.objects == 1)
        #expect(behind.means == (history ? .history : .scan))
        #expect((behind.version, behind.mirrorVersion) == ("1", "2"))
        let synced = try await mirror.sync()
        #expect(synced.inserted > 0 && synced.deleted == 0)
        #expect(try titles(other) == "Book 0, Book 1, Book 2, Fourth")
        // The store that is open is as good as before.
        try add("Fifth", to: container)
        try container.close()
        let verified = try await mirror.verify()
        #expect(verified.isEqual && verified.rows > 5 && verified.differences.isEmpty)
        await #expect(throws: MigrationError.self) { try await mirror.cutOver() }
        let losses = try await mirror.cutOver(acceptingLosses: true)
        #expect(losses.contains { $0.contains("isbn") })
        let next = PersistentContainer(name: "Next", managedObjectModel: try Library.second())
        next.persistentStoreDescriptions = [PersistentStoreDescription(url: other)]
        try await next.loadPersistentStores()
        try add("Sixth", to: next)
        try next.close()
        // A name for it that is made anew finds the same mirror.
        let again = try PersistentStoreMirror(ofStoreAt: store.url, versions: versions)
        let status = try await again.status()
        #expect(status.isCutOver && status.isBehind && status.losses == losses)
        #expect(status.replicaURL.lastPathComponent == store.url.lastPathComponent)
        try await again.undoCutOver()
        #expect(try titles(store.url) == "Book 0, Book 1, Book 2, Fourth, Fifth, Sixth")
        try await PersistentStoreMirror.stop(storeAt: store.url)
        #expect(throws: MigrationError.self) { try PersistentStoreMirror(ofStoreAt: store.url, versions: versions) }
        #expect(try SQLiteShell.run(other.path, "PRAGMA integrity_check") == "ok\n")
    }

    @Test func `a mirror is not begun over a store that this process has open, nor where something is`() async throws {
        try store.populate(2)
        let container = try store.container(Library.first())
        let open = await #expect(throws: MigrationError.self) { try await start() }
        #expect(open?.code == .locked)
        try container.close()
        try Data("here".utf8).write(to: other)
        let taken = await #expect(throws: MigrationError.self) { try await start() }
        #expect(taken?.code == .usage)
        #expect(try Data(contentsOf: other) == Data("here".utf8))
    }

    @Test func `what somebody else writes is told, and given up only when that is wished for`() async throws {
        try store.populate(2)
        let mirror = try await start()
        _ = try SQLiteShell.run(other.path, "UPDATE ZBOOK SET ZTITLE = 'by hand' WHERE Z_PK = 1")
        let error = await #expect(throws: MigrationError.self) { try await mirror.sync() }
        #expect(error?.code == .mirrorDiverged)
        let found = try await mirror.verify()
        #expect(!found.isEqual && found.obstacle != nil)
        #expect(found.differences.map(\.table) == ["ZBOOK"] && found.differences[0].keys == [1])
        #expect(try await mirror.sync(overwriting: true).updated == 1)
        #expect(try await mirror.verify().isEqual)
    }

    /// A task that is cancelled at some instant has changed nothing, or all.
    @Test func `a task that is cancelled leaves both stores as they were`() async throws {
        try store.populate(400)
        let mirror = try await start()
        var (cancelled, done) = (0, 0)
        for round in Tier.faults.rounds(quick: 12, full: 100) {
            _ = try SQLiteShell.run(store.url.path, "UPDATE ZBOOK SET ZPAGES = \(round + 1), Z_OPT = Z_OPT + 1")
            let before = try SQLiteShell.run(other.path, ".dump")
            let task = Task { try await mirror.sync(comparingAll: round % 2 == 0) }
            try await Task.sleep(for: .microseconds((round * 1_733) % 30_000))
            task.cancel()
            do {
                _ = try await task.value
                done += 1
                #expect(try SQLiteShell.run(other.path, "SELECT DISTINCT ZPAGES FROM ZBOOK") == "\(round + 1)\n")
            } catch let error as MigrationError where error.code == .cancelled {
                cancelled += 1
                #expect(try SQLiteShell.run(other.path, ".dump") == before)
            }
            let work = store.url.deletingLastPathComponent().path + "/Next.sqlite.moult"
            #expect(try FileManager.default.contentsOfDirectory(atPath: work).allSatisfy { !$0.hasPrefix("work-") })
        }
        if Tier.faults.isAsked { print("mirror: cancelled \(cancelled) times, done by then \(done) times") }
        #expect(cancelled > 0)
        try await mirror.sync()
        #expect(try await mirror.verify().isEqual)
    }

    @Test func `a start that is cancelled leaves neither a second store nor a mirror`() async throws {
        try store.populate(400)
        let task = Task { try await start() }
        task.cancel()
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!FileManager.default.fileExists(atPath: other.path))
        #expect(throws: MigrationError.self) { try PersistentStoreMirror(ofStoreAt: store.url, versions: versions) }
        let mirror = try await start()
        #expect(try await mirror.verify().isEqual)
    }
}
