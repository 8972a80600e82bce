import Foundation
import MoultData
import TestSupport
import Testing

/// Values that cannot be read for a while. A property shows something else then, which no save may take for the value.
/// The sqlite3 shell tells what is stored.
@Suite struct FailedReadTests {
    enum Attic: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Box.self, Item.self] }

        struct Place: Codable, Equatable {
            var room = ""
            var row = 0
        }

        @Model final class Box {
            var count = 0
            var note: String?
            var place = Place()
            var marks: [String] = []
            @Attribute(.externalStorage) var image: Data?
            @Attribute(.transformable(by: Harbour.ColourTransformer.self)) var colour: Harbour.Colour?
            @Relationship(inverse: \Item.box) var items: [Item] = []
            @Relationship(inverse: \Item.boxes) var others: [Item] = []
            @Relationship(inverse: \Item.topOf) var top: Item?

            init() {}
        }

        @Model final class Item {
            var name: String
            var box: Box?
            var boxes: [Box] = []
            var topOf: Box?

            init(_ name: String) { self.name = name }
        }
    }

    typealias Box = Attic.Box
    typealias Item = Attic.Item

    private let folder: ScratchFolder
    private let disk: UnreadableDisk
    private let container: ModelContainer
    private let id: PersistentIdentifier
    private var path: String { disk.folder + "/attic.store" }

    init() throws {
        folder = try ScratchFolder()
        disk = try UnreadableDisk(folder.path)
        container = try ModelContainer(
            for: Schema(versionedSchema: Attic.self),
            configurations: ModelConfiguration(url: URL(fileURLWithPath: disk.folder + "/attic.store")))
        let context = ModelContext(container)
        let box = Box()
        context.insert(box)
        (box.count, box.note, box.place, box.marks) = (5, "old", .init(room: "hall", row: 3), ["x"])
        (box.image, box.colour) = (Data([1, 2]), Harbour.Colour("red"))
        let (one, two) = (Item("one"), Item("two"))
        (box.items, box.others, box.top) = ([one, two], [one], one)
        try context.save()
        id = box.persistentModelID
    }

    /// Everything that the store holds of the models.
    private func rows() throws -> String {
        let named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('Z_1OTHERS', 'Z_2BOXES')"
        let join = try SQLiteShell.run(path, named).trimmingCharacters(in: .newlines)
        return try SQLiteShell.run(
            path, "SELECT * FROM ZBOX; SELECT * FROM ZITEM ORDER BY Z_PK; SELECT * FROM \(join) ORDER BY 1, 2")
    }

    /// A box that has not been read, and a new item.
    private func unread() throws -> (context: ModelContext, box: Box, new: Item) {
        let context = ModelContext(container)
        let (box, new) = (try #require(context.model(for: id) as? Box), Item("new"))
        context.insert(new)
        return (context, box, new)
    }

    /// Changes as an app makes them: each sets what it makes of what it reads.
    static let changes: [(property: String, change: @Sendable (Box, Item) -> Void)] = [
        ("count", { box, _ in box.count += 1 }), ("note", { box, _ in box.note = (box.note ?? "") + "!" }),
        ("place", { box, _ in box.place.row += 1 }), ("marks", { box, _ in box.marks.append("y") }),
        ("image", { box, _ in box.image = (box.image ?? Data()) + [3] }),
        ("colour", { box, _ in box.colour = Harbour.Colour((box.colour?.name ?? "") + "!") }),
        ("items", { $0.items.append($1) }), ("items", { box, _ in box.items.removeAll { $0.name == "one" } }),
        ("items", { box, new in if box.items.isEmpty { box.items = [new] } else { box.items.append(new) } }),
        ("others", { $0.others.append($1) }), ("top", { if $0.top?.name != $1.name { $0.top = $1 } }),
    ]

    @Test(arguments: changes.indices)
    func `what could not be read is not replaced, and each save says so`(_ number: Int) throws {
        let (property, change) = Self.changes[number]
        let before = try rows()
        let (context, box, new) = try unread()
        disk.failing { change(box, new) }
        #expect(context.hasChanges)
        for _ in 0..<2 {
            let error = try #require(throws: MigrationError.self) { try context.save() }
            #expect(error.code == .inputOutput && error.message.hasPrefix("Box.\(property) of "), "\(error)")
        }
        #expect(try rows() == before)
        // A change that reads what is there.
        change(box, new)
        try context.save()
        let read = ModelContext(container)
        let (after, item) = (
            try #require(read.model(for: id) as? Box), try #require(try read.all(Item.self).first { $0.name == "new" })
        )
        #expect(after.count == (property == "count" ? 6 : 5) && after.note == (property == "note" ? "old!" : "old"))
        #expect(after.place == .init(room: "hall", row: property == "place" ? 4 : 3))
        #expect(after.marks == (property == "marks" ? ["x", "y"] : ["x"]))
        #expect(after.image == Data(property == "image" ? [1, 2, 3] : [1, 2]))
        #expect(after.colour == Harbour.Colour(property == "colour" ? "red!" : "red"))
        #expect(after.items.contains { $0.name == "two" })
        #expect(after.others.map(\.name).sorted() == (property == "others" ? ["new", "one"] : ["one"]))
        #expect((after.top === item) == (property == "top"))
    }

    @Test func `what was made of nothing is refused although the value was read since`() throws {
        let before = try rows()
        let (context, box, new) = try unread()
        var items: [Item] = []
        disk.failing { items = box.items }
        #expect(items.isEmpty && box.items.count == 2)
        box.items = items + [new]
        #expect(throws: MigrationError.self) { try context.save() }
        #expect(try rows() == before)
    }

    @Test func `an object that is deleted because it showed nothing stays`() throws {
        let before = try rows()
        let (context, box, _) = try unread()
        disk.failing { if box.items.isEmpty { context.delete(box) } }
        #expect(throws: MigrationError.self) { try context.save() }
        context.rollback()
        #expect(!context.hasChanges && box.items.count == 2)
        try context.save()
        #expect(try rows() == before)
    }

    @Test func `a change that fails because of a read is not made by half, nor forgotten`() throws {
        let before = try rows()
        let later = ModelContext(container)
        // The box that loses the item has not been read.
        let item = try #require(try later.all(Item.self).first { $0.name == "one" })
        disk.failing { item.topOf = nil }
        #expect(throws: MigrationError.self) { try later.save() }
        #expect(try rows() == before)
        #expect(item.topOf != nil)
        item.topOf = nil
        try later.save()
        #expect(try SQLiteShell.run(path, "SELECT count(ZTOP) FROM ZBOX; SELECT count(ZTOPOF) FROM ZITEM") == "0\n0\n")
    }
}
