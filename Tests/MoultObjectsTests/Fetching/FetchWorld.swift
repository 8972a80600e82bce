import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite
import MoultStore
import TestSupport

@testable import MoultObjects

/// A store full of hostile values and, read from it by the streaming reader, the same objects in memory.
final class FetchWorld {
    static let store = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()
    static let now = 700_000_000.5

    let folder: ScratchFolder
    let layout: StoreLayout
    let connection: Connection
    private(set) var objects: [String: [ObjectID]] = [:]
    private var values: [ObjectID: [String: ExpressionValue]] = [:]

    /// - Parameter texts: instead of `count` tags, one with each of these as its label.
    init(seed: UInt64, model: ManagedObjectModel, count: Int = 9, texts: [String]? = nil) throws {
        folder = try ScratchFolder()
        let path = folder.path + "/World.sqlite"
        let maker = try StoreCreator(
            ModelVersion(names: ["1"], model: model), uuid: Self.store.uuidString, experimental: true)
        try maker.make(at: path)
        layout = maker.layout
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try WorldFiller(writer, seed: seed, count: count, texts: texts).fill()
        try writer.finish()
        connection = try Connection(path, mode: .readWrite)
        try FormatFunctions.register(on: connection)
        try read(from: path)
    }

    var model: ManagedObjectModel { layout.model }

    /// Every object of an entity, in the order of keys.
    func objects(of entity: EntityDescription, includingSubentities: Bool) -> [ObjectID] {
        let names = [entity.name] + (includingSubentities ? model.descendants(of: entity).map(\.name) : [])
        return names.flatMap { objects[$0] ?? [] }.sorted { $0.key < $1.key }
    }

    private func read(from path: String) throws {
        let reader = StoreReader(connection: connection, layout: layout, store: path)
        for entity in model.entities {
            try reader.forEachObject(of: entity) { row in
                let id = Self.id(row.reference)
                objects[entity.name, default: []].append(id)
                values[id] = Dictionary(
                    uniqueKeysWithValues: zip(row.shape.properties, row.values.map(Self.value)))
            }
        }
    }

    private static func id(_ reference: ObjectReference) -> ObjectID {
        ObjectID(store: store, entityName: reference.entityName, key: reference.primaryKey)
    }

    private static func value(_ value: PropertyValue) -> ExpressionValue {
        switch value {
        case .attribute(let value): ExpressionValue(value)
        case .toOne(let reference): reference.map { .object(id($0)) } ?? .null
        case .toMany(let references): .collection(references.map { .object(id($0)) })
        case .undecodable: .null
        }
    }
}

extension FetchWorld: ObjectValues {
    var now: Double { Self.now }

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue {
        guard let value = values[object]?[key] else {
            throw MigrationError(.invalidPredicate, "\(object.entityName) has no \(key).", remedy: "")
        }
        return value
    }

    func isComposite(_ key: String, of object: ObjectID) -> Bool { key == "address" || key == "address.point" }
}

extension FetchWorld {
    /// What SQL finds.
    func fetched(_ fetch: ObjectFetch) throws -> [ObjectID] {
        let lowering = try FetchLowering(fetch, layout: layout, store: Self.store, now: Self.now)
        let sql = try lowering.select("\(name: FetchLowering.alias).Z_PK, \(name: FetchLowering.alias).Z_ENT")
        return try connection.rows(sql.text, sql.values) { row in
            ObjectID(
                store: Self.store, entityName: layout.entityName(number: Int(row.integer(1))) ?? "",
                key: row.integer(0))
        }
    }

    func counted(_ fetch: ObjectFetch) throws -> Int64? {
        let sql = try FetchLowering(fetch, layout: layout, store: Self.store, now: Self.now).selectCount()
        return try connection.integer(sql.text, sql.values)
    }

    /// What the evaluation in memory finds.
    func expected(_ fetch: ObjectFetch) throws -> [ObjectID] {
        guard let entity = model.entity(fetch.entityName) else { return [] }
        let candidates = objects(of: entity, includingSubentities: fetch.includesSubentities)
        let found = try candidates.filter { object in
            try fetch.predicate?.holds(for: .object(object), variables: fetch.variables, in: self) ?? true
        }
        let terms = try fetch.sort.map { try Expression(parsing: $0.keyPath) }
        let keyed = try found.map { object in
            (object: object, keys: try terms.map { try $0.value(for: .object(object), in: self) })
        }
        let sorted = keyed.sorted { left, right in
            for (position, term) in fetch.sort.enumerated() {
                let order = ExpressionValue.ordering(left.keys[position], right.keys[position], term.options)
                if order != .orderedSame { return (order == .orderedAscending) == term.isAscending }
            }
            return left.object.key < right.object.key
        }
        let rest = sorted.map(\.object).dropFirst(fetch.offset)
        return Array(fetch.limit > 0 ? rest.prefix(fetch.limit) : rest)
    }
}

/// Fills a store of ``FetchModel`` with objects whose values come from the pool.
private struct WorldFiller {
    let writer: ObjectWriter
    var pool: ValuePool
    let count: Int
    let texts: [String]?
    private var objects: [String: [ObjectReference]] = [:]

    init(_ writer: ObjectWriter, seed: UInt64, count: Int, texts: [String]?) {
        self.texts = texts
        self.writer = writer
        pool = ValuePool(seed: seed)
        self.count = count
    }

    func fill() throws {
        var filler = self
        let model = writer.layout.model
        for entity in model.entities {
            let texts = entity.name == "Tag" ? texts : nil
            for position in 0..<(texts?.count ?? count) {
                var values: [String: PropertyValue] = [:]
                for attribute in model.storedAttributes(of: entity) {
                    var value = filler.pool.value(attribute.description.type)
                    if attribute.description.type == .transformable, case .binary(let bytes)? = value {
                        value = .transformable(bytes)
                    }
                    values[attribute.name] = .attribute(value)
                }
                if let texts { values["label"] = .attribute(.string(texts[position])) }
                filler.objects[entity.name, default: []].append(try writer.insert(entity.name, values))
            }
        }
        try filler.link()
    }

    private mutating func link() throws {
        let writers = ["Writer", "Poet", "Laureate"].flatMap { objects[$0] ?? [] }
        let (books, tags, houses) = (objects["Book"] ?? [], objects["Tag"] ?? [], objects["House"] ?? [])
        for book in books {
            if pool.chance(4, of: 5) { try writer.link(book, "author", to: [pool.pick(writers)]) }
            try writer.link(book, "tags", to: some(tags, upTo: 3))
        }
        for (house, owner) in zip(houses, writers.shuffled(using: &pool.generator)) where pool.chance(3, of: 4) {
            try writer.link(house, "owner", to: [owner])
        }
        for person in writers {
            try writer.link(person, "friends", to: some(writers, upTo: 3))
            try writer.link(person, "tags", to: some(tags, upTo: 3))
            if pool.chance(3, of: 5) { try writer.link(person, "mentor", to: [pool.pick(writers)]) }
            if pool.chance(3, of: 5) { try writer.link(person, "lastRead", to: [pool.pick(books)]) }
        }
        for book in books.shuffled(using: &pool.generator) where pool.chance(3, of: 5) {
            try writer.link(pool.pick(writers), "shelf", to: [book])
        }
    }

    private mutating func some(_ references: [ObjectReference], upTo limit: Int) -> [ObjectReference] {
        Array(references.shuffled(using: &pool.generator).prefix(Int.random(in: 0...limit, using: &pool.generator)))
    }
}
