import MoultModel
import Synchronization

/// The entities of XML models by their text. A text that is identical in several versions is read once, and the
/// versions share its value: in a long history few entities change between two versions.
package final class SharedEntities: Sendable {
    /// An `<entity>` element and the entity read from it.
    struct Reading: Sendable {
        let element: MarkupElement
        let entity: EntityDescription
    }

    private let known = Mutex<[MarkupText: Reading]>([:])

    package init() {}

    /// The number of different entities read so far.
    package var count: Int { known.withLock { $0.count } }

    /// - Returns: nil for an entity that is not well-formed, is invalid, or has a finding. Its file must then be read
    ///   as a whole, so that the message names the line.
    fileprivate func reading(_ text: MarkupText) -> Reading? {
        if let reading = known.withLock({ $0[text] }) { return reading }
        // One level less, because the file's root is above the entity.
        guard let element = try? MarkupElement.root(of: text.bytes, file: "", depth: MarkupElement.depthLimit - 1)
        else { return nil }
        var unknown = UnknownMarkup(file: "")
        let read = try? EntityDescription(ModelElement(node: element, file: "", owner: ""), noting: &unknown)
        guard let read, unknown.findings.isEmpty else { return nil }
        let reading = Reading(element: element, entity: read)
        known.withLock { $0[text] = reading }
        return reading
    }
}

/// The text of an element, compared byte by byte.
private struct MarkupText: Hashable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

/// A model file whose entities were read from their texts.
struct SharedModelFile {
    /// The `<model>` without its entities.
    let root: ModelElement
    /// The entities in file order.
    let entities: [SharedEntities.Reading]

    /// - Returns: nil for a file that must be read as a whole: one with comments, a document type or CDATA, and one
    ///   with an error or a finding.
    init?(_ bytes: [UInt8], sharing shared: SharedEntities) {
        guard let texts = EntityTexts(of: bytes),
            let root = try? ModelElement(rootOf: texts.remainder, file: ""),
            // An entity anywhere but directly below the root is missing here.
            root.children("entity").count == texts.entities.count
        else { return nil }
        var readings: [SharedEntities.Reading] = []
        for text in texts.entities {
            guard let reading = shared.reading(text) else { return nil }
            readings.append(reading)
        }
        (self.root, entities) = (root, readings)
    }
}

/// The texts of the `<entity>` elements in a file.
private struct EntityTexts {
    private(set) var entities: [MarkupText] = []
    /// The file with each entity replaced by `<entity/>`.
    private(set) var remainder: [UInt8] = []

    private static let start = Array("<entity".utf8)
    private static let end = Array("</entity>".utf8)
    private static let placeholder = Array("<entity/>".utf8)

    /// In a well-formed document without comments, CDATA and processing instructions, every `<` begins markup. In any
    /// other document, a wrong cut therefore yields an entity, or leaves a remainder, that is not well-formed.
    init?(of bytes: [UInt8]) {
        let less = UInt8(ascii: "<")
        var position = bytes.startIndex
        var copied = position
        while let open = bytes[position...].firstIndex(of: less) {
            position = open + 1
            guard position < bytes.endIndex else { return nil }
            let next = bytes[position]
            if next == UInt8(ascii: "!") || (next == UInt8(ascii: "?") && open > bytes.startIndex) { return nil }
            let nameEnd = open + Self.start.count
            guard next == Self.start[1], nameEnd < bytes.endIndex, bytes[nameEnd] <= 0x20,
                bytes[open..<nameEnd].elementsEqual(Self.start)
            else { continue }
            guard let end = Self.end(ofEntityAt: open, in: bytes) else { return nil }
            entities.append(MarkupText(bytes: Array(bytes[open..<end])))
            remainder += bytes[copied..<open]
            remainder += Self.placeholder
            (position, copied) = (end, end)
        }
        remainder += bytes[copied...]
    }

    private static func end(ofEntityAt open: Int, in bytes: [UInt8]) -> Int? {
        var quote: UInt8?
        var position = open + start.count
        while position < bytes.endIndex, quote != nil || bytes[position] != UInt8(ascii: ">") {
            let byte = bytes[position]
            if quote == byte {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            position += 1
        }
        guard position < bytes.endIndex else { return nil }
        if bytes[position - 1] == UInt8(ascii: "/") { return position + 1 }
        while let less = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            if bytes[less...].starts(with: end) { return less + end.count }
            position = less + 1
        }
        return nil
    }
}
