import Foundation
import Moult
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

    private func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

    /// A store of the first version with rows of `Item`, migrated to the last.
    private func forward(
        _ versions: ModelVersions, _ columns: String, _ rows: [String], _ answers: Answers = .none
    ) throws {
        try StoreCreator(versions.versions[0]).make(at: path)
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

    @Test(
        arguments: [
            (AttributeType.integer16, AttributeType.integer32, "40000", "-5"),
            (.integer32, .integer64, "2147483648", "2147483647"), (.integer32, .double, "0.5", "7"),
            (.integer64, .decimal, "'12345678901234567890'", "9007199254740993"), (.boolean, .integer16, "2", "1"),
        ] as [(AttributeType, AttributeType, String, String)])
    func `a wider type goes back where every value fits the narrower one`(
        old: AttributeType, new: AttributeType, large: String, fitting: String
    ) throws {
        let versions = try ModelVersions("Item = n \(old.word)", "Item = n \(new.word)")
        try forward(versions, "ZN", ["1", "NULL", "0"])
        _ = try shell("UPDATE ZITEM SET ZN = \(large) WHERE Z_PK = 3")
        let losses = try #require(try back(versions))
        #expect(losses.count == 1 && losses[0].contains("Item.n"), "\(losses)")
        _ = try shell("UPDATE ZITEM SET ZN = \(fitting) WHERE Z_PK = 3")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZN, typeof(ZN) FROM ZITEM ORDER BY Z_PK") == "1|integer\n|null\n\(fitting)|integer\n")
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
        func item(_ type: AttributeType) -> String {
            "Item = n \(type.word) required =\(type == .boolean ? "false" : "0")"
        }
        let versions = try ModelVersions(item(old), item(new))
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

    @Test func `a default of external bytes is no loss where no object has others`() throws {
        let first = EntityDescription("Item = n Integer16")
        var second = first
        second.attributes.append(
            AttributeDescription(
                name: "cover", type: .binary, defaultValue: .binary([1, 2]), allowsExternalBinaryDataStorage: true))
        let versions = try ModelVersions(of: [[first], [second]])
        try forward(versions, "ZN", ["1"])
        #expect(try shell("SELECT hex(ZCOVER) FROM ZITEM") == "010102\n")
        _ = try shell("UPDATE ZITEM SET ZCOVER = x'0103'")
        #expect(try back(versions)?.count == 1)
        _ = try shell("UPDATE ZITEM SET ZCOVER = x'010102'")
        #expect(try back(versions) == nil)
    }

    @Test func `what both versions have under one name stays, though a version between did not have it`() throws {
        let versions = try ModelVersions(
            "Item = name String, note String", "Item = name String", "Item = name String, note String, extra Integer16")
        try StoreCreator(versions.versions[2]).make(at: path)
        _ = try shell("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE) VALUES (1, 1, 1, 'x', 'kept')")
        _ = try shell("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
        #expect(try back(versions) == nil)
        #expect(try shell("SELECT ZNAME, ZNOTE FROM ZITEM") == "x|kept\n")
    }
}
