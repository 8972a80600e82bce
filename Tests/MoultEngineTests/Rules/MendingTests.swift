import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import TestSupport
import Testing

/// Objects of a store that stays at its version are mended as in any run of the engine.
struct MendingTests {
    private static func mend(_ forum: BrokenForum, _ rules: ValidationRule...) throws -> MigrationOutcome? {
        let audit = try RuleAudit(forum.path, rules, version: ForumRules.version)
        return try audit.mending().map { try Migrator().run($0, on: forum.path) }
    }

    @Test(arguments: [false, true])
    func `a store is mended, the broken objects lie in the quarantine, everything else is as it was`(
        history: Bool
    ) throws {
        let forum = try BrokenForum.closed(history: history)
        let posts = try forum.shell("SELECT Z_PK, Z_ENT, ZBODY, ZNUMBER FROM ZPOST")
        let related = try forum.shell(
            "SELECT * FROM Z_4RELATEDBY WHERE Z_4RELATED % 10 > 0 AND Z_4RELATEDBY % 10 > 0 ORDER BY 1")
        let outcome = try #require(
            try Self.mend(forum, ForumRules.homeless(), ForumRules.count, ForumRules.ring))
        #expect(outcome.quarantined == 10)
        #expect(outcome.rules.first?.findings.map(\.count) == [10, 1, 2])
        #expect(outcome.rules.first?.remaining.map(\.count) == [0, 0, 0])
        #expect(outcome.rules.fixed == 2)
        #expect(
            try forum.shell("SELECT Z_PK, Z_ENT, ZFORUM, ZTITLE FROM ZTOPIC")
                == SQLiteShell.run(
                    #require(outcome.backup).store,
                    "SELECT Z_PK, Z_ENT, ZFORUM, ZTITLE FROM ZTOPIC WHERE ZFORUM IS NOT NULL"
                ).dropLast())
        #expect(try forum.shell("SELECT Z_PK, Z_ENT, ZBODY, ZNUMBER FROM ZPOST") == posts)
        #expect(
            try forum.shell("SELECT count(*) FROM ZPOST WHERE (ZTOPIC IS NULL) <> (((Z_PK - 1) / 4 + 1) % 10 = 0)")
                == "0")
        #expect(try forum.shell("SELECT * FROM Z_4RELATEDBY ORDER BY 1") == related)
        #expect(try forum.shell("SELECT ZPOSTCOUNT FROM ZFORUM WHERE Z_PK = 2") == "0")
        #expect(
            try forum.shell("SELECT group_concat(ifnull(ZPARENT, '-')) FROM (SELECT * FROM ZFORUM ORDER BY Z_PK)")
                == "-,1,1")
        let kept = try forum.quarantined()
        #expect(kept.map(\.object.key) == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
        #expect(kept.allSatisfy { $0.run == outcome.run && $0.object.origin == "homeless" })
        #expect(
            try SQLiteShell.run(
                forum.sidecar.quarantine,
                "SELECT group_concat(json_extract(object, '$.title.value')) FROM quarantine")
                == "t10,t20,t30,t40,t50,t60,t70,t80,t90,t100\n")
        let record = try #require(try RunHistory(forum.sidecar).records().last)
        #expect(record.quarantined == 10 && record.fixed == 2 && record.result == .done)
        if history {
            #expect(try forum.shell("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 2") == "10")
        }
        // Again: nothing is broken, so nothing runs.
        #expect(try Self.mend(forum, ForumRules.homeless(), ForumRules.count, ForumRules.ring) == nil)
    }

    @Test func `neither fixes nor what comes back fire a trigger of an app`() throws {
        let forum = try BrokenForum.closed()
        _ = try SQLiteShell.run(
            forum.path,
            ["ZTOPIC", "ZFORUM", "ZPOST", "Z_4RELATEDBY", "Z_PRIMARYKEY"].flatMap { table in
                ["INSERT", "UPDATE", "DELETE"].map { event in
                    """
                    CREATE TRIGGER app_\(table)_\(event) BEFORE \(event) ON \(table)
                        BEGIN SELECT RAISE(ABORT, 'fired'); END;
                    """
                }
            }.joined())
        let triggers = "SELECT name, sql FROM sqlite_master WHERE name LIKE 'app%' ORDER BY 1"
        let before = try SQLiteShell.run(forum.path, triggers)
        let outcome = try #require(try Self.mend(forum, ForumRules.homeless(), ForumRules.count, ForumRules.ring))
        #expect(outcome.quarantined == 10)
        let restoration = try Restoration(of: nil, into: forum.path, at: ForumRules.version)
        _ = try Migrator().run(restoration.migration, on: forum.path)
        #expect(restoration.report.restored.count == 10)
        #expect(try SQLiteShell.run(forum.path, triggers) == before)
    }

    @Test
    func `a dry run says what would change and leaves every byte as it was`() throws {
        let forum = try BrokenForum.closed()
        let before = try forum.files()
        let audit = try RuleAudit(forum.path, [ForumRules.homeless(), ForumRules.count], version: ForumRules.version)
        let migration = try #require(try audit.mending())
        let outcome = try Migrator().rehearse(migration, on: forum.path)
        #expect(outcome.quarantined == 10)
        #expect(outcome.rules.first?.fixes.map(\.changed) == [0, 1])
        #expect(outcome.rules.first?.fixes.last?.examples.map(\.detail) == ["postCount: 1 → 0"])
        #expect(try forum.files() == before)
        // It says what the run then does.
        let run = try Migrator().run(migration, on: forum.path)
        #expect(run.rules == outcome.rules)
    }

    @Test
    func `a fix that another object forbids leaves the store whole and the quarantine as it was`() throws {
        let forum = try BrokenForum.closed()
        let before = try forum.logicalHash()
        // The second fix fails after the first has sent objects away.
        let none = ValidationRule(
            "none", of: "Post", .predicate(try Predicate(parsing: "number < 3")),
            fix: .set(["topic": .constant(.null), "number": try Expression(parsing: "number / 'x'")]))
        #expect(throws: MigrationError.self) { try Self.mend(forum, ForumRules.homeless(), none) }
        #expect(try forum.logicalHash() == before)
        #expect(try forum.quarantined().isEmpty)
        #expect(try RunHistory(forum.sidecar).records().last?.result == .failed)
        #expect(try Migrator().recover(forum.path) == .nothing)
    }

    @Test
    func `fixes that break another rule, or do not mend their own, are refused`() throws {
        let forum = try BrokenForum.closed()
        let before = try forum.logicalHash()
        let enough = ValidationRule("enough", .warning, of: "Topic", .minimumCount(95))
        let error = #expect(throws: MigrationError.self) { try Self.mend(forum, ForumRules.homeless(), enough) }
        #expect(error?.code == .rulesBroken)
        let useless = ValidationRule(
            "useless", of: "Post", .predicate(try Predicate(parsing: "number < 12")),
            fix: .set(["number": try Expression(parsing: "number + 1")]))
        #expect(throws: MigrationError.self) { try Self.mend(forum, useless) }
        #expect(try forum.logicalHash() == before)
        #expect(try forum.quarantined().isEmpty)
    }

    @Test
    func `a rule of a store that changed since is refused`() throws {
        let forum = try BrokenForum.closed()
        let audit = try RuleAudit(forum.path, [ForumRules.homeless()], version: ForumRules.version)
        let migration = try #require(try audit.mending())
        _ = try forum.shell("CREATE INDEX other ON ZPOST (ZNUMBER)")
        let error = #expect(throws: MigrationError.self) { try Migrator().run(migration, on: forum.path) }
        #expect(error?.code == .planStale)
    }

    @Test
    func `numbers are compared with another store`() throws {
        let (forum, source) = try (BrokenForum.closed(), BrokenForum.closed())
        let rule = ValidationRule("most", of: "Topic", .minimumOfSource(.init(share: 0.99)))
        func missing() throws -> Int64 {
            try RuleAudit(
                forum.path, [rule], version: ForumRules.version, source: (source.path, ForumRules.version)
            ).findings[0].count
        }
        #expect(try missing() == 0)
        _ = try forum.shell("DELETE FROM ZTOPIC WHERE Z_PK > 1")
        #expect(try missing() == 98)
    }
}
