import MoultModel
import MoultXML

/// One element of an XML model with everything below it.
struct MarkupElement: Sendable {
    let name: String
    /// In the order of the file.
    let attributes: [(key: ModelKey, value: String)]
    /// The attributes whose names are no `ModelKey`.
    let otherAttributes: [(name: String, value: String)]
    /// The line on which its start tag begins.
    let line: Int
    let children: [MarkupElement]

    private init(_ element: XMLElement) {
        var known: [(key: ModelKey, value: String)] = []
        var others: [(name: String, value: String)] = []
        for attribute in element.attributes {
            if let key = ModelKey.byName[attribute.name] {
                known.append((key, attribute.value))
            } else {
                others.append(attribute)
            }
        }
        (name, attributes, otherAttributes, line) = (element.name, known, others, element.line)
        children = element.children.map(MarkupElement.init)
    }

    /// The greatest depth to which the elements of a model file may be nested.
    static let depthLimit = 64

    /// The root element of a model file.
    ///
    /// - Throws: `MigrationError` with code `modelInvalid`, line and column, for anything not well-formed.
    static func root(
        of bytes: [UInt8], file: String, depth: Int = depthLimit
    ) throws(MigrationError) -> MarkupElement {
        MarkupElement(try XMLElement.root(ofModelFile: file, bytes, depth: depth))
    }

    subscript(key: ModelKey) -> String? {
        for attribute in attributes where attribute.key == key { return attribute.value }
        return nil
    }

    /// Every attribute by name.
    var allAttributes: [String: String] {
        let known = attributes.map { (name: "\($0.key)", value: $0.value) }
        return Dictionary((known + otherAttributes).map { ($0.name, $0.value) }) { first, _ in first }
    }
}

extension XMLElement {
    /// The root element of a model or a mapping model.
    ///
    /// - Throws: `MigrationError` with code `modelInvalid`, line and column, for anything not well-formed.
    static func root(
        ofModelFile file: String, _ bytes: [UInt8], depth: Int = MarkupElement.depthLimit, keepsText: Bool = false
    ) throws(MigrationError) -> XMLElement {
        do {
            return try root(of: bytes, limits: Limits(depth: depth), keepsText: keepsText)
        } catch {
            throw .modelInvalid(
                "The file is not a well-formed XML model: \(error.message).",
                place: "\(file):\(error.line):\(error.column)",
                remedy:
                    "Restore the file, or correct it there; often the cause is an unresolved merge conflict or a truncated file."
            )
        }
    }
}
