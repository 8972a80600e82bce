import MoultBasics
import MoultModel
import MoultObjects
import TestSupport
import Testing

struct RuleCheckTests {
    /// Two thousand rows with every fault that a rule can find, some of them several times.
    static let rows = """
        INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPOSTCOUNT, ZPARENT)
            SELECT value, 1 + (value % 3 = 0), 1, 'f' || (value % 37), value % 5 + 4, nullif(value / 4, 0)
            FROM generate_series(1, 50);
        INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
            SELECT value, 4, 1, iif(value % 11 = 0, NULL, 't' || value), iif(value % 7 = 0, NULL, value % 60 + 1)
            FROM generate_series(1, 400);
        INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZBODY, ZNUMBER, ZRATE, ZTOPIC, Z_FOK_TOPIC)
            SELECT value, 3, 1, 'b' || value, value % 13, iif(value % 17 = 0, NULL, value / 10.0), value % 420 + 1, value
            FROM generate_series(1, 1600)
        """

    @Test(arguments: [
        ("number < 12", "ZNUMBER IS NULL OR ZNUMBER >= 12"),
        ("rate > 3 AND body BEGINSWITH 'b1'", "NOT (coalesce(ZRATE > 3, 0) AND ZBODY GLOB 'b1*')"),
        ("rate != nil", "ZRATE IS NULL"),
        ("topic.title != nil", "(SELECT ZTITLE FROM ZTOPIC WHERE ZTOPIC.Z_PK = ZPOST.ZTOPIC) IS NULL"),
        ("TRUEPREDICATE", "0"),
    ])
    func `a predicate finds what the shell finds`(predicate: String, broken: String) throws {
        let world = try RuleWorld(Self.rows)
        let finding = try world.finding(.predicate(Predicate(parsing: predicate)), of: "Post")
        #expect(try world.shell("SELECT count(*) FROM ZPOST WHERE \(broken)") == "\(finding.count)")
        let first = try world.shell("SELECT Z_PK FROM ZPOST WHERE \(broken) ORDER BY Z_PK LIMIT 5")
        #expect(finding.examples.map { "\($0.id.key)" }.joined(separator: "\n") == first)
    }

