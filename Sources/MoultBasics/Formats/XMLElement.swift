/// An element of an XML document with all its descendants.
package struct XMLElement: Sendable {
    package let name: String
    /// The attributes in file order, with references resolved.
    package let attributes: [(name: String, value: String)]
    /// The line of the start tag, from 1.
    package let line: Int
    /// The position of the start tag in the document's bytes.
    package let offset: Int
    package internal(set) var children: [XMLElement] = []
    /// The text directly inside the element, all pieces joined; empty unless requested.
    package internal(set) var text = ""

    /// The value of an attribute; nil if there is none.
    package func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
}

/// The reason why a document could not be read, and its place.
package struct XMLFault: Error {
    package let message: String
    /// The line, from 1.
    package let line: Int
    /// The column in characters, from 1.
    package let column: Int
}

extension XMLElement {
    /// The size limits of a document. Larger documents are rejected, so that a hostile file costs little.
    package struct Limits: Sendable {
        package var depth: Int
        /// The maximum number of attributes of one element.
        package var attributes = 256

        package init(depth: Int) { self.depth = depth }
    }

    /// Reads the root element of a document in UTF-8.
    ///
    /// The reader loads nothing from outside the document and expands nothing in it: it rejects a document type with
    /// its own declarations, and a reference to an entity that XML does not define.
    /// - Parameter keepsText: whether to fill ``text``.
    /// - Throws: `XMLFault` if the document is not well-formed or exceeds the limits.
    package static func root(
        of bytes: [UInt8], limits: Limits, keepsText: Bool = false
    ) throws(XMLFault) -> XMLElement {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw XMLFault(message: "it is not text in UTF-8", line: 1, column: 1)
        }
        return try XMLTreeBuilder(limits, keepsText: keepsText).root(of: bytes)
    }

    /// Returns the first reference to an entity that XML does not define.
    ///
    /// If the document type is outside the document, a parser may drop such a reference from an attribute's value.
    static func unknownReference(in bytes: [UInt8]) -> String? {
        for reference in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).dropFirst() {
            guard reference.first != UInt8(ascii: "#"), let end = reference.firstIndex(of: UInt8(ascii: ";")),
                !reference[..<end].contains(where: { $0 <= 0x20 || [0x22, 0x27, 0x3C, 0x3E].contains($0) })
            else { continue }
            let name = String(decoding: reference[..<end], as: UTF8.self)
            if !["amp", "lt", "gt", "quot", "apos"].contains(name) { return name }
        }
        return nil
    }
}
