import MoultBasics
import MoultModel
import MoultStore

/// The results of a run of policies so far, which the rest of the run and the later calls of a migration need.
package struct PolicyRecord: Sendable {
    /// The outcomes by entity mapping with a policy, in the order of the run.
    package var counts: [InstanceCounts] = []
    /// The number of objects written.
    package var written: Int64 = 0
    /// The properties that the policies have read, by entity, and those that the mappings have carried over for them.
    private var read: [String: Set<String>] = [:]
    private var carried: [String: Set<String>] = [:]
    private var hasMadeInstances: [Bool] = []
    private var hasMadeRelationships: [Bool] = []
    private var doneSources: Int64 = 0
    private var completedLinks: Set<String> = []
    /// Objects that the next source object may still be the first of.
    private var writtenEarly: [ObjectReference] = []

    init(_ manager: MigrationManager) {
        let ours = manager.mappings.filter { $0.policy != nil }
        counts = ours.map(\.counts)
        hasMadeInstances = ours.map(\.hasMadeInstances)
        hasMadeRelationships = ours.map(\.hasMadeRelationships)
        written = manager.writtenBefore + manager.connection.objectsWritten
        if let reads = manager.run.reads { (read, carried) = reads.all }
        (doneSources, completedLinks) = (manager.doneSources, manager.completedLinks)
        writtenEarly = manager.writtenEarly
    }

    /// Gives a new manager of the same run the results.
    func restore(_ manager: MigrationManager) {
        for (index, mapping) in manager.mappings.filter({ $0.policy != nil }).enumerated()
        where counts.indices.contains(index) {
            mapping.counts = counts[index]
            mapping.hasMadeInstances = hasMadeInstances[index]
            mapping.hasMadeRelationships = hasMadeRelationships[index]
        }
        manager.writtenBefore = written - manager.connection.objectsWritten
        if let reads = manager.run.reads { note(in: reads) }
        (manager.doneSources, manager.completedLinks) = (doneSources, completedLinks)
        manager.writtenEarly = writtenEarly
    }

    /// Records what the policies have read and carried over.
    package func note(in reads: PropertyReads) {
        for (entity, names) in read { for name in names { reads.note(name, of: entity) } }
        for (entity, names) in carried { for name in names { reads.noteCarried(name, of: entity) } }
    }
}

// MARK: - As JSON

extension PolicyRecord {
    /// The record as a document.
    package var json: JSONValue {
        let mappings = counts.indices.map { index in
            JSONValue.object([
                .init("counts", counts[index].json), .init("hasMadeInstances", .bool(hasMadeInstances[index])),
                .init("hasMadeRelationships", .bool(hasMadeRelationships[index])),
            ])
        }
        return .object([
            .init("mappings", .array(mappings)), .init("written", .integer(written)),
            .init("read", JSONValue(read)), .init("carried", JSONValue(carried)),
            .init("doneSources", .integer(doneSources)), .init("completedLinks", JSONValue(completedLinks.sorted())),
            .init(
                "writtenEarly",
                .array(writtenEarly.map { .array([.string($0.entityName), .integer($0.primaryKey)]) })),
        ])
    }

    /// Reads a record from its document.
    ///
    /// - Throws: `metadataInvalid` for a document that is not a record.
    package init(_ json: JSONValue) throws {
        guard let mappings = json["mappings"]?.array, let written = json["written"]?.integer,
            let done = json["doneSources"]?.integer
        else { throw Self.invalid }
        counts = try mappings.map { mapping in
            guard let counts = mapping["counts"].flatMap(InstanceCounts.init(json:)) else { throw Self.invalid }
            return counts
        }
        hasMadeInstances = mappings.map { $0["hasMadeInstances"]?.bool == true }
        hasMadeRelationships = mappings.map { $0["hasMadeRelationships"]?.bool == true }
        (self.written, doneSources) = (written, done)
        (read, carried) = (json["read"].names, json["carried"].names)
        completedLinks = Set((json["completedLinks"]?.array ?? []).compactMap(\.string))
        writtenEarly = (json["writtenEarly"]?.array ?? []).compactMap { pair in
            guard let name = pair.array?.first?.string, let key = pair.array?.last?.integer else { return nil }
            return ObjectReference(entityName: name, primaryKey: key)
        }
    }

    private static var invalid: MigrationError {
        MigrationError(
            .metadataInvalid, "What the policies had done so far cannot be read.", place: "moult_policies",
            remedy: "Run the migration without a budget; it starts over. The store is unchanged.")
    }
}

extension InstanceCounts {
    fileprivate var json: JSONValue {
        .object([
            .init("mapping", .string(mapping)), .init("policy", .string(policy)),
            .init("entity", JSONValue(entityName)),
            .init(
                "numbers", .array([sources, kept, split, merged, dropped, quarantined, made].map(JSONValue.integer))),
            .init("reasons", JSONValue(sorted: reasons.mapValues(JSONValue.integer))),
            .init("notes", JSONValue(sorted: notes.mapValues(JSONValue.integer))),
            .init("lostLinks", JSONValue(sorted: lostLinks.mapValues(JSONValue.integer))),
        ])
    }

    fileprivate init?(json: JSONValue) {
        let numbers = (json["numbers"]?.array ?? []).compactMap(\.integer)
        guard let mapping = json["mapping"]?.string, let policy = json["policy"]?.string, numbers.count == 7 else {
            return nil
        }
        self.init(mapping: mapping, policy: policy, entityName: json["entity"]?.string)
        (sources, kept, split, merged) = (numbers[0], numbers[1], numbers[2], numbers[3])
        (dropped, quarantined, made) = (numbers[4], numbers[5], numbers[6])
        (reasons, notes, lostLinks) = (json["reasons"].numbers, json["notes"].numbers, json["lostLinks"].numbers)
    }
}

extension JSONValue {
    fileprivate init(_ names: [String: Set<String>]) { self.init(sorted: names.mapValues { JSONValue($0.sorted()) }) }
}

extension JSONValue? {
    fileprivate var names: [String: Set<String>] {
        let members = (self?.members ?? []).map { ($0.key, Set(($0.value.array ?? []).compactMap(\.string))) }
        return Dictionary(members, uniquingKeysWith: { $0.union($1) })
    }

    fileprivate var numbers: [String: Int64] {
        let members = (self?.members ?? []).compactMap { member in member.value.integer.map { (member.key, $0) } }
        return Dictionary(members, uniquingKeysWith: { first, _ in first })
    }
}
