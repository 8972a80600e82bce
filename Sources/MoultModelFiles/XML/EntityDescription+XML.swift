import MoultBasics
import MoultModel

extension EntityDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .representedClassName, .isAbstract, .parentEntity, .elementID, .renamingIdentifier,
        .versionHashModifier, .syncable, .codeGenerationType, .coreSpotlightDisplayNameExpression,
    ]
    private static let knownChildren: Set<String> = [
        "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
        "userInfo",
    ]

    /// Reads `<entity>`.
    init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: Self.knownAttributes, children: Self.knownChildren)
        let name = try element.required(.name)
        self.init(
            name: name,
            managedObjectClassName: element.text(.representedClassName),
            isAbstract: element.flag(.isAbstract, noting: &unknown),
            superentityName: element.text(.parentEntity),
            attributes: try element.children("attribute", owner: name).map {
                try AttributeDescription($0, noting: &unknown)
            },
            relationships: try element.children("relationship", owner: name).map {
                try RelationshipDescription($0, noting: &unknown)
            },
            fetchedProperties: try element.children("fetchedProperty", owner: name).map {
                try FetchedPropertyDescription($0, noting: &unknown)
            },
            fetchIndexes: element.children("fetchIndex", owner: name).compactMap {
                FetchIndexDescription($0, noting: &unknown)
            },
            compoundIndexes: try element.nameLists("compoundIndexes", "compoundIndex", "index"),
            uniquenessConstraints: try element.nameLists("uniquenessConstraints", "uniquenessConstraint", "constraint"),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier),
            userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true,
            coreSpotlightDisplayNameExpression: element.text(.coreSpotlightDisplayNameExpression),
            codeGenerationType: element.text(.codeGenerationType))
    }

    func write(to writer: inout MarkupWriter) throws {
        let own: [(key: String, value: String?)] = [
            ("name", name), ("representedClassName", managedObjectClassName),
            ("isAbstract", MarkupWriter.flag(isAbstract)), ("parentEntity", superentityName),
            ("elementID", renamingIdentifier), ("versionHashModifier", versionHashModifier),
            ("syncable", isSyncable ? "YES" : "NO"), ("codeGenerationType", codeGenerationType),
            ("coreSpotlightDisplayNameExpression", coreSpotlightDisplayNameExpression),
        ]
        try writer.element("entity", own) { writer in
            for attribute in attributes.inEditorOrder(\.name) { try attribute.write(to: &writer) }
            for relationship in relationships.inEditorOrder(\.name) { try relationship.write(to: &writer) }
            for property in fetchedProperties.inEditorOrder(\.name) { try property.write(to: &writer) }
            for index in fetchIndexes { try index.write(to: &writer) }
            try writer.nameLists(compoundIndexes, "compoundIndexes", "compoundIndex", "index")
            try writer.nameLists(uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint")
            try writer.userInfo(userInfo)
        }
    }
}

extension ModelElement {
    /// Reads `<outer><list><item value="…"/>…</list>…</outer>`, the form of compound indexes and constraints.
    fileprivate func nameLists(_ outer: String, _ list: String, _ item: String) throws -> [[String]] {
        try children(outer).flatMap { $0.children(list) }.map { list in
            try list.children(item).map { try $0.required(.value) }
        }
    }
}

extension MarkupWriter {
    fileprivate mutating func nameLists(_ lists: [[String]], _ outer: String, _ list: String, _ item: String) throws {
        guard !lists.isEmpty else { return }
        try element(outer, []) { writer in
            for names in lists {
                try writer.element(list, []) { writer in
                    for name in names { try writer.element(item, [("value", name)]) }
                }
            }
        }
    }
}

extension FetchIndexDescription {
    /// Reads `<fetchIndex>` with its `<fetchIndexElement>`s; nil, with a finding, for an index of unknown form.
    init?(_ element: ModelElement, noting unknown: inout UnknownMarkup) {
        do throws(MigrationError) {
            try self.init(reading: element, noting: &unknown)
        } catch {
            unknown.add("index-not-read", element, "\(error.message) The index is left out.", remedy: error.remedy)
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
    /// Returns the meaning of one of several words; nil if the attribute is absent.
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
