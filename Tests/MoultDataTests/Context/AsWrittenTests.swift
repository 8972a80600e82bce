import Foundation
import MoultData
import TestSupport
import Testing

/// A model whose name is that of a generic parameter.
@Model final class M {
    var level: Double = 0
    init(level: Double) { self.level = level }
}

enum SingleV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [M.self] }
}

enum NoStages: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [SingleV1.self, SingleV2.self] }
    static var stages: [MigrationStage] { [] }
}

enum SingleV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Reading.self] }

    @Model final class Reading {
        var value: Double = 0
        var noted: Double?
        init(value: Double) { self.value = value }
    }
}

@Model final class Ticket {
    @Attribute(.unique) let id: UUID
    let price: Double
    let place: Place
    var isUsed = false

    struct Place: Codable { var row: Int }

    init(id: UUID, price: Double, place: Place = Place(row: 3)) {
        self.id = id
        self.price = price
        self.place = place
    }
}

/// SwiftData code as people write it.
@Suite struct AsWrittenTests {
    typealias Reading = SingleV2.Reading
    private let folder: ScratchFolder
    private var url: URL { URL(fileURLWithPath: folder.path + "/store.store") }

    init() throws { folder = try ScratchFolder() }

    @Test func `a value that is not a number is refused at the save, and the context can go on`() throws {
        let container = try ModelContainer(for: Reading.self, configurations: .init(url: url))
        let context = ModelContext(container)
        let reading = Reading(value: 1)
        context.insert(reading)
        try context.save()
        reading.value = .nan
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try SQLiteShell.run(url.path, "SELECT ZVALUE FROM ZREADING") == "1.0\n")
        reading.value = 2
        reading.noted = .nan
        #expect(throws: (any Error).self) { try context.save() }
        reading.noted = nil
        try context.save()
        #expect(try SQLiteShell.run(url.path, "SELECT ZVALUE FROM ZREADING") == "2.0\n")
    }

    @Test func `a plan without stages opens a store that is new`() throws {
        let schema = Schema(versionedSchema: SingleV2.self)
        let container = try ModelContainer(
            for: schema, migrationPlan: NoStages.self, configurations: [.init(schema: schema, url: url)])
        ModelContext(container).insert(Reading(value: 1))
    }

    @Test func `a model may have the name of a generic parameter`() throws {
        let container = try ModelContainer(for: M.self, configurations: .init(url: url))
        let context = ModelContext(container)
        context.insert(M(level: 2))
        try context.save()
        #expect(try context.fetch(FetchDescriptor<M>(predicate: #Predicate { $0.level > 1 })).count == 1)
    }

    @Test func `a let that an initialiser sets is kept`() throws {
        let id = UUID()
        do {
            let context = ModelContext(try ModelContainer(for: Ticket.self, configurations: .init(url: url)))
            context.insert(Ticket(id: id, price: 12))
            try context.save()
        }
        #expect(try SQLiteShell.run(url.path, "SELECT hex(ZID), ZPRICE FROM ZTICKET").hasSuffix("|12.0\n"))
        let context = ModelContext(try ModelContainer(for: Ticket.self, configurations: .init(url: url)))
        let found = try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.id == id }))
        #expect(found.map(\.id) == [id] && found.map(\.price) == [12] && found.first?.place.row == 3)
    }

    @Test func `a URL that is no file's is refused`() throws {
        let web = try #require(URL(string: "https://example.com/moult-test-\(UUID().uuidString)"))
        #expect(throws: (any Error).self) { try ModelContainer(for: M.self, configurations: .init(url: web)) }
        #expect(!FileManager.default.fileExists(atPath: web.path))
    }

    @Test func `a save into a store that was deleted fails`() throws {
        let container = try ModelContainer(for: M.self, configurations: .init(url: url))
        let context = ModelContext(container)
        context.insert(M(level: 2))
        try context.save()
        try FileManager.default.removeItem(at: url)
        context.insert(M(level: 3))
        #expect(throws: (any Error).self) { try context.save() }
    }

    @Test func `a context shows what another one has saved`() throws {
        let container = try ModelContainer(for: M.self, configurations: .init(url: url))
        let (one, other) = (ModelContext(container), ModelContext(container))
        let model = M(level: 1)
        one.insert(model)
        try one.save()
        let seen = try #require(try other.fetch(FetchDescriptor<M>()).first)
        #expect(seen.level == 1)
        model.level = 5
        try one.save()
        let found = try other.fetch(FetchDescriptor<M>(predicate: #Predicate { $0.level > 4 }))
        #expect(found.map(\.level) == [5] && seen.level == 5)
    }
}
