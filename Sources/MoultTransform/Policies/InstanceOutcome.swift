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

    init(mapping: String, policy: String, entityName: String?) {
        self.mapping = mapping
        self.policy = policy
        self.entityName = entityName
    }

    mutating func count(_ what: String) {
        guard notes[what] != nil || notes.count < 100 else { return }
        notes[what, default: 0] += 1
    }

    mutating func note(_ reason: String) {
        guard reasons[reason] != nil || reasons.count < 100 else { return }
        reasons[reason, default: 0] += 1
    }
}
