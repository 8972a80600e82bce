import MoultBasics

/// The start tag of an XML element as its file has it, for changes that keep every other byte.
struct StartTag {
    private struct Attribute {
        let name: String
        /// The attribute with the white space before it.
        let whole: Range<Int>
        /// The bytes between the quotation marks.
        let value: Range<Int>
    }

    /// A change of a document's bytes.
    struct Change {
        let range: Range<Int>
        let bytes: [UInt8]
    }

    private var attributes: [Attribute] = []
    /// The place after the last attribute, or after the element's name.
    private var end: Int
    /// The bytes of the tag, with its angle brackets.
    private(set) var range: Range<Int>

    /// - Parameters:
    ///   - bytes: a well-formed document.
    ///   - element: an element of it.
    /// - Returns: nil if the tag is not at the element's place.
    init?(of element: XMLElement, in bytes: [UInt8]) {
        let start = element.offset
        let opening = Array("<\(element.name)".utf8)
        guard bytes.indices.contains(start), bytes[start...].starts(with: opening) else { return nil }
        end = start + opening.count
        range = start..<end
        var place = end
        while true {
            let gap = place
            place = bytes[place...].firstIndex { !Self.isSpace($0) } ?? bytes.count
            guard place < bytes.count else { return nil }
            if bytes[place] == UInt8(ascii: "/") || bytes[place] == UInt8(ascii: ">") { break }
            guard let equals = bytes[place...].firstIndex(of: UInt8(ascii: "=")),
                let open = bytes[equals...].firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }),
                let close = bytes[(open + 1)...].firstIndex(of: bytes[open])
            else { return nil }
            let name = String(decoding: bytes[place..<equals].filter { !Self.isSpace($0) }, as: UTF8.self)
            place = close + 1
            attributes.append(Attribute(name: name, whole: gap..<place, value: (open + 1)..<close))
            end = place
        }
        guard let close = bytes[place...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        range = start..<(close + 1)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// Returns the changes that set or remove attributes.
    func changes(setting values: [(name: String, value: String?)]) -> [Change] {
        var added = ""
        var changes: [Change] = []
        for (name, value) in values {
            let text = value.map { $0.escapedForXML.replacing("'", with: "&#39;") }
            switch (attributes.first { $0.name == name }, text) {
            case (let old?, let text?): changes.append(Change(range: old.value, bytes: Array(text.utf8)))
            case (let old?, nil): changes.append(Change(range: old.whole, bytes: []))
            case (nil, let text?): added += " \(name)=\"\(text)\""
            case (nil, nil): break
            }
        }
        return changes + (added.isEmpty ? [] : [Change(range: end..<end, bytes: Array(added.utf8))])
    }
}

extension [UInt8] {
    /// Returns the bytes with changes of places that do not overlap.
    func applying(_ changes: [StartTag.Change]) -> [UInt8] {
        var bytes = self
        for change in changes.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            bytes.replaceSubrange(change.range, with: change.bytes)
        }
        return bytes
    }
}
