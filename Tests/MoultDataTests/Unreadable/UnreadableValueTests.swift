import Foundation
import MoultObjects
import TestSupport
import Testing

@testable import MoultData

/// What a row holds that its model cannot be is an error of the fetch, or of the next save where nothing can be thrown.
@Suite struct UnreadableValueTests {  // tier: long
    typealias Ship = Harbour.Ship
    typealias Mast = Harbour.Mast

    private let store: VersionedStore
    /// Made once and copied, which is faster than to make it each time.
    private static let template = Result {
        let (folder, store) = (try ScratchFolder(), try VersionedStore())
        try store.open(Harbour.self) { Harbour.fill($0) }
        _ = try store.sql("VACUUM INTO '\(folder.path)/whole.store'")
        return folder
    }

    init() throws {
        store = try VersionedStore()
        try FileManager.default.copyItem(atPath: Self.template.get().path + "/whole.store", toPath: store.path)
    }

    /// Column, value, and what the error says of the value: its kind alone. The columns of the required place stand behind those of the
    /// optional one, which have the same names.
    static let cells: [(column: String, value: String, told: String)] = [
        ("ZNAME", "NULL", "NULL"), ("ZNAME", "x'41'", "a blob of 1 bytes"), ("ZCODE", "x'0102'", "a blob of 2 bytes"),
        ("ZCODE", "7", "an integer"), ("ZRANK", "NULL", "NULL"), ("ZRANK", "'admiral'", "a text"),
        ("ZLEVEL", "9", "an integer"), ("ZFLOOD", "NULL", "NULL"), ("ZFLOOD", "'low'", "flood: a text"),
        ("ZEBB", "'ebb'", "ebb: a text, flood: a text"),
        ("ZOUTCOME", "NULL", "NULL"), ("ZOUTCOME", "x'7B'", "a blob of 1 bytes"), ("ZTITLE1", "NULL", "title: NULL"),
        ("ZTITLE1", "x'41'", "title: a blob of 1 bytes"), ("ZGRADE1", "'x'", "grade: a text"),
        ("ZFATE1", "x'7B7D'", "fate: a blob of 2 bytes"),
        ("ZAT1", "NULL", "at: NULL"), ("ZCOUNTS1", "x'5B5D'", "counts: a blob of 2 bytes"),
        ("ZURL", "NULL", "NULL"), ("ZPRICE", "'much'", "a text"), ("ZSMALL", "300", "an integer"),
        ("ZBIG", "'x'", "a text"), ("ZWEIGHT", "'heavy'", "a text"), ("ZISOLD", "2", "an integer"),
        ("ZBUILT", "NULL", "NULL"), ("ZDATA", "'x'", "a text"), ("ZTAGS", "x'00'", "a blob of 1 bytes"),
        ("ZGIVEN", "''", "a text"),
        ("ZNAME", "'\u{301}x' || char(0) || x'FF'", "Ship.name"),
    ]

    /// The property that a column belongs to.
    static func property(of column: String) -> String {
        switch column {
        case "ZFLOOD", "ZEBB": "TIDE"
        case let column where column.hasSuffix("1"): "PLACE"
        default: String(column.dropFirst())
        }
    }

