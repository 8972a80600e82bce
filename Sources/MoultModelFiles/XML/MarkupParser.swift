import MoultModel

/// Reads the XML of a model file into a tree.
///
/// It knows the XML that such a file can hold: elements, attributes, character references, comments, CDATA and
/// processing instructions, in UTF-8. It refuses a document type with declarations of its own, so that nothing outside
/// the file is ever read and nothing in it multiplies. Foundation's parser stops the process on an attribute name that is
/// no UTF-8, and takes longer. It cannot be copied: a build without optimisation would copy it for each byte it looks at.
struct MarkupParser: ~Copyable {
    private static let depthLimit = 64
    /// Each attribute is compared with those before it; elements of real models have some twenty.
    private static let attributeLimit = 256

    private let bytes: [UInt8]
    private let file: String
    private let keepsText: Bool
    private let keys = ModelKey.byName
    private var position = 0
    private var line = 1
    private var countedTo = 0

    /// The root element of the document.
    ///
    /// - Parameter keepsText: whether to fill ``MarkupElement/text``.
    /// - Throws: `MigrationError` with code `modelInvalid`, line and column, for anything not well-formed.
    static func root(
        of bytes: [UInt8], file: String, keepsText: Bool = false
    ) throws(MigrationError) -> MarkupElement {
        var parser = MarkupParser(bytes, file: file, keepsText: keepsText)
        return try parser.document()
    }

    private init(_ bytes: [UInt8], file: String, keepsText: Bool) {
        self.bytes = bytes
        self.file = file
        self.keepsText = keepsText
    }

    private mutating func document() throws(MigrationError) -> MarkupElement {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw fault("it is not text in UTF-8") }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        var open: [MarkupElement] = []
        var root: MarkupElement?
        while let tag = try nextTag(isInside: !open.isEmpty) {
            switch tag {
            case .text(let text): if !open.isEmpty { open[open.count - 1].text += text }
            case .start(let element), .empty(let element):
                guard root == nil else { throw fault("it has a second root <\(element.name)>") }
                guard open.count < Self.depthLimit else { throw fault("elements are nested too deeply") }
                open.append(element)
            case .end(let name):
                guard open.last?.name == name else {
                    throw fault("</\(name)> closes what is \(open.last.map { "<\($0.name)>" } ?? "not open")")
                }
            }
            guard tag.closes, let closed = open.popLast() else { continue }
            if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
        }
        if let unclosed = open.last { throw fault("it ends inside <\(unclosed.name)> of line \(unclosed.line)") }
        guard let root else { throw fault("it has no element") }
        return root
    }
}

// MARK: - Tags

extension MarkupParser {
    private enum Tag {
        case start(MarkupElement)
        /// `<name/>`
        case empty(MarkupElement)
        case end(String)
        /// What stands before the next tag, where text is kept.
        case text(String)

        /// Whether it ends an element.
        var closes: Bool {
            switch self {
            case .empty, .end: true
            case .start, .text: false
            }
        }
    }

    /// The next tag of an element, or the text before it; nil at the end of the file.
    private mutating func nextTag(isInside: Bool) throws(MigrationError) -> Tag? {
        while position < bytes.count {
            if keepsText, isInside, bytes[position] != UInt8(ascii: "<") { return .text(try textBeforeTag()) }
            guard bytes[position] == UInt8(ascii: "<") else {
                guard isInside || isSpace(bytes[position]) else { throw fault("there is text outside of the root") }
                guard bytes[position] >= 0x20 || isSpace(bytes[position]) else {
                    throw fault("it holds the control character \([bytes[position]].hexadecimal)")
                }
                position += 1
                continue
            }
            switch byte(at: position + 1) {
            case UInt8(ascii: "?"): try skip(past: "?>")
            case UInt8(ascii: "!"):
                let start = position
                try skipDeclaration(isInside: isInside)
                if keepsText, let text = characterData(start..<position) { return .text(text) }
            case UInt8(ascii: "/"): return try endTag()
            default: return try startTag()
            }
        }
        return nil
    }

    private mutating func textBeforeTag() throws(MigrationError) -> String {
        let start = position
        var isPlain = true
        while let byte = byte(at: position), byte != UInt8(ascii: "<") {
            if byte == UInt8(ascii: "&") || byte < 0x20 && byte != 0x0A { isPlain = false }
            position += 1
        }
        return isPlain ? text(start..<position) : try decoded(start..<position, keepsBreaks: true)
    }

    /// The content of a CDATA section; nil for anything else.
    private func characterData(_ range: Range<Int>) -> String? {
        let begin = "<![CDATA[".utf8
        guard bytes[range].starts(with: begin) else { return nil }
        return text(range.lowerBound + begin.count..<range.upperBound - 3)
    }

    private mutating func endTag() throws(MigrationError) -> Tag {
        position += 2
        let name = try name()
        skipSpace()
        try expect(UInt8(ascii: ">"), "the tag </\(name)> is not closed")
        return .end(name)
    }

