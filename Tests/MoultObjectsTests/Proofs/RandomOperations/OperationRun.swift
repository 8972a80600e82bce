import Foundation
import MoultModel
import MoultStore
import TestSupport

@testable import MoultObjects

/// Does operations on real contexts over a real file and on the reference, and compares what both hold.
final class OperationRun {
    /// What differs, after which operation.
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    enum Actor: String, CaseIterable {
        /// Two contexts of one coordinator, which merge each other's saves.
        case main, second
        /// A coordinator of its own over the same file, as another process would have.
        case other
        /// A child of the first.
        case child
    }

    let folder: ScratchFolder
    let path: String
    let model: ManagedObjectModel
    let mergesAutomatically: Bool

    var coordinator: ObjectCoordinator?
    var otherCoordinator: ObjectCoordinator?
    var contexts: [Actor: ObjectContext] = [:]

    /// What the file holds.
    var stored = Reference()
    /// What the parent holds while a child is at work.
    var parent: Reference?
    /// What the actor holds.
    var current = Reference()
    var actor = Actor.main
    /// Contexts that have not been told of what another coordinator saved.
    var stale: Set<Actor> = []

    /// Objects of the actor that the program holds on to, by `ref`.
    var handles: [Int: Object] = [:]
    /// Permanent identities by `ref`; they stay the same for good.
    var ids: [Int: ObjectID] = [:]
    private var lastRef = 0
    /// What was really done, the last of it.
    private(set) var log: [String] = []
    private(set) var comparisons = 0
    private(set) var counts: [String: Int] = [:]

    init(seed: UInt64, history: Bool = false) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Company.sqlite"
        model = try Company.model()
        mergesAutomatically = seed % 2 == 0
        try StoreCreator(ModelVersion(names: ["1"], model: model), history: history).make(at: path)
        try open()
    }

    /// What its source holds: what a rollback brings back.
    var base: Reference { actor == .child ? parent ?? stored : stored }
    var isClean: Bool { current == base }

    var context: ObjectContext {
        get throws {
            guard let context = contexts[actor] else { throw Mismatch(description: "no context for \(actor)") }
            return context
        }
    }

    func newRef() -> Int {
        lastRef += 1
        return lastRef
    }

    func note(_ text: String) {
        log.append("\(actor): \(text)")
        counts[String(text.prefix { $0 != " " }), default: 0] += 1
    }

    func run(_ operations: [Operation]) throws {
        for operation in operations { try perform(operation) }
        try settleAll()
        try reopen()
        try checkFile()
    }

    // MARK: - Opening

    private func open() throws {
        coordinator = try openCoordinator()
        otherCoordinator = try openCoordinator()
        guard let coordinator, let otherCoordinator else { return }
        let (main, second) = (ObjectContext(coordinator: coordinator), ObjectContext(coordinator: coordinator))
        contexts = [.main: main, .second: second, .other: ObjectContext(coordinator: otherCoordinator)]
        if mergesAutomatically {
            main.automaticallyMergesChangesFromParent = true
            second.automaticallyMergesChangesFromParent = true
        } else {
            _ = main.observeSaves { [weak second] changes in try? second?.merge(changes) }
            _ = second.observeSaves { [weak main] changes in try? main?.merge(changes) }
        }
        actor = .main
        stale = []
        handles = [:]
    }

    private func openCoordinator() throws -> ObjectCoordinator {
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(path, model: model))
        return coordinator
    }

    /// Everything let go and opened again: what was not saved is gone.
    func reopen() throws {
        handles = [:]
        contexts = [:]
        for store in (coordinator?.stores ?? []) + (otherCoordinator?.stores ?? []) { store.close() }
        (coordinator, otherCoordinator) = (nil, nil)
        parent = nil
        current = stored
        try open()
        try compare("after a reopening")
    }

    /// Ends a child and saves what is unsaved.
    func settleAll() throws {
        try save()
        if actor == .child { try endChild() }
        try save()
    }

    // MARK: - Comparing

    func compare(_ moment: String) throws {
        comparisons += 1
        let differences = try graph().differences(from: expected)
        guard differences.isEmpty else {
            throw Mismatch(description: "\(moment), context / reference:\n  " + differences.joined(separator: "\n  "))
        }
    }

    /// The reference with what the store derives, which is as of the last save.
    private var expected: Reference {
        guard isClean, actor != .child else { return current }
        var result = current
        for (ref, record) in current.records {
            for (name, link) in Company.derived(of: record.entity) {
                result.records[ref]?.values[name] = .integer(Int64(current.destinations(ref, link).count))
            }
        }
        return result
    }

    /// Everything that the actor's context holds, read through objects.
    private func graph() throws -> Reference {
        var result = Reference()
        let context = try context
        let withDerived = isClean && actor != .child
        for entity in Company.entities {
            var fetch = ObjectFetch(entityName: entity)
            fetch.includesSubentities = false
            for object in try context.fetch(fetch) {
                var record = Reference.Record(entity: object.entityName)
                for attribute in Company.attributes(of: entity) {
                    record.values[attribute.name] = try object.attribute(attribute.name)
                }
                for derived in Company.derived(of: entity) where withDerived {
                    record.values[derived.name] = try object.attribute(derived.name)
                }
                for link in Company.links(of: entity) {
                    let destinations =
                        try link.isToMany
                        ? object.toMany(link.name) : try object.toOne(link.name).map { [$0] } ?? []
                    record.links[link.name] = try destinations.map(ref)
                }
                let ref = try ref(of: object)
                guard result.records.updateValue(record, forKey: ref) == nil else {
                    throw Mismatch(description: "\(entity) \(ref) is there twice")
                }
            }
        }
        return result
    }

    func ref(of object: Object) throws -> Int {
        guard case .integer(let ref)? = try object.attribute("ref") else {
            throw Mismatch(description: "\(object.id) has no ref")
        }
        return Int(ref)
    }
}
