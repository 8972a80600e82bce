import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// The manager that the policies of one run share, like Core Data's `NSMigrationManager`: it has both versions, the
/// associations of source and destination objects, and a place for state.
///
/// It lives as long as the run of one mapping and belongs to its thread.
public final class MigrationManager {
    /// The version of the store before, by whose names source objects are read.
    public let sourceModel: ManagedObjectModel
    /// The version that the store becomes, by whose names destination objects are written.
    public let destinationModel: ManagedObjectModel
    /// For whatever policies want to hand to one another; gone with the run.
    public var userInfo: [String: Any] = [:]
    /// The entity mapping whose policy is called.
    public internal(set) var currentEntityMapping: EntityMapping?
    /// From 0 to 1, over all source objects of policies.
    public internal(set) var migrationProgress: Double = 0

    let run: PolicyRun
    let destinationStore: ObjectStore
    let connection: Connection
    let associations: Associations
    /// The relationships that policies have set themselves.
    let links: SetLinks
    let sources: SourceObjects
    /// All entity mappings in their order, those of statements among them.
    let mappings: [RunningMapping]
    private let positions: [String: Int]
    private var entities: [String: DestinationEntity] = [:]
    private let entityNames: [Int64: String]

    // MARK: What the present call does

    // A run belongs to one thread, and none of these is changed while it is read: that is not checked for each row.

    /// The objects that are made and not yet written.
    @exclusivity(unchecked) var created: [DestinationObject] = []
    /// The objects that are made and, because the policy looks for others, written before its call ends.
    @exclusivity(unchecked) var writtenEarly: [ObjectReference] = []
    /// An object that nobody holds any more, for the next row of its entity.
    @exclusivity(unchecked) private var spare: DestinationObject?
    /// The objects that were associated with source objects in this call, by entity mapping.
    @exclusivity(unchecked) var associated: [(mapping: Int, source: SourceObject, destination: DestinationObject)] = []
    /// The written objects whose changes wait for the end of the batch.
    @exclusivity(unchecked) var waiting: [DestinationObject] = []
    /// Objects that somebody holds beyond the call that made them, so that there is one for each row.
    @exclusivity(unchecked) private var living: [ObjectReference: WeakObject] = [:]
    /// An error that could not be thrown where it happened; thrown when the policy's call returns.
    @exclusivity(unchecked) private var fault: PolicyFault?
    @exclusivity(unchecked) var current: RunningMapping?
    /// The object that a policy was called for, which whoever calls it holds.
    @exclusivity(unchecked) unowned(unsafe) var currentSource: SourceObject?
    /// Whether links are written that come from the mappings, not from policies.
    var isMakingLinks = false
    /// Source objects done, over all mappings.
    @exclusivity(unchecked) var doneSources: Int64 = 0
    /// Finds a mapping's objects by their keys, by the mapping's position.
    var lookups: [Int: Statement] = [:]
    var quarantineWriter: QuarantineWriter?
    /// Takes down the rows of statements that policies change, and those they add to them; made with the first.
    var foreignRows: Statement?

    private struct WeakObject { weak var object: DestinationObject? }

    init(
        _ run: PolicyRun, source: ObjectStore, destination: ObjectStore, connection: Connection,
        mappings: [RunningMapping]
    ) throws {
        self.run = run
        sourceModel = source.model
        destinationModel = destination.model
        destinationStore = destination
        self.connection = connection
        self.mappings = mappings
        positions = Dictionary(mappings.map { ($0.mapping.name, $0.position) }, uniquingKeysWith: { first, _ in first })
        associations = try Associations(connection)
        links = try SetLinks(connection)
        entityNames = Dictionary(
            destination.layout.entityNumbers.map { (Int64($1), $0) }, uniquingKeysWith: { first, _ in first })
        sources = SourceObjects(source)
        sources.manager = self
    }

    /// Lets go of the policies and of what they may hold, which may be objects that lead back here.
    func end() {
        for mapping in mappings { mapping.policy = nil }
        userInfo = [:]
        (created, associated, waiting, living, lookups) = ([], [], [], [:], [:])
        (spare, currentSource, foreignRows, quarantineWriter) = (nil, nil, nil, nil)
    }

    /// Ends the migration; the store stays as it was (`cancelMigrationWithError:`).
    public func cancelMigration(with error: any Error) { note(error, nil) }

    /// Waits for asynchronous work on this very thread, which runs what the work needs; see ``BlockingTask``.
    ///
    /// Work that waits for the thread that runs the migration never ends: on the main thread that is whatever needs the
    /// main actor.
    public func wait<Result>(for work: sending @escaping () async throws -> sending Result) throws -> sending Result {
        try BlockingTask.run(work)
    }

    // MARK: - Objects

    /// Makes an object of the new version (`insertNewObject(forEntityName:into:)`), with the default values of its
    /// entity. It becomes of no source object until it is associated with one; then it gets what the mapping's
    /// relationships say, but for those that the policy has set.
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

    /// Takes back an object that is written: for another row, or to find it again where somebody holds it.
    func leave(_ object: inout DestinationObject) {
        if isKnownUniquelyReferenced(&object) { spare = object } else { remember(object) }
    }

    func entity(_ name: String) throws -> DestinationEntity {
        if let known = entities[name] { return known }
        let isMadeByStatements = mappings.contains {
            $0.policy == nil && $0.mapping.sourceEntityName != nil && $0.mapping.destinationEntityName == name
        }
        let entity = try DestinationEntity(name, in: destinationStore, isMadeByStatements: isMadeByStatements)
        try run.reserveKeys(for: entity, self)
        entities[name] = entity
        return entity
    }

    func entityName(_ number: Int64) -> String? { entityNames[number] }

    /// The object of that key, written or not.
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

    /// The object of that key, written already; whoever sees that somebody keeps it has it remembered.
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

    /// Throws what was noted. That a value cannot be read is no fault of an object that is put aside or dropped.
    func throwFault(isPutAside: Bool = false) throws {
        guard fault != nil, let noted = fault else { return }
        fault = nil
        if isPutAside, noted.isData { return }
        throw noted
    }

    /// Counts something that the policy has done by itself, such as `count("avatar dropped")`: the migration's report
    /// says how often, so that nothing leaves silently.
    public func count(_ what: String) { current?.counts.count(what) }
}
