import Foundation
import MoultBasics
import MoultModel
import Testing

@Suite("JSON")
struct JSONValueTests {
    @Test func `what is written reads back equal, and keeps the order of keys`() throws {
        let value: JSONValue = [
            "z": 1, "a": [true, nil, "q\"\\\n\u{01}é😀\u{2028}"],
            "doubles": [0.1, -1e300, .double(.leastNonzeroMagnitude)],
            "large": .integer(.min), "empty": [[], [:]],
        ]
        for text in [value.compact, value.indented] {
            #expect(try JSONValue(parsing: Array(text.utf8), place: "", code: .usage) == value)
        }
        #expect(value.compact.hasPrefix("{\"z\":1,\"a\":"))
        #expect(value.sortedByKey.members?.map(\.key) == ["a", "doubles", "empty", "large", "z"])
    }

    @Test func `Foundation reads what is written`() throws {
        let value: JSONValue = ["text": "tab\t\u{7F}é", "number": 0.5, "nan": .double(.nan)]
        let read = try #require(
            try JSONSerialization.jsonObject(with: Data(value.compact.utf8)) as? [String: any Sendable])
        #expect(read["text"] as? String == "tab\t\u{7F}é")
        #expect(read["number"] as? Double == 0.5)
        #expect(read["nan"] as? String == "NaN")
    }

    @Test func `escapes of every kind are read`() throws {
        let text = #"{"k":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}"#
        let value = try JSONValue(parsing: Array(text.utf8), place: "", code: .usage)
        #expect(value["k"]?.string == "\"\\/\u{08}\u{0C}\n\r\té😀")
    }

    @Test(arguments: [
        ("", "line 1, column 1"), ("{", "key"), ("[1,]", "other than a value"), ("{\"a\":1,\"a\":2}", "twice"),
        ("[1] x", "after the end"), ("01", "zero"), ("\"\\ud800\"", "half"), ("nul", "word"), ("1e999", "large"),
        ("\"\u{01}\"", "control"), ("\"abc", "without an end"), ("[\n  tru]", "line 2, column 3"),
        ("-", "other than a value"),
        ("\"\\u12", "four"),
    ])
    func `what is no JSON is refused with line and column`(text: String, says: String) throws {
        let error = try #require(throws: MigrationError.self) {
            _ = try JSONValue(parsing: Array(text.utf8), place: "answers.json", code: .usage)
        }
        #expect(error.message.contains(says))
        #expect(error.place == "answers.json")
    }

    @Test func `deep nesting and bytes that are not UTF-8 are errors, not crashes`() {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(throws: MigrationError.self) { try JSONValue(parsing: deep, place: "", code: .usage) }
        #expect(throws: MigrationError.self) {
            try JSONValue(parsing: [0x22, 0xFF, 0x22], place: "", code: .usage)
        }
    }
}
