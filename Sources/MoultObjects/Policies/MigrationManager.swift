import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// The manager that the policies of one run share, like Core Data's `NSMigrationManager`. It holds both versions, the
/// associations of source and destination objects, and state of the policies.
///
/// It exists for the run of one mapping and belongs to the run's thread.
public final class MigrationManager {
    /// The old version of the store's model; source objects use its names.
    public let sourceModel: ManagedObjectModel
    /// The new version of the store's model; destination objects use its names.
    public let destinationModel: ManagedObjectModel
    /// Values that policies share with one another, until the run ends.
    public var userInfo: [String: Any] = [:]
    /// The entity mapping whose policy is running.
    public internal(set) var currentEntityMapping: EntityMapping?
    /// The progress, from 0 to 1, over all source objects of policies.
    public internal(set) var migrationProgress: Double = 0

    let run: PolicyRun
    /// The pieces of the run; nil if it is one.
    let pieces: PolicyPieces?
    /// The schema of the tables that the run keeps.
    let schema: String
    let destinationStore: ObjectStore
    let connection: Connection
    let associations: Associations
    /// The relationships that policies have set themselves.
    let links: SetLinks
    let sources: SourceObjects
    /// All entity mappings in order, including those that statements carry out.
    let mappings: [RunningMapping]
    private let positions: [String: Int]
    private var entities: [String: DestinationEntity] = [:]
    private let entityNames: [Int64: String]

    // MARK: State of the current call

    // A run belongs to one thread and never changes these during a read, so exclusivity is not checked for each row.

    /// The objects made but not yet written.
    @exclusivity(unchecked) var created: [DestinationObject] = []
    /// The objects made in this call and written before its end, because the policy looked up others.
    @exclusivity(unchecked) var writtenEarly: [ObjectReference] = []
    /// A released object, to be reused for the next row of its entity.
    @exclusivity(unchecked) private var spare: DestinationObject?
    /// The objects associated with source objects in this call, by entity mapping.
    @exclusivity(unchecked) var associated: [(mapping: Int, source: SourceObject, destination: DestinationObject)] = []
    /// The written objects whose changes wait for the end of the batch.
    @exclusivity(unchecked) var waiting: [DestinationObject] = []
    /// The objects still referenced after the call that made them, so that each row has only one object.
    @exclusivity(unchecked) private var living: [ObjectReference: WeakObject] = [:]
    /// An error that could not be thrown where it happened; thrown when the policy's call returns.
    @exclusivity(unchecked) private var fault: PolicyFault?
    @exclusivity(unchecked) var current: RunningMapping?
    /// The object for which a policy is called; the caller holds it.
    @exclusivity(unchecked) unowned(unsafe) var currentSource: SourceObject?
    /// Whether the links being written come from the mappings, not from policies.
    var isMakingLinks = false
    /// The number of source objects done, over all mappings.
    @exclusivity(unchecked) var doneSources: Int64 = 0
    /// The number of objects that earlier calls have written.
    var writtenBefore: Int64 = 0
    /// The relationships with links that were missing.
    var completedLinks: Set<String> = []
    /// The statements that find a mapping's objects by key, by the mapping's position.
    var lookups: [Int: Statement] = [:]
    var quarantineWriter: QuarantineWriter?
    /// The statement that records the rows that policies change in, or add to, the results of statements; made on first
    /// use.
    var foreignRows: Statement?

    private struct WeakObject { weak var object: DestinationObject? }

    init(
        _ run: PolicyRun, source: ObjectStore, destination: ObjectStore, connection: Connection,
        mappings: [RunningMapping], in pieces: PolicyPieces? = nil
    ) throws {
        (self.run, self.pieces) = (run, pieces)
        sourceModel = source.model
        destinationModel = destination.model
        destinationStore = destination
        self.connection = connection
        self.mappings = mappings
        positions = Dictionary(mappings.map { ($0.mapping.name, $0.position) }, uniquingKeysWith: { first, _ in first })
        schema = pieces == nil ? "temp" : "main"
        associations = try Associations(connection, in: schema)
        links = try SetLinks(connection, in: schema)
        entityNames = Dictionary(
            destination.layout.entityNumbers.map { (Int64($1), $0) }, uniquingKeysWith: { first, _ in first })
        sources = SourceObjects(source)
        sources.manager = self
        pieces?.record?.restore(self)
    }

    /// Releases the policies and everything that they hold, which may refer back to the manager.
    func end() {
        for mapping in mappings { mapping.policy = nil }
        userInfo = [:]
        (created, associated, waiting, living, lookups) = ([], [], [], [:], [:])
        (spare, currentSource, foreignRows, quarantineWriter) = (nil, nil, nil, nil)
    }

    /// Cancels the migration; the store stays as it was (`cancelMigrationWithError:`).
    public func cancelMigration(with error: any Error) { note(error, nil) }

    /// Waits for asynchronous work on the calling thread, which also runs the work; see ``BlockingTask``.
    ///
    /// Work that needs the migration's own thread never ends. On the main thread, this means any work that needs the
    /// main actor.
    public func wait<Result>(for work: sending @escaping () async throws -> sending Result) throws -> sending Result {
        try BlockingTask.run(work)
    }

