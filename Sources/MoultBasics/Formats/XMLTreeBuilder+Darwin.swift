#if canImport(Darwin)
    import Foundation

    /// Builds the tree from the events of Foundation's parser. The places of the elements and the order of their
    /// attributes, which that parser does not report, come from the bytes.
    final class XMLTreeBuilder: NSObject, XMLParserDelegate {
        private let limits: XMLElement.Limits
        private let keepsText: Bool
        private var tags: ArraySlice<StartTag> = []
        private var open: [XMLElement] = []
        private var root: XMLElement?
        private var fault: XMLFault?

        init(_ limits: XMLElement.Limits, keepsText: Bool) {
            self.limits = limits
            self.keepsText = keepsText
        }

        func root(of bytes: [UInt8]) throws(XMLFault) -> XMLElement {
            var scan = XMLScan(bytes)
            scan.run()
            if let fault = scan.fault { throw fault }
            tags = scan.tags[...]
            let parser = XMLParser(data: Data(scan.withoutEncoding))
            parser.shouldResolveExternalEntities = false
            parser.delegate = self
            let isWhole = parser.parse()
            if let fault { throw fault }
            guard isWhole, let root else { throw here(parser, message(parser)) }
            if scan.hasExternalType, let name = XMLElement.unknownReference(in: bytes) {
                throw here(parser, "&\(name); is not a character")
            }
            return root
        }

        // MARK: Events

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes values: [String: String]
        ) {
            guard fault == nil else { return }
            guard open.count < limits.depth else { return stop(parser, "elements are nested too deeply") }
            guard values.count <= limits.attributes else {
                return stop(parser, "<\(name)> has more than \(limits.attributes) attributes")
            }
            guard let tag = tags.popFirst(), tag.attributes.count == values.count else {
                return stop(parser, "<\(name)> cannot be found in the text")
            }
            var attributes: [(name: String, value: String)] = []
            for name in tag.attributes { if let value = values[name] { attributes.append((name, value)) } }
            guard attributes.count == values.count else {
                return stop(parser, "<\(name)> cannot be found in the text")
            }
            open.append(XMLElement(name: name, attributes: attributes, line: tag.line, offset: tag.offset))
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            guard fault == nil, let closed = open.popLast() else { return }
            if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            if keepsText, fault == nil, !open.isEmpty { open[open.count - 1].text += text }
        }

        func parser(_ parser: XMLParser, foundCDATA block: Data) {
            self.parser(parser, foundCharacters: String(decoding: block, as: UTF8.self))
        }

        // MARK: Faults

        private func stop(_ parser: XMLParser, _ message: String) {
            if fault == nil { fault = here(parser, message) }
            parser.abortParsing()
        }

        private func message(_ parser: XMLParser) -> String {
            let number = (parser.parserError as NSError?)?.code ?? 0
            guard let unclosed = open.last else { return "it is not well-formed (error \(number) of XMLParser)" }
            let place = "<\(unclosed.name)> of line \(unclosed.line)"
            return "it is not well-formed inside \(place) (error \(number) of XMLParser)"
        }

        private func here(_ parser: XMLParser, _ message: String) -> XMLFault {
            XMLFault(message: message, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber))
        }
    }

    /// A start tag in the bytes of a document.
    private struct StartTag {
        let offset: Int
        let line: Int
        /// The names of the attributes, in file order.
        var attributes: [String] = []
    }

    /// A reading of the bytes of a document for its tags. It checks how they are nested; the parser finds what else is not
    /// well-formed.
    private struct XMLScan {
        private let bytes: [UInt8]
        private var place = 0
        private var line = 1
        private(set) var tags: [StartTag] = []
        /// The elements that are open, as indexes of `tags` with the bytes of their names.
        private var open: [(tag: Int, name: ArraySlice<UInt8>)] = []
        private(set) var hasExternalType = false
        private(set) var fault: XMLFault?
        /// The document with blanks in place of its declared encoding: it is UTF-8, whatever that says.
        private(set) var withoutEncoding: [UInt8]

        init(_ bytes: [UInt8]) { (self.bytes, withoutEncoding) = (bytes, bytes) }

        mutating func run() {
            if starts(with: "\u{FEFF}") { place = 3 }
            if starts(with: "<?xml"), place + 5 < bytes.count, bytes[place + 5] <= 0x20 { readDeclaration() }
            while fault == nil, place < bytes.count {
                guard bytes[place] == UInt8(ascii: "<") else {
                    if open.isEmpty, bytes[place] > 0x20 { stop("there is text outside of the root element") }
                    step()
                    continue
                }
                if starts(with: "<!--") {
                    skip(past: "-->")
                } else if starts(with: "<![CDATA[") {
                    skip(past: "]]>")
                } else if starts(with: "<?") {
                    skip(past: "?>")
                } else if starts(with: "<!") {
                    readType()
                } else if starts(with: "</") {
                    readEnd()
                } else {
                    readTag()
                }
            }
            if fault == nil, let last = open.last { stop("it ends inside \(words(last))") }
        }

        private func words(_ element: (tag: Int, name: ArraySlice<UInt8>)) -> String {
            "<\(String(decoding: element.name, as: UTF8.self))> of line \(tags[element.tag].line)"
        }

        private mutating func stop(_ message: String) {
            let start = bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            // Characters, not bytes.
            let column = bytes[start..<place].count { $0 & 0xC0 != 0x80 } + 1
            if fault == nil { fault = XMLFault(message: message, line: line, column: column) }
        }

        private mutating func readDeclaration() {
            while place < bytes.count, !starts(with: "?>") {
                guard starts(with: "encoding") else {
                    step()
                    continue
                }
                let start = place
                while place < bytes.count, !isQuote, !starts(with: "?>") { step() }
                if place < bytes.count, isQuote { skipValue() }
                for index in start..<place where bytes[index] > 0x20 { withoutEncoding[index] = 0x20 }
            }
            skip(past: "?>")
        }

        private mutating func readEnd() {
            let start = place + 2
            let end = bytes[start...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ">") } ?? bytes.count
            guard let last = open.last, last.name == bytes[start..<end] else {
                return stop(open.last.map { "mismatched tag inside \(words($0))" } ?? "mismatched tag")
            }
            open.removeLast()
            skip(past: ">")
        }

        private func starts(with text: StaticString) -> Bool {
            let end = place + text.utf8CodeUnitCount
            return end <= bytes.count && text.withUTF8Buffer { bytes[place..<end].elementsEqual($0) }
        }

        private mutating func step() {
            if bytes[place] == UInt8(ascii: "\n") { line += 1 }
            place += 1
        }

        private mutating func skip(past end: StaticString) {
            while place < bytes.count, !starts(with: end) { step() }
            place = min(place + end.utf8CodeUnitCount, bytes.count)
        }

        /// Skips a value in quotes.
        private mutating func skipValue() {
            let quote = bytes[place]
            step()
            while place < bytes.count, bytes[place] != quote { step() }
            if place < bytes.count { place += 1 }
        }

        private var isQuote: Bool { bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'") }

        private mutating func readType() {
            while place < bytes.count, bytes[place] != UInt8(ascii: ">") {
                if bytes[place] == UInt8(ascii: "[") {
                    return stop("its document type declares entities")
                }
                if isQuote {
                    hasExternalType = true
                    skipValue()
                } else {
                    step()
                }
            }
            skip(past: ">")
        }

        private mutating func readTag() {
            guard !open.isEmpty || tags.isEmpty else { return stop("there is a second root element") }
            var tag = StartTag(offset: place, line: line)
            // The name of the element is followed by a blank, a slash or the end.
            place += 1
            let start = place
            while place < bytes.count, bytes[place] > 0x20, !isEnd { step() }
            open.append((tags.count, bytes[start..<place]))
            var name: [UInt8] = []
            while place < bytes.count, bytes[place] != UInt8(ascii: ">") {
                if isQuote {
                    tag.attributes.append(String(decoding: name, as: UTF8.self))
                    name = []
                    skipValue()
                    continue
                }
                if bytes[place] > 0x20, bytes[place] != UInt8(ascii: "="), !isEnd { name.append(bytes[place]) }
                step()
            }
            tags.append(tag)
            guard place < bytes.count else { return }
            if bytes[place - 1] == UInt8(ascii: "/") { open.removeLast() }
            place += 1
        }

        private var isEnd: Bool { bytes[place] == UInt8(ascii: ">") || bytes[place] == UInt8(ascii: "/") }
    }
#endif
