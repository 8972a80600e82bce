import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import TestSupport
import Testing

/// Rules before and after a migration.
struct MigrationRulesTests {
    private static func migrate(
        _ forum: BrokenForum, _ rules: [ValidationRule], fixing: Bool = false
    ) throws -> MigrationOutcome {
        var registry = MigrationRegistry()
        registry.rules = rules
        registry.appliesFixes = fixing
        let prepared = try PreparedMigration(
            forum.path, versions: BrokenForum.versions(), options: .init(registry: registry))
        return try Migrator().run(try #require(try prepared.migration()), on: forum.path)
    }

    private static func rule(
        _ severity: ValidationRule.Severity, _ predicate: String, _ when: Set<ValidationRule.Moment>
    ) throws -> ValidationRule {
        ValidationRule(
            "likes", severity, of: "Post", .predicate(try Predicate(parsing: predicate)), when: when)
    }

    @Test(arguments: [ValidationRule.Moment.before, .after])
    func `an error refuses the migration with exact places, and the store stays whole`(
        moment: ValidationRule.Moment
    ) throws {
        let forum = try BrokenForum.closed()
        let before = try forum.logicalHash()
        var rule = ForumRules.homeless()
        rule.when = [moment]
        let error = #expect(throws: MigrationError.self) { try Self.migrate(forum, [rule]) }
        #expect(error?.code == .rulesBroken)
        #expect(error?.place.hasSuffix("/Topic/p10") == true)
        #expect(error?.message.contains("Broken 10 times") == true)
        #expect(error?.message.contains(moment == .before ? "before the migration" : "after the migration") == true)
        #expect(try forum.logicalHash() == before)
        #expect(try forum.shell("SELECT count(*) FROM pragma_table_info('ZPOST') WHERE name = 'ZLIKES'") == "0")
    }

    @Test
    func `warnings are told, and rules after the migration see what it made`() throws {
        let forum = try BrokenForum.closed()
        let outcome = try Self.migrate(
            forum, [ForumRules.count, try Self.rule(.error, "likes == 3", [.after])])
        #expect(outcome.rules.map(\.moment) == ["after the migration"])
        #expect(outcome.rules[0].findings.map(\.count) == [1, 0])
        #expect(try forum.shell("SELECT DISTINCT ZLIKES FROM ZPOST") == "3")
    }

    @Test
    func `a rule of a version is refused where it is checked at another, before anything runs`() throws {
        let forum = try BrokenForum.closed()
        let rule = try Self.rule(.warning, "likes == 3", [.before])
        let error = #expect(throws: MigrationError.self) { try Self.migrate(forum, [rule]) }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("Post has no property likes") == true)
        let unknown = try Self.rule(.warning, "likes == 3", [.afterStep("nowhere")])
        #expect(throws: MigrationError.self) { try Self.migrate(forum, [unknown]) }
    }

    @Test
    func `numbers after are compared with those before`() throws {
        let forum = try BrokenForum.closed()
        let rules = [
            ValidationRule("topics", of: "Topic", .minimumOfSource(.init())),
            ValidationRule("posts", .warning, of: "Post", .minimumOfSource(.init(fewer: 5))),
        ]
        let outcome = try Self.migrate(forum, rules)
        #expect(outcome.rules[0].findings.map(\.count) == [0, 0])
        #expect(outcome.rules[0].findings.compactMap(\.obstacle).isEmpty)
        let more = ValidationRule(
            "topics", of: "Topic", .minimumOfSource(.init(sourceEntityName: "Post")), when: [.after])
        let other = try BrokenForum.closed()
        let error = #expect(throws: MigrationError.self) { try Self.migrate(other, [more]) }
        #expect(error?.message.contains("Broken 300 times") == true)
    }

    @Test(arguments: [ValidationRule.Moment.before, .after])
    func `where it is asked for, fixes are part of the migration`(moment: ValidationRule.Moment) throws {
        let forum = try BrokenForum.closed()
        var rules = [ForumRules.homeless(), ForumRules.count, ForumRules.ring]
        for position in rules.indices { rules[position].when = [moment] }
        let likes = try Self.rule(.error, "likes == 3", [.after])
        let outcome = try Self.migrate(forum, rules + [likes], fixing: true)
        #expect(outcome.quarantined == 10)
        #expect(try forum.shell("SELECT count(*), min(ZLIKES) FROM ZTOPIC, ZPOST") == "36000|3")
        #expect(try forum.shell("SELECT sum(ZPOSTCOUNT) FROM ZFORUM") == "90")
        #expect(try forum.quarantined().count == 10)
        // One run, one backup, one commit.
        #expect(try RunHistory(forum.sidecar).records().map(\.fixed) == [2])
        #expect(try Migrator().backups(of: forum.path).list().count == 1)
        #expect(
            try SQLiteShell.run(#require(outcome.backup).store, "SELECT count(*) FROM ZTOPIC") == "100\n")
    }
}
