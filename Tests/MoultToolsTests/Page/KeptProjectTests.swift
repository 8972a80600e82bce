import Foundation
import Moult
import MoultTools
import Synchronization
import TestSupport
import Testing

@Suite("The projects that a page keeps")
struct KeptProjectTests {
    /// Counts how often a project is read.
    private final class Reader: Sendable {
        private let count = Mutex(0)
        var reads: Int { count.withLock { $0 } }

        func read(_ settings: Site.Settings) throws -> Project {
            count.withLock { $0 += 1 }
            return try settings.project()
        }
    }

    private func append(_ text: String, to path: String) throws {
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    @Test func `a project is read once, and again after a change of any of its files`() throws {
        let forum = try ForumStore(count: 1)
        var settings = forum.settings()
        settings.rules = forum.folder.path + "/rules.json"
        let rules = URL(fileURLWithPath: forum.folder.path + "/rules.json")
        try Data(#"{"format":1,"rules":[]}"#.utf8).write(to: rules)
        let reader = Reader()
        let projects = KeptProjects(settling: 0) { try reader.read($0) }
        func names() throws -> [String] { try projects.project(settings).versionNames }
        let whole = try names()
        #expect(try names() == whole && whole.count == 3 && reader.reads == 1)

        // Each of these has an effect of its own on what is read, or may have.
        let contents = forum.models + "/Forum 3.xcdatamodel/contents"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: contents))
        try append("\n", to: contents)
        #expect(try names() == whole && reader.reads == 2)
        // The same bytes in another file.
        try bytes.write(to: URL(fileURLWithPath: contents), options: .atomic)
        #expect(try names() == whole && reader.reads == 3)
        try append(" ", to: rules.path)
        #expect(try names() == whole && reader.reads == 4)
        try FileManager.default.removeItem(atPath: forum.models + "/Forum 3.xcdatamodel")
        try FileManager.default.removeItem(atPath: forum.models + "/.xccurrentversion")
        #expect(try names().count == 2 && reader.reads == 5)
        let answers = forum.folder.path + "/Forum.answers.json"
        try Data(#"{"format":1,"answers":[]}"#.utf8).write(to: URL(fileURLWithPath: answers))
        #expect(try names().count == 2 && reader.reads == 6)
        #expect(try names().count == 2 && reader.reads == 6)
        // Another order is another project.
        settings.order = ["Forum 2", "Forum"]
        #expect(try names() == ["Forum 2", "Forum"] && reader.reads == 7)
    }

    @Test func `the model inside a store is read again when the store has changed`() throws {
        let store = try SampleStore(count: 2)
        let settings = Site.Settings(store: store.path)
        let reader = Reader()
        let projects = KeptProjects(settling: 0) { try reader.read($0) }
        for _ in 0..<3 { _ = try projects.project(settings) }
        #expect(reader.reads == 1)
        _ = try SQLiteShell.run(store.path, "UPDATE ZINGREDIENT SET ZNAME = 'x'")
        for _ in 0..<3 { _ = try projects.project(settings) }
        #expect(reader.reads == 2)
    }

    @Test func `a project whose files have just changed is not kept, and few are kept at a time`() throws {
        let forum = try ForumStore(count: 1)
        let reader = Reader()
        let hasty = KeptProjects(settling: 3_600) { try reader.read($0) }
        for _ in 0..<3 { _ = try hasty.project(forum.settings()) }
        #expect(reader.reads == 3)

        let projects = KeptProjects(settling: 0) { try reader.read($0) }
        let others = try (0..<3).map { _ in try ForumStore(count: 1) }
        _ = try projects.project(forum.settings())
        for other in others { _ = try projects.project(other.settings()) }
        #expect(reader.reads == 7)
        for other in others { _ = try projects.project(other.settings()) }
        #expect(reader.reads == 7)
        // The first one had to go.
        _ = try projects.project(forum.settings())
        #expect(reader.reads == 8)
    }
}
