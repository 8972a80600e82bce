import Foundation
import MoultCoreData
import TestSupport
import Testing

// The program of the module's page, line for line.

/// Adds a post to every pinned topic. A store of an older version is migrated as it is opened.
func announce(_ text: String, in store: URL, model: URL) async throws -> Int {
    let container = try PersistentContainer(name: "Forum", modelURL: model)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: store)]
    try await container.loadPersistentStores()

    return try await container.performBackgroundTask { context in
        var request = FetchRequest<ManagedObject>(entityName: "Topic")
        request.predicate = try FetchPredicate(format: "isPinned == YES AND forum.title != %@", "Archive")
        let topics = try context.fetch(request)
        for topic in topics {
            let post = try context.insertNewObject(forEntityName: "Post")
            try post.setValue(text, forKey: "body")
            try post.setValue(Date(), forKey: "writtenAt")
            try topic.mutableOrderedSetValue(forKey: "posts").add(post)
        }
        try context.save()
        return topics.count
    }
}

@Suite struct ModulePageTests {
    private let model = packageRoot.appendingPathComponent("Examples/Forum.xcdatamodeld")

    @Test func `the program of the page is the one that is compiled here`() throws {
        let file = "Sources/MoultCoreData/MoultCoreData.docc/MoultCoreData.md"
        let page = try String(contentsOf: packageRoot.appendingPathComponent(file), encoding: .utf8)
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
        let start = "import Foundation\nimport MoultCoreData\n\n"
        let block = try #require(blocks.first { $0.hasPrefix(start) })
        let whole = try #require(block.components(separatedBy: "```").first)
        let program = String(whole.drop { $0 != "/" })
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(program.contains("func announce") && source.contains(program))
    }

    @Test func `it migrates a store of the first version and adds its posts`() async throws {
        let folder = try ScratchFolder()
        let store = URL(fileURLWithPath: folder.path + "/forum.sqlite")
        try populate(store)
        #expect(try await announce("Welcome", in: store, model: model) == 2)
        let posts = try SQLiteShell.run(
            store.path,
            "SELECT t.ZSUBJECT, p.ZBODY, p.Z_FOK_TOPIC FROM ZPOST p JOIN ZTOPIC t ON t.Z_PK = p.ZTOPIC ORDER BY 1, 3")
        #expect(posts == "Rules|first|2048\nRules|Welcome|3072\nTips|Welcome|2048\n")
    }

    /// Four threads of the first version, two of them pinned and not archived.
    private func populate(_ store: URL) throws {
        let first = try ManagedObjectModel(contentsOf: model.appendingPathComponent("Forum.xcdatamodel"))
        let coordinator = PersistentStoreCoordinator(managedObjectModel: first)
        let opened = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: store, options: nil)
        let context = ManagedObjectContext(concurrencyType: .privateQueue)
        context.persistentStoreCoordinator = coordinator
        for (subject, isPinned, forumTitle) in [
            ("Rules", true, "News"), ("Tips", true, "Help"), ("Chat", false, "News"), ("Old", true, "Archive"),
        ] {
            let forum = try context.insertNewObject(forEntityName: "Forum")
            try forum.setValue(forumTitle, forKey: "title")
            let thread = try context.insertNewObject(forEntityName: "Thread")
            try thread.setValue(subject, forKey: "subject")
            try thread.setValue(isPinned, forKey: "isPinned")
            try thread.setValue(forum, forKey: "forum")
            guard subject == "Rules" else { continue }
            let post = try context.insertNewObject(forEntityName: "Post")
            try post.setValue("first", forKey: "text")
            try post.setValue(Date(), forKey: "writtenAt")
            try post.setValue(thread, forKey: "thread")
        }
        try context.save()
        try coordinator.remove(opened)
    }
}
