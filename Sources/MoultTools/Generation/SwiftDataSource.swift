import MoultBasics
import MoultModel

/// One version of a model as a `VersionedSchema` with `@Model` classes.
struct SwiftDataSource {
    let form: SwiftDataForm
    private let types: TypeNames
    private let values: SwiftDataValues

    init(_ form: SwiftDataForm) {
        self.form = form
        var own = Set(form.model.entities.map(\.name))
        values = SwiftDataValues(form.model, taken: own)
        own.formUnion(values.names)
        types = TypeNames(own: own)
    }

    /// Whether a class inherits from another. SwiftData supports inheritance since version 26 of Apple's systems.
    var hasInheritance: Bool { form.model.entities.contains { $0.superentityName != nil } }

    static let availability = "@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)"

    /// - Parameter identifier: the three numbers of the version, separated by commas.
    func lines(named name: String, identifier: String) -> [String] {
        var lines = hasInheritance ? [Self.availability] : []
        let models = form.model.entities.map { "\($0.name.identifier).self" }
        lines += [
            "enum \(name): VersionedSchema {", "    static let versionIdentifier = Schema.Version(\(identifier))",
            "    static var models: [any PersistentModel.Type] {", "        [\(models.joined(separator: ", "))]",
            "    }",
        ]
        for entity in form.model.entities { lines += [""] + classLines(entity).indented }
        for value in values.declarations(types) { lines += [""] + value.indented }
        return lines + ["}"]
    }

    /// Returns the declaration of a property of the model; nil if the types have none.
    func declaration(of property: String, in entity: String) -> String? {
        let name = SwiftDataForm.propertyName(property)
        guard let entity = form.model.entity(SwiftDataForm.className(entity)) else { return nil }
        return entity.attribute(name).map { line($0, of: entity) }
            ?? entity.relationship(name).map { line($0, of: entity) }
    }

    /// Returns the first line of a class, with its uniqueness constraints.
    func classDeclaration(of entity: String) -> String? {
        guard let entity = form.model.entity(SwiftDataForm.className(entity)) else { return nil }
        let unique =
            constraintLines(entity).filter { $0.hasPrefix("#Unique") }
            + entity.uniquenessConstraints.filter { $0.count == 1 }.flatMap { $0 }
            .compactMap { declaration(of: $0, in: entity.name) }
        let parent = entity.superentityName.map { ": \($0.identifier)" } ?? ""
        let body = unique.isEmpty ? "…" : unique.joined(separator: "; ") + "; …"
        return "@Model class \(entity.name.identifier)\(parent) { \(body) }"
    }

    // MARK: - A class

    private func classLines(_ entity: EntityDescription) -> [String] {
        let name = entity.name.identifier
        let final = form.model.subentities(of: entity).isEmpty ? "final " : ""
        let parent = entity.superentityName.map { ": \($0.identifier)" } ?? ""
        var body = constraintLines(entity)
        body += entity.attributes.map { line($0, of: entity) }
        body += entity.relationships.map { line($0, of: entity) }
        body += form.transients[entity.name, default: []].map { attribute in
            "@Transient var \(SwiftDataForm.propertyName(attribute.name).identifier): "
                + "\(type(of: attribute, in: entity))? = nil"
        }
        return ["@Model", "\(final)class \(name)\(parent) {"] + (body + [""] + initialiser(of: entity)).indented + ["}"]
    }

    private func constraintLines(_ entity: EntityDescription) -> [String] {
        func list(_ names: [String]) -> String { "[\(names.map { "\\.\($0.identifier)" }.joined(separator: ", "))]" }
        var lines: [String] = []
        let unique = entity.uniquenessConstraints.filter { $0.count > 1 }.map(list)
        if !unique.isEmpty { lines.append("#Unique<\(entity.name.identifier)>(\(unique.joined(separator: ", ")))") }
        let hasTree = entity.fetchIndexes.contains { $0.elements.first?.kind == .rTree }
        let indexes = entity.fetchIndexes.map { index in
            let names = index.elements.compactMap { if case .property(let name) = $0.subject { name } else { nil } }
            guard hasTree else { return list(names) }
            return index.elements.first?.kind == .rTree ? ".rtree(\(list(names)))" : ".binary(\(list(names)))"
        }
        if !indexes.isEmpty { lines.append("#Index<\(entity.name.identifier)>(\(indexes.joined(separator: ", ")))") }
        return lines
    }

    private func isUnique(_ name: String, in entity: EntityDescription) -> Bool {
        entity.uniquenessConstraints.contains([name])
    }

    // MARK: - A property

    /// Returns the type of an attribute, without the question mark of an optional.
    private func type(of attribute: AttributeDescription, in entity: EntityDescription) -> String {
        if attribute.type == .composite { return values.name(of: attribute, in: entity.name).identifier }
        return attribute.swiftType(types)
    }