    // MARK: - Objects

    /// Makes an object of the new version (`insertNewObject(forEntityName:into:)`), with the default values of its
    /// entity. It has no source object until it is associated with one. It then gets the mapping's relationships,
    /// except those that the policy has set.
    ///
    /// - Throws: `usage` for an entity that the new version does not have, or that is abstract.
    public func insertObject(forEntityName name: String) throws -> DestinationObject {
        let entity = try entity(name)
        return try make(entity, key: entity.inserter.nextKey(), plan: entity.defaults)
    }

    func make(_ entity: DestinationEntity, key: Int64, plan: InstancePlan) throws -> DestinationObject {
        let object = new(entity, key, plan)
        created.append(object)
        return object
    }

    private func new(_ entity: DestinationEntity, _ key: Int64, _ plan: InstancePlan?) -> DestinationObject {
        guard let object = spare, object.entity === entity else {
            return DestinationObject(self, entity, key: key, plan: plan)
        }
        spare = nil
        object.begin(key, plan: plan)
        return object
    }

    /// Releases a written object: it is reused for another row, or remembered if it is still referenced.
    func leave(_ object: inout DestinationObject) {
        if isKnownUniquelyReferenced(&object) { spare = object } else { remember(object) }
    }

    func entity(_ name: String) throws -> DestinationEntity {
        if let known = entities[name] { return known }
        let isMadeByStatements = mappings.contains {
            $0.policy == nil && $0.mapping.sourceEntityName != nil && $0.mapping.destinationEntityName == name
        }
        let entity = try DestinationEntity(name, in: destinationStore, isMadeByStatements: isMadeByStatements)
        entity.reservedKey = try run.reservedKey(for: entity, self)
        try entity.inserter.claim(entity.reservedKey)
        entities[name] = entity
        return entity
    }

    /// Reserves the keys of source objects again in a new transaction.
    func reserveKeys() throws {
        for entity in entities.values { try entity.inserter.claim(entity.reservedKey) }
    }

    func entityName(_ number: Int64) -> String? { entityNames[number] }

    /// Returns the object with that key, written or not.
    func object(_ reference: ObjectReference) throws -> DestinationObject {
        if let object = created.first(where: { $0.key == reference.primaryKey && $0.entityName == reference.entityName }
        )
            ?? living[reference]?.object
        {
            return object
        }
        let object = DestinationObject(self, try entity(reference.entityName), key: reference.primaryKey, plan: nil)
        remember(object)
        return object
    }

    /// Returns the written object with that key, without remembering it; `leave(_:)` does so if it is still referenced.
    func passing(_ entity: DestinationEntity, _ key: Int64) -> DestinationObject {
        if !living.isEmpty {
            let reference = ObjectReference(entityName: entity.name, primaryKey: key)
            if let object = living[reference]?.object { return object }
        }
        return new(entity, key, nil)
    }

    private func remember(_ object: DestinationObject) {
        if living.count >= 10_000 { living = living.filter { $0.value.object != nil } }
        living[object.reference] = WeakObject(object: object)
    }

    func mapping(named name: String) throws -> RunningMapping {
        if let position = positions[name] { return mappings[position] }
        throw MigrationError(
            .usage, "There is no entity mapping \(name).", place: name,
            remedy: "Use one of: \(mappings.map(\.mapping.name).filter { !$0.isEmpty }.joined(separator: ", ")).")
    }

    func destinationID(_ entityName: String, _ key: Int64) -> ObjectID { destinationStore.id(entityName, key: key) }

    // MARK: - Faults

    func note(_ message: String, _ object: SourceObject, property: String?, isData: Bool = false) {
        guard fault == nil else { return }
        fault = PolicyFault(
            message: message, entityName: object.entityName, key: object.key, property: property, isData: isData)
    }

    func note(_ message: String, _ object: DestinationObject, property: String?) {
        guard fault == nil else { return }
        fault = PolicyFault(message: message, entityName: object.entityName, key: object.key, property: property)
    }

    func note(_ error: any Error, _ reference: ObjectReference?) {
        guard fault == nil else { return }
        fault = PolicyFault(error, reference)
    }

    func noting<Result>(_ object: SourceObject, property: String?, _ body: () throws -> Result?) -> Result? {
        do { return try body() } catch {
            note(error, ObjectReference(entityName: object.entityName, primaryKey: object.key))
            return nil
        }
    }

    func noting<Result>(_ object: DestinationObject, _ body: () throws -> Result) -> Result? {
        do { return try body() } catch {
            note(error, object.reference)
            return nil
        }
    }

    /// Throws the recorded error. An unreadable value is no error in an object that is quarantined or dropped.
    func throwFault(isPutAside: Bool = false) throws {
        guard fault != nil, let noted = fault else { return }
        fault = nil
        if isPutAside, noted.isData { return }
        throw noted
    }

    /// Counts an action of the policy, such as `count("avatar dropped")`. The migration's report includes the count, so
    /// that no data is lost silently.
    public func count(_ what: String) { current?.counts.count(what) }
}