    private mutating func startTag() throws(MigrationError) -> Tag {
        let line = currentLine()
        position += 1
        let name = try name()
        var known: [(key: ModelKey, value: String)] = []
        var others: [(name: String, value: String)] = []
        while true {
            let hadSpace = skipSpace()
            switch byte(at: position) {
            case UInt8(ascii: ">"):
                position += 1
                return .start(
                    MarkupElement(name: name, attributes: known, otherAttributes: others, line: line))
            case UInt8(ascii: "/"):
                position += 1
                try expect(UInt8(ascii: ">"), "the tag <\(name)> is not closed")
                return .empty(
                    MarkupElement(name: name, attributes: known, otherAttributes: others, line: line))
            default:
                guard hadSpace else { throw fault("the tag <\(name)> is not closed") }
                guard known.count + others.count < Self.attributeLimit else {
                    throw fault("<\(name)> has more than \(Self.attributeLimit) attributes")
                }
                let attribute = try attribute()
                let isRepeated: Bool
                if let key = keys[attribute.name] {
                    isRepeated = known.contains { $0.key == key }
                    known.append((key, attribute.value))
                } else {
                    isRepeated = others.contains { $0.name == attribute.name }
                    others.append(attribute)
                }
                guard !isRepeated else { throw fault("<\(name)> has the attribute \(attribute.name) twice") }
            }
        }
    }

    private mutating func attribute() throws(MigrationError) -> (name: String, value: String) {
        let name = try name()
        skipSpace()
        try expect(UInt8(ascii: "="), "the attribute \(name) has no value")
        skipSpace()
        guard let quote = byte(at: position), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw fault("the value of \(name) is not quoted")
        }
        position += 1
        let start = position
        var isPlain = true
        while let byte = byte(at: position), byte != quote {
            guard byte != UInt8(ascii: "<") else { throw fault("the value of \(name) holds a <") }
            if byte == UInt8(ascii: "&") || byte < 0x20 { isPlain = false }
            position += 1
        }
        let end = position
        try expect(quote, "the value of \(name) is not closed")
        return (name, isPlain ? text(start..<end) : try decoded(start..<end))
    }

    private mutating func name() throws(MigrationError) -> String {
        let start = position
        while let byte = byte(at: position), isNameByte(byte) { position += 1 }
        guard position > start, !isDigit(bytes[start]), bytes[start] != UInt8(ascii: "-"),
            bytes[start] != UInt8(ascii: ".")
        else { throw fault("a name is missing") }
        return text(start..<position)
    }

    /// Comments, CDATA, and a document type without declarations.
    private mutating func skipDeclaration(isInside: Bool) throws(MigrationError) {
        if starts(with: "<!--") {
            position += 4
            try skip(past: "-->")
        } else if isInside, starts(with: "<![CDATA[") {
            try skip(past: "]]>")
        } else if !isInside, starts(with: "<!DOCTYPE") {
            while let byte = byte(at: position), byte != UInt8(ascii: ">") {
                guard byte != UInt8(ascii: "[") else { throw fault("its document type declares entities") }
                position += 1
            }
            try expect(UInt8(ascii: ">"), "its document type is not closed")
        } else {
            throw fault("<! begins nothing that is known")
        }
    }
}

// MARK: - Values

extension MarkupParser {
    /// A value with its references resolved; in an attribute a line break or tab that is written plainly is a space
    /// (XML 1.0, 3.3.3).
    private func decoded(_ range: Range<Int>, keepsBreaks: Bool = false) throws(MigrationError) -> String {
        var decoded: [UInt8] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "&"):
                guard let end = bytes[place..<range.upperBound].firstIndex(of: UInt8(ascii: ";")) else {
                    throw fault("an & begins no character reference")
                }
                decoded += try character(named: text(place..<end)).utf8
                place = end + 1
            case 0x0D where self.byte(at: place) == 0x0A: break
            case 0x09, 0x0A: decoded.append(keepsBreaks ? byte : 0x20)
            case 0x0D: decoded.append(keepsBreaks ? 0x0A : 0x20)
            case 0..<0x20: throw fault("a value holds the control character \([byte].hexadecimal)")
            default: decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private func character(named name: String) throws(MigrationError) -> String {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
            let isPlain = digits.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }
            guard name.hasPrefix("#"), isPlain, let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
                let scalar = Unicode.Scalar(number), number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number),
                number != 0xFFFE, number != 0xFFFF
            else { throw fault("&\(name); is no character") }
            return String(Character(scalar))
        }
    }
}

// MARK: - Bytes

extension MarkupParser {
    private func byte(at place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard position + length <= bytes.count else { return false }
        return text.withUTF8Buffer { $0.elementsEqual(bytes[position..<position + length]) }
    }

    private mutating func skip(past end: StaticString) throws(MigrationError) {
        while position < bytes.count {
            if starts(with: end) {
                position += end.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw fault("\(end) is missing")
    }

    /// Whether there was any.
    @discardableResult private mutating func skipSpace() -> Bool {
        let start = position
        while let byte = byte(at: position), isSpace(byte) { position += 1 }
        return position > start
    }

    private mutating func expect(_ expected: UInt8, _ complaint: @autoclosure () -> String) throws(MigrationError) {
        guard byte(at: position) == expected else { throw fault(complaint()) }
        position += 1
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: ":"), 0x80...:
            true
        default: false
        }
    }

    /// Counts on from where it last counted.
    private mutating func currentLine() -> Int {
        while countedTo < position {
            if bytes[countedTo] == 0x0A { line += 1 }
            countedTo += 1
        }
        return line
    }

    private func fault(_ what: String) -> MigrationError {
        let before = bytes.prefix(position)
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return .modelInvalid(
            "The file is not a well-formed XML model: \(what).", place: "\(file):\(line):\(column)",
            remedy: "Restore the file, or correct it there; an open merge conflict or a cut file often looks so.")
    }
}