    private func line(_ attribute: AttributeDescription, of entity: EntityDescription) -> String {
        var arguments: [String] = isUnique(attribute.name, in: entity) ? [".unique"] : []
        if attribute.allowsExternalBinaryDataStorage { arguments.append(".externalStorage") }
        if attribute.preservesValueInHistoryOnDeletion { arguments.append(".preserveValueOnDeletion") }
        if attribute.isIndexedBySpotlight { arguments.append(".spotlight") }
        if attribute.allowsCloudEncryption { arguments.append(".allowsCloudEncryption") }
        if attribute.needsTransformer {
            let name = attribute.valueTransformerName ?? AttributeDescription.secureTransformer
            arguments.append(".transformable(by: \(name.swiftLiteral))")
        }
        arguments += naming(attribute.renamingIdentifier, attribute.versionHashModifier)
        let start = attribute.initialValue(types).map { " = \($0)" } ?? ""
        let mark = arguments.isEmpty ? "" : "@Attribute(\(arguments.joined(separator: ", "))) "
        return mark + "var \(attribute.name.identifier): \(type(of: attribute, in: entity))"
            + (attribute.isOptional ? "?" : "") + start
    }

    private func naming(_ originalName: String?, _ modifier: String?) -> [String] {
        let names = [("originalName", originalName), ("hashModifier", modifier)]
        return names.compactMap { label, value in value.map { "\(label): \($0.swiftLiteral)" } }
    }

    private func line(_ relationship: RelationshipDescription, of entity: EntityDescription) -> String {
        var arguments: [String] = isUnique(relationship.name, in: entity) ? [".unique"] : []
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule.swiftName)") }
        if relationship.minCount > 0 { arguments.append("minimumModelCount: \(relationship.minCount)") }
        if relationship.maxCount > 1 { arguments.append("maximumModelCount: \(relationship.maxCount)") }
        let names = naming(relationship.renamingIdentifier, relationship.versionHashModifier)
        arguments += names.filter { $0.hasPrefix("originalName") }
        if let path = inversePath(relationship, of: entity) { arguments.append("inverse: \(path)") }
        arguments += names.filter { $0.hasPrefix("hashModifier") }
        let mark = arguments.isEmpty ? "" : "@Relationship(\(arguments.joined(separator: ", "))) "
        let destination = relationship.destinationEntityName.identifier
        let optional = relationship.isOptional ? "?" : ""
        let type = relationship.isToMany ? "[\(destination)]\(optional) = []" : destination + optional
        return mark + "var \(relationship.name.identifier): \(type)"
    }

    /// Returns the key path of the inverse. Only one side of a pair names it: the to-many side, otherwise the first by
    /// name.
    private func inversePath(_ relationship: RelationshipDescription, of entity: EntityDescription) -> String? {
        guard let inverse = form.model.inverse(of: relationship),
            let destination = form.model.entity(relationship.destinationEntityName),
            let owner = form.model.declaringEntity(of: inverse.name, in: destination)
        else { return nil }
        let names = ("\(entity.name).\(relationship.name)", "\(owner.name).\(inverse.name)")
        let isNamedHere =
            relationship.isToMany == inverse.isToMany
            ? !names.1.precedesInByteOrder(names.0) : relationship.isToMany
        return isNamedHere ? "\\\(owner.name.identifier).\(inverse.name.identifier)" : nil
    }

    // MARK: - The initialiser

    /// Returns the properties that have no initial value and cannot be nil.
    private func parameters(of entity: EntityDescription) -> [(name: String, type: String)] {
        entity.attributes.filter { !$0.isOptional && $0.initialValue(types) == nil }
            .map { ($0.name, type(of: $0, in: entity)) }
            + entity.relationships.filter { !$0.isOptional && !$0.isToMany }
            .map { ($0.name, $0.destinationEntityName.identifier) }
    }

    private func initialiser(of entity: EntityDescription) -> [String] {
        let own = parameters(of: entity)
        let inherited = form.model.superentities(of: entity).reversed().flatMap(parameters)
        let list = (inherited + own).map { "\($0.name.identifier): \($0.type)" }.joined(separator: ", ")
        let overrides = entity.superentityName != nil && own.isEmpty
        var body = own.map { "self.\($0.name.identifier) = \($0.name.identifier)" }
        if entity.superentityName != nil {
            let arguments = inherited.map { "\($0.name.identifier): \($0.name.identifier)" }
            body.append("super.init(\(arguments.joined(separator: ", ")))")
        }
        return ["\(overrides ? "override " : "")init(\(list)) {"] + body.indented + ["}"]
    }
}

extension DeleteRule {
    fileprivate var swiftName: String {
        switch self {
        case .noAction: "noAction"
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        }
    }
}

/// The structs and enums for composite attributes, with their names.
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

    /// Returns the declaration of an enum. One column for all cases indicates raw values; a column for each case
    /// indicates none.
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
