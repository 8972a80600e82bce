import MoultData
import Testing

@Suite struct HistoriesTests {
    @Model final class Task {
        @Attribute(.preserveValueOnDeletion) var title: String
        var isDone = false
        init(title: String) { self.title = title }
    }

    let store: SampleStore
    let context: ModelContext

    init() throws {
        store = try SampleStore()
        context = ModelContext(try store.container(Task.self))
    }

    private func history() throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }

    @Test func `each save is a transaction, with its author`() throws {
        context.author = "widget"
        context.insert(Task(title: "write"))
        try context.save()
        context.author = "app"
        context.insert(Task(title: "read"))
        try context.save()
        #expect(try history().map(\.author) == ["widget", "app"])
    }

    @Test func `a transaction tells what was inserted, updated and deleted`() throws {
        let task = Task(title: "write")
        context.insert(task)
        try context.save()
        let id = task.persistentModelID
        task.isDone = true
        try context.save()
        context.delete(task)
        try context.save()
        var kinds: [String] = []
        for change in try history().flatMap(\.changes) {
            #expect(change.changedPersistentIdentifier == id)
            switch change {
            case .insert: kinds.append("insert")
            case .update(let update as DefaultHistoryUpdate<Task>):
                kinds.append("update")
                #expect(update.updatedAttributes == [\Task.isDone])
            case .delete(let delete as DefaultHistoryDelete<Task>):
                kinds.append("delete")
                #expect(delete.tombstone[\Task.title] as? String == "write")
            default: kinds.append("other")
            }
        }
        #expect(kinds == ["insert", "update", "delete"])
    }

    @Test func `what came after a token`() throws {
        context.insert(Task(title: "write"))
        try context.save()
        let token = try #require(try history().last?.token)
        context.insert(Task(title: "read"))
        try context.save()
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        descriptor.predicate = #Predicate { $0.token > token }
        #expect(try context.fetchHistory(descriptor).flatMap(\.changes).count == 1)
    }

    @Test func `old history is deleted`() throws {
        context.insert(Task(title: "write"))
        try context.save()
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(try history().isEmpty)
    }
}
