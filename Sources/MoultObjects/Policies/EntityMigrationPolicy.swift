import MoultBasics
import MoultModel
import MoultStore

/// A policy that makes the objects of an entity mapping in Swift, from source objects: `NSEntityMigrationPolicy`.
///
/// A mapping model names a policy; a ``MigrationRegistry`` holds its factory under that name. Each run makes one policy
/// object, which serves every entity mapping that names it, so keep a run's state in its properties, never in static
/// ones. A migration with a budget takes several calls, and makes one in each unless the policy keeps state
/// (``keepsState``). The calls come in Core Data's order: for each entity mapping ``begin(_:with:)``,
/// ``createDestinationInstances(forSource:in:manager:)`` for each source object by its key,
/// ``endInstanceCreation(forMapping:manager:)``; when all instances exist, for each entity mapping
/// ``createRelationships(forDestination:in:manager:)`` and ``endRelationshipCreation(forMapping:manager:)``; then
/// ``performCustomValidation(forMapping:manager:)``, and last ``end(_:manager:)``.
///
/// A method that is not overridden follows the mapping's expressions, as does a call to `super`. An error thrown by any
/// of them ends the migration and leaves the store as it was.
///
/// All calls are made on the thread that runs the migration. To wait for asynchronous work, use
/// ``MigrationManager/wait(for:)``.
open class EntityMigrationPolicy {
    /// Creates a policy that follows the mapping's expressions unless a subclass overrides its methods.
    public init() {}

    /// The closures that expressions of the mapping call as `FUNCTION($entityPolicy, "name:", …)`, by name.
    open var functions: [String: ValueTransform] { [:] }

    /// Whether the policy keeps values between its calls that a new policy object would not have.
    ///
    /// A migration with a budget creates the policy again in each of its calls, and calls ``begin(_:with:)`` and the
    /// other methods for an entity mapping only once in all. If a policy keeps state, all the work of the migration on
    /// its working copy is done in one call. By default, a policy keeps state if it has stored properties. Override this
    /// to return false if they hold only what the initialiser has set, or what the policy can look up again.
    open var keepsState: Bool {
        sequence(first: Mirror(reflecting: self), next: \.superclassMirror).contains { !$0.children.isEmpty }
    }

    /// Prepares for an entity mapping; called once, before its first source object. Does nothing by default.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Makes the objects for one source object and associates them with it, or sets the source's
    /// ``SourceObject/outcome`` if there are none. A source object with neither fails the migration, so that none is
    /// lost silently.
    open func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createDestinationInstance(forSource: source)
    }

    /// Called once all objects of an entity mapping exist, before any relationship is set. Does nothing by default.
    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Sets the relationships of an object that the mapping has made. Called when all instances exist.
    open func createRelationships(
        forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try manager.createRelationships(forDestination: destination)
    }

    /// Called once the relationships of an entity mapping's objects are set. Does nothing by default.
    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Checks the objects that an entity mapping has made; throwing fails the migration. Does nothing by default.
    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Finishes an entity mapping; called once, last. Does nothing by default.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
}

/// The outcome of migrating a source object.
public enum InstanceOutcome {
    /// Objects are made from it and associated with it. A policy need not set this.
    case kept
    /// No object is made from it.
    case dropped(reason: String)
    /// It is merged into an object that represents others too; links to it will lead there.
    case merged(into: DestinationObject)
    /// No object is made from it for now. It goes to the quarantine, where it can be inspected and restored.
    case quarantined(reason: String)
}

/// The numbers of source objects of one entity mapping, by outcome:
/// `sources == kept + split + merged + dropped + quarantined`.
public struct InstanceCounts: Sendable, Hashable {
    /// The name of the entity mapping.
    public let mapping: String
    /// The policy's name in the mapping model; empty if statements made the objects.
    public let policy: String
    /// The source entity; nil for a policy that makes objects without one.
    public let entityName: String?
    /// The source objects that the mapping has processed; each is counted once below.
    public internal(set) var sources: Int64 = 0
    /// The source objects that became one object.
    public internal(set) var kept: Int64 = 0
    /// The source objects that became several objects.
    public internal(set) var split: Int64 = 0
    /// The source objects that were merged into an object made from another.
    public internal(set) var merged: Int64 = 0
    /// The source objects that were dropped for good; see ``reasons``.
    public internal(set) var dropped: Int64 = 0
    /// The source objects that went to the quarantine.
    public internal(set) var quarantined: Int64 = 0
    /// The objects that the policy made while this mapping ran, of any entity.
    public internal(set) var made: Int64 = 0
    /// The numbers of source objects that were dropped or quarantined, by reason; at most the first hundred reasons.
    public internal(set) var reasons: [String: Int64] = [:]
    /// The policy's own counts, made with ``MigrationManager/count(_:)``; at most the first hundred.
    public internal(set) var notes: [String: Int64] = [:]
    /// The numbers of links that no object could take and no code has read, by the source's relationship.
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
package struct PolicyFault: Error {
    var message: String
    var entityName: String?
    var key: Int64?
    var property: String?
    var cause: String?
    var remedy: String?
    /// Whether the object's own data is at fault, not the policy.
    var isData = false
    /// Whether the cause is a full volume.
    var isOfRoom = false
    /// An error to throw unchanged.
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

    /// Returns the error to throw to the caller of the migration.
    func error(_ mapping: RunningMapping) -> MigrationError {
        if let final { return final }
        let object = entityName.map { name in "\(name)\(key.map { " \($0)" } ?? "")" }
        let place = [object, property].compactMap { $0 }.joined(separator: ".")
        let at = object.map { " at \($0)\(property.map { ", property \($0)" } ?? "")" } ?? ""
        // A full volume is not the policy's fault; a caller that can free space recognises the code.
        return MigrationError(
            isOfRoom ? .insufficientStorage : .policyFailed,
            "The migration policy \(mapping.policyName) of the mapping \(mapping.entityMapping.name) failed\(at): \(message)",
            place: place.isEmpty ? mapping.entityMapping.name : place,
            remedy: remedy ?? "Correct the policy, or drop or quarantine the object. The store is unchanged.",
            cause: cause)
    }
}
