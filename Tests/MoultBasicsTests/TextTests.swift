import MoultBasics
import Testing

@Suite struct TextTests {
    /// The escapes are those of Python's `urllib.parse.quote`, without and with `safe="/"`.
    @Test(arguments: [
        ("a b/ç~._-%+😀", "a%20b%2F%C3%A7~._-%25%2B%F0%9F%98%80", "a%20b/%C3%A7~._-%25%2B%F0%9F%98%80"),
        ("Größe & Co", "Gr%C3%B6%C3%9Fe%20%26%20Co", "Gr%C3%B6%C3%9Fe%20%26%20Co"), ("x\ny", "x%0Ay", "x%0Ay"),
        ("plain", "plain", "plain"), ("", "", ""),
    ])
    func `a text in an address is escaped, and read back`(text: String, escaped: String, path: String) {
        #expect(text.percentEncoded() == escaped)
        #expect(text.percentEncoded(keeping: "/") == path)
        #expect(escaped.percentDecoded() == text && path.percentDecoded() == text)
    }

    @Test func `an escape without its digits and bytes that are not UTF-8 are refused, and plus may be a blank`() {
        for text in ["%", "a%4", "%G0", "%0G", "%FF", "%C3"] { #expect(text.percentDecoded() == nil, "\(text)") }
        #expect("a+b%2B".percentDecoded() == "a+b+" && "a+b%2B".percentDecoded(plusIsBlank: true) == "a b+")
    }

    @Test(arguments: ["an Integer 64", "an entity", "a UUID", "a uniqueness constraint", "a Post"])
    func `a noun gets its article`(text: String) {
        let noun = text.split(separator: " ", maxSplits: 1)[1]
        #expect(noun.withArticle == text)
    }

    @Test func `each element of a list is kept once, at its first position`() {
        #expect([3, 1, 3, 2, 1].unique() == [3, 1, 2])
    }

    /// The order is that of Python's `sorted(names, key=lambda name: name.encode())`.
    @Test func `names are ordered by their bytes, and equal ones stay as they were`() {
        #expect(
            ["b", "é", "a", "Z", "e\u{301}", ""].inByteOrder().map { Array($0.utf8) }
                == ["", "Z", "a", "b", "e\u{301}", "é"].map { Array($0.utf8) })
        let pairs = [(name: "b", place: 0), (name: "a", place: 1), (name: "b", place: 2)]
        #expect(pairs.inByteOrder { $0.name }.map(\.place) == [1, 0, 2])
    }

    @Test func `a sentence asks for the nearest word, and is empty if none is near`() {
        #expect(Suggestion.sentence(for: "Usre", among: ["Post", "User"]) == " Did you mean User?")
        #expect(Suggestion.sentence(for: "Car", among: ["Post", "User"]).isEmpty && Suggestion.sentence(nil).isEmpty)
    }
}
