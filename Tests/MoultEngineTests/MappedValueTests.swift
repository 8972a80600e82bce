import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// Values that expressions and closures of mapping models compute, told again in plain SQL and plain Swift.
@Suite("Values of mapping models") struct MappedValueTests {
    @Test func `every kind of expression gives what plain SQL says`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            try PropertyMapping("city", "$source.home.city"),
            try PropertyMapping("area", "$source.width * $source.height"),
            try PropertyMapping("pets", "$source.pets.@count"),
            try PropertyMapping("oldPets", "SUBQUERY($source.pets, $p, $p.age > 3).@count"),
            try PropertyMapping("heaviest", "$source.pets.@max.weight"),
            try PropertyMapping("size", "TERNARY($source.height > 50, \"tall\", \"short\")"),
            try PropertyMapping("number", "CAST($source.digits, 'NSNumber')"),
            try PropertyMapping("count", "$source.digits"),
            try PropertyMapping("whole", "trunc:($source.weight)"),
            try PropertyMapping("label", "$source.code"),
            try PropertyMapping("price", "$source.amount"),
            try PropertyMapping("born", "$source.birthday"),
            try PropertyMapping("shout", "uppercase:($source.name)"),
        ]
        let outcome = try Self.run(person, on: store)
        #expect(outcome.isEmpty)
        let wrong = try SQLiteShell.run(
            store,
            """
            ATTACH '\(folder.path)/before.sqlite' AS old;
            SELECT 'city', p.Z_PK, p.ZCITY FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZCITY IS NOT (SELECT ZCITY FROM old.ZHOME h WHERE h.Z_PK = o.ZHOME);
            SELECT 'area', p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZAREA IS NOT o.ZWIDTH * o.ZHEIGHT;
            SELECT 'pets', p.Z_PK FROM ZPERSON p WHERE p.ZPETS IS NOT
              (SELECT count(*) FROM old.ZPET t WHERE t.ZOWNER = p.Z_PK);
            SELECT 'oldPets', p.Z_PK FROM ZPERSON p WHERE p.ZOLDPETS IS NOT
              (SELECT count(*) FROM old.ZPET t WHERE t.ZOWNER = p.Z_PK AND t.ZAGE > 3);
            SELECT 'heaviest', p.Z_PK FROM ZPERSON p WHERE p.ZHEAVIEST IS NOT
              (SELECT max(t.ZWEIGHT) FROM old.ZPET t WHERE t.ZOWNER = p.Z_PK);
            SELECT 'size', p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZSIZE IS NOT iif(o.ZHEIGHT > 50, 'tall', 'short');
            SELECT 'digits', p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZNUMBER IS NOT CAST(o.ZDIGITS AS REAL) OR p.ZCOUNT IS NOT CAST(o.ZDIGITS AS INTEGER);
            SELECT 'whole', p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZWHOLE IS NOT CAST(o.ZWEIGHT AS INTEGER) OR typeof(p.ZWHOLE) <> 'integer';
            SELECT 'label', p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZLABEL IS NOT CAST(o.ZCODE AS TEXT) OR typeof(p.ZLABEL) <> 'text';
            SELECT 'price', p.Z_PK, p.ZPRICE FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZPRICE IS NOT CAST(o.ZAMOUNT AS NUMERIC);
            SELECT 'born', p.Z_PK, p.ZBORN FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZBORN IS NOT unixepoch(o.ZBIRTHDAY) - 978307200;
            SELECT 'shout', p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZSHOUT IS NOT upper(o.ZNAME);
            """)
        #expect(wrong == "")
        // Else nothing was tried.
        #expect(
            try SQLiteShell.run(store, "SELECT count(*), count(ZCITY), max(ZPETS) > 1, max(ZOLDPETS) > 0 FROM ZPERSON")
                == "40|40|1|1\n")
    }

    @Test func `a closure is called once for each row, with Swift's own types`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            PropertyMapping("shout", from: "name", "digits") { (name: String?, digits: String?) -> String? in
                digits == "7" ? nil : "\(digits ?? "-"), \(name ?? "-")"
            },
            PropertyMapping("count", from: "code", "height", "home.city") {
                (code: Int?, height: Double?, city: String?) -> Int? in
                (code ?? 0) * 2 + Int(height ?? 0) + (city?.count ?? 100)
            },
            PropertyMapping("area", from: "weight") { (weight: Double?) in weight.map { $0 * 2 } },
        ]
        #expect(try Self.run(person, on: store).isEmpty)
        let wrong = try SQLiteShell.run(
            store,
            """
            ATTACH '\(folder.path)/before.sqlite' AS old;
            SELECT p.Z_PK, p.ZSHOUT, p.ZCOUNT, p.ZAREA FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              LEFT JOIN old.ZHOME h ON h.Z_PK = o.ZHOME WHERE
              p.ZSHOUT IS NOT iif(o.ZDIGITS = '7', NULL, ifnull(o.ZDIGITS, '-') || ', ' || ifnull(o.ZNAME, '-'))
              OR p.ZCOUNT IS NOT o.ZCODE * 2 + CAST(o.ZHEIGHT AS INTEGER) + length(h.ZCITY)
              OR p.ZAREA IS NOT o.ZWEIGHT * 2;
            """)
        #expect(wrong == "")
    }

    @Test func `what a closure throws names the row and leaves the old store whole`() throws {
        struct Refused: Error {}
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            PropertyMapping("shout", from: "name", "code") { (name: String?, code: Int?) throws -> String? in
                if code == 31 { throw Refused() }
                return name
            }
        ]
        let error = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
        #expect(error.code == .policyFailed)
        #expect(error.place == "Person.shout")
        for part in ["shout", "Person 31", "$source.name: a String", "$source.code: an Integer", "Refused"] {
            #expect(error.message.contains(part), "\(error.message)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        // A value of another type is one too.
        person.attributeMappings = [
            PropertyMapping("count", from: ["name"], ValueTransform("count") { $0[0] })
        ]
        let other = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
        #expect(other.message.contains("it returned a String, and count is Integer 16"), "\(other.message)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test(arguments: ["x'00'", "'many'", "1.5"])
    func `an argument that is stored as its attribute never is is refused by name, and no closure sees it`(
        stored: String
    )
        throws
    {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        _ = try SQLiteShell.run(store, "UPDATE ZPERSON SET ZCODE = \(stored) WHERE Z_PK = 31")
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            PropertyMapping("count", from: "name", "code") { (name: String?, code: Int?) -> Int? in code ?? 0 }
        ]
        let error = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
        #expect(error.code == .storeCorrupted && error.place == "$source.code", "\(error)")
        #expect(error.message.contains("holds a value that is not"), "\(error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test func `values that have no equal are counted, and stand in the way without a default`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        _ = try SQLiteShell.run(store, "UPDATE ZPERSON SET ZDIGITS = 'many' WHERE Z_PK % 10 = 0")
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [try PropertyMapping("count", "$source.digits")]
        let error = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
        #expect(error.code == .dataConflict)
        #expect(error.message.contains("4 values for Person.count have no equal of type Integer 16"))

        person.attributeMappings = [try PropertyMapping("whole", "$source.weight")]
        let fractions = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
        let expected = try SQLiteShell.run(
            store, "SELECT count(*) FROM ZPERSON WHERE ZWEIGHT <> CAST(ZWEIGHT AS INTEGER)")
        #expect(fractions.message.contains("\(expected.dropLast()) values for Person.whole have no equal"))

        // One with a default keeps it, and says so.
        person.attributeMappings = [try PropertyMapping("level", "$source.digits")]
        let findings = try Self.run(person, on: store)
        #expect(findings.map(\.code) == ["values-not-converted"])
        #expect(findings.first?.message == "4 values for Person.level have no equal of type Integer 32 and become 5.")
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZPERSON WHERE ZLEVEL = 5 AND Z_PK % 10 = 0") == "4\n")
        let losses = try RunHistory(StoreRecords(store: store)).records().last?.losses ?? []
        #expect(losses.filter { $0.reason == .notConvertible }.map(\.place) == ["Person.digits"])
    }

    @Test func `decimals that reckoning makes too long for their column are counted and rounded; others stay exact`()
        throws
    {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            try PropertyMapping("price", "CAST($source.amount, 'NSDecimalNumber') / 7")
        ]
        // A quarter of an odd number: by seven it ends only where seven divides it.
        let endless = try SQLiteShell.run(store, "SELECT count(*) FROM ZPERSON WHERE (Z_PK * 12 + 1) % 7 <> 0")
        let findings = try Self.run(person, on: store)
        #expect(findings.map(\.code) == ["values-rounded"])
        #expect(findings.first?.message.hasPrefix("\(endless.dropLast()) values for Person.price") == true)
        #expect(
            try SQLiteShell.run(
                store,
                """
                ATTACH '\(folder.path)/before.sqlite' AS old; SELECT count(*) FROM ZPERSON p JOIN old.ZPERSON o
                USING (Z_PK) WHERE abs(p.ZPRICE * 7 - o.ZAMOUNT) > 1e-9
                """) == "0\n")
        // A constant keeps all its digits until the result is known.
        let third = try ScratchFolder()
        let exact = try Self.makeStore(in: third)
        person.attributeMappings = [
            try PropertyMapping(
                "price",
                """
                CAST($source.amount, 'NSDecimalNumber') + CAST('12345678901234567.25', 'NSDecimalNumber') \
                - CAST('12345678901234567', 'NSDecimalNumber')
                """)
        ]
        #expect(try Self.run(person, on: exact).isEmpty)
        #expect(
            try SQLiteShell.run(
                exact,
                """
                ATTACH '\(third.path)/before.sqlite' AS old; SELECT count(*), count(*) FILTER
                (WHERE p.ZPRICE = o.ZAMOUNT + 0.25) FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
                """) == "40|40\n")
        // A value that is read as a decimal and has no equal stands in the way.
        let second = try ScratchFolder()
        let text = try Self.makeStore(in: second)
        _ = try SQLiteShell.run(text, "UPDATE ZPERSON SET ZAMOUNT = '12345678901234567.89' WHERE Z_PK < 4")
        person.attributeMappings = [try PropertyMapping("price", "$source.amount")]
        let error = try #require(throws: MigrationError.self) { try Self.run(person, on: text) }
        #expect(error.message.contains("3 values for Person.price have no equal of type Decimal"), "\(error)")
        // A constant is refused before anything is asked.
        person.attributeMappings = [
            try PropertyMapping("price", "CAST('12345678901234567.89', 'NSDecimalNumber')")
        ]
        let constant = try #require(throws: MigrationError.self) { try Self.run(person, on: text) }
        #expect(constant.code == .unsupported && constant.place == "Person.price", "\(constant)")
        // So is one that nobody has written as a text of digits only.
        person.attributeMappings = [
            try PropertyMapping("price", "CAST('0.12345678901234567', 'NSDecimalNumber')")
        ]
        let spelled = try #require(throws: MigrationError.self) { try Self.run(person, on: text) }
        #expect(spelled.code == .unsupported && spelled.message.contains("0.12345678901234567"), "\(spelled)")
        // What a closure returns is rounded, as in a save.
        person.attributeMappings = [
            PropertyMapping(
                "price", from: ["amount"], ValueTransform("price") { _ in .decimal("0.123456789012345678901") })
        ]
        #expect(try Self.run(person, on: text).isEmpty)
        #expect(try SQLiteShell.run(text, "SELECT DISTINCT ZPRICE = 0.123456789012345678901 FROM ZPERSON") == "1\n")
    }

    @Test func `closures are asked again for the same values, and a value that they do not give is found`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let seen = Seen()
        var person = EntityMapping(from: "Person", to: "Person")
        // It looks at more than its arguments.
        person.attributeMappings = [
            PropertyMapping("shout", from: "name") { (name: String?) in
                seen.names.withLock { $0.insert(name).inserted } ? name : "again"
            }
        ]
        let error = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
        #expect(error.code == .verificationFailed)
        #expect(error.message.contains("the closure shout gives a different value"), "\(error.message)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        // What is another value each time cannot be told.
        person.attributeMappings = [PropertyMapping("shout", from: "name") { (_: String?) in UUID().uuidString }]
        try Self.run(person, on: store)
    }

    private final class Seen: Sendable {
        let names = Mutex(Set<String?>())
    }

    @Test
    func `a closure may wait, for one row after the other; what it throws names the row, and its time is bounded`()
        async throws
    {
        try await onThreadOfItsOwn { try Self().waiting() }
    }

    private func waiting() throws {
        actor Counter {
            var (calls, running, most) = (0, 0, 0)
            func begin() {
                calls += 1
                running += 1
                most = max(most, running)
            }
            func end() { running -= 1 }
        }
        let counter = Counter()
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        var person = EntityMapping(from: "Person", to: "Person")
        person.attributeMappings = [
            PropertyMapping("shout", from: "name", "digits") { (name: String?, digits: String?) async throws in
                await counter.begin()
                try await Task.sleep(for: .milliseconds(1))
                await counter.end()
                return "\(digits ?? "-"), \(name ?? "-")"
            },
            PropertyMapping("area", from: "weight") { (weight: Double?) async in
                await Task.yield()
                return weight.map { $0 * 2 }
            },
        ]
        // The verification may ask some of them again; never two at once.
        try Self.run(person, on: store)
        let seen = try BlockingTask.run { await (counter.calls, counter.most) }
        #expect(seen.0 >= 40 && seen.1 == 1)
        #expect(
            try SQLiteShell.run(
                store,
                """
                ATTACH '\(folder.path)/before.sqlite' AS old; SELECT p.Z_PK FROM ZPERSON p JOIN old.ZPERSON o
                USING (Z_PK) WHERE p.ZSHOUT IS NOT ifnull(o.ZDIGITS, '-') || ', ' || ifnull(o.ZNAME, '-')
                OR p.ZAREA IS NOT o.ZWEIGHT * 2
                """) == "")

        struct Refused: Error {}
        let second = try ScratchFolder()
        let other = try Self.makeStore(in: second)
        person.attributeMappings = [
            PropertyMapping("shout", from: "name") { (name: String?) async throws -> String? in
                await Task.yield()
                if name == "p31" { throw Refused() }
                return name
            }
        ]
        let error = try #require(throws: MigrationError.self) { try Self.run(person, on: other) }
        for part in ["shout", "Person 31", "$source.name: a String", "Refused"] {
            #expect(error.message.contains(part), "\(error.message)")
        }
        person.attributeMappings = [
            PropertyMapping("shout", from: "name", timeLimit: .milliseconds(50)) { (name: String?) async throws in
                if name == "p9" { try await Task.sleep(for: .seconds(600)) }
                return name
            }
        ]
        let late = try #require(throws: MigrationError.self) { try Self.run(person, on: other) }
        #expect(late.message.contains("Person 9") && late.message.contains("did not end within"), "\(late.message)")
    }

    @Test func `what statements cannot compute is refused by name`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        for format in ["FUNCTION($entityPolicy, \"unknown:\", $source.name)", "$source.pets", "random()"] {
            var person = EntityMapping(from: "Person", to: "Person")
            person.attributeMappings = [try PropertyMapping("shout", format)]
            let error = try #require(throws: MigrationError.self) { try Self.run(person, on: store) }
            #expect(error.code == .unsupported, "\(error)")
            #expect(error.place == "Person.shout")
        }
    }

    // MARK: The store

    /// Migrates by the mapping and copies of what else there is; the old store lies beside it as `before.sqlite`.
    /// - Returns: what the rows said, without notes and values that are dropped.
    @discardableResult static func run(_ person: EntityMapping, on store: String) throws -> [Finding] {
        let versions = ModelVersions(versions: [try before(), try after()])
        let mapping = MappingModel([
            person, EntityMapping(from: "Pet", to: "Pet"), EntityMapping(from: "Home", to: "Home"),
        ]).completed(from: versions.versions[0], to: versions.versions[1])
        let stage = try RegisteredStage(mapping, named: "values", in: versions)
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registered: [stage]))
        let findings = prepared.bound?.findings ?? []
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        return findings.filter { $0.severity > .note && $0.code != "values-dropped" }
    }

    static func makeStore(in folder: ScratchFolder) throws -> String {
        let store = folder.path + "/people.sqlite"
        let maker = try StoreCreator(try before())
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        try SampleData(seed: 1, count: 40, counts: ["Home": 5, "Pet": 60], isHostile: false).fill(writer)
        try writer.finish()
        _ = try SQLiteShell.run(
            store,
            """
            UPDATE ZPERSON SET ZNAME = 'p' || Z_PK, ZWIDTH = Z_PK, ZHEIGHT = Z_PK * 2.5, ZDIGITS = Z_PK % 12,
              ZWEIGHT = Z_PK / 4.0, ZCODE = Z_PK, ZAMOUNT = (Z_PK * 3) || '.25', ZHOME = 1 + Z_PK % 5,
              ZBIRTHDAY = strftime('%Y-%m-%dT%H:%M:%SZ', 1000000000 + Z_PK * 86399, 'unixepoch');
            UPDATE ZHOME SET ZCITY = 'city ' || Z_PK;
            UPDATE ZPET SET ZAGE = Z_PK % 7, ZWEIGHT = Z_PK * 1.5, ZOWNER = 1 + Z_PK % 13;
            """)
        try FileManager.default.copyItem(atPath: store, toPath: folder.path + "/before.sqlite")
        return store
    }

    private static func before() throws -> ModelVersion {
        try version(
            "1",
            [
                ("name", .string), ("width", .double), ("height", .double), ("digits", .string), ("weight", .double),
                ("code", .integer32), ("amount", .string), ("birthday", .string),
            ])
    }

    private static func after() throws -> ModelVersion {
        try version(
            "2",
            [
                ("city", .string), ("area", .double), ("pets", .integer16), ("oldPets", .integer32),
                ("heaviest", .double), ("size", .string), ("number", .double), ("count", .integer16),
                ("whole", .integer64), ("label", .string), ("price", .decimal), ("born", .date), ("shout", .string),
                ("level", .integer32),
            ], link: "animals")
    }

    private static func version(_ name: String, _ attributes: [(String, AttributeType)], link: String = "pets") throws
        -> ModelVersion
    {
        func one(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 1)
        }
        func many(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 0)
        }
        let person = EntityDescription(
            name: "Person",
            attributes: attributes.map {
                AttributeDescription(name: $0, type: $1, defaultValue: $0 == "level" ? 5 : nil)
            },
            relationships: [one("home", "Home", "people"), many(link, "Pet", "owner")])
        return ModelVersion(
            names: [name],
            model: try ManagedObjectModel(entities: [
                person,
                EntityDescription(
                    name: "Home", attributes: [AttributeDescription(name: "city", type: .string)],
                    relationships: [many("people", "Person", "home")]),
                EntityDescription(
                    name: "Pet",
                    attributes: [
                        AttributeDescription(name: "age", type: .integer16),
                        AttributeDescription(name: "weight", type: .double),
                    ], relationships: [one("owner", "Person", link)]),
            ]))
    }
}
