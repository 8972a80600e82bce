import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import Synchronization
import TestSupport
import Testing

/// Counts the list whenever a run has made the quarantine durable, which is before its commit.
private final class LookingSystem: ForwardingSystem {
    let counts = Mutex<[Int]>([])

    func synchronise(_ path: String) throws {
        try real.synchronise(path)
        guard path.hasSuffix(".moult/quarantine.sqlite") else { return }
        var count = 0
        try Quarantine(StoreRecords(store: String(path.dropLast(".moult/quarantine.sqlite".count)))).forEachEntry { _ in
            count += 1
        }
        counts.withLock { $0.append(count) }
    }
}

/// What rules have sent to the quarantine goes back, told by the sqlite3 shell.
@Suite("Objects of the quarantine go back") struct RestorationTests {  // tier: long
    private static func quarantine(_ forum: BrokenForum, _ rules: ValidationRule...) throws -> MigrationOutcome {
        let audit = try RuleAudit(forum.path, rules, version: ForumRules.version)
        return try Migrator().run(try #require(try audit.mending()), on: forum.path)
    }

    private static let homeless = ValidationRule(
        "homeless", of: "Topic", .orphan(relationship: "forum"), fix: .quarantine)

    @discardableResult
    private static func restore(_ forum: BrokenForum, _ entries: [Int64]? = nil) throws -> RestorationResult {
        let restoration = try Restoration(of: entries, into: forum.path, at: ForumRules.version)
        let outcome = try Migrator().run(restoration.migration, on: forum.path)
        #expect(outcome.backup != nil)
        return restoration.report
    }

    /// Every row and link, without what writing an object moves on.
    private static func contents(_ forum: BrokenForum) throws -> String {
        try forum.shell(
            """
            SELECT Z_PK, Z_ENT, ZNAME, ZPOSTCOUNT, ZPARENT, hex(ZICON) FROM ZFORUM ORDER BY 1;
            SELECT Z_PK, Z_ENT, ZTITLE, ZFORUM FROM ZTOPIC ORDER BY 1;
            SELECT Z_PK, Z_ENT, ZBODY, ZNUMBER, ZRATE, ZSENT, ZPRICE, hex(ZTAG), ZTOPIC FROM ZPOST ORDER BY 1;
            SELECT Z_PK, row_number() OVER (PARTITION BY ZTOPIC ORDER BY Z_FOK_TOPIC) FROM ZPOST ORDER BY 1;
            SELECT * FROM Z_4RELATEDBY ORDER BY 1, 2; SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < 16000
                ORDER BY 1
            """)
    }

    @Test func `a quarantine that another process writes to names that process`() throws {
        let forum = try BrokenForum.closed(BrokenForum.smallRows)
        _ = try Self.quarantine(forum, Self.homeless)
        let sidecar = StoreRecords(store: forum.path)
        let writer = try SQLiteProcess(sidecar.quarantine)
        defer { writer.end() }
        try writer.run("BEGIN EXCLUSIVE;")
        let error = #expect(throws: MigrationError.self) { _ = try Quarantine(sidecar).newest() }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(writer.identifier)") == true, "\(error?.message ?? "")")
        try writer.run("ROLLBACK;")
        #expect(try Quarantine(sidecar).newest() != nil)
    }

    @Test func `a run that another process keeps from the quarantine by reading it names that process`() throws {
        let forum = try BrokenForum.closed(BrokenForum.smallRows)
        _ = try Self.quarantine(forum, Self.homeless)
        let before = try Self.contents(forum)
        let reader = try SQLiteProcess(StoreRecords(store: forum.path).quarantine)
        defer { reader.end() }
        try reader.run("BEGIN; SELECT count(*) FROM quarantine;")
        let error = #expect(throws: MigrationError.self) { try Self.restore(forum) }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(reader.identifier)") == true, "\(error?.message ?? "")")
        #expect(try Self.contents(forum) == before)
        try reader.run("ROLLBACK;")
        #expect(try !Self.restore(forum).restored.isEmpty)
    }

    @Test(arguments: [false, true])
    func `objects, values and links come back under their own keys, and leave the list`(history: Bool) throws {
        // Values whose texts are not easily exact, and dates outside the calendar.
        let forum = try BrokenForum.closed(
            BrokenForum.smallRows
                + """
                ; UPDATE ZPOST SET ZRATE = 0.1 + Z_PK / 3.0, ZPRICE = Z_PK || '.05', ZTAG = randomblob(16),
                    ZSENT = CASE Z_PK % 3 WHEN 0 THEN 1e18 WHEN 1 THEN -9e999 ELSE 0.1234567890123 * Z_PK END;
                DELETE FROM Z_4RELATEDBY WHERE Z_4RELATED = Z_4RELATEDBY
                """, history: history)
        let before = try Self.contents(forum)
        let some = ValidationRule(
            "some", of: "Post", .predicate(try Predicate(parsing: "number != 5")), fix: .quarantine)
        let out = try Self.quarantine(forum, Self.homeless, some)
        #expect(out.quarantined == 10 + 31)
        #expect(try Self.contents(forum) != before)
        let report = try Self.restore(forum)
        #expect(report.restored.count == 41 && report.refused.isEmpty)
        #expect(report.restored.allSatisfy { $0.oldKey == nil && $0.lostLinks.isEmpty })
        let after = try Self.contents(forum)
        #expect(after == before)
        #expect(try forum.shell("PRAGMA integrity_check") == "ok")
        #expect(try forum.quarantined().isEmpty)
        #expect(throws: MigrationError.self) { try Self.restore(forum) }
    }

    @Test func `a dry run changes no byte and says what the run then does`() throws {
        let forum = try BrokenForum.closed()
        _ = try Self.quarantine(forum, Self.homeless)
        let before = try forum.files()
        let restoration = try Restoration(into: forum.path, at: ForumRules.version)
        _ = try Migrator().rehearse(restoration.migration, on: forum.path)
        #expect(try forum.files() == before)
        #expect(try Self.restore(forum) == restoration.report)
    }

    @Test func `until the run has committed its objects are listed still`() throws {
        let forum = try BrokenForum.closed()
        _ = try Self.quarantine(forum, Self.homeless)
        let count = try forum.quarantined().count
        let system = LookingSystem()
        let restoration = try Restoration(into: forum.path, at: ForumRules.version)
        _ = try Migrator(system: system).run(restoration.migration, on: forum.path)
        let counts = system.counts.withLock { $0 }
        #expect(!counts.isEmpty && counts.allSatisfy { $0 == count }, "\(counts), not \(count)")
        #expect(count > 0)
        #expect(try forum.quarantined().isEmpty)
    }

    @Test func `what was put back by a run that could not end is not put back twice`() throws {
        struct LateFullSystem: ForwardingSystem {
            func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
                if path.hasSuffix("/runs.jsonl") { throw MigrationError.system("write", path, error: ENOSPC) }
                try real.append(bytes, to: path, rights)
            }
        }
        let forum = try BrokenForum.closed()
        _ = try Self.quarantine(forum, Self.homeless)
        let restoration = try Restoration(into: forum.path, at: ForumRules.version)
        _ = try Migrator(system: LateFullSystem()).run(restoration.migration, on: forum.path)
        let after = try Self.contents(forum)
        let report = try Self.restore(forum)
        #expect(report.restored.isEmpty && report.refused.isEmpty)
        #expect(try Self.contents(forum) == after)
        #expect(try forum.quarantined().isEmpty)
    }

