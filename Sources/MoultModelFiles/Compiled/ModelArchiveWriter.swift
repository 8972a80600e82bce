import MoultBasics
import MoultModel

extension ManagedObjectModel {
    /// Returns the model in the form that a store contains, the contents of `Z_MODELCACHE.Z_CONTENT`.
    ///
    /// Settings without an archive key are omitted: scalar switches, cloud encryption, syncing, code generation.
    /// - Throws: `MigrationError` with code `unsupported` for predicates without a known archived form. A store without
    ///   a model cache is valid.
    package func modelCache() throws -> [UInt8] {
        var writer = ModelArchiveWriter(self, isCache: true)
        return try RawDeflate.deflate(writer.archive())
    }

    /// Returns the model as a `.mom` file, in the order of Apple's compiler.
    ///
    /// - Parameters:
    ///   - module: the Swift module of classes whose name begins with a dot.
    ///   - spelling: details of the model's source that are not in the model.
    ///   - compiler: the compiler versions to record, for a byte-for-byte comparison with Apple's file.
    /// - Throws: see ``modelCache()``.
    package func compiled(
        module: String? = nil, spelling: SourceSpelling? = nil, compiler: CompilerVersion? = nil
    ) throws -> [UInt8] {
        var writer = ModelArchiveWriter(self, isCache: false)
        writer.module = module
        writer.spelling = spelling ?? SourceSpelling()
        writer.compiler = compiler
        return try writer.archive()
    }
}

/// Lays out a model as the objects of its archive. Entities and properties refer to each other, so all of them get
/// their numbers first.
struct ModelArchiveWriter {
    let model: ManagedObjectModel
    /// Whether entities repeat inherited properties, and are in a dictionary of Core Data's own class.
    let isCache: Bool
    /// The module to put before a class name that begins with a dot.
    var module: String?
    var spelling = SourceSpelling()
    var compiler: CompilerVersion?
    var builder = KeyedArchive.Builder()
    private var root = KeyedArchive.Builder.null
    private var entities: [String: PropertyList] = [:]
    /// The properties by entity and then by name: each entity of a cache has its own copies of inherited ones.
    private var properties: [String: [String: PropertyList]] = [:]
    private var emptyUserInfo: PropertyList?

    init(_ model: ManagedObjectModel, isCache: Bool) {
        self.model = model
        self.isCache = isCache
    }

    mutating func archive() throws -> [UInt8] {
        root = builder.reserve()
        for entity in model.entities {
            entities[entity.name] = builder.reserve()
            for name in propertyNames(of: entity) { properties[entity.name, default: [:]][name] = builder.reserve() }
        }
        for entity in model.entities { try fill(entity) }
        var fields: [String: PropertyList] = [
            "NSEntities": entityDictionary(), "NSFetchRequestTemplates": try fetchRequestTemplates(),
            "NSVersionIdentifiers": identifierSet(),
        ]
        if !model.configurations.isEmpty { fields["NSConfigurations"] = configurations() }
        if let compiler {
            fields["CDMCompilerToolVersion"] = .real(compiler.tool)
            fields["CDMCompilerXcodeVersion"] = .integer(compiler.xcode)
        }
        builder.fill(root, classes: ["NSManagedObjectModel", "NSObject"], fields)
        return isCache ? builder.archive(root: root) : builder.archive(root: root, ModelArchive.encoding)
    }

    /// Returns the class name with its module. Without a module, Apple's compiler keeps the dot.
    private func qualified(_ className: String) -> String {
        className.hasPrefix(".") ? (module ?? "") + className : className
    }

    // MARK: References

    func reference(toEntity name: String?) -> PropertyList {
        name.flatMap { entities[$0] } ?? KeyedArchive.Builder.null
    }

    /// Returns the property of `entity`; in a `.mom`, only the declaring entity has it.
    func reference(toProperty name: String, of entity: String) -> PropertyList {
        if let own = properties[entity]?[name] { return own }
        let lineage = model.entity(entity).map(model.lineage) ?? []
        return lineage.lazy.compactMap { properties[$0.name]?[name] }.first ?? KeyedArchive.Builder.null
    }