    @Test
    func `orphans are those without a destination and those whose destination is not there`() throws {
        let world = try RuleWorld(Self.rows)
        let topics = try world.finding(.orphan(relationship: "forum"), of: "Topic")
        let missing = "ZFORUM IS NULL OR ZFORUM NOT IN (SELECT Z_PK FROM ZFORUM)"
        #expect(try world.shell("SELECT count(*) FROM ZTOPIC WHERE \(missing)") == "\(topics.count)")
        #expect(topics.count > 57)
        let posts = try world.finding(.orphan(relationship: "topic"), of: "Post")
        #expect(
            try world.shell("SELECT count(*) FROM ZPOST WHERE ZTOPIC NOT IN (SELECT Z_PK FROM ZTOPIC)")
                == "\(posts.count)")
        _ = try world.shell("DELETE FROM ZTOPIC WHERE ZFORUM % 9 = 0")
        let empty = try world.finding(.orphan(relationship: "topics"), of: "Subforum")
        #expect(
            try world.shell(
                "SELECT count(*) FROM ZFORUM f WHERE Z_ENT = 2 AND NOT EXISTS (SELECT 1 FROM ZTOPIC WHERE ZFORUM = f.Z_PK)"
            ) == "\(empty.count)")
        #expect(empty.examples.map(\.id.entityName) == Array(repeating: "Subforum", count: 5))
        #expect(empty.examples.map { "\($0.id.key)" } == ["9", "18", "27", "36", "45"])
    }

    @Test
    func `a stored count is compared with the relationship, or with those of its objects that fit`() throws {
        let world = try RuleWorld(Self.rows)
        let all = try world.finding(.count(attribute: "postCount", equalsCountOf: "topics"), of: "Forum")
        #expect(
            try world.shell(
                "SELECT count(*) FROM ZFORUM f WHERE ZPOSTCOUNT IS NOT (SELECT count(*) FROM ZTOPIC WHERE ZFORUM = f.Z_PK)"
            ) == "\(all.count)")
        let titled = try world.finding(
            .count(attribute: "postCount", equalsCountOf: "topics", where: Predicate(parsing: "title != nil")),
            of: "Forum")
        #expect(
            try world.shell(
                """
                SELECT count(*) FROM ZFORUM f WHERE ZPOSTCOUNT IS NOT
                (SELECT count(*) FROM ZTOPIC WHERE ZFORUM = f.Z_PK AND ZTITLE IS NOT NULL)
                """) == "\(titled.count)")
        #expect(titled.count != all.count)
        let first = try #require(all.examples.first)
        let (stored, counted) = try (
            world.shell("SELECT ZPOSTCOUNT FROM ZFORUM WHERE Z_PK = \(first.id.key)"),
            world.shell("SELECT count(*) FROM ZTOPIC WHERE ZFORUM = \(first.id.key)")
        )
        #expect(first.detail == "postCount = \(stored), count:(topics) = \(counted)")
    }

    @Test
    func `of objects with one key all but the first break a unique key`() throws {
        let world = try RuleWorld(Self.rows)
        let names = try world.finding(.unique(["name"]), of: "Forum")
        #expect(try world.shell("SELECT count(*) - count(DISTINCT ZNAME) FROM ZFORUM") == "\(names.count)")
        #expect(names.examples.map(\.id.key) == [38, 39, 40, 41, 42])
        let pairs = try world.finding(.unique(["number", "topic"]), of: "Post")
        #expect(
            try world.shell("SELECT 1600 - count(*) FROM (SELECT DISTINCT ZNUMBER, ZTOPIC FROM ZPOST)")
                == "\(pairs.count)")
        // Of objects without a title none is like another.
        #expect(try world.finding(.unique(["title"]), of: "Topic").count == 0)
    }

    @Test
    func `minimum counts say how many objects are missing`() throws {
        let world = try RuleWorld(Self.rows)
        #expect(try world.finding(.minimumCount(400), of: "Topic").count == 0)
        #expect(try world.finding(.minimumCount(403), of: "Topic").count == 3)
        func against(_ source: Int, _ minimum: ValidationRule.SourceMinimum) throws -> Int64 {
            try world.findings([ValidationRule("r", of: "Topic", .minimumOfSource(minimum))]) { name in
                #expect(name == minimum.sourceEntityName ?? "Topic")
                return source
            }[0].count
        }
        // The source had a hundred times as many: a loss of 99 % is seen, and an empty store that was empty is well.
        #expect(try against(40_000, .init(share: 0.9)) == 35_600)
        #expect(try against(405, .init(share: 0.99)) == 1)
        #expect(try against(400, .init()) == 0)
        #expect(try against(403, .init(fewer: 2, sourceEntityName: "Thread")) == 1)
        #expect(try against(0, .init()) == 0)
        let alone = try world.finding(.minimumOfSource(.init()), of: "Topic")
        #expect(alone.obstacle != nil && !alone.isBroken)
    }

    @Test
    func `code sees objects and what they lead to, and its errors name the object`() throws {
        let world = try RuleWorld(Self.rows)
        let finding = try world.finding(
            .code { post in
                guard case .integer(let number)? = try post.attribute("number") else { return false }
                let topic = try post.destination("topic")
                return try number < 10 && topic?.destinations("posts").contains { $0.id == post.id } == true
            }, of: "Post")
        #expect(
            try world.shell("SELECT count(*) FROM ZPOST WHERE ZNUMBER >= 10 OR ZTOPIC > 400") == "\(finding.count)")
        struct Refusal: Error {}
        let error = #expect(throws: MigrationError.self) {
            try world.finding(.code { if $0.id.key == 501 { throw Refusal() } else { true } }, of: "Post")
        }
        #expect(error?.place.hasSuffix("/Post/p501") == true)
        #expect(error?.message.contains("rule") == true)
    }

    @Test
    func `everything that does not fit the model is said at once, without a store`() throws {
        let rules = [
            ValidationRule("a", of: "Thread", .minimumCount(1)),
            ValidationRule("b", of: "Topic", .orphan(relationship: "forums")),
            ValidationRule("c", of: "Topic", .predicate(try Predicate(parsing: "forum.nam == 'x' AND $y > 1"))),
            ValidationRule(
                "d", of: "Forum", .count(attribute: "name", equalsCountOf: "topics"),
                fix: .nullify(relationship: "topic")),
            ValidationRule("e", of: "Topic", .noCycle(relationship: "forum")),
            ValidationRule("e", of: "Topic", .minimumOfSource(.init(share: 2)), fix: .quarantine),
            ValidationRule("f", of: "Post", .unique(["nothing"]), fix: .recount),
        ]
        let error = #expect(throws: MigrationError.self) {
            var check = RuleModelCheck(try RuleWorld.makeModel())
            try check.check(rules)
        }
        let message = error?.message ?? ""
        for part in [
            "a: The model has no entity Thread.", "b: Topic has no relationship forums.",
            "c: $y has no value", "c: Forum has no property nam", "d: Forum.name is of type",
            "d: Forum has no relationship topic.", "e: Topic.forum leads to Forum", "e: Two rules have this name.",
            "e: A share of the source", "e: Missing objects have no fix.",
            "f: Post has no relationship nothing.", "f: Only a rule about a count",
        ] { #expect(message.contains(part), "\(part)") }
        #expect(error?.code == .usage)
    }
}
