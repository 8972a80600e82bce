import MoultBasics
import MoultModel
import MoultStore

/// Makes the objects of an entity mapping in Swift, source and destination together: `NSEntityMigrationPolicy`.
///
/// A mapping model names a policy; a ``MigrationRegistry`` holds what makes one under that name. One object is made for
/// each run and serves every entity mapping that names it, so state of a run lives in its properties, never in static
/// ones. The calls come in Core Data's order: for each entity mapping ``begin(_:with:)``,
/// ``createDestinationInstances(forSource:in:manager:)`` for each source object by its key,
/// ``endInstanceCreation(forMapping:manager:)``; when all instances are there, for each entity mapping
/// ``createRelationships(forDestination:in:manager:)`` and ``endRelationshipCreation(forMapping:manager:)``; then
/// ``performCustomValidation(forMapping:manager:)``, and last ``end(_:manager:)``.
///
/// What is not overridden does what the mapping's expressions say, and so does a call to `super`. An error that any of
/// them throws ends the migration, and the store is as it was.
///
/// The calls come on the thread that runs the migration; asynchronous work is waited for with
/// ``MigrationManager/wait(for:)``.
open class EntityMigrationPolicy {
    /// A policy that does what the mapping's expressions say, until a subclass overrides something.
    public init() {}

    /// The closures that expressions of the mapping call as `FUNCTION($entityPolicy, "name:", …)`, by their names.
    open var functions: [String: ValueTransform] { [:] }

    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes what becomes of one source object, and associates it with that; or sets the source's
    /// ``SourceObject/outcome`` where nothing is to become of it. A source object for which neither was done fails the
    /// migration: none is lost silently.
    open func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createDestinationInstance(forSource: source)
    }

    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Leads an object that the mapping has made to others; called when all instances are there.
    open func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createRelationships(forDestination: destination)
    }

    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

/// The outcome of migrating a source object.
public enum InstanceOutcome {
    /// Objects are made of it, and associated with it; what a policy need not say.
    case kept
    /// Nothing becomes of it.
    case dropped(reason: String)
    /// It goes into an object that stands for others too; links to it will lead there.
    case merged(into: DestinationObject)
    /// Nothing becomes of it for now: it goes to the quarantine, from where it can be looked at and brought back.
    case quarantined(reason: String)
}

/// The numbers of source objects of one entity mapping, by outcome:
/// `sources == kept + split + merged + dropped + quarantined`.
public struct InstanceCounts: Sendable, Hashable {
    /// The name of the entity mapping.
    public let mapping: String
    /// The name by which the mapping model names the policy; empty where statements made the objects.
    public let policy: String
    /// The source entity; nil for a policy that makes objects of its own.
    public let entityName: String?
    /// The source objects that the mapping has taken, each of them counted once below.
    public internal(set) var sources: Int64 = 0
    /// Became one object.
    public internal(set) var kept: Int64 = 0
    /// Became several objects.
    public internal(set) var split: Int64 = 0
    /// Went into an object that was made of another.
    public internal(set) var merged: Int64 = 0
    /// Became nothing, for good; ``reasons`` says why.
    public internal(set) var dropped: Int64 = 0
    /// Went to the quarantine.
    public internal(set) var quarantined: Int64 = 0
    /// The objects that the policy made while this mapping ran, of any entity.
    public internal(set) var made: Int64 = 0
    /// The numbers of source objects that were dropped or quarantined, by reason; at most the first hundred reasons.
    public internal(set) var reasons: [String: Int64] = [:]
    /// The policy's own counts, made with ``MigrationManager/count(_:)``; of more than a hundred the first hundred.
    public internal(set) var notes: [String: Int64] = [:]
    /// The links that no object could take, by the relationship of the source, where no code has read them.
    package internal(set) var lostLinks: [String: Int64] = [:]

    mutating func count(_ what: String) {
        guard notes[what] != nil || notes.count < 100 else { return }
        notes[what, default: 0] += 1
    }

    mutating func note(_ reason: String) {
        guard reasons[reason] != nil || reasons.count < 100 else { return }
        reasons[reason, default: 0] += 1
    }
}

/// An error in a policy, with the object that it concerns.
struct PolicyFault: Error {
    var message: String
    var entityName: String?
    var key: Int64?
    var property: String?
    var cause: String?
    var remedy: String?
    /// Whether the object's own data are at fault, not the policy.
    var isData = false
    /// Whether a volume ran full in the meantime.
    var isOfRoom = false
    /// An error that ends the migration as it is.
    var final: MigrationError?
}

extension PolicyFault {
    init(_ error: any Error, _ reference: ObjectReference?) {
        if let fault = error as? PolicyFault {
            self = fault
        } else if let error = error as? MigrationError {
            self.init(message: error.message)
            remedy = error.remedy
            cause = error.cause
            let parts = error.place.split(separator: ".").map(String.init)
            if parts.count == 2, parts[0] == reference?.entityName { property = parts[1] }
            if [.cancelled, .policyFailed].contains(error.code) { final = error }
            isOfRoom = error.code == .insufficientStorage
        } else {
            self.init(message: "It threw \(type(of: error)).")
            cause = "\(error)"
        }
        entityName = entityName ?? reference?.entityName
        key = key ?? reference?.primaryKey
    }

    /// As everybody else sees it.
    func error(_ mapping: RunningMapping) -> MigrationError {
        if let final { return final }
        let object = entityName.map { name in "\(name)\(key.map { " \($0)" } ?? "")" }
        let place = [object, property].compactMap { $0 }.joined(separator: ".")
        let at = object.map { " at \($0)\(property.map { ", property \($0)" } ?? "")" } ?? ""
        // Room is not the policy's business: whoever can make some goes by the code.
        return MigrationError(
            isOfRoom ? .insufficientStorage : .policyFailed,
            "The migration policy \(mapping.policyName) of the mapping \(mapping.entityMapping.name) failed\(at): \(message)",
            place: place.isEmpty ? mapping.entityMapping.name : place,
            remedy: remedy ?? "Correct the policy, or drop or quarantine the object. The store is unchanged.",
            cause: cause)
    }
}
