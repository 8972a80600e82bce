import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite struct RegularExpressionTests {  // tier: long
    @Test(arguments: [
        ("a.c", "abc", true), ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true), ("a|bc", "bc", true),
        ("a|bc", "ac", false),
        ("(ab)+", "abab", true), ("(ab){2,3}", "ababab", true), ("(ab){2,3}", "ab", false), ("a{3}", "aaa", true),
        ("a{2,}", "aaaaa", true),
        ("[a-c]+", "abcabc", true), ("[^a-c]+", "xyz", true), ("[]a]+", "a]", true), ("[a\\]]+", "a]", true),
        ("[a-]+", "a-", true),
        ("\\d{3}-\\d{4}", "555-1234", true), ("\\w+@\\w+\\.com", "me@here.com", true), ("\\S+\\s\\S+", "a b", true),
        ("\\p{Lu}\\p{Ll}+", "Ärger", true),
        ("\\P{L}+", "123", true), ("[[:alpha:]]+", "abcÄ", true), ("[\\w&&[^0-9]]+", "ab_", true),
        ("[\\w&&[^0-9]]+", "ab1", false),
        ("^abc$", "abc", true), ("^abc$", "abc\n", false), ("abc\\n?$", "abc\n", true),
        ("\\bfoo\\b.*", "foo bar", true), ("\\bfoo\\b.*", "food", false),
        ("(?=.*\\d)(?=.*[a-z]).{4,8}", "abc1", true), ("(?=.*\\d)(?=.*[a-z]).{4,8}", "abcd", false),
        ("(?!foo).*", "bar", true), ("(?!foo).*", "food", false),
        ("(?!foo$).*", "food", true), (".*(?<=a)b", "xab", true), (".*(?<=a)b", "xbb", false),
        (".*(?<!a)b", "xbb", true), ("(?i)ABC", "abc", true), ("a(?i)b(?-i)c", "aBc", true),
        ("a(?i)b(?-i)c", "aBC", false), ("(?i:a)b", "Ab", true), ("(?i:a)b", "AB", false),
        ("\\Qa.c\\E+", "a.ccc", true), ("\\u00e9", "é", true), ("\\x41\\x{1F600}", "A😀", true),
        ("a*?b", "aab", true), ("(?<name>a)b", "ab", true), ("(?:a|b)*", "", true), ("", "", true), ("", "a", false),
        ("(|a)", "a", true), ("x(?#note)y", "xy", true), ("\\R", "\r\n", true),
        ("é", "e\u{301}", false), ("[.]", "a", false), ("\\.", "a", false),
        ("[A-Z0-9._%+-]+@[A-Z0-9.-]+\\.[A-Z]{2,4}", "A@B.COM", true), ("\\{a\\}", "{a}", true),
        ("(?m)a$\\n^b", "a\nb", true),
    ])
    func `a text fits as a whole`(pattern: String, text: String, expected: Bool) throws {
        #expect(try RegularExpression(pattern).matches(text) == expected)
    }

    @Test func `cases and diacritics count only as asked`() throws {
        let both: Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
        #expect(try RegularExpression("STRAßE", .caseInsensitive).matches("straße"))
        #expect(try RegularExpression("ΑΣ", .caseInsensitive).matches("ας"))
        #expect(try RegularExpression("[a-z]+", .caseInsensitive).matches("ABC"))
        #expect(try RegularExpression("[^a-z]+", .caseInsensitive).matches("ABC") == false)
        #expect(try RegularExpression("cafe\\D", .diacriticInsensitive).matches("café!"))
        #expect(try RegularExpression("CAF.", both).matches("café"))
        #expect(try RegularExpression("[가-힣]", both).matches("한"))
        #expect(try !RegularExpression("A", [.caseInsensitive, .normalized]).matches("a"))
    }

    @Test(arguments: [
        ("(", 1), ("a)", 1), ("[a", 2), ("*a", 0), ("a**", 2), ("a{2", 3), ("a{3,2}", 6), ("a++", 2), ("(?>a)", 0),
        ("(a)\\1", 3), ("\\", 1), ("\\q", 0), ("[z-a]", 1),
        ("\\p{Nope}", 2), ("(?x)a", 2), ("\\u12", 4), ("\\uD800", 6), ("[[:nope:]]", 3), ("a{1001}", 6),
    ])
    func `a pattern that is none is shown with its fault`(pattern: String, character: Int) {
        let error = #expect(throws: MigrationError.self) { try RegularExpression(pattern) }
        #expect(error?.code == .invalidPredicate)
        #expect(error?.message.contains(" \(pattern) ") == true)
        #expect(error?.message.hasSuffix("at character \(character).") == true, "\(error?.message ?? "")")
    }

    @Test func `hostile patterns end soon`() throws {
        let text = String(repeating: "a", count: 2000)
        #expect(try !RegularExpression("(a+)+b").matches(text))
        #expect(try !RegularExpression("(a|a)*(a|aa)*c").matches(text))
        #expect(throws: MigrationError.self) { try RegularExpression(String(repeating: "(", count: 100_000)) }
        #expect(throws: MigrationError.self) { try RegularExpression(String(repeating: "[", count: 100_000)) }
        #expect(throws: MigrationError.self) { try RegularExpression("(((a{1000}){1000}){1000}){1000}") }
        #expect(throws: MigrationError.self) {
            try RegularExpression("(.*(?=(.*(?=.*b)))(?<!(a|aa)*c))*").matches(String(repeating: "a", count: 100_000))
        }
    }

    /// Swift's own engine goes back over the text, a different way to the same answer.
    @Test func `random patterns fit what Swift's engine finds to fit`() throws {
        let pieces = [
            "a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\d", "(", ")", "(?:", "|", "*", "+", "?", "{2}", "{1,2}", "^",
            "$",
            "(?=", "(?!", "\\b", "1", " ", "*?",
        ]
        var (compared, fitting, wrong) = (0, 0, [String]())
        for seed in UInt64(0)..<4000 {
            var random = SeededGenerator(seed: seed)
            let pattern = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard let expression = try? RegularExpression(pattern),
                let other = try? Regex(pattern).matchingSemantics(.unicodeScalar).wordBoundaryKind(.simple)
            else { continue }
            // Swift takes a digit for the end of a word.
            let letters = pattern.contains("\\b") ? "abc " : "abc1 "
            for _ in 0..<6 {
                let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    letters.randomElement(using: &random) ?? "a"
                }
                let expected = String(text).wholeMatch(of: other) != nil
                if try expression.matches(String(text)) != expected { wrong.append("\(pattern) on \(String(text))") }
                compared += 1
                fitting += expected ? 1 : 0
            }
        }
        #expect(wrong == [])
        #expect(compared > 3000 && fitting > 300)
    }
}

