import MoultData
import TestSupport
import Testing

@Suite struct SeveralStoresTests {
    /// A container over a shelf and a desk, each a store of its own.
    private func open(
        _ version: any VersionedSchema.Type, _ models: [[any PersistentModel.Type]], in folder: ScratchFolder,
        by plan: (any SchemaMigrationPlan.Type)? = nil
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
        // A test of the plan takes each of them as it is, too.
        try RoomPlan.validate(storeAt: URL(fileURLWithPath: "\(folder.path)/shelf.store"))
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

extension SeveralStoresTests {
    /// The entities of a store, by what SQLite's own shell reads.
    private func entities(_ name: String, in folder: ScratchFolder) throws -> String {
        try SQLiteShell.run(
            "\(folder.path)/\(name).store",
            "SELECT group_concat(Z_NAME) FROM (SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1)")
    }

    private func openBoth(in folder: ScratchFolder) throws -> ModelContext {
        try open(RoomV2.self, [[RoomV2.Book.self], [RoomV2.Pen.self]], in: folder)
    }

    @Test func `without a plan, each store is migrated to the part that it holds, and opens again`() throws {
        let folder = try ScratchFolder()
        do {
            let context = try open(RoomV1.self, [[RoomV1.Book.self], [RoomV1.Pen.self]], in: folder)
            context.insert(RoomV1.Book(title: "Emma"))
            context.insert(RoomV1.Pen(colour: "red"))
            try context.save()
        }
        for _ in 1...2 {
            let context = try openBoth(in: folder)
            #expect(try context.fetch(FetchDescriptor<RoomV2.Book>()).map(\.pages) == [100])
            #expect(try context.fetch(FetchDescriptor<RoomV2.Pen>()).map(\.ink) == ["red"])
        }
        #expect(try entities("shelf", in: folder) == "Book\n")
        #expect(try entities("desk", in: folder) == "Pen\n")
    }

    @Test(arguments: [true, false])
    func `the only store of a first version stays that of its configuration when a second is added`(
        hasPlan: Bool
    ) throws {
        let folder = try ScratchFolder()
        let plan: (any SchemaMigrationPlan.Type)? = hasPlan ? GrowingRoomPlan.self : nil
        do {
            let context = try open(SmallRoom.self, [[SmallRoom.Book.self]], in: folder, by: plan)
            context.insert(SmallRoom.Book(title: "Emma"))
            try context.save()
        }
        for _ in 1...2 {
            let context = try open(RoomV2.self, [[RoomV2.Book.self], [RoomV2.Pen.self]], in: folder, by: plan)
            #expect(try context.fetch(FetchDescriptor<RoomV2.Book>()).map(\.title) == ["Emma"])
        }
        #expect(try entities("shelf", in: folder) == "Book\n")
    }

    @Test func `each store of a release from before the plan is brought along by its configuration`() throws {
        let folder = try ScratchFolder()
        do {
            let context = try open(
                RoomBefore.self, [[RoomBefore.Book.self], [RoomBefore.Pen.self]], in: folder)
            context.insert(RoomBefore.Book(title: "Emma"))
            context.insert(RoomBefore.Pen(colour: "red"))
            try context.save()
        }
        let context = try open(RoomV2.self, [[RoomV2.Book.self], [RoomV2.Pen.self]], in: folder, by: RoomPlan.self)
        #expect(try context.fetch(FetchDescriptor<RoomV2.Book>()).map(\.title) == ["Emma"])
        #expect(try context.fetch(FetchDescriptor<RoomV2.Pen>()).map(\.ink) == ["red"])
        #expect(try entities("shelf", in: folder) == "Book\n")
    }

    @Test
    func `a store that was migrated to the whole schema opens with its configuration, and loses nothing`() throws {
        let folder = try ScratchFolder()
        func openWhole() throws -> ModelContext {
            try open(RoomV2.self, [[RoomV2.Book.self, RoomV2.Pen.self]], in: folder)
        }
        do {
            let context = try openWhole()
            context.insert(RoomV2.Book(title: "Emma"))
            context.insert(RoomV2.Pen(ink: "red"))
            try context.save()
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/shelf.store"))
        let error = try #require(throws: SwiftDataError.self) { try openBoth(in: folder) }
        #expect("\(error)".contains("1 object of Pen is deleted"), "\(error)")
        #expect("\(error)".contains("configuration desk"), "\(error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/shelf.store")) == before)
        do {
            let context = try openWhole()
            try context.delete(model: RoomV2.Pen.self)
            try context.save()
        }
        let context = try openBoth(in: folder)
        #expect(try context.fetch(FetchDescriptor<RoomV2.Book>()).map(\.title) == ["Emma"])
        #expect(try entities("shelf", in: folder) == "Book\n")
        // And a store of a configuration that one container opens as a whole gets the tables that it lacks.
        #expect(try openWhole().fetchCount(FetchDescriptor<RoomV2.Book>()) == 1)
        #expect(try entities("shelf", in: folder) == "Book,Pen\n")
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

/// The room before there was a plan: the same properties, with other hashes.
private enum RoomBefore: VersionedSchema {
    static let versionIdentifier = Schema.Version(0, 1, 0)
    static var models: [any PersistentModel.Type] { [Book.self, Pen.self] }
    @Model final class Book {
        @Attribute(hashModifier: "before") var title: String
        init(title: String) { self.title = title }
    }
    @Model final class Pen {
        @Attribute(hashModifier: "before") var colour: String
        init(colour: String) { self.colour = colour }
    }
}

/// The room before there was a desk.
private enum SmallRoom: VersionedSchema {
    static let versionIdentifier = Schema.Version(0, 9, 0)
    static var models: [any PersistentModel.Type] { [Book.self] }
    @Model final class Book {
        var title: String
        init(title: String) { self.title = title }
    }
}

private enum GrowingRoomPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [SmallRoom.self, RoomV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: SmallRoom.self, toVersion: RoomV2.self)] }
}

private enum RoomPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [RoomV1.self, RoomV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: RoomV1.self, toVersion: RoomV2.self)] }
}