    @Test(arguments: cells.indices)
    func `a fetch that finds it names entity, key, property and the kind of value`(_ number: Int) throws {
        let cell = Self.cells[number]
        _ = try store.sql("UPDATE ZSHIP SET \(cell.column) = \(cell.value) WHERE Z_PK = 2")
        try store.open(Harbour.self) { context in
            let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.all(Ship.self) }
            let place = try #require(error?.underlyingError.place)
            #expect(place.dropFirst(5).uppercased() == Self.property(of: cell.column) && place.hasPrefix("Ship."))
            let message = try #require(error?.message)
            #expect(message.contains("/Ship/p2") && message.contains(cell.told), "\(message)")
            #expect(throws: SwiftDataError.modelValidationFailure) {
                try context.enumerate(FetchDescriptor<Ship>()) { _ in }
            }
        }
    }

    @Test(arguments: cells.indices)
    func `reached through a relationship it shows what stands for it, and the next save throws`(_ number: Int) throws {
        let cell = Self.cells[number]
        _ = try store.sql("UPDATE ZSHIP SET \(cell.column) = \(cell.value) WHERE Z_PK = 2")
        let container = try ModelContainer(for: Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
        let context = ModelContext(container)
        let mast = try #require(
            try context.all(Mast.self).first { $0.ship.persistentModelID.description.hasSuffix("p2") })
        let ship = mast.ship
        #expect(!context.hasChanges)
        for property in Ship.schemaMetadata.properties { _ = property.read(property.name, ship.persistentBackingData) }
        mast.height = 99
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(error?.underlyingError.place.dropFirst(5).uppercased() == Self.property(of: cell.column))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(try store.sql("SELECT count(*) FROM ZMAST WHERE ZHEIGHT = 99") == "0\n")
        // Once the value is set, all is well.
        Self.mend(ship)
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZMAST WHERE ZHEIGHT = 99") == "1\n")
        #expect(try ModelContext(container).all(Ship.self).count == 3)
    }

    private static func mend(_ ship: Ship) {
        let new = Ship("new")
        (ship.name, ship.code, ship.rank, ship.level, ship.outcome) = (
            new.name, new.code, new.rank, new.level, new.outcome
        )
        (ship.place, ship.url, ship.price, ship.small, ship.big) = (new.place, new.url, new.price, new.small, new.big)
        (ship.weight, ship.isOld, ship.built, ship.data) = (new.weight, new.isOld, new.built, new.data)
        (ship.tags, ship.note, ship.given, ship.tide) = (new.tags, new.note, new.given, new.tide)
    }

    @Test func `what stands for a value is the one of the source, else nothing or the first`() throws {
        let columns = [
            "ZNAME", "ZRANK", "ZLEVEL", "ZOUTCOME", "ZTITLE1", "ZGRADE1", "ZGIVEN", "ZTAGS", "ZSMALL", "ZFLOOD",
        ]
        _ = try store.sql("UPDATE ZSHIP SET \(columns.map { "\($0) = NULL" }.joined(separator: ", "))")
        let container = try ModelContainer(for: Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
        let context = ModelContext(container)
        let ship = try #require(try context.all(Mast.self).first).ship
        #expect(ship.name == "" && ship.rank == .high && ship.level == .one && ship.outcome == .sunk(depth: 0))
        #expect(ship.place.title == "" && ship.place.grade == .high && ship.place.counts.isEmpty)
        #expect(ship.given == .low && ship.tags.isEmpty && ship.small == 0 && ship.tide == .ebb)
        context.rollback()
        try context.save()
        let error = #expect(throws: SwiftDataError.self) { try context.all(Ship.self) }
        #expect(error?.message.contains("holds NULL") == true)
    }

    @Test func `a required relationship that is empty or dangles does not end the program`() throws {
        _ = try store.sql("UPDATE ZMAST SET ZSHIP = NULL WHERE Z_PK = 1; UPDATE ZMAST SET ZSHIP = 77 WHERE Z_PK = 2")
        let container = try ModelContainer(for: Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
        let context = ModelContext(container)
        let error = #expect(throws: SwiftDataError.self) { try context.all(Mast.self) }
        #expect(error?.underlyingError.place == "Mast.ship" && error?.message.contains("NULL") == true)
        let masts = try context.all(Harbour.Sail.self).compactMap(\.mast)
        #expect(masts.count == 6)
        for mast in masts where mast.persistentModelID.description.hasSuffix("/p1") {
            #expect(mast.ship.name == "" && mast.ship.rank == .high && mast.ship.masts.isEmpty)
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            // What stands for a ship is none.
            mast.ship = mast.ship
            #expect(throws: SwiftDataError.self) { try context.save() }
            mast.ship = try #require(try context.all(Ship.self).first)
        }
        for mast in masts where mast.persistentModelID.description.hasSuffix("/p2") {
            #expect(mast.ship.name == "" && mast.ship.place.title == "")
        }
        try context.save()
    }

    @Test func `a batch at a time says at once what is empty, and at the save what is wrong`() throws {
        _ = try store.sql("UPDATE ZSHIP SET ZRANK = 'admiral' WHERE Z_PK = 3")
        let container = try ModelContainer(for: Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
        let context = ModelContext(container)
        let ships = try context.fetch(FetchDescriptor<Ship>(), batchSize: 2)
        #expect(ships.map(\.rank) == [.low, .low, .high])
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        _ = try store.sql("UPDATE ZSHIP SET ZTITLE1 = NULL WHERE Z_PK = 3")
        let error = #expect(throws: SwiftDataError.modelValidationFailure) {
            try ModelContext(container).fetch(FetchDescriptor<Ship>(), batchSize: 2)
        }
        #expect(error?.underlyingError.place == "Ship.place")
    }

    @Test func `a value that nothing can stand for is not shown at all`() throws {
        _ = try store.sql("UPDATE ZSAIL SET ZCOLOUR = x'00' WHERE Z_PK = 1")
        let container = try ModelContainer(
            for: Schema(versionedSchema: Harbour.self), configurations: .init(url: store.url))
        let context = ModelContext(container)
        let error = #expect(throws: SwiftDataError.self) { try context.all(Harbour.Sail.self) }
        #expect(error?.underlyingError.place == "Sail.colour")
        #expect(throws: SwiftDataError.self) { try context.all(Harbour.Flag.self) }
        #expect(throws: SwiftDataError.self) { try context.fetch(FetchDescriptor<Harbour.Sail>(), batchSize: 2) }
        let masts = try context.all(Mast.self)
        #expect(masts.flatMap(\.sails).count == 5)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        let id = try #require(try context.fetchIdentifiers(FetchDescriptor<Harbour.Sail>()).first)
        #expect(context.model(for: id) as? Harbour.Sail == nil)
        context.rollback()
        try context.save()
    }

    @Test func `a destination that is not shown keeps its link`() throws {
        _ = try store.sql("UPDATE ZSAIL SET ZCOLOUR = x'00' WHERE Z_PK = 1")
        let container = try ModelContainer(
            for: Schema(versionedSchema: Harbour.self), configurations: .init(url: store.url))
        let context = ModelContext(container)
        let mast = try #require(try context.all(Mast.self).first { $0.sails.isEmpty })
        mast.sails.append(Harbour.Sail("green"))
        for _ in 0..<2 { #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() } }
        #expect(try store.sql("SELECT count(ZMAST) FROM ZSAIL") == "6\n")
        context.rollback()
        mast.height = 7
        try context.save()
        #expect(try store.sql("SELECT count(ZMAST) FROM ZSAIL") == "6\n")
    }

    @Test func `a destination that cannot be read keeps its link`() throws {
        let folder = try ScratchFolder()
        let disk = try UnreadableDisk(folder.path)
        let url = URL(fileURLWithPath: disk.folder + "/copy.store")
        try FileManager.default.copyItem(at: store.url, to: url)
        let container = try ModelContainer(
            for: Schema(versionedSchema: Harbour.self), configurations: .init(url: url))
        let context = ModelContext(container)
        let mast = try #require(try context.all(Mast.self).first)
        #expect(mast.sails.count == 1)
        // The list is in memory, and its sails are not.
        disk.failing { mast.sails.append(Harbour.Sail("green")) }
        let error = try #require(throws: MigrationError.self) { try context.save() }
        #expect(error.code == .inputOutput && error.message.hasPrefix("Mast.sails of "))
        #expect(try SQLiteShell.run(url.path, "SELECT count(ZMAST) FROM ZSAIL") == "6\n")
        mast.sails.append(Harbour.Sail("green"))
        try context.save()
        #expect(try SQLiteShell.run(url.path, "SELECT count(ZMAST) FROM ZSAIL") == "7\n")
    }

    @Test func `a model whose required destination cannot be read is not taken for one that is gone`() throws {
        let folder = try ScratchFolder()
        let disk = try UnreadableDisk(folder.path)
        let url = URL(fileURLWithPath: disk.folder + "/copy.store")
        try FileManager.default.copyItem(at: store.url, to: url)
        let context = ModelContext(
            try ModelContainer(for: Schema(versionedSchema: Harbour.self), configurations: .init(url: url)))
        // The row of the flag is in memory, and that of its sail is not.
        let object = try #require(try context.objects.fetch(ObjectFetch(entityName: "Flag")).first)
        let find = { () -> Harbour.Flag? in context.existingModel(for: PersistentIdentifier(object.id)) }
        #expect(disk.failing(find) == nil)
        let error = try #require(throws: MigrationError.self) { try context.save() }
        #expect(error.code == .inputOutput)
        #expect(find() != nil)
        try context.save()
    }

    @Test func `a row that says it is of another entity is refused however it is fetched`() throws {
        _ = try store.sql(
            "UPDATE ZSAIL SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Mast') WHERE Z_PK = 1")
        let container = try ModelContainer(
            for: Schema(versionedSchema: Harbour.self), configurations: .init(url: store.url))
        let context = ModelContext(container)
        let descriptor = FetchDescriptor<Harbour.Sail>()
        #expect(throws: (any Error).self) { try context.fetch(descriptor) }
        #expect(throws: (any Error).self) { try context.fetch(descriptor, batchSize: 2) }
        #expect(throws: (any Error).self) { try context.fetchIdentifiers(descriptor) }
        // The number of no entity, which is found as one and read as none.
        _ = try store.sql("UPDATE ZSAIL SET Z_ENT = (SELECT max(Z_ENT) + 0.5 FROM ZSAIL WHERE Z_PK > 1)")
        #expect(throws: (any Error).self) { try ModelContext(container).fetch(descriptor, batchSize: 2) }
    }

    @Test func `an identity of an entity that the schema has not gives a model of no class`() throws {
        try store.open(Harbour.self) { context in
            let id = try #require(try context.all(Ship.self).first).persistentModelID
            let container = try Bookshop.container()
            let other = ModelContext(container)
            #expect(other.model(for: id) as? Ship == nil)
            let error = #expect(throws: SwiftDataError.unknownSchema) { try other.save() }
            #expect(error?.message.contains("Ship") == true)
            try other.save()
        }
    }

    @Test func `an optional enum with a raw value that is no case reads as nil, and its column stays`() throws {
        _ = try store.sql("UPDATE ZSHIP SET ZOPTIONALRANK = 'admiral' WHERE Z_PK = 2")
        let container = try ModelContainer(for: Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
        let context = ModelContext(container)
        let name = try store.sql("SELECT ZNAME FROM ZSHIP WHERE Z_PK = 2").trimmingCharacters(in: .newlines)
        let ship = try #require(try context.all(Ship.self).first { $0.name == name })
        ship.name = "Renamed"
        try context.save()
        #expect(try store.sql("SELECT ZNAME, ZOPTIONALRANK FROM ZSHIP WHERE Z_PK = 2") == "Renamed|admiral\n")
        #expect(ship.optionalRank == nil)
        ship.name = "Other"
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(error?.underlyingError.place == "Ship.optionalRank" && error?.message.contains("a text") == true)
        #expect(error?.message.contains("admiral") == false)
        ship.optionalRank = .high
        try context.save()
        #expect(try store.sql("SELECT ZNAME, ZOPTIONALRANK FROM ZSHIP WHERE Z_PK = 2") == "Other|high\n")
    }

    @Test func `an optional text that is a blob reads as nil, and its column stays`() throws {
        _ = try store.sql("UPDATE ZSHIP SET ZNOTE = x'41'")
        let container = try ModelContainer(for: Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
        let context = ModelContext(container)
        let ship = try #require(try context.all(Ship.self).first)
        ship.name = "Renamed"
        try context.save()
        #expect(ship.note == nil)
        ship.name = "Other"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        ship.note = "new"
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZSHIP WHERE ZNOTE = x'41'") == "2\n")
        #expect(try store.sql("SELECT ZNAME FROM ZSHIP WHERE ZNOTE = 'new'") == "Other\n")
    }

    @Test func `a transform does not take a stand-in for a value`() throws {
        _ = try store.sql("UPDATE ZSHIP SET ZRANK = 'admiral' WHERE Z_PK = 2")
        let error = #expect(throws: SwiftDataError.self) { try store.open(HarbourV2.self, HarbourPlan.self) { _ in } }
        #expect(
            error?.underlyingError.place.contains("Ship.rank") == true || error?.message.contains("Ship.rank") == true)
        #expect(try store.sql("SELECT ZRANK FROM ZSHIP ORDER BY Z_PK") == "low\nadmiral\nlow\n")
    }
}

private enum HarbourV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Ship.self] }

    @Model final class Ship {
        var name: String
        var title = ""
        init(_ name: String) { self.name = name }
    }
}

private enum HarbourPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Harbour.self, HarbourV2.self] }
    static var stages: [MigrationStage] {
        [.transform(from: Harbour.Ship.self, to: HarbourV2.Ship.self) { $1.title = "\($0.rank)" }]
    }
}
