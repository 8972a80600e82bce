import MoultModel

extension FetchedPropertyDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .optional, .transient, .elementID, .renamingIdentifier, .versionHashModifier, .syncable,
    ]
    /// The name that Xcode gives the one fetch request of a fetched property.
    private static let requestName = "fetchedPropertyFetchRequest"

    /// Reads `<fetchedProperty>` with the `<fetchRequest>` inside it.
    init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: Self.knownAttributes, children: ["userInfo", "fetchRequest"])
        let request = element.children("fetchRequest").first
        self.init(
            name: try element.required(.name),
            isOptional: element.flag(.optional, noting: &unknown),
            destinationEntityName: request?.text(.entity),
            predicate: request?.text(.predicateString),
            options: request?.fetchRequestOptions ?? [:],
            isTransient: element.flag(.transient, noting: &unknown),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier),
            userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        let attributes: [(key: String, value: String?)] = [
            ("name", name),
            ("optional", MarkupWriter.flag(isOptional)),
            ("transient", MarkupWriter.flag(isTransient)),
            ("elementID", renamingIdentifier),
            ("versionHashModifier", versionHashModifier),
            ("syncable", isSyncable ? nil : "NO"),
        ]
        try writer.element("fetchedProperty", attributes) { writer in
            try writer.fetchRequest(Self.requestName, entity: destinationEntityName, predicate, options)
            try writer.userInfo(userInfo)
        }
    }
}

extension FetchRequestTemplate {
    /// Reads a `<fetchRequest>` at the top of a model; nil, with a finding, for one without name or entity.
    init?(_ element: ModelElement, noting unknown: inout UnknownMarkup) {
        guard let name = element.text(.name), let entityName = element.text(.entity) else {
            unknown.add(
                "fetch-request-not-read", element, "A fetch request has no name or no entity; it is not read.",
                remedy: "Give it both, or remove it.")
            return nil
        }
        self.init(
            name: name, entityName: entityName,
            predicate: element.text(.predicateString), options: element.fetchRequestOptions)
    }

    func write(to writer: inout MarkupWriter) throws {
        try writer.fetchRequest(name, entity: entityName, predicate, options)
    }
}

extension ModelElement {
    /// Limits and switches of a fetch request have no meaning for a store and are kept as they stand.
    fileprivate var fetchRequestOptions: [String: String] {
        node.allAttributes.filter { !["name", "entity", "predicateString"].contains($0.key) }
    }
}

extension MarkupWriter {
    fileprivate mutating func fetchRequest(
        _ name: String, entity: String?, _ predicate: String?, _ options: [String: String]
    ) throws {
        let sorted = options.sorted { $0.key.precedesInByteOrder($1.key) }
        try element(
            "fetchRequest",
            [("name", name), ("entity", entity), ("predicateString", predicate)]
                + sorted.map { (key: $0.key, value: Optional($0.value)) })
    }
}