    @Test func `what does not fit stays, with the reason; keys and links that are taken are told`() throws {
        let forum = try BrokenForum.closed()
        _ = try Self.quarantine(forum, Self.homeless)
        // Another object has a key, a post has another topic, and a related topic is gone.
        _ = try forum.shell(
            """
            INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM) VALUES (10, 4, 1, 'other', 1);
            UPDATE ZPOST SET ZTOPIC = 1 WHERE Z_PK = 77; DELETE FROM ZTOPIC WHERE Z_PK = 31;
            """)
        _ = try SQLiteShell.run(
            forum.sidecar.quarantine,
            """
            UPDATE quarantine SET object = replace(object, '"title"', '"heading"') WHERE key = 40;
            UPDATE quarantine SET entity = 'Chapter' WHERE key = 50
            """)
        let report = try Self.restore(forum)
        #expect(report.refused.map(\.key) == [40, 50])
        #expect(report.refused[0].reason == "this version of Topic has no property heading")
        #expect(report.refused[1].reason == "this version has no entity Chapter")
        let moved = try #require(report.restored.first { $0.oldKey != nil })
        #expect(moved.oldKey == 10 && moved.key > 10_000_000)
        #expect(
            try forum.shell("SELECT ZTITLE FROM ZTOPIC WHERE Z_PK IN (10, \(moved.key)) ORDER BY 1") == "other\nt10")
        // Its posts follow it to its new key.
        #expect(try forum.shell("SELECT group_concat(Z_PK) FROM ZPOST WHERE ZTOPIC = \(moved.key)") == "37,38,39,40")
        let losses = Dictionary(uniqueKeysWithValues: report.restored.map { ($0.key, $0.lostLinks) })
        #expect(losses[20] == ["posts to Post 77, which belongs to another object now"])
        #expect(losses[30] == ["relatedBy to Topic 31, which does not exist"])
        #expect(losses[60] == [])
        #expect(try forum.quarantined().map(\.object.key) == [40, 50])
        #expect(try forum.shell("SELECT count(*) FROM ZTOPIC") == "98")
    }

    /// The topics of the store and of the list are all hundred, whichever way the store has gone.
    private static func expectAgreement(_ forum: BrokenForum, _ count: Int) throws {
        let listed = try forum.quarantined().map(\.key)
        #expect(listed.count == count)
        #expect(try forum.shell("SELECT count(*) FROM ZTOPIC") == "\(100 - count)")
        let keys = listed.map(String.init).joined(separator: ", ")
        #expect(try forum.shell("SELECT count(*) FROM ZTOPIC WHERE Z_PK IN (\(keys))") == "0")
    }

    @Test func `after a rollback, and after the way forward again, the list has what the store lacks`() throws {
        let forum = try BrokenForum.closed()
        let before = try forum.logicalHash()
        let migrator = Migrator()
        let out = try Self.quarantine(forum, Self.homeless)
        try Self.expectAgreement(forum, 10)
        let own = try migrator.backUp(forum.path, version: "1")
        let restoration = try Restoration(of: [1, 2], into: forum.path, at: ForumRules.version)
        let back = try migrator.run(restoration.migration, on: forum.path)
        try Self.expectAgreement(forum, 8)
        let first = try migrator.rollback(forum.path, to: try #require(back.backup))
        try Self.expectAgreement(forum, 10)
        let second = try migrator.rollback(forum.path, to: try #require(first.saved))
        try Self.expectAgreement(forum, 8)
        let third = try migrator.rollback(forum.path, to: try #require(out.backup))
        try Self.expectAgreement(forum, 0)
        #expect(try forum.logicalHash() == before)
        _ = try migrator.rollback(forum.path, to: try #require(second.saved))
        try Self.expectAgreement(forum, 10)
        _ = try migrator.rollback(forum.path, to: try #require(third.saved))
        try Self.expectAgreement(forum, 8)
        // No run made this one.
        _ = try migrator.rollback(forum.path, to: own)
        try Self.expectAgreement(forum, 10)
    }

    @Test func `what is in the store is not put in twice, even if an older list has it`() throws {
        let forum = try BrokenForum.closed()
        let before = try forum.logicalHash()
        let out = try Self.quarantine(forum, Self.homeless)
        _ = try Migrator().rollback(forum.path, to: try #require(out.backup))
        #expect(throws: MigrationError.self) { try Self.restore(forum) }
        // Earlier versions of Moult kept no list of the runs that a rollback undid.
        _ = try SQLiteShell.run(forum.sidecar.quarantine, "DROP TABLE undone")
        let error = #expect(throws: MigrationError.self) { try Self.restore(forum) }
        #expect(
            error?.message.contains("None of 10 objects can be put back: of Topic 10, it is already in the store")
                == true)
        #expect(try forum.logicalHash() == before)
    }

    @Test func `the bytes of an external file come back into a file of their own`() throws {
        let forum = try BrokenForum(BrokenForum.smallRows)
        var icon = [UInt8](repeating: 0, count: 250_000)
        for position in icon.indices { icon[position] = UInt8(truncatingIfNeeded: position &* 7919) }
        var changes = ObjectChanges()
        let id = ObjectID(store: forum.store.identifier, entityName: "Forum", key: 3)
        changes.updated = [.init(id: id, version: nil, values: ["icon": .attribute(.binary(icon))])]
        _ = try forum.store.save(changes)
        forum.close()
        let files = try forum.files().filter { $0.key.contains("_EXTERNAL_DATA/") && $0.key.hasPrefix(".") }
        #expect(files.count == 1)
        let three = ValidationRule(
            "three", of: "Forum", .predicate(try Predicate(parsing: "name != 'three'")), fix: .quarantine)
        _ = try Self.quarantine(forum, three)
        // Whatever becomes of the old file meanwhile.
        for name in files.keys { try? FileManager.default.removeItem(atPath: forum.folder.path + "/" + name) }
        #expect(try Self.restore(forum).restored.map(\.key) == [3])
        let cell = try forum.shell("SELECT substr(CAST(ZICON AS TEXT), 2, 36) FROM ZFORUM WHERE Z_PK = 3")
        let path = forum.folder.path + "/.Forum_SUPPORT/_EXTERNAL_DATA/" + cell
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(icon))
    }

    @Test func `a machine that dies at any moment of a restore leaves each object in the store or in the list`() throws
    {
        let forum = try BrokenForum.closed()
        _ = try Self.quarantine(forum, Self.homeless)
        let scratch = try ScratchFolder()
        func copy(_ name: String) throws -> String {
            try FileManager.default.copyItem(atPath: forum.folder.path, toPath: scratch.path + "/" + name)
            return scratch.path + "/" + name + "/Forum.sqlite"
        }
        func restore(_ store: String, _ system: any System) throws {
            let restoration = try Restoration(into: store, at: ForumRules.version, system: system)
            _ = try Migrator(system: system).run(restoration.migration, on: store)
        }
        func hash(_ store: String) throws -> String { try SharedSQLiteShell.run(store, ".sha3sum --schema") }
        func listed(_ store: String) throws -> Int {
            var count = 0
            try Quarantine(StoreRecords(store: store)).forEachEntry { _ in count += 1 }
            return count
        }
        let (old, done) = (try copy("old"), try copy("done"))
        try restore(done, POSIXSystem())
        let (before, after) = (try hash(old), try hash(done))
        #expect(try before != after && listed(old) == 10 && listed(done) == 0)
        var (undone, finished) = (0, 0)
        for call in 0..<500 {
            let store = try copy("died \(call)")
            let machine = FaultySystem { $0 < call ? nil : EIO }
            try? restore(store, machine)
            guard machine.hasFailed else { break }
            _ = try Migrator().recover(store)
            let found = try hash(store)
            if found == before {
                undone += 1
                #expect(try listed(store) == 10, "call \(call)")
                try restore(store, POSIXSystem())
            } else {
                finished += 1
            }
            #expect(try hash(store) == after && listed(store) == 0, "call \(call)")
            try FileManager.default.removeItem(atPath: (store as NSString).deletingLastPathComponent)
        }
        #expect(undone > 5 && finished > 0)
    }

    @Test func `what the model cannot read is in the quarantine as it stood in its column, and stays there`() throws {
        let forum = try BrokenForum.closed()
        let columns = ["ZBODY", "ZNUMBER", "ZPRICE", "ZRATE", "ZTAG"]
        _ = try forum.shell(
            """
            UPDATE ZPOST SET ZBODY = CAST(x'66FF00' AS TEXT), ZNUMBER = 'seven', ZPRICE = '1,50', ZRATE = x'0102',
            ZTAG = x'00' WHERE Z_PK = 5
            """)
        func told(_ values: [String]) -> String {
            "SELECT " + values.map { "typeof(\($0)), hex(\($0))" }.joined(separator: ", ")
        }
        let before = try forum.shell(told(columns) + " FROM ZPOST WHERE Z_PK = 5")
        let second = ValidationRule(
            "second", of: "Post", .predicate(try Predicate(parsing: "topic.title != 't2'")), fix: .quarantine)
        _ = try Self.quarantine(forum, second)
        let literals = try columns.map { column in
            let path = "$.\(column.dropFirst().lowercased()).stored"
            let sql = "SELECT json_extract(object, '\(path)') FROM quarantine WHERE key = 5"
            return String(try SQLiteShell.run(forum.sidecar.quarantine, sql).dropLast())
        }
        #expect(try forum.shell(told(literals)) == before)
        let report = try Self.restore(forum)
        #expect(report.refused.map(\.key) == [5])
        #expect(report.refused.first?.reason.contains("cannot be read by the model") == true)
        #expect(report.restored.map(\.key) == [6, 7, 8])
        #expect(try forum.quarantined().map(\.object.key) == [5])
    }
}
