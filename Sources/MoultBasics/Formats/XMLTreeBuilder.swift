#if !canImport(Darwin)
    import CExpat

    /// Builds the tree from the events of Expat.
    final class XMLTreeBuilder {
        private let parser: XML_Parser?
        private let limits: XMLElement.Limits
        private let keepsText: Bool
        private var open: [XMLElement] = []
        private var root: XMLElement?
        private var fault: XMLFault?
        private var hasExternalType = false

        init(_ limits: XMLElement.Limits, keepsText: Bool) {
            self.limits = limits
            self.keepsText = keepsText
            // Ignore the declared encoding: the document has been checked to be UTF-8.
            parser = XML_ParserCreate("UTF-8")
        }

        deinit { if let parser { XML_ParserFree(parser) } }

        func root(of bytes: [UInt8]) throws(XMLFault) -> XMLElement {
            guard let parser, let length = Int32(exactly: bytes.count) else {
                throw XMLFault(message: "it is too large", line: 1, column: 1)
            }
            setHandlers(of: parser)
            let status = bytes.withUnsafeBytes { buffer in
                withExtendedLifetime(self) {
                    XML_Parse(parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
                }
            }
            if let fault { throw fault }
            guard status == XML_STATUS_OK, let root else { throw here(message(of: XML_GetErrorCode(parser))) }
            if hasExternalType, let name = XMLElement.unknownReference(in: bytes) {
                throw here("&\(name); is not a character")
            }
            return root
        }

        private func setHandlers(of parser: XML_Parser) {
            XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
            XML_SetElementHandler(
                parser, { XMLTreeBuilder.of($0)?.start(XMLTreeBuilder.text($1), $2) },
                { builder, _ in XMLTreeBuilder.of(builder)?.end() })
            XML_SetStartDoctypeDeclHandler(parser) { builder, _, system, _, declares in
                if declares != 0 { XMLTreeBuilder.of(builder)?.stop("its document type declares entities") }
                XMLTreeBuilder.of(builder)?.hasExternalType = system != nil
            }
            guard keepsText else { return }
            XML_SetCharacterDataHandler(parser) { builder, bytes, length in
                guard let bytes else { return }
                let text = UnsafeRawBufferPointer(start: bytes, count: Int(length))
                XMLTreeBuilder.of(builder)?.append(String(decoding: text, as: UTF8.self))
            }
        }

        private static func of(_ builder: UnsafeMutableRawPointer?) -> XMLTreeBuilder? {
            builder.map { Unmanaged<XMLTreeBuilder>.fromOpaque($0).takeUnretainedValue() }
        }

        private static func text(_ characters: UnsafePointer<CChar>?) -> String {
            characters.map { String(cString: $0) } ?? ""
        }

        // MARK: Events of Expat

        /// - Parameter pairs: name, value, name, value, … and a null pointer.
        private func start(_ name: String, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
            guard fault == nil else { return }
            guard open.count < limits.depth else { return stop("elements are nested too deeply") }
            var attributes: [(name: String, value: String)] = []
            if var pair = pairs {
                while let attribute = pair[0] {
                    guard attributes.count < limits.attributes else {
                        return stop("<\(name)> has more than \(limits.attributes) attributes")
                    }
                    attributes.append((String(cString: attribute), Self.text(pair[1])))
                    pair += 2
                }
            }
            let line = parser.map { Int(XML_GetCurrentLineNumber($0)) } ?? 0
            let offset = parser.map { Int(XML_GetCurrentByteIndex($0)) } ?? 0
            open.append(XMLElement(name: name, attributes: attributes, line: line, offset: offset))
        }

        private func end() {
            guard fault == nil, let closed = open.popLast() else { return }
            if open.isEmpty { root = closed } else { open[open.count - 1].children.append(closed) }
        }

        private func append(_ text: String) {
            if fault == nil, !open.isEmpty { open[open.count - 1].text += text }
        }

        private func stop(_ message: String) {
            if fault == nil { fault = here(message) }
            if let parser { XML_StopParser(parser, 0) }
        }

        // MARK: Faults

        private func message(of error: XML_Error) -> String {
            let message = Self.text(XML_ErrorString(error))
            guard let unclosed = open.last else { return message }
            let place = "<\(unclosed.name)> of line \(unclosed.line)"
            return error == XML_ERROR_NO_ELEMENTS ? "it ends inside \(place)" : "\(message) inside \(place)"
        }

        private func here(_ message: String) -> XMLFault {
            guard let parser else { return XMLFault(message: message, line: 1, column: 1) }
            return XMLFault(
                message: message, line: max(1, Int(XML_GetCurrentLineNumber(parser))),
                column: Int(XML_GetCurrentColumnNumber(parser)) + 1)
        }
    }
#endif
