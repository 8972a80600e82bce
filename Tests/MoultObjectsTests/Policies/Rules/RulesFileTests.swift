import Moult
import MoultBasics
import MoultModel
import MoultObjects
import TestSupport
import Testing

struct RulesFileTests {
    private static func read(_ text: String) throws -> [ValidationRule] {
        try RulesFile(json: Array(text.utf8), place: "rules.json").rules
    }

    @Test
    func `a file says every kind of rule and of fix`() throws {
        let rules = try Self.read(
            """
            {"format": 1, "rules": [
              {"name": "a", "entity": "Post", "predicate": "number >= 0", "fix": {"set": {"number": 0, "body": "'x'"}}},
              {"name": "b", "entity": "Topic", "orphan": "forum", "severity": "warning",
               "fix": {"assign": "forum", "to": "name == 'Lost'", "orNewWith": {"name": "'Lost'"}}},
              {"name": "c", "entity": "Forum", "minimum": 3},
              {"name": "d", "entity": "Forum", "minimum": {"ofSource": 0.5, "fewer": 2, "sourceEntity": "Board"}},
              {"name": "e", "entity": "Forum", "count": {"attribute": "postCount", "of": "topics"}, "fix": "recount"},
              {"name": "f", "entity": "Forum",
               "count": {"attribute": "postCount", "of": "topics", "where": "title != nil"}, "fix": "quarantine"},
              {"name": "g", "entity": "Forum", "count": {"attribute": "postCount", "equals": "topics.@count + 1"}},
              {"name": "h", "entity": "Forum", "noCycle": "parent", "fix": {"nullify": "parent"}},
              {"name": "i", "entity": "Post", "unique": ["number", "topic"], "fix": "delete",
               "when": ["before", {"afterStep": "split"}]},
              {"name": "j", "entity": "Forum", "unique": "name", "sentence": "Two forums have one name."}
            ]}
            """)
        var check = RuleModelCheck(try RuleWorld.makeModel())
        try check.check(rules)
        #expect(rules.map(\.name) == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])
        #expect(
            rules.map { $0.fix?.word ?? "-" } == [
                "set", "assign", "-", "-", "recount", "quarantine", "-", "nullify", "delete", "-",
            ])
        #expect(rules[1].severity == .warning && rules[0].severity == .error)
        #expect(rules[8].when == [.before, .afterStep("split")] && rules[0].when == [.after])
        #expect(rules[9].sentence == "Two forums have one name.")
        // What the file says is what is found.
        let world = try RuleWorld(RuleCheckTests.rows)
        let findings = try world.findings(rules)
        #expect(
            try world.shell(
                """
                SELECT count(*) FROM ZFORUM f WHERE ZPOSTCOUNT IS NOT
                (SELECT count(*) FROM ZTOPIC WHERE ZFORUM = f.Z_PK AND ZTITLE IS NOT NULL)
                """) == "\(findings[5].count)")
        #expect(
            try world.shell(
                "SELECT count(*) FROM ZFORUM f WHERE ZPOSTCOUNT IS NOT (SELECT count(*) + 1 FROM ZTOPIC WHERE ZFORUM = f.Z_PK)"
            ) == "\(findings[6].count)")
        #expect(findings[3].obstacle != nil)
    }

    @Test
    func `everything that is wrong is said in one error, each with its place`() throws {
        let error = #expect(throws: MigrationError.self) {
            try Self.read(
                """
                {"format": 1, "more": 0, "rules": [
                  {"name": "a", "entity": "Post", "predicate": "number >"},
                  {"entity": "Post", "orphan": "topic", "unique": "number"},
                  {"name": "c", "entity": "Post"},
                  {"name": "d", "entity": "Post", "orphan": "topic", "fix": {"set": {"body": "lowercase:("}}},
                  {"name": "e", "entity": "Post", "orphan": "topic", "fix": "mend", "severity": "fatal"},
                  {"name": "f", "entity": "", "count": {"attribute": "number"}, "colour": 1},
                  {"name": "g", "entity": "Post", "minimum": "few", "when": ["sometimes"]},
                  7
                ]}
                """)
        }
        let message = error?.message ?? ""
        for place in [
            "more: There is no such key", "rules[0].predicate: ", "rules[1].name: ",
            "rules[1]: It checks orphan and unique",
            "rules[2]: It checks nothing", "rules[3].fix.set.body: ", "rules[4].fix: ", "rules[4].severity: ",
            "rules[5].entity: ", "rules[5].count: ", "rules[5].colour: ", "rules[6].minimum: ", "rules[6].when[0]: ",
            "rules[7]: A rule is an object",
        ] { #expect(message.contains(place), "\(place)") }
        #expect(error?.code == .usage && error?.place == "rules.json")
    }

    @Test(arguments: [
        "", "{", "[]", "{\"format\": 2, \"rules\": []}", "{\"format\": 1}", "{\"format\": 1, \"rules\": {}}",
    ])
    func `what is no file of rules is refused`(text: String) {
        #expect(throws: MigrationError.self) { try Self.read(text) }
    }
}
