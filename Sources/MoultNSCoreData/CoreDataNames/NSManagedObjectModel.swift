import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultSession
import Synchronization

/// One version of a model. It becomes immutable once a coordinator uses it.
open class NSManagedObjectModel: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// All versions in the model file, along which stores are migrated.
    let versions: ModelVersions?
    private let settled = Mutex<ManagedObjectModel?>(nil)
    private var parts: [NSEntityDescription] = []
    /// The entities by name, once the model is immutable.
    private let named = Mutex<[String: NSEntityDescription]?>(nil)
    private var groups: [String: [String]] = [:]
    private var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    /// The identifiers that are written into stores of the model.
    open var versionIdentifiers: Set<AnyHashable> = [] {
        willSet { willChange("versionIdentifiers") }
    }

    /// Creates an empty model.
    public override init() { versions = nil }

    /// Returns an independent model, which can be changed also if a coordinator uses this one.
    open func copy(with zone: NSZone? = nil) -> Any { NSManagedObjectModel(copying: self) }

    private init(copying original: NSManagedObjectModel) {
        versions = original.versions
        super.init()
        var copies = EntityCopies()
        parts = original.parts.map { copies.add($0) }
        copies.link()
        for entity in parts { entity.model = self }
        groups = original.groups
        templates = original.templates.mapValues { $0.copyOfRequest() }
        versionIdentifiers = original.versionIdentifiers
    }

    /// Always true. An archive contains the compiled model.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes an archived model; nil if the archive has none.
    public required convenience init?(coder: NSCoder) {
        var findings: [Finding] = []
        guard let data = coder.decodeObject(of: NSData.self, forKey: "compiled"),
            let model = try? ManagedObjectModel(
                compiled: [UInt8](Data(referencing: data)), findings: &findings)
        else { return nil }
        self.init(model)
    }

    /// Archives the model. The archive of a model that contradicts itself has none.
    open func encode(with coder: NSCoder) {
        if let bytes = try? value().compiled() { coder.encode(NSData(data: Data(bytes)), forKey: "compiled") }
    }

    /// Reads the model at a URL (`.momd`, `.mom`, `.xcdatamodeld`); nil if it cannot be read.
    public convenience init?(contentsOf url: URL) {
        guard let versions = try? ModelVersions(contentsOf: url), let current = versions.current else { return nil }
        self.init(current.model, versions: versions)
    }

    /// Merges several models into one; nil if two of them conflict.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let merged = try? ManagedObjectModel(byMerging: try (models ?? []).map { try $0.value() }) else {
            return nil
        }
        self.init(merged)
    }

    /// Creates the model with which a store was made: one of several versions, or several models merged; nil if none
    /// match.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard
            let merged = try? ManagedObjectModel(
                byMerging: try models.map { try $0.value() }, forStoreMetadata: metadata)
        else { return nil }
        self.init(merged)
    }

    /// Returns the model with which a store was made, among all versions in the bundles; nil if it is not there.
    open class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        (try? ManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata)).map {
            NSManagedObjectModel($0)
        }
    }

    /// Returns the current versions of all models in the bundles, merged; nil if there is none.
    open class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        (try? ManagedObjectModel.mergedModel(from: bundles)).map { NSManagedObjectModel($0) }
    }

    /// Creates the model that SwiftData derives from a schema, merged with another model; nil if it cannot be created,
    /// or if the two conflict.
    public static func makeManagedObjectModel(
        for schema: some _ManagedObjectModelSource, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        guard let made = try? NSManagedObjectModel(schema.managedObjectModel()) else { return nil }
        return managedObjectModel.map { NSManagedObjectModel(byMerging: [made, $0]) } ?? made
    }

    /// Creates the model that SwiftData derives from `@Model` classes and the classes that they refer to.
    public static func makeManagedObjectModel(
        for types: [any _ManagedObjectModelClass.Type], mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        struct Classes: _ManagedObjectModelSource {
            let types: [any _ManagedObjectModelClass.Type]
            func managedObjectModel() throws -> ManagedObjectModel {
                try types.first?._managedObjectModel(of: types) ?? ManagedObjectModel(entities: [])
            }
        }
        return makeManagedObjectModel(for: Classes(types: types), mergedWith: managedObjectModel)
    }

    init(_ value: ManagedObjectModel, versions: ModelVersions? = nil) {
        self.versions = versions
        super.init()
        versionIdentifiers = Set(value.versionIdentifiers)
        parts = value.entities.map { NSEntityDescription($0) }
        let byName = entitiesByName
        for entity in value.entities {
            byName[entity.name]?.subentities = value.subentities(of: entity).compactMap { byName[$0.name] }
        }
        for entity in value.entities {
            for relationship in entity.relationships {
                let made = byName[entity.name]?.relationshipsByName[relationship.name]
                let destination = byName[relationship.destinationEntityName]
                made?.destinationEntity = destination
                made?.inverseRelationship = relationship.inverseName.flatMap { destination?.relationshipsByName[$0] }
            }
            guard let made = byName[entity.name] else { continue }
            made.indexes = entity.fetchIndexes.map { NSFetchIndexDescription($0, in: made) }
        }
        for entity in parts { entity.model = self }
        for configuration in value.configurations { groups[configuration.name] = configuration.entityNames }
        for template in value.fetchRequestTemplates { templates[template.name] = NSFetchRequest(template) }
        settled.withLock { $0 = value }
    }

    /// The entities of the model.
    open var entities: [NSEntityDescription] {
        get { parts }
        set {
            willChange("entities")
            parts = newValue
            for entity in parts { entity.model = self }
        }
    }

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        named.withLock { named in
            if let named { return named }
            let made = Dictionary(parts.compactMap { entity in entity.name.map { ($0, entity) } }) { first, _ in first }
            if isFrozen { named = made }
            return made
        }
    }

    /// The names of the configurations.
    open var configurations: [String] { groups.keys.sorted() }

    /// Returns the entities of a configuration, or of the whole model if `name` is nil.
    open func entities(forConfigurationName name: String?) -> [NSEntityDescription]? {
        guard let name else { return parts }
        return groups[name].map { $0.compactMap { entitiesByName[$0] } }
    }

    /// Sets the entities of a configuration.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName name: String) {
        willChange("setEntities(_:forConfigurationName:)")
        groups[name] = entities.compactMap(\.name)
    }

    // MARK: - Fetch request templates

    /// Returns the fetch request template with the given name.
    open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        templates[name]
    }
    /// All fetch request templates by name.
    open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] { templates }
    /// Stores a fetch request template under a name.
    open func setFetchRequestTemplate(_ request: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        willChange("setFetchRequestTemplate(_:forName:)")
        templates[name] = request
    }
    /// Returns the fetch request template with the given name, with values for its variables.
    open func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let template = templates[name] else { return nil }
        let request = template.copyOfRequest()
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }

    // MARK: - Versions

    /// The version hash of each entity, 32 bytes.
    open var entityVersionHashesByName: [String: Data] {
        if let value = try? value() { return value.entityVersionHashesByName }
        return entitiesByName.mapValues(\.versionHash)
    }
    /// Returns the version checksums of all versions in a model file, by the names of the versions.
    open class func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
        try cocoaErrors {
            let versions = try ModelVersions(contentsOf: url).versions
            return Dictionary(versions.map { ($0.name, $0.model.versionChecksum) }) { first, _ in first }
        }
    }

    /// The checksum over all version hashes, as Xcode prints it.
    open var versionChecksum: String {
        VersionHashes(read: entityVersionHashesByName.mapValues { [UInt8]($0) }).checksum.base64
    }
    /// Returns whether a store with this metadata can be opened with the model.
    open func isConfiguration(withName name: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        (try? value())?.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata) ?? false
    }

    // MARK: - Equality

    /// Whether both models have the same contents.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        if self === other { return true }
        guard let own = contents, let others = other.contents else { return false }
        return own.isIdentical(to: others)
    }
    /// The hash of the entities' names.
    open override var hash: Int { Set(parts.compactMap(\.name)).hashValue }
    private var contents: ManagedObjectModel? {
        if let value = try? value() { return value }
        let entities = try? parts.map { try $0.value(requiringDestinations: false) }
        return entities.map { ManagedObjectModel(incomplete: $0) }
    }

    // MARK: - Conversion to a value

    /// Prepares for a change. Ends the program if a coordinator uses the model; otherwise discards the cached value.
    func willChange(_ call: String) {
        if isFrozen { raise("NSManagedObjectModel.\(call)", "Can't modify an immutable model.") }
        settled.withLock { $0 = nil }
    }

    /// Whether a coordinator has used the model, which makes it immutable for good.
    private(set) var isFrozen = false

    /// Returns the model as a value for a coordinator, and makes it immutable.
    func frozen() throws -> ManagedObjectModel {
        let value = try value()
        isFrozen = true
        return value
    }

    /// Returns the current state of the model as a value.
    ///
    /// - Throws: `modelInvalid`, naming the part at fault.
    func value() throws -> ManagedObjectModel {
        if let value = settled.withLock({ $0 }) { return value }
        let value = try ManagedObjectModel(
            entities: try parts.map { try $0.value() },
            configurations: groups.map { Configuration(name: $0.key, entityNames: $0.value) },
            fetchRequestTemplates: try templates.map { try $1.template(named: $0) },
            versionIdentifiers: versionIdentifiers.isEmpty ? [""] : versionIdentifiers.map { "\($0.base)" }.sorted())
        settled.withLock { $0 = value }
        return value
    }
}

extension StoreLaunch.Models {
    /// Versions as Core Data has them, oldest first. They are read once, here.
    ///
    /// - Parameter registry: the code that migrations call.
    /// - Throws: `modelInvalid` for a model with parts that contradict each other.
    public static func models(
        _ models: [NSManagedObjectModel], registry: MigrationRegistry = MigrationRegistry()
    ) throws -> StoreLaunch.Models {
        .inCode(try models.map { try $0.value() }, registry: registry)
    }
}
