import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite("Text of reports")
struct TextTests {  // tier: long
    @Test func `a table is aligned, wide characters fill two columns, control characters are spelled out`() {
        var table = TextTable([.left("entity"), .right("rows"), .left("")])
        table.add("Post", "100,000", "x")
        table.add("日本", "5")
        table.add("a\u{1B}[31m", "1", "y")
        #expect(
            table.lines() == [
                "entity          rows", "Post         100,000  x", "日本               5", "a\\u{1B}[31m        1  y",
            ])
    }

    @Test func `plain style adds nothing, colour wraps`() {
        #expect(TextStyle.plain.red("x") == "x")
        #expect(TextStyle(hasColour: true).red("x") == "\u{1B}[31mx\u{1B}[0m")
    }

    @Test(arguments: [
        (Quantity.count(0), "0"), (Quantity.count(-1_234_567), "-1,234,567"), (Quantity.count(999), "999"),
        (Quantity.count(Int.min), "-9,223,372,036,854,775,808"), (Quantity.count(1, "row"), "1 row"),
        (Quantity.count(1000, "entity", plural: "entities"), "1,000 entities"), (Quantity.bytes(999), "999 bytes"),
        (Quantity.bytes(1), "1 byte"), (Quantity.bytes(1000), "1.0 kB"), (Quantity.bytes(227_000_000), "227 MB"),
        (Quantity.bytes(999_999), "1.0 MB"), (Quantity.duration(0.0124), "12 ms"),
        (Quantity.duration(59.96), "1 min 0 s"),
        (Quantity.duration(3720), "1 h 2 min"), (Quantity.duration(.nan), "?"),
        (Quantity.decimal(-0.04, places: 1), "0.0"),
        (Quantity.decimal(2.005, places: 1), "2.0"),
    ])
    func `counts, sizes and durations`(text: String, expected: String) { #expect(text == expected) }

    @Test
    func `dates agree with Foundation's calendar over 10,000 years, to the nanosecond where doubles can`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var seconds = -31_000_000_000.0
        while seconds < 240_000_000_000 {
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSinceReferenceDate: seconds))
            let numbers = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second].compactMap { $0 }
            let text = String(format: "%04d-%02d-%02dT%02d:%02d:%02d.000Z", arguments: numbers)
            // Foundation's Gregorian calendar is Julian before 1582.
            if seconds > -13_197_000_000 { #expect(DateText.text(sinceReferenceDate: seconds) == text) }
            seconds += 86_400 * 31.3 + 3_607
            seconds.round()
        }
    }

    @Test(
        arguments: [
            (0, "2001-01-01T00:00:00.000Z"), (-978_307_200, "1970-01-01T00:00:00.000Z"),
            (0.5, "2001-01-01T00:00:00.500Z"), (-0.25, "2000-12-31T23:59:59.750Z"),
            (-1e-12, "2001-01-01T00:00:00.000000000Z"), (-63_113_904_000, "0001-01-01T00:00:00.000Z"),
            (-63_113_904_001, "0000-12-31T23:59:59.000Z"), (252_423_993_600, "+010000-01-01T00:00:00.000Z"),
        ] as [(Double, String)])
    func `dates at the edges`(seconds: Double, text: String) {
        #expect(DateText.text(sinceReferenceDate: seconds) == text)
    }

    @Test func `a date has no more decimals than it needs, and is read as the same number`() throws {
        // What a program wrote as milliseconds, microseconds or half a day has these decimals again.
        for text in [
            "2013-05-26T14:52:04.611Z", "1999-12-31T23:59:59.001Z", "2024-02-29T12:00:00.000Z",
            "2031-07-05T04:03:02.123456Z", "1970-01-01T00:00:00.100Z",
        ] {
            let seconds = try #require(DateText.secondsSinceReferenceDate(text))
            #expect(DateText.text(sinceReferenceDate: seconds) == text)
        }
        var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
        for _ in 0..<2_000 {
            let seconds = Double.random(in: -3e9...3e9, using: &generator)
            let text = try #require(DateText.text(sinceReferenceDate: seconds))
            let decimals = text.split(separator: ".").last?.dropLast().count ?? 0
            #expect((3...9).contains(decimals))
            #expect(DateText.secondsSinceReferenceDate(text) == seconds || decimals == 9, "\(seconds) \(text)")
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `what is no date has no text`(seconds: Double) { #expect(DateText.text(sinceReferenceDate: seconds) == nil) }
}
