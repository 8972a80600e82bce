import Testing

@testable import MoultSQLite

/// SQL is divided as SQLite divides it; what must not leave the machine is divided no other way.
struct SQLTokenTests {
    @Test(arguments: [
        ("a.b,'c''d' \"e\"", ["a", ".", "b", ",", "'c''d'", "\"e\""]),
        ("1.5e-3+.5 - 0x1F", ["1.5e-3", "+", ".5", "-", "0x1F"]), ("x'00' X'ff' xy", ["x'00'", "X'ff'", "xy"]),
        ("a--b\nc/* ' */d [e f] `g``h`", ["a", "c", "d", "[e f]", "`g``h`"]),
        // A space of another script is a part of a name, and a mark behind a quote does not hide it.
        ("a\u{A0}b 'c\u{301}' '\u{301}d'", ["a\u{A0}b", "'c\u{301}'", "'\u{301}d'"]), ("'open", ["'open"]),
    ])
    func `a statement is divided into its tokens`(sql: String, tokens: [String]) {
        #expect(sql.sqlTokens.map(\.text) == tokens)
        #expect(sql.sqlTokens.allSatisfy { String(sql[$0.range]) == $0.text })
    }

    @Test(arguments: [
        ("SELECT 'a''b', x'00', 1.5e-3, 0xFF FROM t1", "SELECT ?, ?, ?, ? FROM t1"),
        ("CHECK (\"A\" <> \"secret\")", "CHECK (\"A\" <> ?)"),
        ("a DEFAULT secret, b DEFAULT NULL", "a DEFAULT ?, b DEFAULT NULL"),
        ("a -- secret\nb /* secret */ c", "a\nb c"), ("a DEFAULT secr\u{A0}et", "a DEFAULT ?"),
        ("'\u{301}secret' AND \"\u{301}secret\"", "? AND ?"), ("a = 'open secret", "a = ?"),
        ("[a b]+`c`-2", "[a b]+`c`-?"),
    ])
    func `no literal is left`(sql: String, text: String) {
        #expect(sql.withoutSQLLiterals(knowing: ["A"]) == text)
    }
}
