import MoultData
import TestSupport
import Testing

@Suite struct SeveralStoresTests {
    /// A container over a shelf and a desk, each a store of its own.
    private func open(
        _ version: any VersionedSchema.Type, _ models: [[any PersistentModel.Type]], in folder: ScratchFolder,
        by plan: any SchemaMigrationPlan.Type
    ) throws -> ModelContext {
        let configurations = zip(["shelf", "desk"], models).map { (name: String, models) in
            ModelConfiguration(
                name, schema: Schema(models), url: URL(fileURLWithPath: "\(folder.path)/\(name).store"))
        }
        return ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: plan, configurations: configurations))
    }

    @Test func `each of several stores of a container is migrated by the part of the plan that it holds`() throws {
        let folder = try ScratchFolder()
        do {
            let context = try open(RoomV1.self, [[RoomV1.Book.self], [RoomV1.Pen.self]], in: folder, by: RoomPlan.self)
            context.insert(RoomV1.Book(title: "Emma"))
            context.insert(RoomV1.Pen(colour: "red"))
            try context.save()
        }
        let context = try open(RoomV2.self, [[RoomV2.Book.self], [RoomV2.Pen.self]], in: folder, by: RoomPlan.self)
        #expect(try context.fetch(FetchDescriptor<RoomV2.Book>()).map(\.pages) == [100])
        #expect(try context.fetch(FetchDescriptor<RoomV2.Pen>()).map(\.ink) == ["red"])
        #expect(try SQLiteShell.run("\(folder.path)/shelf.store", "SELECT ZTITLE, ZPAGES FROM ZBOOK") == "Emma|100\n")
        #expect(try SQLiteShell.run("\(folder.path)/desk.store", "SELECT ZINK FROM ZPEN") == "red\n")
    }

    @Test func `a custom stage runs once for each store, with the objects of that store`() throws {
        let folder = try ScratchFolder()
        do {
            let context = try open(
                RoomV1.self, [[RoomV1.Book.self], [RoomV1.Pen.self]], in: folder, by: CustomRoomPlan.self)
            for title in ["Emma", "Emma", "Persuasion"] { context.insert(RoomV1.Book(title: title)) }
            for colour in ["red", "blue"] { context.insert(RoomV1.Pen(colour: colour)) }
            try context.save()
        }
        let context = try open(
            RoomV2.self, [[RoomV2.Book.self], [RoomV2.Pen.self]], in: folder, by: CustomRoomPlan.self)
        #expect(try context.fetch(FetchDescriptor<RoomV2.Book>()).map(\.pages).sorted() == [4, 10])
        #expect(try context.fetch(FetchDescriptor<RoomV2.Pen>()).map(\.ink).sorted() == ["BLUE", "RED"])
        for name in ["shelf", "desk"] {
            let events = try MigrationHistory(storeAt: URL(fileURLWithPath: "\(folder.path)/\(name).store")).events()
            #expect(events.map(\.outcome) == [.succeeded])
        }
    }
}

/// Books that are there twice go; pages are counted by titles; inks are in capitals.
private enum CustomRoomPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [RoomV1.self, RoomV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: RoomV1.self, toVersion: RoomV2.self,
                willMigrate: { context in
                    var titles: Set<String> = []
                    for book in try context.fetch(FetchDescriptor<RoomV1.Book>())
                    where !titles.insert(book.title).inserted { context.delete(book) }
                    try context.save()
                },
                didMigrate: { context in
                    for book in try context.fetch(FetchDescriptor<RoomV2.Book>()) { book.pages = book.title.count }
                    for pen in try context.fetch(FetchDescriptor<RoomV2.Pen>()) { pen.ink = pen.ink.uppercased() }
                    try context.save()
                })
        ]
    }
}

private enum RoomV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self, Pen.self] }
    @Model final class Book {
        var title: String
        init(title: String) { self.title = title }
    }
    @Model final class Pen {
        var colour: String
        init(colour: String) { self.colour = colour }
    }
}

private enum RoomV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self, Pen.self] }
    @Model final class Book {
        var title: String
        var pages = 100
        init(title: String) { self.title = title }
    }
    @Model final class Pen {
        @Attribute(originalName: "colour") var ink: String
        init(ink: String) { self.ink = ink }
    }
}

private enum RoomPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [RoomV1.self, RoomV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: RoomV1.self, toVersion: RoomV2.self)] }
}
