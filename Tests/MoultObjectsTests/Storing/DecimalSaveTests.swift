import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

/// Decimals keep each of their digits, or are refused: told by Python's exact decimals over what SQLite holds.
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

    @Test func `what is saved is read back to the last digit, and only what no number is equal to is refused`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        var saved: [Int64: String] = [:]
        var refused: [String] = []
        for digits in Self.digits {
            do {
                let dish = try fixture.new("Soup", ["aDecimal": .attribute(.decimal(digits))])
                let id = try #require(try fixture.insert(dish).first)
                saved[id.key] = digits
            } catch let error as MigrationError where error.code == .dataConflict {
                refused.append(digits)
            }
        }
        let folder = fixture.folder.path
        let lines = saved.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/saved"))
        try Data(refused.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: folder + "/refused"))
        #expect(!refused.isEmpty && saved.count > 300)
        let wrong = try Self.python(Self.witness, fixture.path, folder)
        #expect(wrong == "[] []\n", "\(wrong)")
        // As short a value as money has is never refused.
        #expect(refused.allSatisfy { $0.count(where: \.isNumber) > 15 })
    }

    /// Prints the saved whose number is not equal to the digits, and the refused that some number is equal to.
    private static let witness = """
        import sqlite3, sys
        from decimal import Decimal
        rows = dict(sqlite3.connect(sys.argv[1]).execute("SELECT Z_PK, ZADECIMAL FROM ZDISH"))
        saved = [line.split() for line in open(sys.argv[2] + "/saved")]
        refused = [line.strip() for line in open(sys.argv[2] + "/refused")]
        print([d for k, d in saved if Decimal(repr(rows[int(k)])) != Decimal(d)],
            [d for d in refused if Decimal(repr(float(d))) == Decimal(d) or
                (Decimal(d) == int(Decimal(d)) and abs(int(Decimal(d))) < 2**63 and "." not in d)])
        """

    private static func python(_ script: String, _ arguments: String...) throws -> String {
        try ChildProcess.run("python3", ["-c", script] + arguments).output
    }

    @Test func `the error names the object and the property, not the value, of new and changed objects`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let id = try #require(try fixture.insert(fixture.new("Soup", ["aDecimal": .attribute(.decimal("1.5"))])).first)
        let long = ObjectValue.attribute(.decimal("12345678901234567.89"))
        for attempt in [
            { _ = try fixture.insert(try fixture.new("Soup", ["aDecimal": long])) },
            { _ = try fixture.update(id, version: 1, ["aDecimal": long]) },
        ] {
            let error = try #require(throws: MigrationError.self) { try attempt() }
            #expect(error.code == .dataConflict)
            #expect(error.message.contains("Soup.aDecimal cannot hold a number of 19 digits to its last digit"))
            #expect(error.message.hasPrefix("Of Soup "))
            #expect(error.place.hasPrefix("Soup.aDecimal, x-coredata://"))
        }
        #expect(try fixture.shell("SELECT group_concat(ZADECIMAL) FROM ZDISH") == "1.5\n")
    }
}
