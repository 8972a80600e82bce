import Foundation
import MoultCare
import MoultCoreData
import TestSupport
import Testing

/// A second store that is kept in step, through the face that an app has.
@Suite struct PersistentStoreMirrorTests {  // tier: long
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

    @Test func `what the models leave open is asked at the start, and its answers make the mirror`() async throws {
        try store.populate(3)
        let versions = try ModelVersions([("1", Library.first()), ("2", Library.renamed())])
        let question = await #expect(throws: MigrationError.self) {
            try await PersistentStoreMirror.start(storeAt: store.url, versions: versions, at: other)
        }
        #expect(question?.code == .question && !FileManager.default.fileExists(atPath: other.path))
        // The message has each answer ready to be pasted.
        let lines = question?.message.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
        func answers(_ verdict: String) throws -> Data {
            let line = try #require(lines.first { $0.hasPrefix("{") && $0.contains("\"is\": \"\(verdict)\"") })
            return Data("{\"format\": 1, \"answers\": [\(line)]}".utf8)
        }
        let mirror = try await PersistentStoreMirror.start(
            storeAt: store.url, versions: versions, at: other, migrationAnswers: answers("rename"))
        let headings = "SELECT group_concat(ZHEADING) FROM (SELECT ZHEADING FROM ZBOOK ORDER BY Z_PK)"
        #expect(try SQLiteShell.run(other.path, headings) == "Book 0,Book 1,Book 2\n")
        _ = try SQLiteShell.run(
            store.url.path, "UPDATE ZBOOK SET ZTITLE = 'Emma', Z_OPT = Z_OPT + 1 WHERE ZTITLE = 'Book 1'")
        #expect(try await mirror.sync().updated == 1)
        #expect(try SQLiteShell.run(other.path, headings) == "Book 0,Emma,Book 2\n")
        // A name for it that is made anew is asked the same, and other answers are another mirror.
        let known = try PersistentStoreMirror(
            ofStoreAt: store.url, versions: versions, migrationAnswers: answers("rename"))
        #expect(try await known.verify().isEqual)
        let unanswered = #expect(throws: MigrationError.self) {
            try PersistentStoreMirror(ofStoreAt: store.url, versions: versions)
        }
        #expect(unanswered?.code == .question)
        let stale = #expect(throws: MigrationError.self) {
            try PersistentStoreMirror(ofStoreAt: store.url, versions: versions, migrationAnswers: answers("new"))
        }
        #expect(stale?.code == .planStale)
        let broken = #expect(throws: MigrationError.self) {
            try PersistentStoreMirror(ofStoreAt: store.url, versions: versions, migrationAnswers: Data("{".utf8))
        }
        #expect(broken?.code == .usage)
    }

    @Test func `a version whose hash would be a guess is mirrored only where that is allowed`() async throws {
        try store.populate(2)
        var entities = try Library.first().entities
        let book = try #require(entities.firstIndex { $0.name == "Book" })
        entities[book].attributes.append(
            AttributeDescription(
                name: "cover", type: .composite, elements: [AttributeDescription(name: "colour", type: .string)],
                uncertainty: "is of a kind that no store shows"))
        let second = try ManagedObjectModel(entities: entities)
        let versions = try ModelVersions([("1", Library.first()), ("2", second)])
        let refused = await #expect(throws: MigrationError.self) {
            try await PersistentStoreMirror.start(storeAt: store.url, versions: versions, at: other)
        }
        #expect(refused?.code == .unsupported && !FileManager.default.fileExists(atPath: other.path))
        let mirror = try await PersistentStoreMirror.start(
            storeAt: store.url, versions: versions, at: other, allowsUncertainVersionHashes: true)
        #expect(try SQLiteShell.run(other.path, "SELECT count(*), count(ZTITLE) FROM ZBOOK") == "2|2\n")
        #expect(try await mirror.verify().isEqual)
        let known = try PersistentStoreMirror(
            ofStoreAt: store.url, versions: versions, allowsUncertainVersionHashes: true)
        #expect(try await known.verify().isEqual)
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
            #expect(try !FileManager.default.contentsOfDirectory(atPath: work).contains { $0.hasPrefix("work-") })
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
