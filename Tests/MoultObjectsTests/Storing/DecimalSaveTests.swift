import Foundation
import MoultBasics
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

/// Decimals keep each of their digits, or become the nearest number: told by Python's exact decimals over what SQLite
/// holds.
@Suite("Saved decimals")
struct DecimalSaveTests {
    /// Digits of every length and place of the point, money among them; others with `MOULT_SEED`.
    private static let digits: [String] = {
        let seed = ProcessInfo.processInfo.environment["MOULT_SEED"].flatMap(UInt64.init) ?? 1
        var generator = TestSupport.SeededGenerator(seed: seed)
        var all = [
            "0", "-0.1", "0.30000000000000004", "9007199254740993", "9223372036854775807", "9223372036854775808",
            "12345678901234567.89", "1234567890123.45", "0.1234567890123456789", "1e3", "100000000000000000000",
            "99999999999999.99", "3.3333333333333333333333333333333333333",
        ]
        for length in 1...20 {
            for _ in 0..<20 {
                let text = String((0..<length).map { _ in "0123456789".randomElement(using: &generator) ?? "0" })
                let point = Int.random(in: 0...length, using: &generator)
                let sign = Bool.random(using: &generator) ? "-" : ""
                all.append(sign + "0" + text.prefix(point) + (point < length ? "." + text.dropFirst(point) : ""))
            }
        }
        return all
    }()

    @Test func `what is saved is read back to the last digit, or is the nearest number where none is equal`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        var saved: [Int64: String] = [:]
        for digits in Self.digits {
            let dish = try fixture.new("Soup", ["aDecimal": .attribute(.decimal(digits))])
            let id = try #require(try fixture.insert(dish).first)
            saved[id.key] = digits
        }
        let folder = fixture.folder.path
        let lines = saved.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/saved"))
        let wrong = try Self.python(Self.witness, fixture.path, folder)
        #expect(wrong == "[] True\n", "\(wrong)")
    }

    /// Prints the digits whose number is neither equal nor, where they are too many, the nearest; and whether there were
    /// such.
    private static let witness = """
        import sqlite3, sys
        from decimal import Decimal
        rows = dict(sqlite3.connect(sys.argv[1]).execute("SELECT Z_PK, ZADECIMAL FROM ZDISH"))
        saved = [line.split() for line in open(sys.argv[2] + "/saved")]
        def isHeld(d):
            number = Decimal(d)
            return Decimal(repr(float(d))) == number or (
                "." not in d and number == int(number) and abs(int(number)) < 2**63)
        print([d for k, d in saved if not (
            Decimal(repr(rows[int(k)])) == Decimal(d) if isHeld(d) else rows[int(k)] == float(d))],
            any(not isHeld(d) for _, d in saved))
        """

    private static func python(_ script: String, _ arguments: String...) throws -> String {
        try ChildProcess.run("python3", ["-c", script] + arguments).output
    }

    @Test func `inserts, updates and batches round alike, and a fetch for what was given finds it`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let third = "33.333333333333333333333333333333333333"
        let soup = try fixture.new("Soup", ["aDecimal": .attribute(.decimal("1.5"))])
        let id = try #require(try fixture.insert(soup).first)
        try fixture.update(id, version: 1, ["aDecimal": .attribute(.decimal(third))])
        _ = try fixture.store.insertAll(
            "Soup", [["aDecimal": .decimal(third), "title": .string(""), "isHot": .boolean(true)]])
        let all = ObjectFetch(entityName: "Soup")
        #expect(try fixture.shell("SELECT DISTINCT typeof(ZADECIMAL), ZADECIMAL = 100 / 3.0 FROM ZDISH") == "real|1\n")
        _ = try fixture.store.updateAll(all, set: ["aDecimal": .constant(.decimal("12345678901234567.89"))])
        let expected = try Self.python("print(12345678901234567.89 == 1.2345678901234568e16)")
        #expect(expected == "True\n")
        #expect(try fixture.shell("SELECT DISTINCT ZADECIMAL = 1.2345678901234568e16 FROM ZDISH") == "1\n")
        // A fetch for the value that was given finds what was saved of it.
        let found = ObjectFetch(
            entityName: "Soup",
            predicate: .comparison(
                .init(.keyPath("aDecimal"), .equal, .constant(.decimal("12345678901234567.89")))))
        #expect(try fixture.store.count(found) == 2)
    }

    @Test func `what is no number is refused with the property's name, not the value`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let error = try #require(throws: MigrationError.self) {
            try fixture.insert(try fixture.new("Soup", ["aDecimal": .attribute(.decimal("secret"))]))
        }
        #expect(error.code == .dataConflict && error.message.contains("Soup.aDecimal is of type Decimal"))
        #expect(!error.message.contains("secret"))
        #expect(error.place.hasPrefix("Soup.aDecimal, x-coredata://"))
    }
}
