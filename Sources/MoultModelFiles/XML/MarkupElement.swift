import Foundation
import MoultModel

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// One element of an XML document with everything below it.
struct MarkupElement: Sendable {
    let name: String
    let attributes: [String: String]
    /// Where its start tag ends.
    let line: Int
    var children: [MarkupElement] = []
}

extension MarkupElement {
    /// The root of the document in `bytes`.
    ///
    /// - Throws: `MigrationError` with `code` and the line and column where the text is not well-formed XML.
    static func root(of bytes: [UInt8], file: String, code: MigrationError.Code) throws -> MarkupElement {
        let builder = MarkupBuilder()
        let parser = XMLParser(data: Data(bytes))
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        guard parser.parse(), let root = builder.root else {
            throw MigrationError(
                code, "The file is not well-formed XML (line \(parser.lineNumber), column \(parser.columnNumber)).",
                place: "\(file):\(parser.lineNumber)",
                remedy: "Restore the file, or correct it there: a merge conflict or a cut file often looks so.",
                cause: parser.parserError.map { "XML parser error \(($0 as NSError).code)" })
        }
        return root
    }
}

/// Gathers the events of one parse into a tree.
private final class MarkupBuilder: NSObject, XMLParserDelegate {
    private var open: [MarkupElement] = []
    private(set) var root: MarkupElement?

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        open.append(MarkupElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
}
