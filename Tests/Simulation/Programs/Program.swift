import MoultBasics
import MoultModel
import TestSupport

/// The machine of a program whose files are not the simulated disk's: its clock and its names are.
struct ClockedSystem: ForwardingSystem {
    let simulated: any System

    var now: Timestamp { simulated.now }
    var monotonicNanoseconds: UInt64 { simulated.monotonicNanoseconds }
    func uniqueName() -> String { simulated.uniqueName() }
}

/// A store that a program opens.
struct ProgramStore {
    let path: String
    /// The configuration of its model; nil where it has the whole model.
    let configuration: String?
    /// The names of its entities.
    let entities: Set<String>
}

/// A program that has the store open, or both stores of a life with two, through one of the APIs for objects.
protocol Program: AnyObject {
    associatedtype Handle

    /// Begins with a new context, in which nothing is changed.
    func begin()
    func insert(_ entity: String) throws -> Handle
    func object(_ entity: String, key: Int) throws -> Handle
    func set(_ handle: Handle, _ attribute: AttributeDescription, _ text: String) throws
    func setToOne(_ handle: Handle, _ name: String, _ other: Handle?) throws
    /// - Parameter place: the place in an ordered list; nil for a set.
    func add(_ other: Handle, to handle: Handle, _ name: String, at place: Int?) throws
    func remove(_ other: Handle, from handle: Handle, _ name: String) throws
    func delete(_ handle: Handle) throws
    func save() throws
    func key(of handle: Handle) throws -> Int

    /// The objects of exactly one entity.
    func all(_ entity: String) throws -> [Handle]
    func text(_ handle: Handle, _ attribute: AttributeDescription) throws -> String
    /// `Entity/1`
    func toOne(_ handle: Handle, _ name: String) throws -> String?
    func toMany(_ handle: Handle, _ name: String, isOrdered: Bool) throws -> [String]

    func close()
}

extension Program {
    /// Makes changes in one save.
    ///
    /// - Parameters:
    ///   - changes: changes that make sense, in their order.
    ///   - world: the objects before them.
    /// - Returns: the keys of new objects, by their numbers.
    func save(_ changes: [Change], in world: HistoryWorld, of model: HistoryModel) throws -> [Int: Int] {
        try prepare(changes, in: world, of: model)()
    }

    /// Makes changes in a new context.
    ///
    /// - Returns: saves them.
    func prepare(
        _ changes: [Change], in world: HistoryWorld, of model: HistoryModel
    ) throws -> () throws -> [Int: Int] {
        begin()
        var (held, inserted): ([Int: Handle], [Int: Handle]) = ([:], [:])
        var kinds = world.objects.mapValues(\.entity)
        func handle(_ number: Int) throws -> Handle {
            if let handle = held[number] { return handle }
            guard let object = world.objects[number], let entity = model.entity(object.entity) else {
                throw WitnessFailure("no object \(number)")
            }
            let found = try self.object(entity.name, key: object.key)
            held[number] = found
            return found
        }
        for change in changes {
            switch change {
            case .insert(let number, let entity, let values):
                kinds[number] = entity
                let new = try insert(model.entity(entity)?.name ?? "")
                (held[number], inserted[number]) = (new, new)
                for attribute in model.lineage(entity).flatMap(\.attributes) {
                    guard let text = values[attribute.id], HistoryValues.fits(text, attribute.description) else {
                        continue
                    }
                    try set(new, attribute.description, text)
                }
                for name in model.lineage(entity).flatMap({ $0.transients ?? [] }) {
                    try set(new, AttributeDescription(transient: name), "s:70617373")
                }
            case .set(let number, let id, let text):
                let attributes = kinds[number].map { model.lineage($0).flatMap(\.attributes) } ?? []
                guard let attribute = attributes.first(where: { $0.id == id }) else { continue }
                try set(handle(number), attribute.description, text)
            case .link(let id, let from, let to, let place, let isBackward):
                guard let link = model.link(id) else { continue }
                let (owner, other) = isBackward ? (to, from) : (from, to)
                let end = isBackward ? link.inverse ?? link.end : link.end
                if end.isToMany {
                    let count = end.isOrdered ? try toMany(handle(owner), end.name, isOrdered: true).count + 1 : nil
                    try add(handle(other), to: handle(owner), end.name, at: count.map { place % $0 })
                } else {
                    try setToOne(handle(owner), end.name, handle(other))
                }
            case .unlink(let id, let from, let to, let isBackward):
                guard let link = model.link(id) else { continue }
                let isBackward = isBackward && link.inverse != nil
                let (owner, other) = isBackward ? (to, from) : (from, to)
                let end = isBackward ? link.inverse ?? link.end : link.end
                if end.isToMany {
                    try remove(handle(other), from: handle(owner), end.name)
                } else {
                    try setToOne(handle(owner), end.name, nil)
                }
            case .delete(let number):
                try delete(handle(number))
                inserted[number] = nil
            }
        }
        return { [inserted] in
            try self.save()
            return try inserted.mapValues { try self.key(of: $0) }
        }
    }

    /// Every object as this program sees it.
    func look(_ model: HistoryModel) throws -> WitnessedObjects {
        begin()
        var found: WitnessedObjects = [:]
        for entity in model.entities where !entity.isAbstract {
            let lineage = model.lineage(entity.id)
            let ancestors = Set(lineage.map(\.id))
            let ends = model.links.flatMap(\.ends).filter { ancestors.contains($0.entity) }
            for handle in try all(entity.name) {
                var object: [String: String] = [:]
                for attribute in lineage.flatMap(model.stored) {
                    object[attribute.name] = try text(handle, attribute)
                }
                for end in ends {
                    object[end.name] =
                        end.isToMany
                        ? "m:" + (try toMany(handle, end.name, isOrdered: end.isOrdered)).joined(separator: ",")
                        : try toOne(handle, end.name).map { "o:\($0)" } ?? "-"
                }
                found[entity.name, default: [:]][try key(of: handle)] = object
            }
        }
        return found
    }
}

extension LifeRun {
    /// - Parameter second: the path and the version of another store.
    func program(_ api: API, over second: (path: String, version: Int)? = nil) throws -> any Program {
        let version = second?.version ?? now.version
        return try program(api, over: [place(version, at: second?.path)], version)
    }

    func program(_ api: API, over stores: [ProgramStore], _ version: Int) throws -> any Program {
        let model = history.versions.versions[version].model
        switch api {
        case .objects: return try ObjectsProgram(stores, model, on: disk.system)
        case .swiftData where history.isPlain:
            return try SwiftDataProgram(stores, version: version, on: disk.system)
        case .coreData, .swiftData: return try CoreDataProgram(stores, model, on: disk.system)
        }
    }

    /// The store as programs open it.
    ///
    /// - Parameters:
    ///   - version: the programs' version; nil for the store's.
    ///   - path: the path of another store of the same kind.
    func place(_ version: Int? = nil, at path: String? = nil) -> ProgramStore {
        ProgramStore(
            path: path ?? store, configuration: history.configuration,
            entities: Set(model(version).entities.map(\.name)))
    }
}

/// Which API a program uses.
enum API: String, Codable, CaseIterable, Sendable { case objects, coreData, swiftData }
