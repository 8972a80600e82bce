import Foundation
import MoultData
import TestSupport
import Testing

/// `@Attribute(.unique)`: an insert whose unique value a row has changes that row.
@Suite struct UniquenessTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag

    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Bookshop.container()
        context = ModelContext(container)
    }

    @Test func `a row is changed, keeps its identity, and the new model shows it`() throws {
        context.insert(Shelf(code: "A", room: "cellar"))
        try context.save()
        let id = try #require(try ModelContext(container).all(Shelf.self).first?.persistentModelID)

        let other = ModelContext(container)
        let again = Shelf(code: "A")
        again.books = [Book("Emma")]
        other.insert(again)
        try other.save()
        #expect(again.persistentModelID == id && again.modelContext === other && !again.hasChanges)
        let found = try ModelContext(container).all(Shelf.self)
        #expect(found.count == 1 && found.first?.persistentModelID == id)
        #expect(found.first?.room == "hall" && found.first?.books.map(\.title) == ["Emma"])
    }

    @Test func `the model that shows the row already stays the row's, and the new one shows it too`() throws {
        let first = Shelf(code: "A", room: "cellar")
        context.insert(first)
        try context.save()
        let second = Shelf(code: "A", room: "roof")
        context.insert(second)
        try context.save()
        #expect(first.room == "roof" && first.modelContext === context)
        #expect(second.modelContext === context && second.room == "roof")
        #expect(second.persistentModelID == first.persistentModelID)
        #expect(try context.all(Shelf.self).map { $0 === first } == [true])
    }

    @Test func `what is set of the new model later is saved, whoever showed the row before`() throws {
        let store = try Disk()
        let first = Shelf(code: "A", room: "cellar")
        store.context.insert(first)
        try store.context.save()
        let (second, third) = (Shelf(code: "A", room: "roof"), Shelf(code: "A", room: "attic"))
        store.context.insert(second)
        store.context.insert(third)
        try store.context.save()
        #expect(try store.sql("SELECT ZROOM FROM ZSHELF") == "attic")
        for (number, shelf) in [second, third, first].enumerated() {
            shelf.room = "room \(number)"
            shelf.books.append(Book("book \(number)"))
            #expect(store.context.hasChanges && [first, second, third].allSatisfy { $0.room == "room \(number)" })
            try store.context.save()
            #expect(try store.sql("SELECT ZROOM FROM ZSHELF") == "room \(number)")
        }
        store.context.insert(Book("of a new model", shelf: second))
        try store.context.save()
        #expect(try store.sql("SELECT count(*) FROM ZBOOK WHERE ZSHELF = 1") == "4")
        store.context.delete(third)
        try store.context.save()
        #expect(try store.sql("SELECT count(*) FROM ZSHELF; SELECT count(*) FROM ZBOOK") == "0\n0")
    }

    @Test func `of two new models of one save either goes on being saved`() throws {
        let store = try Disk()
        let (one, two) = (Shelf(code: "A", room: "hall"), Shelf(code: "A", room: "roof"))
        store.context.insert(one)
        store.context.insert(two)
        try store.context.save()
        two.room = "two"
        try store.context.save()
        #expect(try store.sql("SELECT ZROOM FROM ZSHELF") == "two")
        one.room = "one"
        try store.context.save()
        #expect(try store.sql("SELECT ZROOM FROM ZSHELF") == "one" && two.room == "one")
    }

    @Test func `who observes one model of a row learns what is set of another`() throws {
        let (first, second) = (Shelf(code: "A"), Shelf(code: "A"))
        context.insert(first)
        try context.save()
        context.insert(second)
        try context.save()
        for (seen, changed) in [(first, second), (second, first)] {
            nonisolated(unsafe) var isTold = false
            withObservationTracking {
                _ = seen.room
            } onChange: {
                isTold = true
            }
            changed.room += "!"
            #expect(isTold)
        }
        nonisolated(unsafe) var isTold = false
        withObservationTracking {
            _ = second.room
        } onChange: {
            isTold = true
        }
        context.rollback()
        #expect(isTold && second.room == "hall")
    }

    @Test func `a row that another process changed since is updated all the same`() throws {
        let store = try Disk()
        let first = Shelf(code: "A", room: "cellar")
        store.context.insert(first)
        try store.context.save()
        _ = try store.sql("UPDATE ZSHELF SET ZROOM = 'theirs', Z_OPT = Z_OPT + 1")
        store.context.insert(Shelf(code: "A", room: "roof"))
        try store.context.save()
        #expect(try store.sql("SELECT ZROOM, Z_OPT FROM ZSHELF") == "roof|3" && first.room == "roof")
    }

    @Test func `of several new ones the last one's values stay`() throws {
        for room in ["hall", "cellar", "roof"] { context.insert(Shelf(code: "A", room: room)) }
        try context.save()
        #expect(try ModelContext(container).all(Shelf.self).map(\.room) == ["roof"])
    }

    @Test func `relationships of the row stay, and new ones come to them`() throws {
        let (tag, book) = (Tag("old"), Book("Emma"))
        book.tags = [tag]
        context.insert(book)
        try context.save()
        let again = Tag("old")
        let other = Book("Persuasion")
        other.tags = [again]
        context.insert(other)
        try context.save()
        let tags = try ModelContext(container).all(Tag.self)
        #expect(tags.count == 1 && Set(tags[0].books.map(\.title)) == ["Emma", "Persuasion"])
    }

    @Test func `a change that would take another row's value is refused, and nothing is saved`() throws {
        let (one, two) = (Shelf(code: "A"), Shelf(code: "B"))
        context.insert(one)
        context.insert(two)
        try context.save()
        two.code = "A"
        two.room = "roof"
        let error = try #require(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .saveConflict)
        // SwiftData has no merge policies, and an error has one remedy.
        #expect(!"\(error)".contains("merge policy") && !error.message.contains("Refresh"), "\(error)")
        #expect(error.remedy.hasPrefix("Nothing was saved. Give one of the objects another value"), "\(error)")
        #expect(two.code == "A" && two.hasChanges)
        #expect(try ModelContext(container).all(Shelf.self).map(\.room) == ["hall", "hall"])
        context.rollback()
        #expect(two.code == "B")
        two.code = "C"
        try context.save()
        #expect(try ModelContext(container).all(Shelf.self).map(\.code).sorted() == ["A", "C"])
    }

    // MARK: - Subclasses

    private typealias Animal = Zoo.Animal
    private typealias Dog = Zoo.Dog
    private typealias Cat = Zoo.Cat

    @Test func `a row does not take values that its class has not, and nothing is lost`() throws {
        let store = try Disk(Zoo.self)
        store.context.insert(Animal("a", weight: 3))
        try store.context.save()
        let before = try store.sql("SELECT * FROM ZANIMAL")
        let context = ModelContext(store.container)
        let dog = Dog("a", bark: "wuff")
        context.insert(dog)
        let error = #expect(throws: SwiftDataError.saveConflict) { try context.save() }
        #expect(error?.message.contains("An object of Animal cannot hold the values of both") == true)
        #expect(try store.sql("SELECT * FROM ZANIMAL") == before)
        #expect(dog.bark == "wuff" && dog.hasChanges)
        // As the message says.
        for animal in try context.all(Animal.self) where !(animal is Dog) { context.delete(animal) }
        try context.save()
        let row = "SELECT Z_NAME, ZTAG, ZBARK1 FROM ZANIMAL JOIN Z_PRIMARYKEY USING (Z_ENT)"
        #expect(try store.sql(row) == "Dog|a|wuff")
        context.insert(Cat("a", bark: 7))
        #expect(throws: SwiftDataError.saveConflict) { try context.save() }
        #expect(try store.sql(row) == "Dog|a|wuff")
    }

    @Test func `a row of a subclass takes a superclass's values, and is shown by a model of its class`() throws {
        let store = try Disk(Zoo.self)
        store.context.insert(Dog("d", bark: "wuff"))
        try store.context.save()
        let context = ModelContext(store.container)
        let animal = Animal("d", weight: 5)
        context.insert(animal)
        try context.save()
        let row = "SELECT Z_NAME, ZTAG, ZBARK1, ZWEIGHT FROM ZANIMAL JOIN Z_PRIMARYKEY USING (Z_ENT)"
        #expect(try store.sql(row) == "Dog|d|wuff|5")
        let dog = try #require(try context.all(Dog.self).first)
        animal.weight = 6
        #expect(dog.weight == 6 && dog.persistentModelID == animal.persistentModelID)
        try context.save()
        #expect(try store.sql(row) == "Dog|d|wuff|6")
    }

    @Test func `of two new models of one save the subclass becomes the row`() throws {
        let store = try Disk(Zoo.self)
        store.context.insert(Animal("d", weight: 5))
        store.context.insert(Dog("d", bark: "wuff"))
        try store.context.save()
        let row = "SELECT Z_NAME, ZTAG, ZBARK1 FROM ZANIMAL JOIN Z_PRIMARYKEY USING (Z_ENT)"
        #expect(try store.sql(row) == "Dog|d|wuff")
        store.context.insert(Dog("x", bark: "wuff"))
        store.context.insert(Cat("x", bark: 7))
        #expect(throws: SwiftDataError.saveConflict) { try store.context.save() }
        #expect(try store.sql(row) == "Dog|d|wuff")
    }
}

/// A store on disk that the sqlite3 shell reads.
private struct Disk {
    let folder: ScratchFolder
    let container: ModelContainer
    let context: ModelContext

    init(_ schema: any VersionedSchema.Type = Bookshop.self) throws {
        folder = try ScratchFolder()
        container = try ModelContainer(
            for: Schema(versionedSchema: schema),
            configurations: .init(url: URL(fileURLWithPath: folder.path + "/shop.store")))
        context = ModelContext(container)
    }

    func sql(_ query: String) throws -> String {
        try SQLiteShell.run(folder.path + "/shop.store", query).trimmingCharacters(in: .newlines)
    }
}

/// Classes that share a unique value.
private enum Zoo: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Animal.self, Dog.self, Cat.self] }

    @Model class Animal {
        @Attribute(.unique) var tag: String
        var weight = 0

        init(_ tag: String, weight: Int = 0) {
            self.tag = tag
            self.weight = weight
        }
    }

    @Model final class Dog: Animal {
        var bark = ""

        init(_ tag: String, bark: String) {
            self.bark = bark
            super.init(tag)
        }
    }

    @Model final class Cat: Animal {
        var bark = 0

        init(_ tag: String, bark: Int) {
            self.bark = bark
            super.init(tag)
        }
    }
}