    private func propertyNames(of entity: EntityDescription) -> [String] {
        isCache ? model.lineage(of: entity).flatMap(\.propertyNames) : entity.propertyNames
    }

    mutating func userInfo(_ entries: [String: String]) -> PropertyList {
        if entries.isEmpty, let emptyUserInfo { return emptyUserInfo }
        let sorted = entries.inByteOrder { $0.key }
        let reference = builder.dictionary(sorted.map { ($0.key, userInfoValue($0.value, for: $0.key)) })
        if entries.isEmpty { emptyUserInfo = reference }
        return reference
    }

    private mutating func userInfoValue(_ text: String, for key: String) -> PropertyList {
        switch key {
        case AttributeDescription.enumTypeKey where text == "1": builder.leaf(.boolean(true))
        case AttributeDescription.enumCasesKey:
            builder.array(
                text.split(separator: ",", omittingEmptySubsequences: false).map { builder.string(String($0)) })
        default: builder.string(text)
        }
    }

    // MARK: The model

    private mutating func entityDictionary() -> PropertyList {
        guard isCache else {
            let names = spelling.inOrder(model.entities.map(\.name))
            return builder.dictionary(names.map { ($0, reference(toEntity: $0)) }, isMutable: true)
        }
        let references = model.entities.map { reference(toEntity: $0.name) }
        let names = model.entities.map { builder.string($0.name) }
        let keys = builder.array(names)
        let mapping = builder.object(
            classes: ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            ["keys": keys, "length": .integer(Int64(names.count)), "version": .integer(1)])
        return builder.object(
            classes: [
                "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
            ],
            [
                "searchMapping": mapping, "values": builder.array(references), "version": .integer(1),
                "emptyToken": builder.string("__empty_slot_token_4c24_98dc_ac1e_b773__"),
            ])
    }

    private mutating func fetchRequestTemplates() throws -> PropertyList {
        guard !model.fetchRequestTemplates.isEmpty else { return KeyedArchive.Builder.null }
        var entries: [(key: String, value: PropertyList)] = []
        for template in model.fetchRequestTemplates {
            let request = try fetchRequest(
                entity: template.entityName, predicate: template.predicate, options: template.options)
            entries.append((template.name, request))
        }
        return builder.dictionary(entries, isMutable: true)
    }

    private mutating func configurations() -> PropertyList {
        let entries = model.configurations.map { configuration in
            (configuration.name, builder.set(configuration.entityNames.map { reference(toEntity: $0) }))
        }
        return builder.dictionary(entries, isMutable: true)
    }

    private mutating func identifierSet() -> PropertyList {
        builder.set(model.versionIdentifiers.map { builder.string($0) })
    }

    // MARK: Entities

    private mutating func fill(_ entity: EntityDescription) throws {
        let subentities = model.subentities(of: entity).map { ($0.name, reference(toEntity: $0.name)) }
        let names = spelling.inOrder(propertyNames(of: entity), of: entity.name)
        let own = properties[entity.name] ?? [:]
        var fields: [String: PropertyList] = [
            "NSEntityName": builder.string(entity.name),
            "NSClassNameForEntity": builder.string(entity.managedObjectClassName.map(qualified)),
            "NSUserInfo": userInfo(entity.userInfo),
            "NSSubentities": builder.dictionary(subentities, isMutable: true),
            "NSSuperentity": reference(toEntity: entity.superentityName),
            "NSVersionHashModifier": builder.string(entity.versionHashModifier),
            "NSProperties": builder.dictionary(
                names.map { ($0, own[$0] ?? KeyedArchive.Builder.null) }, isMutable: true),
            "NSRenamingIdentifier": builder.string(entity.renamingIdentifier ?? entity.name),
            "NSManagedObjectModel": root,
        ]
        if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
        if !entity.uniquenessConstraints.isEmpty { fields["NSUniqueTuples"] = nameLists(entity.uniquenessConstraints) }
        let indexes = model.effectiveFetchIndexes(of: entity)
        if !indexes.isEmpty {
            fields["NSCompoundIndexes"] = nameLists(entity.effectiveCompoundIndexes)
            var references: [PropertyList] = []
            for index in indexes {
                references.append(try fetchIndex(index, of: entity, name: name(of: index, in: entity)))
            }
            fields["NSFetchIndexDescriptions"] = builder.array(references, isMutable: true)
        }
        builder.fill(reference(toEntity: entity.name), classes: ["NSEntityDescription", "NSObject"], fields)
        for owner in isCache ? model.lineage(of: entity) : [entity] { try fillProperties(of: owner, in: entity) }
    }