@Suite struct LikePatternTests {
    /// The obvious way, which tries every length for every run.
    private func fits(_ pattern: Substring, _ text: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        switch first {
        case "*": return (0...text.count).contains { fits(pattern.dropFirst(), text.dropFirst($0)) }
        case "?": return !text.isEmpty && fits(pattern.dropFirst(), text.dropFirst())
        case "\\" where "*?\\".contains(pattern.dropFirst().first ?? " "):
            return text.first == pattern.dropFirst().first && fits(pattern.dropFirst(2), text.dropFirst())
        default: return text.first == first && fits(pattern.dropFirst(), text.dropFirst())
        }
    }

    @Test func `random patterns fit what the obvious way finds to fit`() {
        var (fitting, wrong) = (0, [String]())
        for seed in UInt64(0)..<20_000 {
            var random = SeededGenerator(seed: seed)
            let pattern = String(
                (0..<Int.random(in: 0...7, using: &random)).map { _ in "ab*?\\".randomElement(using: &random) ?? "a" })
            let text = String(
                (0..<Int.random(in: 0...7, using: &random)).map { _ in "aab*\\".randomElement(using: &random) ?? "a" })
            let expected = fits(pattern[...], text[...])
            if LikePattern(pattern).matches(text) != expected { wrong.append("\(pattern) on \(text)") }
            fitting += expected ? 1 : 0
        }
        #expect(wrong == [])
        #expect(fitting > 1000)
    }
}
