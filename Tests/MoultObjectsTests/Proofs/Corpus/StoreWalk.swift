import Foundation
import MoultBasics
import MoultModel
import MoultStore
import TestSupport

@testable import MoultObjects

/// A store of the corpus, copied and opened, every object of it reached and every relationship walked both ways.
struct StoreWalk {
    private(set) var objects = 0
    private(set) var values = 0
    /// Destinations seen from one end, each of whose other ends was asked.
    private(set) var links = 0
    private(set) var oneWayLinks = 0
    /// The lists of ordered relationships with more than one destination.
    private(set) var orderedLists = 0
    private(set) var faults: [String] = []

    private let context: ObjectContext
    private let model: ManagedObjectModel
    private let path: String
    private let isCached: Bool

    /// - Throws: what opening the copy throws; nil where no model is at hand.
    init?(_ original: String, in folder: ScratchFolder) throws {
        path = try folder.copyStore(original)
        let found = try ReadOnlyStore.read(path) { probe -> (ManagedObjectModel, Bool)? in
            let snapshot = try StoreSnapshot(probe.connection)
            return snapshot.corpusModel(of: original).map { ($0, snapshot.cachedModel != nil) }
        }
        guard let found else { return nil }
        (model, isCached) = found
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(path, model: model))
        context = ObjectContext(coordinator: coordinator)
    }

    mutating func run() throws {
        var walked: [String: [String: String]] = [:]
        for entity in model.entities where !entity.isAbstract {
            var fetch = ObjectFetch(entityName: entity.name)
            fetch.includesSubentities = false
            for object in try context.fetch(fetch) {
                let fields = try look(at: object)
                guard walked.updateValue(fields, forKey: "\(object.entityName)/\(object.id.key)") == nil else {
                    faults.append("\(object.id) is reached twice")
                    continue
                }
            }
        }
        for store in context.coordinator.stores { store.close() }
        try compare(walked)
    }

    // MARK: - One object

    private mutating func look(at object: Object) throws -> [String: String] {
        objects += 1
        var fields: [String: String] = [:]
        for property in object.shape.properties {
            switch property {
            case .attribute(let name, let attribute):
                guard !attribute.isTransient, attribute.type != .undefined else { continue }
                values += 1
                fields[name] = try text(of: object, name)
            case .relationship(let relationship, let inverse):
                guard !relationship.isTransient else { continue }
                let destinations = try self.destinations(of: object, relationship)
                fields[relationship.name] = text(destinations, relationship)
                try checkOtherEnds(of: object, relationship, inverse, destinations)
            }
        }
        return fields
    }

    private func text(of object: Object, _ name: String) throws -> String {
        do {
            return try object.attribute(name)?.witnessText ?? "-"
        } catch let error as MigrationError where error.code == .dataConflict {
            return "?"
        }
    }

    private func destinations(of object: Object, _ relationship: RelationshipDescription) throws -> [Object] {
        try relationship.isToMany
            ? object.toMany(relationship.name) : object.toOne(relationship.name).map { [$0] } ?? []
    }

    private func text(_ destinations: [Object], _ relationship: RelationshipDescription) -> String {
        let names = destinations.map { "\($0.id.entityName)/\($0.id.key)" }
        if !relationship.isToMany { return names.first.map { "o:\($0)" } ?? "-" }
        return "m:" + (relationship.isOrdered ? names : names.sorted()).joined(separator: ",")
    }

    private mutating func checkOtherEnds(
        of object: Object, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription?,
        _ destinations: [Object]
    ) throws {
        if relationship.isOrdered, destinations.count > 1 { orderedLists += 1 }
        if Set(destinations.map(\.id)).count != destinations.count {
            faults.append("\(object.id).\(relationship.name) has a destination twice")
        }
        for destination in destinations {
            guard let inverse else {
                oneWayLinks += 1
                continue
            }
            links += 1
            guard try self.destinations(of: destination, inverse).contains(where: { $0 === object }) else {
                faults.append("\(object.id).\(relationship.name) leads to \(destination.id), and not back")
                continue
            }
        }
    }

    // MARK: - Beside plain SQL

    /// Every field beside what the witness prints of the same file.
    private mutating func compare(_ walked: [String: [String: String]]) throws {
        var modelFile: String?
        if !isCached {
            modelFile = path + "-model.txt"
            try Data(model.witnessText.utf8).write(to: URL(fileURLWithPath: path + "-model.txt"))
        }
        let unordered = Set(
            model.entities.flatMap { entity in
                model.relationships(of: entity).filter { !$0.isOrdered }.map { "\(entity.name).\($0.name)" }
            })
        var left = walked
        for line in try Witness.lines(of: path, model: modelFile) {
            let words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
            let name = "\(words[0])/\(words[1])"
            guard let fields = left.removeValue(forKey: name) else {
                faults.append("\(name) was not reached")
                continue
            }
            for word in words.dropFirst(2) {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let expected = unordered.contains("\(words[0]).\(parts[0])") ? Self.sorted(parts[1]) : parts[1]
                if fields[parts[0]] != expected {
                    faults.append("\(name).\(parts[0]): \(fields[parts[0]] ?? "missing"), witness: \(expected)")
                }
            }
            if fields.count != words.count - 2 { faults.append("\(name) has \(fields.count) fields") }
        }
        faults += left.keys.map { "\($0) is not in the store" }
    }

    private static func sorted(_ text: String) -> String {
        text.hasPrefix("m:")
            ? "m:" + text.dropFirst(2).split(separator: ",").sorted().joined(separator: ",") : text
    }
}
