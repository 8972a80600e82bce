import MoultModel

/// The structs and enums that composite attributes become, each with its name.
struct SwiftDataValues {
    private var found: [(path: String, name: String, attribute: AttributeDescription)] = []

    /// - Parameter taken: the names of the classes.
    init(_ model: ManagedObjectModel, taken: Set<String>) {
        var taken = taken
        func add(_ attribute: AttributeDescription, at path: String, wish: String) {
            guard attribute.type == .composite else { return }
            var name = wish.asIdentifier
            while !taken.insert(name).inserted { name += "Value" }
            found.append((path, name, attribute))
            if attribute.isEnum { return }
            for element in attribute.elements {
                add(element, at: "\(path).\(element.name)", wish: name + element.name.capitalizedFirst)
            }
        }
        for entity in model.entities {
            for attribute in entity.attributes {
                add(
                    attribute, at: "\(entity.name).\(attribute.name)",
                    wish: entity.name + attribute.name.capitalizedFirst)
            }
        }
    }

    var names: [String] { found.map(\.name) }

    func name(of attribute: AttributeDescription, in owner: String) -> String {
        let path = "\(owner).\(attribute.name)"
        return found.first { $0.path == path }?.name ?? attribute.name
    }

    func declarations(_ types: TypeNames) -> [[String]] {
        found.map { path, name, attribute in
            attribute.isEnum ? enumeration(attribute, name, types) : structure(attribute, name, at: path, types)
        }
    }

    private func structure(
        _ attribute: AttributeDescription, _ name: String, at path: String, _ types: TypeNames
    ) -> [String] {
        let fields = attribute.elements.map { element in
            let type = element.type == .composite ? self.name(of: element, in: path) : element.swiftType(types)
            return "var \(element.name.identifier): \(type)\(element.isOptional ? "?" : "")"
        }
        return ["struct \(name.identifier): Codable {"] + fields.indented + ["}"]
    }

    /// One column for all cases is that of raw values; a column for each case is that of an enum without them.
    private func enumeration(_ attribute: AttributeDescription, _ name: String, _ types: TypeNames) -> [String] {
        let listed = attribute.userInfo[AttributeDescription.enumCasesKey] ?? ""
        let leaf = attribute.elements.first
        let isRaw = attribute.elements.count == 1 && leaf?.name == attribute.name
        var cases = listed.split(separator: ",").map { String($0).asIdentifier }
        if cases.isEmpty { cases = isRaw ? ["unknown"] : attribute.elements.map(\.name.asIdentifier) }
        let raw = isRaw ? (leaf?.swiftType(types)).map { "\($0), " } ?? "" : ""
        return ["enum \(name.identifier): \(raw)Codable {"]
            + ["case \(cases.map(\.identifier).joined(separator: ", "))"].indented + ["}"]
    }
}
