/// The breaking of lines between words, at the width of a terminal.
///
/// A command stays on one line, so that it can be copied, even if it is wider than the terminal.
package struct TextWrap: Sendable, Hashable {
    private let width: Int
    /// The name of the program, which begins a command.
    private let program: String

    package init(width: Int, program: String = "moult") { (self.width, self.program) = (max(width, 1), program) }

    /// Returns the lines of one line of text. Colours do not count.
    ///
    /// - Parameter indent: the columns before each further line; nil for those of the text, after a mark such as a bullet.
    package func lines(_ text: String, indent: Int? = nil) -> [String] {
        guard visible(text) > width else { return [text] }
        let indent = min(indent ?? hangingIndent(of: text), width / 2)
        var lines: [String] = []
        var line = ""
        for word in words(of: text) {
            let size = visible(word.text)
            let gap = String(repeating: " ", count: word.spaces)
            if line.isEmpty || visible(line) + word.spaces + size <= width || line.allSatisfy({ $0 == " " }) {
                line += gap + word.text
            } else {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word.text
            }
        }
        return lines + [line]
    }

    /// A word with the number of spaces before it.
    private struct Word {
        var spaces: Int
        var text: String
    }

    /// Returns the words, in which a command is one word.
    private func words(of text: String) -> [Word] {
        var words: [Word] = []
        var spaces = 0
        for piece in text.split(separator: " ", omittingEmptySubsequences: false) {
            if piece.isEmpty {
                spaces += 1
            } else {
                words.append(Word(spaces: spaces, text: String(piece)))
                spaces = 1
            }
        }
        var joined: [Word] = []
        var rest = words[...]
        while var word = rest.popFirst() {
            if let count = quotedLength(word, rest) {
                for next in rest.prefix(count) { word.text += String(repeating: " ", count: next.spaces) + next.text }
                rest = rest.dropFirst(count)
            } else if bare(word.text) == program, rest.first?.spaces == 1 {
                for _ in 0..<commandLength(rest) {
                    guard let next = rest.popFirst() else { break }
                    word.text += String(repeating: " ", count: next.spaces) + next.text
                }
            }
            joined.append(word)
        }
        return joined
    }

    /// Returns the number of words after the first that belong to a command between backticks; nil if none begins here.
    private func quotedLength(_ word: Word, _ rest: ArraySlice<Word>) -> Int? {
        let start = bare(word.text).split(separator: "`", maxSplits: 1, omittingEmptySubsequences: false)
        guard start.count == 2, start[1] == program else { return nil }
        return rest.firstIndex { bare($0.text).contains("`") }.map { $0 - rest.startIndex + 1 }
    }

    /// Returns the number of words after the program's name that belong to the command: verbs at first, then options with
    /// their values, paths, and quoted text.
    private func commandLength(_ words: ArraySlice<Word>) -> Int {
        var (count, isVerb, isValue, quote) = (0, true, false, Character?.none)
        for word in words {
            let text = bare(word.text)
            let isPlain = text.allSatisfy { $0.isLowercase || $0 == "-" }
            // A path, the name of a model's part, or the name of a backup.
            let isName =
                text.contains("/") || text.dropLast().contains(".") || text.first?.isUppercase == true
                || text.first?.isNumber == true && text.count > 8
            let mark = text.first.flatMap { "'\"".contains($0) ? $0 : nil }
            guard [quote != nil, isVerb && isPlain, isValue, text.hasPrefix("-"), isName, mark != nil].contains(true)
            else { break }
            count += 1
            if quote == nil { quote = mark }
            if let mark = quote, text.count > 1, text.last(where: { !".,:;)".contains($0) }) == mark { quote = nil }
            (isVerb, isValue) = (isVerb && isPlain && count < 2, text.hasPrefix("--") && !text.contains("="))
            // The end of the sentence is the end of the command.
            if quote == nil, text.last.map({ ".:;".contains($0) }) == true { break }
        }
        return quote == nil ? count : 0
    }

    /// Returns the columns of the white space and the mark with which a text begins, or of a table's first column.
    private func hangingIndent(of text: String) -> Int {
        let plain = bare(text)
        let lead = plain.prefix { $0 == " " }.count
        let after = plain.dropFirst(lead)
        let mark = after.prefix { $0 != " " }
        guard mark.count == 1, !mark.allSatisfy(\.isLetter), after.dropFirst().first == " " else { return lead }
        return lead + 1 + after.dropFirst().prefix { $0 == " " }.count
    }

    private func visible(_ text: String) -> Int { bare(text).columns }

    /// Returns the text without the colours that ``TextStyle`` sets.
    private func bare(_ text: String) -> String {
        guard text.contains("\u{1B}") else { return text }
        var (bare, isCode) = ("", false)
        for character in text {
            if character == "\u{1B}" { isCode = true }
            if !isCode { bare.append(character) }
            if character == "m" { isCode = false }
        }
        return bare
    }
}
