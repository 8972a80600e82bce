import MoultBasics
import MoultModel
import MoultObjects
import Testing

@testable import MoultTools

@Suite("Stand-ins")
struct StandInTests {
    private func made(of texts: [String], seed: UInt64 = 1) -> (StandIns, (String) -> String) {
        let standIns = StandIns(seed: seed, words: ModelWords([]))
        for text in texts { _ = standIns.text(Array(text.utf8)) }
        standIns.make()
        return (standIns, { String(decoding: standIns.text(Array($0.utf8)), as: UTF8.self) })
    }

    private static let words = [
        "Anna", "Annabelle", "Bob", "bob", "Zoë", "straße", "東京都", "Ann", "", " ", "----", "a@example.org",
        "https://example.org/a%20b", "Q3 2021", "x", "anna smith", "Жанна", "Ж", "🎉🎊",
    ]

    @Test func `a text has as many characters of the same kinds, and another text`() {
        let (_, new) = made(of: Self.words)
        for text in Self.words {
            let standIn = new(text)
            #expect(standIn.unicodeScalars.count == text.unicodeScalars.count && standIn.utf8.count == text.utf8.count)
            for (before, after) in zip(text.unicodeScalars, standIn.unicodeScalars) {
                #expect(before.properties.generalCategory == after.properties.generalCategory, "\(text) \(standIn)")
                if !before.properties.isAlphabetic, before.isASCII, !("1"..."9").contains(before) {
                    #expect(before == after)
                }
            }
            #expect(
                !Self.words.filter { $0.count >= 4 && $0 != "----" }.contains { standIn.contains($0) }, "\(standIn)")
        }
        #expect(new("a@example.org").contains("@") && new("https://example.org/a%20b").hasPrefix("https://"))
        #expect(
            new("https://example.org/a%20b").hasSuffix("%20" + String(new("https://example.org/a%20b").last ?? " ")))
    }

    @Test func `different texts have different stand-ins in the same order, for any seed`() {
        var generator = SeededGenerator(seed: 9)
        for seed in 1...20 as ClosedRange<UInt64> {
            let texts = (0..<300).map { _ in
                String(
                    (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                        "abcdeXY ".randomElement(using: &generator) ?? "a"
                    })
            }
            let (standIns, new) = made(of: texts, seed: seed)
            let distinct = Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            let made = distinct.map(new)
            #expect(Set(made).count == distinct.count)
            let descents = zip(made, made.dropFirst()).count { !$0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(descents <= standIns.unorderedTexts * 2, "\(descents) \(standIns.unorderedTexts)")
        }
    }

    @Test func `a text that can be converted can be converted afterwards, and one that cannot, cannot`() {
        let texts = [
            "40000", "7", "-31", "007", "12.50", "1e5", "0.333", "12345678901234567890", "12ab", "yes", "TRUE", "nan",
            "2021-03-04", "2021-03-04T10:11:12Z", "2021-13-44", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430CX",
        ]
        let (_, new) = made(of: texts)
        for text in texts {
            let standIn = new(text)
            #expect((Double(text) == nil) == (Double(standIn) == nil), "\(text) \(standIn)")
            #expect((Int16(text) == nil) == (Int16(standIn) == nil) && (Int64(text) == nil) == (Int64(standIn) == nil))
            #expect((TextKind.uuidBytes(text) == nil) == (TextKind.uuidBytes(standIn) == nil), "\(text) \(standIn)")
        }
        #expect(new("7") == "7" && new("yes") == "yes" && new("007") == "007")
        #expect(
            new("2021-03-04T10:11:12Z").hasSuffix("T10:11:12Z") && new("2021-03-04T10:11:12Z") != "2021-03-04T10:11:12Z"
        )
        #expect(new("2021-03-04T10:11:12Z").hasPrefix(new("2021-03-04")), "one day is one day")
        let upper = new("6BA7B810-9DAD-11D1-80B4-00C04FD430C8")
        #expect(upper.lowercased() == new("6ba7b810-9dad-11d1-80b4-00c04fd430c8") && upper.contains("-1"))
    }

    @Test func `numbers stay in order, of as many digits, and on their side of every limit`() {
        var generator = SeededGenerator(seed: 3)
        var numbers: Set<Int64> = [
            0, 5, -9, .min, .max, 32_767, 32_768, -32_768, -32_769, 2_147_483_647, 2_147_483_648,
        ]
        for _ in 0..<500 {
            numbers.insert(Int64.random(in: -5_000...5_000, using: &generator))
            numbers.insert(Int64.random(in: .min ... .max, using: &generator))
        }
        let made = NumberStandIns(numbers, fixed: [1_000, 4_321], seed: 5) { _ in true }.standIns
        let sorted = numbers.sorted()
        let new = sorted.compactMap { made[$0] }
        #expect(new.count == numbers.count && zip(new, new.dropFirst()).allSatisfy { $0 < $1 })
        for (before, after) in zip(sorted, new) {
            #expect(String(before).count == String(after).count, "\(before) \(after)")
            #expect((Int16(exactly: before) == nil) == (Int16(exactly: after) == nil))
            #expect((Int32(exactly: before) == nil) == (Int32(exactly: after) == nil))
            #expect((before < 4_321) == (after < 4_321) && (before > 4_321) == (after > 4_321))
            if abs(Double(before)) < 10 { #expect(before == after) }
        }
        #expect(zip(sorted, new).count { $0 == $1 } < 60)
    }

    @Test func `a number with a fraction keeps its digits behind the point, and bytes their count`() {
        let standIns = StandIns(seed: 1, words: ModelWords([]))
        let reals = [12.5, 12.75, -1234.0625, 0.1, 4.75, 1e300, -0.0, Double.infinity, 99.99]
        let blobs = (0..<200).map { count in (0..<count % 40).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ count) } }
        for real in reals { _ = standIns.real(real) }
        for blob in blobs { _ = standIns.bytes(blob) }
        standIns.make()
        for real in reals {
            let (before, after) = (real.description, standIns.real(real).description)
            #expect(before.count == after.count && before.contains(".") == after.contains("."), "\(before) \(after)")
        }
        #expect(standIns.real(12.5) < standIns.real(12.75) && standIns.real(12.5) != 12.5)
        #expect(blobs.allSatisfy { standIns.bytes($0).count == $0.count })
        #expect(Set(blobs).count == Set(blobs.map(standIns.bytes)).count)
        #expect(standIns.date(100) - standIns.date(50) == 50 && standIns.date(100) != 100)
        #expect(standIns.date(-63_114_076_800) == -63_114_076_800)
    }
}