    private mutating func nameLists(_ lists: [[String]]) -> PropertyList {
        let references = lists.map { names in builder.array(names.map { builder.string($0) }, isMutable: true) }
        return builder.array(references, isMutable: true)
    }

    /// Returns the name of an index. For a fetch index made from a compound index, Apple's compiler joins the names in
    /// a mutable string.
    private mutating func name(of index: FetchIndexDescription, in entity: EntityDescription) -> PropertyList {
        let name = builder.string(index.name)
        guard !isCache, index.elements.count > 1, !entity.fetchIndexes.contains(index) else { return name }
        return builder.object(classes: ["NSMutableString", "NSString", "NSObject"], ["NS.string": .string(index.name)])
    }

    private mutating func fetchIndex(
        _ index: FetchIndexDescription, of entity: EntityDescription, name: PropertyList
    ) throws -> PropertyList {
        let reference = builder.reserve()
        let elements = index.elements.map { element in
            let subject =
                switch element.subject {
                case .property(let name), .expression(let name): name
                }
            return builder.object(
                classes: ["NSFetchIndexElementDescription", "NSObject"],
                [
                    "NSPropertyName": builder.string(subject), "NSFetchIndexDescription": reference,
                    "NSFetchIndexElementType": .integer(Int64(element.kind.rawValue)),
                    "NSAscending": .boolean(element.isAscending),
                ])
        }
        let fields: [String: PropertyList] = [
            "NSIndexName": name, "NSIndexElements": builder.array(elements),
            "NSPartialIndexPredicate": try predicate(index.partialIndexPredicate),
            "NSEntity": self.reference(toEntity: entity.name),
        ]
        builder.fill(reference, classes: ["NSFetchIndexDescription", "NSObject"], fields)
        return reference
    }
}

/// Details of a model source that are in its compiled form but not in the model.
package struct SourceSpelling: Sendable {
    /// The default values of decimal attributes as written in the source, by `Entity.attribute`: the compiler keeps the
    /// decimal places of a zero.
    private(set) var decimalTexts: [String: String] = [:]
    private var entities: [String: Int] = [:]
    private var properties: [String: [String: Int]] = [:]

    init() {}

    package init(_ root: ModelElement) {
        for (position, entity) in root.children("entity").enumerated() {
            entities[entity.name] = position
            for (position, property) in entity.properties.enumerated() {
                properties[entity.name, default: [:]][property.name] = position
                guard property.text(.attributeType) == AttributeType.decimal.name,
                    let text = property.text(.defaultValueString), DecimalNumber(text) != nil
                else { continue }
                decimalTexts["\(entity.name).\(property.name)"] = text
            }
        }
    }

    /// Returns the names of entities, or of an entity's properties, in source order; names not in the source come last.
    func inOrder(_ names: [String], of entity: String? = nil) -> [String] {
        let positions = entity.map { properties[$0] ?? [:] } ?? entities
        let placed = names.enumerated().map { (positions[$0.element] ?? .max, $0.offset) }
        return placed.sorted { $0 < $1 }.map { names[$0.1] }
    }
}

/// The version numbers that Apple's compiler records in a compiled model.
package struct CompilerVersion: Sendable, Hashable {
    /// `CDMCompilerToolVersion`
    package let tool: Double
    /// `CDMCompilerXcodeVersion`: 260200 for Xcode 26.2.
    package let xcode: Int64

    package init(tool: Double, xcode: Int64) {
        self.tool = tool
        self.xcode = xcode
    }
}
