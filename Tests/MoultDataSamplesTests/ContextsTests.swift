import MoultData
import Testing

@Suite struct ContextsTests {
    let store: SampleStore
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        store = try SampleStore()
        container = try store.container(Item.self)
        context = ModelContext(container)
    }

    @Model final class Item {
        var name: String
        var count: Int
        init(name: String, count: Int = 0) {
            self.name = name
            self.count = count
        }
    }

    @Test func `insert and save`() throws {
        let item = Item(name: "pen")
        context.insert(item)
        #expect(context.hasChanges && context.insertedModelsArray.count == 1)
        try context.save()
        #expect(!context.hasChanges && context.insertedModelsArray.isEmpty)
        #expect(try store.sql("SELECT ZNAME FROM ZITEM") == ["pen"])
    }

    @Test func `change and save`() throws {
        let item = Item(name: "pen")
        context.insert(item)
        try context.save()
        item.count = 5
        #expect(item.hasChanges && context.changedModelsArray.map(\.persistentModelID) == [item.persistentModelID])
        try context.save()
        #expect(try store.sql("SELECT ZCOUNT, Z_OPT FROM ZITEM") == ["5|2"])
    }

    @Test func `delete and save`() throws {
        let item = Item(name: "pen")
        context.insert(item)
        try context.save()
        context.delete(item)
        #expect(item.isDeleted && context.deletedModelsArray.count == 1 && item.modelContext != nil)
        try context.save()
        #expect(!item.isDeleted && item.modelContext == nil && context.deletedModelsArray.isEmpty)
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == ["0"])
    }

    @Test func `rollback takes back what was not saved`() throws {
        let item = Item(name: "pen", count: 1)
        context.insert(item)
        try context.save()
        item.count = 2
        context.insert(Item(name: "ink"))
        context.rollback()
        #expect(item.count == 1 && !context.hasChanges)
        #expect(try context.fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test func `a transaction saves at its end`() throws {
        try context.transaction {
            for number in 1...3 { context.insert(Item(name: "item \(number)")) }
        }
        #expect(!context.hasChanges)
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == ["3"])
    }

    @Test func `models are deleted by a predicate`() throws {
        for number in 1...4 { context.insert(Item(name: "item", count: number)) }
        try context.save()
        try context.delete(model: Item.self, where: #Predicate { $0.count > 2 })
        try context.save()
        #expect(try store.sql("SELECT ZCOUNT FROM ZITEM ORDER BY 1") == ["1", "2"])
        try context.delete(model: Item.self)
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == ["0"])
    }

    @Test func `another context sees what was saved, and a fetch brings it up to date`() throws {
        let item = Item(name: "pen", count: 1)
        context.insert(item)
        try context.save()
        let other = ModelContext(container)
        let same = try #require(try other.fetch(FetchDescriptor<Item>()).first)
        #expect(same !== item && same.persistentModelID == item.persistentModelID)
        same.count = 9
        try other.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Item>()).first?.count == 9)
    }

    @Test func `an identifier leads to the object in any context`() throws {
        let item = Item(name: "pen")
        context.insert(item)
        try context.save()
        let id = item.persistentModelID
        #expect(context.registeredModel(for: id) as Item? === item)
        let other = ModelContext(container)
        #expect(other.registeredModel(for: id) as Item? == nil)
        #expect((other.model(for: id) as? Item)?.name == "pen")
    }

    @Test func `an identifier survives encoding`() throws {
        let item = Item(name: "pen")
        context.insert(item)
        try context.save()
        let data = try JSONEncoder().encode(item.persistentModelID)
        let id = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
        #expect(id == item.persistentModelID && id.entityName == "Item" && id.storeIdentifier != nil)
        #expect((ModelContext(container).model(for: id) as? Item)?.name == "pen")
    }

    @Test func `saves are told before and after`() throws {
        nonisolated(unsafe) var heard: [String] = []
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(forName: ModelContext.willSave, object: context, queue: nil) { _ in heard.append("will")
            },
            center.addObserver(forName: ModelContext.didSave, object: context, queue: nil) { _ in heard.append("did") },
        ]
        defer { tokens.forEach(center.removeObserver) }
        context.insert(Item(name: "pen"))
        try context.save()
        #expect(heard == ["will", "did"])
    }

    @Test func `nothing is written until the context saves`() throws {
        context.autosaveEnabled = false
        context.insert(Item(name: "pen"))
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == ["0"])
        #expect(try context.fetchCount(FetchDescriptor<Item>()) == 1)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Item>()) == 0)
    }

    @Test func `an author is on record`() throws {
        context.author = "importer"
        context.insert(Item(name: "pen"))
        try context.save()
        let authors = "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON t.ZAUTHORTS = s.Z_PK"
        #expect(try store.sql(authors) == ["importer"])
    }
}
