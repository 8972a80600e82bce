import MoultModel
import Testing

@Suite struct FoldingTests {
    /// The assigned characters of the blocks that have cases, marks or compositions.
    private static let scalars = [
        0x80...0x3100, 0xA640...0xABFF, 0xAC00...0xAD00, 0xFB00...0xFFFD, 0x10400...0x105FF, 0x1E900...0x1E960,
    ]
    .joined().compactMap { Unicode.Scalar(UInt32($0)) }.filter { $0.properties.generalCategory != .unassigned }

    @Test(arguments: [Predicate.Options.caseInsensitive, [.caseInsensitive, .diacriticInsensitive]])
    func `every assigned character folds to what folds to itself`(options: Predicate.Options) {
        let wrong = Self.scalars.filter { scalar in
            let folded = String(scalar).folded(options)
            return !folded.folded(options).utf8.elementsEqual(folded.utf8)
        }
        #expect(wrong.isEmpty)
    }

    @Test func `upper and lower case fold alike`() {
        let wrong = Self.scalars.filter { scalar in
            let folded = String(scalar).folded(.caseInsensitive)
            let others = [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping]
            return scalar != "\u{131}"
                && !others.allSatisfy { $0.folded(.caseInsensitive).utf8.elementsEqual(folded.utf8) }
        }
        #expect(wrong.isEmpty)
    }

    /// Swift's own equality of strings is canonical equivalence.
    @Test func `equivalent texts fold alike, and only with letters or marks let go of others`() {
        for (left, right) in [
            ("é", "e\u{301}"), ("\u{212B}", "\u{C5}"), ("한", "\u{1112}\u{1161}\u{11AB}"),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"),
        ] {
            #expect(left == right)
            #expect(!left.utf8.elementsEqual(right.utf8))
            #expect(left.folded(.caseInsensitive).utf8.elementsEqual(right.folded(.caseInsensitive).utf8))
            #expect(left.folded([]).utf8.elementsEqual(left.utf8))
            #expect(left.folded([.caseInsensitive, .normalized]).utf8.elementsEqual(left.utf8))
        }
    }

    @Test(arguments: [
        ("Ångström", "angstrom"), ("Ελλάς", "ελλασ"), ("Straße", "strasse"), ("ŁÓDŹ", "łodz"), ("İstanbul", "istanbul"),
        ("ﬁn", "fin"), ("Ñandú", "nandu"), ("ガ", "カ"), ("ЙОД", "иод"), ("a\u{300}\u{301}b", "ab"), ("", ""),
        ("A1_!", "a1_!"),
    ])
    func `canonical leaves case and diacritics out`(text: String, expected: String) {
        #expect(text.canonical.utf8.elementsEqual(expected.utf8))
    }
}
