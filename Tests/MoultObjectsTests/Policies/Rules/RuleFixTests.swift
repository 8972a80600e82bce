import MoultBasics
import MoultModel
import MoultObjects
import TestSupport
import Testing

/// Each fix beside plain SQL over a copy of the store as it was.
struct RuleFixTests {
    private static func fix(_ world: RuleWorld, _ rules: ValidationRule..., batchSize: Int = 7) throws
        -> [RuleFixOutcome]
    {
        _ = try RuleCheck(rules, on: world.store)
        return try world.store.withConnection { connection in
            try RuleFixing(world.store, connection, batchSize: batchSize).run(rules)
        }
    }

    private static func quarantined(_ world: RuleWorld) throws -> [QuarantinedObject] {
        var objects: [QuarantinedObject] = []
        try world.store.withConnection { try QuarantinedObject.forEach(on: $0) { objects.append($0) } }
        return objects
    }

    @Test
    func `values are set by expressions over the object as it was, and no other row is touched`() throws {
        let world = try RuleWorld(RuleCheckTests.rows)
        let others = try world.shell("SELECT count(*), sum(Z_OPT), sum(ZNUMBER) FROM ZPOST WHERE ZNUMBER < 10")
        let wrong = try world.shell("SELECT count(*), sum(ZNUMBER) FROM ZPOST WHERE ZNUMBER >= 10")
        let outcome = try Self.fix(
            world,
            ValidationRule(
                "few", of: "Post", .predicate(Predicate(parsing: "number < 10")),
                fix: .set(["number": Expression(parsing: "number - 10"), "body": Expression(parsing: "'mended'")])))[0]
        #expect("\(outcome.changed)|" == wrong.prefix { $0 != "|" } + "|")
        #expect(
            try world.shell("SELECT count(*), sum(ZNUMBER + 10) FROM ZPOST WHERE ZBODY = 'mended'") == wrong)
        #expect(
            try world.shell("SELECT count(*), sum(Z_OPT), sum(ZNUMBER) FROM ZPOST WHERE ZBODY <> 'mended'") == others)
        #expect(outcome.examples.count == 5)
        #expect(outcome.examples[0].detail == "body: \"b10\" → \"mended\", number: 10 → 0")
    }

    @Test
    func `a count is rewritten, and only where it was wrong`() throws {
        let world = try RuleWorld(RuleCheckTests.rows)
        let wrong = try world.shell(
            "SELECT count(*) FROM ZFORUM f WHERE ZPOSTCOUNT IS NOT (SELECT count(*) FROM ZTOPIC WHERE ZFORUM = f.Z_PK)")
        let rule = ValidationRule(
            "count", of: "Forum", .count(attribute: "postCount", equalsCountOf: "topics"), fix: .recount)
        let outcome = try Self.fix(world, rule)[0]
        #expect("\(outcome.changed)" == wrong)
        #expect(try world.shell("SELECT count(*) FROM ZFORUM WHERE Z_OPT = 2") == wrong)
        #expect(
            try world.shell(
                "SELECT count(*) FROM ZFORUM f WHERE ZPOSTCOUNT IS NOT (SELECT count(*) FROM ZTOPIC WHERE ZFORUM = f.Z_PK)"
            ) == "0")
        #expect(try world.findings([rule])[0].count == 0)
    }

    @Test
    func `of each cycle one link is cut, and every chain ends then`() throws {
        let world = try RuleWorld(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZPARENT) VALUES
                (1, 1, 1, 3), (2, 2, 1, 1), (3, 1, 1, 2), (4, 1, 1, 4), (5, 1, 1, 4), (6, 1, 1, NULL), (7, 1, 1, 6)
            """)
        let rule = ValidationRule(
            "ring", of: "Forum", .noCycle(relationship: "parent"), fix: .nullify(relationship: "parent"))
        let outcome = try Self.fix(world, rule)[0]
        #expect(outcome.changed == 2)
        #expect(
            try world.shell(
                "SELECT group_concat(Z_PK || ':' || ifnull(ZPARENT, '-'), ' ') FROM (SELECT * FROM ZFORUM ORDER BY Z_PK)"
            )
                == "1:- 2:1 3:2 4:- 5:4 6:- 7:6")
        #expect(try world.findings([rule])[0].count == 0)
    }

    @Test
    func `orphans are given the default object, which is made where there is none`() throws {
        let world = try RuleWorld(RuleCheckTests.rows)
        let orphans = try world.shell(
            "SELECT count(*) FROM ZTOPIC WHERE ZFORUM IS NULL OR ZFORUM NOT IN (SELECT Z_PK FROM ZFORUM)")
        let rule = ValidationRule(
            "homeless", .warning, of: "Topic", .orphan(relationship: "forum"),
            fix: .assign(
                relationship: "forum",
                .init(
                    where: try Predicate(parsing: "name == 'Lost and found'"),
                    orNewWith: ["name": try Expression(parsing: "'Lost and found'")])))
        let outcome = try Self.fix(world, rule)[0]
        #expect("\(outcome.changed)" == orphans && outcome.inserted == 1)
        #expect(
            try world.shell(
                "SELECT count(*) FROM ZTOPIC WHERE ZFORUM = (SELECT Z_PK FROM ZFORUM WHERE ZNAME = 'Lost and found')")
                == orphans)
        #expect(try world.shell("SELECT count(*) FROM ZFORUM") == "51")
        // Again: there is nothing left to do, and nothing is made.
        #expect(try Self.fix(world, rule)[0].inserted == 0)
        let unclear = ValidationRule(
            "unclear", of: "Post", .orphan(relationship: "topic"),
            fix: .assign(relationship: "topic", .init(where: try Predicate(parsing: "title BEGINSWITH 't'"))))
        #expect(throws: MigrationError.self) { try Self.fix(world, unclear) }
    }

    @Test
    func `the quarantine keeps all that an object held, and nothing leads to it any more`() throws {
        let world = try RuleWorld(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZICON) VALUES (1, 1, 1, 'one', x'01ABCD'), (2, 2, 1, 'two', NULL);
            INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
                VALUES (1, 4, 1, 'a', 1), (2, 4, 1, 'b', 2), (3, 4, 1, 'c', 1);
            INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZBODY, ZNUMBER, ZRATE, ZSENT, ZPRICE, ZTAG, ZTOPIC, Z_FOK_TOPIC)
                VALUES (1, 3, 1, 'x', 7, 0.5, 0, 12.25, zeroblob(16), 1, 2), (2, 3, 1, 'y', 8, NULL, NULL, NULL, NULL, 1, 1);
            INSERT INTO Z_4RELATEDBY (Z_4RELATED, Z_4RELATEDBY) VALUES (1, 2), (3, 1)
            """)
        let identifier = world.store.identifier.uuidString
        let rules = [
            ValidationRule(
                "title", of: "Topic", .predicate(try Predicate(parsing: "title != 'a'")), sentence: "It is called a.",
                fix: .quarantine),
            ValidationRule(
                "body", of: "Post", .predicate(try Predicate(parsing: "body != 'x'")), fix: .quarantine),
            ValidationRule("icon", of: "Forum", .predicate(try Predicate(parsing: "icon == nil")), fix: .quarantine),
        ]
        let outcomes = try Self.fix(world, rules[0], rules[1], rules[2])
        #expect(outcomes.map(\.quarantined) == [1, 1, 1])
        let kept = try Self.quarantined(world)
        #expect(kept.map { "\($0.entity) \($0.key) \($0.origin)" } == ["Topic 1 title", "Post 1 body", "Forum 1 icon"])
        #expect(kept[0].reason == "It is called a.")
        let base = "x-coredata://\(identifier)"
        #expect(
            kept[0].object
                == """
                {"forum":{"toOne":"\(base)/Forum/p1"},"posts":{"toMany":["\(base)/Post/p2","\(base)/Post/p1"],\
                "order":[1,2]},\
                "related":{"toMany":["\(base)/Topic/p3"]},"relatedBy":{"toMany":["\(base)/Topic/p2"]},\
                "title":{"type":"String","value":"a"}}
                """)
        #expect(
            kept[1].object
                == """
                {"body":{"type":"String","value":"x"},"number":{"type":"Integer 32","value":7},\
                "price":{"type":"Decimal","value":"12.25"},"rate":{"type":"Double","value":0.5},\
                "sent":{"type":"Date","value":"2001-01-01T00:00:00.000Z","seconds":0.0},\
                "tag":{"type":"UUID","value":"00000000-0000-0000-0000-000000000000"},"topic":{"toOne":null}}
                """)
        #expect(kept[2].object.contains("\"icon\":{\"type\":\"Binary\",\"value\":\"q80=\"}"))
        #expect(
            try world.shell(
                "SELECT group_concat(Z_PK || ':' || ifnull(ZFORUM, '-'), ' ') FROM (SELECT * FROM ZTOPIC ORDER BY Z_PK)"
            ) == "2:2 3:-")
        #expect(try world.shell("SELECT count(*), ZTOPIC IS NULL FROM ZPOST") == "1|1")
        #expect(try world.shell("SELECT count(*) FROM Z_4RELATEDBY") == "0")
    }

    @Test(arguments: 1...12)
    func `fixes of random cycles and duplicates leave nothing to find, whatever the batches`(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let count = numbers.below(60) + 2
        let rows = (1...count).map { key in
            "(\(key), 1, 1, \(numbers.below(count) + 1), 'n\(numbers.below(8))')"
        }
        let world = try RuleWorld(
            "INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZPARENT, ZNAME) VALUES \(rows.joined(separator: ","))")
        let rules = [
            ValidationRule("name", of: "Forum", .unique(["name"]), fix: .quarantine),
            ValidationRule("ring", of: "Forum", .noCycle(relationship: "parent"), fix: .delete),
        ]
        let names = try world.shell("SELECT count(DISTINCT ZNAME) FROM ZFORUM")
        let outcomes = try Self.fix(world, rules[0], rules[1], batchSize: Int(numbers.below(9)) + 1)
        #expect("\(UInt64(count) - UInt64(outcomes[0].quarantined))" == names)
        #expect(try world.findings(rules).map(\.isBroken) == [false, false])
        #expect(try world.shell("SELECT \(names) - count(*) FROM ZFORUM") == "\(outcomes[1].deleted)")
    }
}
