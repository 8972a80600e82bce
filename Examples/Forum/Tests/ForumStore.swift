import Foundation
import MoultCoreData
import TestSupport
import Testing

@testable import ForumReader

/// A store before and after its migration, both to be asked by the sqlite3 shell.
struct ForumStore {
    let tool: ExampleTool
    /// Of version 1.
    let old: String
    /// Of version 4.
    let new: String
    /// What the migration printed.
    let output: String
    /// When it began and ended, in seconds since 2001.
    let span: ClosedRange<Double>

    /// Makes the sample, lets `change` add to it, and migrates it.
    init(change: (ManagedObjectContext) throws -> Void = { _ in }) throws {
        tool = try ExampleTool("forum-reader")
        (old, new) = (tool.folder.path + "/old.sqlite", tool.folder.path + "/forum.sqlite")
        try ForumSample.make(at: URL(fileURLWithPath: old))
        let coordinator = PersistentStoreCoordinator(managedObjectModel: try ForumModel.version("ForumReader").model)
        let store = try coordinator.addPersistentStore(at: URL(fileURLWithPath: old))
        let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        try context.performAndWait {
            try change(context)
            try context.save()
        }
        try coordinator.remove(store)
        try FileManager.default.copyItem(atPath: old, toPath: new)
        let begin = Date().timeIntervalSinceReferenceDate
        let result = try tool("migrate", "forum.sqlite")
        span = begin...Date().timeIntervalSinceReferenceDate
        output = result.output
        try #require(result.exit == 0, "\(output)")
    }

    /// The rows that a query gives, their columns separated by `|`.
    func rows(_ store: String, _ sql: String) throws -> [String] {
        try SQLiteShell.run(store, sql).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }
}
