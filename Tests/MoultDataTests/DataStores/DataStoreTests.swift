import Foundation
import MoultData
import TestSupport
import Testing

@Model private final class Note {
    var text: String
    init(_ text: String) { self.text = text }
}

@Model private final class Draft {
    var text: String
    init(_ text: String) { self.text = text }
}

/// Models in a store of one's own.
@Suite(.serialized) struct DataStoreTests {
    let folder: ScratchFolder
    var url: URL { URL(fileURLWithPath: folder.path + "/shop.json") }

    init() throws { folder = try ScratchFolder() }

    func container() throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self), configurations: [JSONStoreConfiguration(fileURL: url)])
    }

    /// What stands in the file, by Foundation's own reader.
    func objects(_ entity: String) throws -> [[String: Any]] {
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]] ?? []
        return all.filter { object in
            let id = object["persistentIdentifier"] as? [String: Any]
            return (id?["implementation"] as? [String: Any])?["entityName"] as? String == entity
        }
    }

    private func fill(_ context: ModelContext) throws {
        let shelf = Bookshop.Shelf(code: "A")
        let book = Bookshop.Book("Emma", pages: 400, shelf: shelf)
        book.genre = .essay
        book.price = 9.5
        book.tags = [Bookshop.Tag("old")]
        context.insert(book)
        context.insert(Bookshop.Book("Germinal", pages: 500))
        try context.save()
    }

    // MARK: - What is kept

    @Test func `a save writes each property under its name`() throws {
        try fill(ModelContext(container()))
        let emma = try #require(try objects("Book").first { $0["title"] as? String == "Emma" })
        #expect(emma["pages"] as? Int == 400)
        #expect(emma["genre"] as? String == "essay")
        #expect(emma["price"] as? Double == 9.5)
        #expect(emma["isbn"] is NSNull)
        #expect(emma["isOpen"] == nil, "nobody keeps a transient property")
        let shelf = (emma["shelf"] as? [String: Any])?["implementation"] as? [String: Any]
        #expect(shelf?["isTemporary"] as? Bool == false)
        #expect(shelf?["entityName"] as? String == "Shelf")
        #expect((emma["tags"] as? [Any])?.count == 1)
        #expect(try (objects("Shelf")[0]["books"] as? [Any])?.count == 1, "both ends are kept")
    }

    @Test func `another container reads what was saved`() throws {
        try fill(ModelContext(container()))
        let context = ModelContext(try container())
        let books = try context.fetch(FetchDescriptor<Bookshop.Book>(sortBy: [SortDescriptor(\.pages)]))
        #expect(books.map(\.title) == ["Emma", "Germinal"])
        #expect(books[0].shelf?.code == "A")
        #expect(books[0].tags.map(\.name) == ["old"])
        #expect(books[0].genre == .essay)
        #expect(books[0].price == 9.5)
        #expect(!books[0].hasChanges && !context.hasChanges)
        books[0].shelf = nil
        context.delete(books[1])
        try context.save()
        #expect(try objects("Book").map { $0["title"] as? String } == ["Emma"])
        #expect(try (objects("Shelf")[0]["books"] as? [Any])?.isEmpty == true)
    }

    @Test func `the other end follows though no context has it`() throws {
        try fill(ModelContext(container()))
        let context = ModelContext(try container())
        let book = try #require(
            try context.fetch(FetchDescriptor<Bookshop.Book>(predicate: #Predicate { $0.title == "Emma" })).first)
        book.shelf = nil
        book.tags = []
        try context.save()
        #expect(try (objects("Shelf")[0]["books"] as? [Any])?.isEmpty == true)
        #expect(try (objects("Tag")[0]["books"] as? [Any])?.isEmpty == true)
    }

    @Test func `fetches filter, sort, limit and count, with unsaved changes`() throws {
        let context = ModelContext(try container())
        try fill(context)
        context.insert(Bookshop.Book("Persuasion", pages: 250))
        func titles(_ descriptor: FetchDescriptor<Bookshop.Book>) throws -> [String] {
            try context.fetch(descriptor).map(\.title)
        }
        var sorted = FetchDescriptor<Bookshop.Book>(sortBy: [SortDescriptor(\.pages)])
        #expect(try titles(sorted) == ["Persuasion", "Emma", "Germinal"])
        sorted.fetchLimit = 1
        sorted.fetchOffset = 1
        #expect(try titles(sorted) == ["Emma"])
        let long = FetchDescriptor<Bookshop.Book>(predicate: #Predicate { $0.pages > 300 })
        #expect(try Set(titles(long)) == ["Emma", "Germinal"])
        #expect(try context.fetchCount(long) == 2)
        #expect(try context.fetchCount(FetchDescriptor<Bookshop.Book>()) == 3)
        try context.save()
        #expect(try context.fetchCount(long) == 2)
        #expect(try context.fetchIdentifiers(FetchDescriptor<Bookshop.Book>()).count == 3)
        #expect(try context.fetch(sorted, batchSize: 1).map(\.title) == ["Emma"])
        try context.delete(model: Bookshop.Book.self, where: #Predicate { $0.pages > 300 })
        try context.save()
        #expect(try objects("Book").map { $0["title"] as? String } == ["Persuasion"])
    }

    @Test func `an identity leads to its model in a context that has not read it`() throws {
        let context = ModelContext(try container())
        try fill(context)
        let id = try #require(try context.all(Bookshop.Book.self).first { $0.title == "Emma" }).persistentModelID
        let encoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
        #expect(encoded == id)
        #expect(id.storeIdentifier == url.path)
        let other = ModelContext(try container())
        let book = try #require(other.model(for: encoded) as? Bookshop.Book)
        #expect(book.title == "Emma")
        #expect(book.shelf?.code == "A")
    }

    @Test func `what others changed in the store shows after a fetch`() throws {
        let one = ModelContext(try container())
        try fill(one)
        let books = try one.all(Bookshop.Book.self)
        let emma = try #require(books.first { $0.title == "Emma" })
        let other = ModelContext(try container())
        for book in try other.all(Bookshop.Book.self) {
            if book.title == "Emma" { book.pages = 1 } else { other.delete(book) }
        }
        try other.save()
        #expect(try one.fetch(FetchDescriptor<Bookshop.Book>()).map(\.title) == ["Emma"])
        #expect(emma.pages == 1)
        emma.pages = 2
        for book in try other.all(Bookshop.Book.self) { book.pages = 3 }
        try other.save()
        _ = try one.all(Bookshop.Book.self)
        #expect(throws: SwiftDataError.saveConflict) { try one.save() }
        #expect(try objects("Book").first?["pages"] as? Int == 3)
    }

    @Test func `a list that two contexts add to has what both added`() throws {
        let container = try container()
        try fill(ModelContext(container))
        let (one, other) = (ModelContext(container), ModelContext(container))
        let shelf = try #require(try one.all(Bookshop.Shelf.self).first)
        one.insert(Bookshop.Book("Persuasion", shelf: shelf))
        let same = try #require(try other.all(Bookshop.Shelf.self).first)
        same.room = "attic"
        other.insert(Bookshop.Book("Sanditon", shelf: same))
        try other.save()
        try one.save()
        let kept = try #require(try objects("Shelf").first)
        #expect(kept["room"] as? String == "attic")
        #expect((kept["books"] as? [Any])?.count == 3)
        #expect(try one.all(Bookshop.Shelf.self).map(\.books.count) == [3])
    }

    @Test func `a unique value that the store has is found, though nothing was fetched`() throws {
        try fill(ModelContext(container()))
        let context = ModelContext(try container())
        context.insert(Bookshop.Shelf(code: "A", room: "attic"))
        try context.save()
        #expect(try objects("Shelf").map { $0["room"] as? String } == ["attic"])
        #expect(try context.all(Bookshop.Shelf.self).map(\.books.count) == [1])
    }

    @Test func `a unique value may have gone to another model meanwhile`() throws {
        let file = URL(fileURLWithPath: folder.path + "/shop.store")
        let schema = Schema(versionedSchema: Bookshop.self)
        let context = ModelContext(
            try ModelContainer(for: schema, configurations: [CountingConfiguration(inner: .init(url: file))]))
        try fill(context)
        #expect(try context.all(Bookshop.Shelf.self).count == 1)
        let other = ModelContext(try ModelContainer(for: schema, configurations: .init(url: file)))
        for shelf in try other.all(Bookshop.Shelf.self) { other.delete(shelf) }
        try other.save()
        other.insert(Bookshop.Shelf(code: "A", room: "attic"))
        try other.save()
        let found = try context.fetch(FetchDescriptor<Bookshop.Shelf>(predicate: #Predicate { $0.code == "A" }))
        #expect(found.map(\.room) == ["attic"])
        #expect(try context.fetchIdentifiers(FetchDescriptor<Bookshop.Shelf>()) == found.map(\.persistentModelID))
    }

    @Test func `a predicate sees unsaved changes of what it leads to`() throws {
        let context = ModelContext(try container())
        try fill(context)
        try context.all(Bookshop.Shelf.self).first?.code = "B"
        let found = try context.fetch(
            FetchDescriptor<Bookshop.Book>(predicate: #Predicate { $0.shelf?.code == "B" }))
        #expect(found.map(\.title) == ["Emma"])
    }

    @Test func `erase empties the store`() throws {
        let container = try container()
        try fill(ModelContext(container))
        try container.erase()
        #expect(try objects("Book").isEmpty)
        #expect(try ModelContext(container).all(Bookshop.Book.self).isEmpty)
    }

    @Test func `values of every kind come back`() throws {
        ValueTransformer.setValueTransformer(ReversingTransformer.self, forName: "Reversing")
        let schema = Schema(versionedSchema: EveryKind.self)
        func open() throws -> ModelContext {
            ModelContext(try ModelContainer(for: schema, configurations: [JSONStoreConfiguration(fileURL: url)]))
        }
        let context = try open()
        let made = EveryKind.Everything()
        made.places = [EveryKind.Place(name: "there", latitude: 2)]
        made.optionalPlace = EveryKind.Place(name: "elsewhere", latitude: -1)
        made.parts = [EveryKind.Part(name: "a")]
        context.insert(made)
        try context.save()
        let read = try #require(try open().all(EveryKind.Everything.self).first)
        for property in EveryKind.Everything.schemaMetadata.properties {
            guard case .attribute = property.shape else { continue }
            let (one, other) = (made[keyPath: property.keyPath], read[keyPath: property.keyPath])
            #expect(String(reflecting: one ?? "none") == String(reflecting: other ?? "none"), "\(property.name)")
        }
        #expect(read.parts.map(\.name) == ["a"])
        #expect(read.reversed == made.reversed)
    }

    @Test func `a class and its subclasses are fetched together`() throws {
        let schema = Schema([Library.Novel.self, Library.Essay.self])
        let context = ModelContext(
            try ModelContainer(for: schema, configurations: [JSONStoreConfiguration(fileURL: url)]))
        context.insert(Library.Novel(title: "n"))
        context.insert(Library.Essay(title: "e"))
        try context.save()
        let other = ModelContext(
            try ModelContainer(for: schema, configurations: [JSONStoreConfiguration(fileURL: url)]))
        #expect(try other.all(Library.Work.self).count == 2)
        #expect(try other.all(Library.Essay.self).count == 1)
        try other.delete(model: Library.Work.self, includeSubclasses: false)
        #expect(!other.hasChanges)
        try other.delete(model: Library.Work.self)
        try other.save()
        #expect(try objects("Novel").isEmpty && objects("Essay").isEmpty)
    }

    @Test func `a store may have snapshots of its own, and change models while it saves`() throws {
        let configuration = OwnSnapshotConfiguration()
        let container = try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self), configurations: [configuration])
        let context = ModelContext(container)
        try fill(context)
        #expect(configuration.kept.count == 4)
        let other = ModelContext(
            try ModelContainer(for: Schema(versionedSchema: Bookshop.self), configurations: [configuration]))
        let emma = try #require(
            try other.all(Bookshop.Book.self).first { $0.title == "Emma" })
        emma.pages += 1
        emma.tags = []
        try other.save()
        #expect(emma.pages == 401)
        #expect(try context.all(Bookshop.Tag.self).first?.books.isEmpty == true)
        #expect(try context.all(Bookshop.Book.self).map(\.pages).max() == 500)
    }

    // MARK: - What goes wrong

    @Test func `an error of the store keeps the changes`() throws {
        struct Full: Error {}
        let context = ModelContext(try container())
        try fill(context)
        let before = try Data(contentsOf: url)
        JSONStore.spoiling = { _ in throw Full() }
        defer { JSONStore.spoiling = nil }
        context.insert(Bookshop.Book("Persuasion"))
        #expect(throws: Full.self) { try context.save() }
        #expect(try Data(contentsOf: url) == before)
        #expect(context.insertedModelsArray.count == 1)
        JSONStore.spoiling = nil
        try context.save()
        #expect(try objects("Book").count == 3)
    }

    @Test func `a save without identities for new models is an error that says so`() throws {
        let context = ModelContext(try container())
        JSONStore.spoiling = { _ in true }
        defer { JSONStore.spoiling = nil }
        context.insert(Bookshop.Book("Persuasion"))
        let error = #expect(throws: MigrationError.self) { try context.save() }
        #expect(error?.message.contains("saved a new Book without giving it an identity") == true)
        JSONStore.spoiling = { _ in
            Issue.record("the store was asked again")
            return true
        }
        #expect(throws: MigrationError.self) { try context.save() }
    }

    @Test func `a value that the model does not allow never reaches the store`() throws {
        let context = ModelContext(try container())
        try fill(context)
        JSONStore.spoiling = { _ in
            Issue.record("the store was asked")
            return false
        }
        defer { JSONStore.spoiling = nil }
        let author = Bookshop.Author("Austen")
        author.books = try context.all(Bookshop.Book.self)
        context.insert(author)
        JSONStore.spoiling = nil
        try context.save()
        JSONStore.spoiling = { _ in
            Issue.record("the store was asked")
            return false
        }
        context.delete(author)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func `snapshots that lead to temporary models are refused`() throws {
        let context = ModelContext(try container())
        try fill(context)
        let new = Bookshop.Shelf(code: "B")
        context.insert(new)
        let temporary = try JSONSerialization.jsonObject(with: JSONEncoder().encode(new.persistentModelID))
        var all = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]])
        for place in all.indices where all[place]["shelf"] is [String: Any] { all[place]["shelf"] = temporary }
        try JSONSerialization.data(withJSONObject: all).write(to: url)
        let error = #expect(throws: MigrationError.self) {
            try ModelContext(container()).all(Bookshop.Book.self)
        }
        #expect(error?.message.contains("whose shelf leads to the temporary") == true)
        #expect(error?.remedy.contains("remappedIdentifiers") == true)
    }

    @Test func `a damaged file is an error, and stays as it is`() throws {
        try fill(ModelContext(container()))
        let half = try Data(contentsOf: url).prefix(100)
        try half.write(to: url)
        let context = ModelContext(try container())
        #expect(throws: DecodingError.self) { try context.all(Bookshop.Book.self) }
        context.insert(Bookshop.Book("Persuasion"))
        #expect(throws: DecodingError.self) { try context.save() }
        #expect(try Data(contentsOf: url) == half)
    }

    @Test func `models that the store has no more are left out of relationships`() throws {
        try fill(ModelContext(container()))
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]] ?? []
        let rest = all.filter { $0["code"] == nil }
        try JSONSerialization.data(withJSONObject: rest).write(to: url)
        let context = ModelContext(try container())
        let emma = try #require(try context.all(Bookshop.Book.self).first { $0.title == "Emma" })
        #expect(emma.shelf == nil)
        #expect(emma.tags.count == 1)
    }

    @Test func `a model that is gone from the store leaves the lists of those that led to it`() throws {
        let context = ModelContext(try container())
        try fill(context)
        let shelf = try #require(try context.all(Bookshop.Shelf.self).first)
        #expect(shelf.books.count == 1)
        let all = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]] ?? []
        let rest = all.filter { $0["title"] as? String != "Emma" }.map { object in
            object["books"] == nil ? object : object.merging(["books": [Any]()]) { $1 }
        }
        try JSONSerialization.data(withJSONObject: rest).write(to: url)
        #expect(try context.all(Bookshop.Shelf.self).map(\.books.count) == [0], "the books were not fetched")
        #expect(try context.all(Bookshop.Book.self).map(\.title) == ["Germinal"])
    }

    // MARK: - Beside others

    @Test func `one store keeps some models, and SQLite the others`() throws {
        let container = try ModelContainer(
            for: Note.self, Draft.self,
            configurations: JSONStoreConfiguration(schema: Schema(Note.self), fileURL: url),
            ModelConfiguration("drafts", schema: Schema(Draft.self), isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Note("one"))
        context.insert(Draft("two"))
        try context.save()
        let other = ModelContext(container)
        #expect(try other.all(Note.self).map(\.text) == ["one"])
        #expect(try other.all(Draft.self).map(\.text) == ["two"])
        #expect(try objects("Note").count == 1)
        #expect(try objects("Draft").isEmpty)
        #expect(container.configurations.map(\.name) == ["drafts"])
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Schema([Note.self, Draft.self]),
                configurations: [
                    ModelConfiguration(isStoredInMemoryOnly: true),
                    JSONStoreConfiguration(schema: Schema(Note.self), fileURL: url),
                ])
        }
    }

    @Test func `a store is told of contexts, and asked for its history`() throws {
        let file = URL(fileURLWithPath: folder.path + "/shop.store")
        let container = try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self),
            configurations: [CountingConfiguration(inner: .init(url: file))])
        CountingStore.states = []
        var context: ModelContext? = ModelContext(container)
        #expect(CountingStore.states == [context!.editingState.id])
        context?.author = "me"
        try fill(context!)
        let history = try context!.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(history.map(\.author) == ["me"])
        #expect(history.first?.changes.count == 4)
        #expect(try SQLiteShell.run(file.path, "SELECT count(*) FROM ZBOOK") == "2\n")
        for shelf in try context!.all(Bookshop.Shelf.self) { context?.delete(shelf) }
        try context?.save()
        #expect(try SQLiteShell.run(file.path, "SELECT ZTITLE FROM ZBOOK") == "Germinal\n", "a shelf deletes its books")
        context = nil
        #expect(CountingStore.states.isEmpty)
    }
}
