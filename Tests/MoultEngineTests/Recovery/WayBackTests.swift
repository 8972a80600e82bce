import Foundation
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// A store goes forward and back again: the way forward says what becomes of what, and the rows whether it fits. The
/// sqlite3 shell writes the values, and says what is there afterwards.
struct WayBackTests {
    private let folder: ScratchFolder
    private var path: String { folder.path + "/Items.sqlite" }

    init() throws { folder = try ScratchFolder() }

    private static func versions(_ models: [[EntityDescription]]) throws -> ModelVersions {
        ModelVersions(
            versions: try models.enumerated().map {
                ModelVersion(names: ["\($0 + 1)"], model: try ManagedObjectModel(entities: $1))
            })
    }

    private static func item(_ attributes: [AttributeDescription]) -> EntityDescription {
        EntityDescription(name: "Item", attributes: attributes)
    }

    private func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

    /// A store of the first version with rows of `Item`, migrated to the last.
    private func forward(
        _ versions: ModelVersions, _ columns: String, _ rows: [String], _ answers: Answers = .none
    ) throws {
        try StoreMaker(versions.versions[0]).make(at: path)
        let values = rows.enumerated().map { "(\($0 + 1), 1, 1, \($1))" }.joined(separator: ", ")
        _ = try shell(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(columns)) VALUES \(values);
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows.count)
            """)
        _ = try Migrator().run(
            PreparedMigration(
                path, versions: versions, options: .init(answers: answers, losses: .asTheVersionsSay())))
    }

    /// Goes back where nothing is lost.
    ///
    /// - Returns: why it cannot; nil if it has.
    private func back(_ versions: ModelVersions, to target: String = "1", _ answers: Answers = .none) throws
        -> [String]?
    {
        let downgrade = try StoreDowngrade(path, versions: versions, to: target, answers: answers)
        guard case .mapping(let migration) = downgrade.way else { return downgrade.losses }
        #expect(downgrade.losses.isEmpty)
        _ = try Migrator().run(migration, on: path)
        let model = try #require(versions.versions.first { $0.name == target }).model
        #expect(try StoreAudit(path, model: model).isSound)
        return nil
    }

    @Test func `the answers of the way forward serve the way back`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "a", type: .string)])], [Self.item([.init(name: "b", type: .string)])],
            [Self.item([.init(name: "c", type: .string)])],
        ])
        let answers = try Answers([
            Answer(from: "1", to: "2", entity: "Item", property: "b", is: .rename, old: "a"),
            Answer(from: "2", to: "3", entity: "Item", property: "c", is: .rename, old: "b"),
        ])
        try forward(versions, "ZA", ["'x'", "NULL"], answers)
        #expect(try shell("SELECT ZC FROM ZITEM ORDER BY Z_PK") == "x\n\n")
        // Without them nobody knows what became of it.
        #expect(try back(versions)?.first?.contains("Is Item.b new, or was it renamed?") == true)
        #expect(try back(versions, answers) == nil)
        #expect(try shell("SELECT ZA FROM ZITEM ORDER BY Z_PK") == "x\n\n")
    }

    @Test func `what was removed on the way forward is no question on the way back`() throws {
        func flag(_ name: String) -> [AttributeDescription] {
            [.init(name: name, type: .boolean, isOptional: false, defaultValue: .boolean(false))]
        }
        let versions = try Self.versions([
            [Self.item([.init(name: "name", type: .string)] + flag("needsUpdate"))],
            [Self.item([.init(name: "name", type: .string)])],
            [Self.item([.init(name: "name", type: .string)] + flag("hasDefault"))],
        ])
        try forward(versions, "ZNAME, ZNEEDSUPDATE", ["'x', 1", "'y', 0"])
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZNAME, ZNEEDSUPDATE FROM ZITEM ORDER BY Z_PK") == "x|0\ny|0\n")
    }

    @Test func `an uncertain name of a join table is said and loses nothing`() throws {
        func client(_ more: [AttributeDescription]) -> EntityDescription {
            EntityDescription(
                name: "Item", attributes: [.init(name: "name", type: .string)] + more,
                relationships: [
                    .init(name: "trusted", destinationEntityName: "Item", inverseName: "trustedBy", maxCount: 0),
                    .init(name: "trustedBy", destinationEntityName: "Item", inverseName: "trusted", maxCount: 0),
                ])
        }
        let versions = try Self.versions([[client([])], [client([.init(name: "extra", type: .string)])]])
        try forward(versions, "ZNAME", ["'a'", "'b'", "'c'"])
        let join = try shell("SELECT name FROM sqlite_master WHERE name GLOB 'Z_1*' AND type = 'table'").dropLast()
        _ = try shell("INSERT INTO \(join) VALUES (1, 2), (1, 3), (3, 2)")
        let pairs = try shell("SELECT * FROM \(join) ORDER BY 1, 2")
        let downgrade = try StoreDowngrade(path, versions: versions, to: "1")
        #expect(downgrade.findings.filter { $0.code != "join-name-uncertain" } == [])
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT * FROM \(join) ORDER BY 1, 2") == pairs)
    }

    @Test(
        arguments: [
            (AttributeType.integer16, AttributeType.integer32, "40000", "-5"),
            (.integer32, .integer64, "2147483648", "2147483647"), (.integer32, .double, "0.5", "7"),
            (.integer64, .decimal, "'12345678901234567890'", "9007199254740993"), (.boolean, .integer16, "2", "1"),
        ] as [(AttributeType, AttributeType, String, String)])
    func `a wider type goes back where every value fits the narrower one`(
        old: AttributeType, new: AttributeType, large: String, fitting: String
    ) throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "n", type: old)])], [Self.item([.init(name: "n", type: new)])],
        ])
        try forward(versions, "ZN", ["1", "NULL", "0"])
        _ = try shell("UPDATE ZITEM SET ZN = \(large) WHERE Z_PK = 3")
        let losses = try #require(try back(versions))
        #expect(losses.count == 1 && losses[0].contains("Item.n"), "\(losses)")
        _ = try shell("UPDATE ZITEM SET ZN = \(fitting) WHERE Z_PK = 3")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZN, typeof(ZN) FROM ZITEM ORDER BY Z_PK") == "1|integer\n|null\n\(fitting)|integer\n")
    }

    @Test func `a Double goes back to a Float where it is one`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "n", type: .float)])], [Self.item([.init(name: "n", type: .double)])],
        ])
        try forward(versions, "ZN", ["0.5", "NULL", "0.1"])
        let losses = try #require(try back(versions))
        #expect(losses == ["1 value for Item.n has no equal of type Float and would be lost."])
        _ = try shell("UPDATE ZITEM SET ZN = 13421773.0 / 134217728 WHERE Z_PK = 3")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZN = 13421773.0 / 134217728 FROM ZITEM WHERE Z_PK = 3") == "1\n")
    }

    @Test(
        arguments: [
            (AttributeType.integer64, AttributeType.double, "1.5", "7.0", "7|integer"),
            (.integer16, .double, "40000.0", "-3.0", "-3|integer"),
            (.double, .integer64, "9007199254740993", "9007199254740991", "9.00719925474099e+15|real"),
            (.double, .decimal, "9007199254740993", "0.25", "0.25|real"),
            (.float, .integer32, "16777217", "16777216", "16777216.0|real"),
            (.integer32, .decimal, "1.25", "12", "12|integer"), (.boolean, .double, "0.5", "1.0", "1|integer"),
        ] as [(AttributeType, AttributeType, String, String, String)])
    func `a number goes back to another type where every value is one of that type`(
        old: AttributeType, new: AttributeType, unfit: String, fitting: String, found: String
    ) throws {
        func item(_ type: AttributeType) -> [EntityDescription] {
            let zero: AttributeValue =
                switch type {
                case .double, .float: .double(0)
                case .decimal: .decimal("0")
                case .boolean: .boolean(false)
                default: .integer(0)
                }
            return [Self.item([.init(name: "n", type: type, isOptional: false, defaultValue: zero)])]
        }
        let versions = try Self.versions([item(old), item(new)])
        let answers = try Answers(
            old.widens(to: new) ? [] : [Answer(from: "1", to: "2", entity: "Item", property: "n", is: .drop)])
        try forward(versions, "ZN", ["0", "0", "0"], answers)
        _ = try shell("UPDATE ZITEM SET ZN = \(unfit) WHERE Z_PK = 3")
        let losses = try #require(try back(versions, answers))
        #expect(losses.count == 1 && losses[0].contains("Item.n"), "\(losses)")
        _ = try shell("UPDATE ZITEM SET ZN = \(fitting) WHERE Z_PK = 3")
        #expect(try back(versions, answers) == nil)
        #expect(try shell("SELECT ZN, typeof(ZN) FROM ZITEM WHERE Z_PK = 3") == found + "\n")
        #expect(try shell("SELECT count(*) FROM ZITEM WHERE ZN = 0") == "2\n")
    }

    @Test func `an app's trigger and view over what only the newer version has are named, and go`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "name", type: .string)])],
            [Self.item(["name", "extra"].map { .init(name: $0, type: .string) })],
        ])
        try forward(versions, "ZNAME", ["'a'", "'b'"])
        _ = try shell(
            """
            CREATE TABLE app(a); INSERT INTO app VALUES (1); CREATE VIEW extras AS SELECT ZEXTRA FROM ZITEM;
            CREATE TRIGGER noted AFTER UPDATE OF ZEXTRA ON ZITEM BEGIN INSERT INTO app VALUES (NEW.ZEXTRA); END
            """)
        let downgrade = try StoreDowngrade(path, versions: versions, to: "1")
        let named = downgrade.findings.filter { $0.code == "object-dropped" }.map(\.place).sorted()
        #expect(named == ["extras", "noted"], "\(downgrade.findings)")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZNAME FROM ZITEM ORDER BY 1; SELECT a FROM app") == "a\nb\n1\n")
    }

    @Test func `values of another type are no values of the older version`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "n", type: .string)])], [Self.item([.init(name: "n", type: .date)])],
        ])
        let answers = try Answers([Answer(from: "1", to: "2", entity: "Item", property: "n", is: .drop)])
        try forward(versions, "ZN", ["NULL", "NULL"], answers)
        _ = try shell("UPDATE ZITEM SET ZN = 5.25 WHERE Z_PK = 1")
        let losses = try #require(try back(versions, answers))
        #expect(losses.count == 1 && losses[0].hasPrefix("1 value of Item.n is lost"), "\(losses)")
        _ = try shell("UPDATE ZITEM SET ZN = NULL")
        #expect(try back(versions, answers) == nil)
    }

    @Test func `an attribute that is required again goes back where every object has a value`() throws {
        func name(isOptional: Bool) -> [EntityDescription] {
            [Self.item([.init(name: "name", type: .string, isOptional: isOptional)])]
        }
        let versions = try Self.versions([name(isOptional: false), name(isOptional: true)])
        try forward(versions, "ZNAME", ["'x'", "'y'"])
        _ = try shell("UPDATE ZITEM SET ZNAME = NULL WHERE Z_PK = 2")
        let losses = try #require(try back(versions))
        #expect(losses.count == 1 && losses[0].hasPrefix("1 object has no Item.name, which becomes required."))
        _ = try shell("UPDATE ZITEM SET ZNAME = 'z' WHERE Z_PK = 2")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZNAME FROM ZITEM ORDER BY Z_PK") == "x\nz\n")
    }

    @Test func `what the older version requires and the newer one has not is given by an answer`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "name", type: .string), .init(name: "id", type: .integer32, isOptional: false)])],
            [Self.item([.init(name: "name", type: .string)])],
        ])
        try forward(versions, "ZNAME, ZID", ["'x', 5", "'y', 6"])
        let losses = try #require(try back(versions))
        #expect(
            losses == [
                "2 objects have no Item.id, which becomes required. To give them one, answer: "
                    + "{\"from\": \"2\", \"to\": \"1\", \"entity\": \"Item\", \"property\": \"id\", \"is\": \"value\", "
                    + "\"value\": \"…\"}"
            ], "\(losses)")
        let answers = try Answers([Answer(from: "2", to: "1", entity: "Item", property: "id", is: .value, value: "9")])
        // The file of answers serves the way forward too.
        _ = try MigrationPlan(versions, from: "1", answers: answers)
        #expect(try back(versions, answers) == nil)
        #expect(try shell("SELECT ZNAME, ZID FROM ZITEM ORDER BY Z_PK") == "x|9\ny|9\n")
    }

    @Test func `where no object is left nothing has to be given`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "name", type: .string), .init(name: "id", type: .integer32, isOptional: false)])],
            [Self.item([.init(name: "name", type: .string)])],
        ])
        try forward(versions, "ZNAME, ZID", ["'x', 5"])
        _ = try shell("DELETE FROM ZITEM")
        #expect(try back(versions) == nil)
    }

    @Test func `what an answer gave the objects on the way forward does not need a place`() throws {
        let versions = try Self.versions([
            [Self.item([.init(name: "name", type: .string)])],
            [
                Self.item([
                    .init(name: "name", type: .string), .init(name: "rank", type: .integer32, isOptional: false),
                ])
            ],
        ])
        let answers = try Answers([
            Answer(from: "1", to: "2", entity: "Item", property: "rank", is: .value, value: "3")
        ])
        try forward(versions, "ZNAME", ["'x'", "'y'"], answers)
        _ = try shell("UPDATE ZITEM SET ZRANK = 4 WHERE Z_PK = 2")
        #expect(try back(versions, answers)?.count == 1)
        _ = try shell("UPDATE ZITEM SET ZRANK = 3")
        #expect(try back(versions, answers) == nil)
    }

    @Test func `what both versions have under one name stays, though a version between did not have it`() throws {
        let both = [AttributeDescription(name: "name", type: .string), .init(name: "note", type: .string)]
        let versions = try Self.versions([
            [Self.item(both)], [Self.item([both[0]])],
            [Self.item(both + [.init(name: "extra", type: .integer16)])],
        ])
        try StoreMaker(versions.versions[2]).make(at: path)
        _ = try shell("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE) VALUES (1, 1, 1, 'x', 'kept')")
        _ = try shell("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZNAME, ZNOTE FROM ZITEM") == "x|kept\n")
    }

    @Test func `links that the older version has no place for are a loss`() throws {
        let base = EntityDescription(name: "Base", attributes: [.init(name: "word", type: .string)])
        func item(_ destination: String) -> EntityDescription {
            EntityDescription(
                name: "Item", attributes: [.init(name: "name", type: .string)],
                relationships: [.init(name: "other", destinationEntityName: destination)])
        }
        let sub = EntityDescription(name: "Sub", superentityName: "Base")
        let versions = try Self.versions([[base, item("Sub"), sub], [base, item("Base"), sub]])
        try StoreMaker(versions.versions[1]).make(at: path)
        _ = try shell(
            """
            INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT) SELECT CASE Z_NAME WHEN 'Sub' THEN 2 ELSE 1 END, Z_ENT, 1
                FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Base', 'Sub');
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZOTHER) SELECT b.Z_PK, k.Z_ENT, 1, 'x', b.Z_PK
                FROM ZBASE AS b, Z_PRIMARYKEY AS k WHERE k.Z_NAME = 'Item';
            UPDATE ZITEM SET Z1_OTHER = (SELECT Z_ENT FROM ZBASE WHERE Z_PK = ZOTHER);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2
            """)
        let losses = try #require(try back(versions))
        #expect(losses.count == 1 && losses[0].contains("1 link of Item.other is lost"), "\(losses)")
        _ = try shell("UPDATE ZITEM SET ZOTHER = NULL, Z1_OTHER = NULL WHERE Z_PK = 1")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZOTHER FROM ZITEM ORDER BY Z_PK") == "\n2\n")
    }
}
