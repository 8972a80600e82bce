/// The one byte form of the parts of a model that a fingerprint is taken over. Every text is preceded by its length and
/// every optional by whether it is there, so that no two models have the same bytes.
struct CanonicalBytes {
    /// The first bytes of everything, to be raised when the form changes.
    private static let format = Array("moult fingerprint 1\0".utf8)

    private var bytes = Self.format

    var digest: [UInt8] { Digest.sha256(bytes) }

    mutating func append(_ raw: [UInt8]) { bytes += raw }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func add(_ number: Int) { withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 } }

    mutating func add(_ text: String) {
        add(text.utf8.count)
        bytes += text.utf8
    }

    mutating func add(_ text: String?) {
        add(text != nil)
        if let text { add(text) }
    }

    mutating func add(_ flag: Bool?) { bytes.append(flag.map { $0 ? 1 : 0 } ?? 2) }

    mutating func add(_ texts: [String]) { list(texts) { $0.add($1) } }

    mutating func add(_ entries: [String: String]) {
        list(entries.sorted { $0.key.precedesInByteOrder($1.key) }) { bytes, entry in
            bytes.add(entry.key)
            bytes.add(entry.value)
        }
    }

    mutating func list<Element>(_ elements: [Element], _ each: (inout CanonicalBytes, Element) -> Void) {
        add(elements.count)
        for element in elements { each(&self, element) }
    }
}
