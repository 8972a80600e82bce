extension String {
    /// The text as a name in SQL: in double quotes, those inside it doubled. The only place that quotes a name.
    package var quotedName: String { quoted(with: "\"") }

    /// The text as a string literal in SQL, for the few places that take no parameter, such as a schema's text.
    package var quotedLiteral: String { quoted(with: "'") }

    private func quoted(with mark: Character) -> String {
        var text = String(mark)
        for character in unicodeScalars {
            text.unicodeScalars.append(character)
            if Character(character) == mark { text.unicodeScalars.append(character) }
        }
        text.append(mark)
        return text
    }
}
