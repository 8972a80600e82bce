import MoultModel

extension FetchIndexDescription {
    /// Reads `<fetchIndex>` with its `<fetchIndexElement>`s; nil, with a finding, for an index of nothing known.
    init?(_ element: ModelElement, noting unknown: inout UnknownMarkup) {
        do throws(MigrationError) {
            try self.init(reading: element, noting: &unknown)
        } catch {
            unknown.add(
                "index-not-read", element, "\(error.message) The index is left out.", remedy: error.remedy)
            return nil
        }
    }

    private init(reading element: ModelElement, noting unknown: inout UnknownMarkup) throws(MigrationError) {
        unknown.inspect(element, attributes: [.name, .partialIndexPredicate], children: ["fetchIndexElement"])
        var elements: [Element] = []
        for child in element.children("fetchIndexElement") { elements.append(try Element(child, noting: &unknown)) }
        self.init(
            name: try element.required(.name), elements: elements,
            partialIndexPredicate: element.text(.partialIndexPredicate))
    }

    func write(to writer: inout MarkupWriter) throws {
        try writer.element("fetchIndex", [("name", name), ("partialIndexPredicate", partialIndexPredicate)]) { writer in
            for element in elements { try element.write(to: &writer) }
        }
    }
}

extension FetchIndexDescription.Element {
    fileprivate init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws(MigrationError) {
        unknown.inspect(element, attributes: [.property, .expression, .expressionType, .type, .order])
        self.init(
            subject: try FetchIndexDescription.Subject(element),
            kind: try element.word(.type, ["Binary": .binary, "RTree": .rTree]) ?? .binary,
            isAscending: try element.word(.order, ["ascending": true, "descending": false]) ?? true,
            expressionType: element.text(.expressionType))
    }

    fileprivate func write(to writer: inout MarkupWriter) throws {
        let subject: (key: String, value: String?) =
            switch subject {
            case .property(let name): ("property", name)
            case .expression(let text): ("expression", text)
            }
        try writer.element(
            "fetchIndexElement",
            [
                subject, ("expressionType", expressionType), ("type", kind == .rTree ? "RTree" : "Binary"),
                ("order", isAscending ? "ascending" : "descending"),
            ])
    }
}

extension FetchIndexDescription.Subject {
    fileprivate init(_ element: ModelElement) throws(MigrationError) {
        if let name = element.text(.property) {
            self = .property(name)
        } else if let text = element.text(.expression) {
            self = .expression(text)
        } else {
            throw element.invalid(
                "An element of the index \(element.owner) has neither property nor expression.",
                remedy: "Name the property that it indexes.")
        }
    }
}

extension ModelElement {
    /// One of a few words; nil if the attribute is absent.
    fileprivate func word<Value>(_ key: ModelKey, _ meanings: [String: Value]) throws(MigrationError) -> Value? {
        guard let text = text(key) else { return nil }
        guard let meaning = meanings[text] else {
            throw invalid(
                "\(key) is \"\(text)\", which is not known.",
                remedy: "Write one of: \(meanings.keys.sorted().joined(separator: ", ")).")
        }
        return meaning
    }
}
