/// Cuts HTML into tokens the way the HTML standard's tokenizer does, whatever lines and letter case the tags are
/// written in. (A pattern such as `<script.*>` misses a tag that is broken over two lines, and keeps the script's text.)
struct HTMLTokenizer: Sequence, IteratorProtocol {
    /// Elements whose text is not markup: it ends at their own end tag only.
    private static let rawText: Set<String> = [
        "script", "style", "iframe", "textarea", "title", "xmp", "noembed", "noframes", "noscript", "plaintext",
    ]

    private let scalars: [Unicode.Scalar]
    private var position = 0
    /// The element of raw text that the last start tag opened.
    private var open: String?

    init(_ html: String) { scalars = Array(html.unicodeScalars) }

    mutating func next() -> HTMLToken? {
        if position >= scalars.count { return nil }
        if let name = open {
            open = nil
            let text = rawText(until: name)
            if !text.isEmpty { return .text(text) }
        }
        return tag() ?? text()
    }

    // MARK: - Text

    private mutating func text() -> HTMLToken? {
        // The first character is taken unseen: a `<` that opened no tag is text.
        let begin = position
        position += 1
        while position < scalars.count, scalars[position] != "<" { position += 1 }
        return .text(string(begin..<position))
    }

    private mutating func rawText(until name: String) -> String {
        let begin = position
        while position < scalars.count, !isEndTag(of: name, at: position) { position += 1 }
        return string(begin..<position)
    }

    private func isEndTag(of name: String, at start: Int) -> Bool {
        guard character(start) == "<", character(start + 1) == "/" else { return false }
        let end = start + 2 + name.unicodeScalars.count
        guard end <= scalars.count, string(start + 2..<end).lowercased() == name else { return false }
        return character(end).map { $0.isSpace || $0 == "/" || $0 == ">" } ?? false
    }

    // MARK: - Tags

    /// The tag or comment at the position; nil where the `<` there is only a character.
    private mutating func tag() -> HTMLToken? {
        guard character(position) == "<", let second = character(position + 1) else { return nil }
        if second == "!" || second == "?" { return markup() }
        let isEnd = second == "/"
        let begin = position + (isEnd ? 2 : 1)
        guard let first = character(begin) else { return nil }
        guard first.isLetter else { return isEnd ? markup() : nil }
        position = begin
        let name = word { $0.isSpace || $0 == "/" || $0 == ">" }.lowercased()
        let attributes = attributes()
        if isEnd { return .end(name: name) }
        if Self.rawText.contains(name) { open = name }
        return .start(name: name, attributes: attributes)
    }

    private mutating func markup() -> HTMLToken {
        let isComment =
            character(position + 1) == "!" && character(position + 2) == "-" && character(position + 3) == "-"
        let end: [Unicode.Scalar] = isComment ? ["-", "-", ">"] : [">"]
        position += 2
        while position < scalars.count, !scalars[position...].starts(with: end) { position += 1 }
        position = Swift.min(position + end.count, scalars.count)
        return .markup
    }

    /// The attributes up to the tag's end; of two with one name the first counts.
    private mutating func attributes() -> [String: String] {
        var found: [String: String] = [:]
        while true {
            skip { $0.isSpace || $0 == "/" }
            guard let next = character(position), next != ">" else { break }
            let name = attributeName()
            skip(while: \.isSpace)
            var value = ""
            if character(position) == "=" {
                position += 1
                skip(while: \.isSpace)
                value = attributeValue()
            }
            if found[name] == nil { found[name] = value }
        }
        position = Swift.min(position + 1, scalars.count)
        return found
    }

    private mutating func attributeName() -> String {
        // An equals sign in the first place belongs to the name.
        let begin = position
        position += 1
        skip { !($0.isSpace || $0 == "/" || $0 == ">" || $0 == "=") }
        return string(begin..<position).lowercased()
    }

    private mutating func attributeValue() -> String {
        guard let quote = character(position), quote == "\"" || quote == "'" else {
            return word { $0.isSpace || $0 == ">" }
        }
        position += 1
        let value = word { $0 == quote }
        position = Swift.min(position + 1, scalars.count)
        return value
    }

    // MARK: - Characters

    private func character(_ index: Int) -> Unicode.Scalar? { scalars.indices.contains(index) ? scalars[index] : nil }

    private func string(_ range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[range])
        return String(text)
    }

    private mutating func word(until isEnd: (Unicode.Scalar) -> Bool) -> String {
        let begin = position
        skip { !isEnd($0) }
        return string(begin..<position)
    }

    private mutating func skip(while condition: (Unicode.Scalar) -> Bool) {
        while position < scalars.count, condition(scalars[position]) { position += 1 }
    }
}

extension Unicode.Scalar {
    /// What separates the parts of a tag (ASCII whitespace of the HTML standard).
    fileprivate var isSpace: Bool { self == " " || self == "\t" || self == "\n" || self == "\r" || self == "\u{C}" }

    fileprivate var isLetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
}
