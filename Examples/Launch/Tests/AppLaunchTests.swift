import Foundation
import LaunchScreen
import Moult
import MoultModel
import MoultTesting
import TestSupport
import Testing

/// The launch of an app whose store is three versions behind.
@MainActor
@Suite struct AppLaunchTests {
    private nonisolated static func versions() throws -> ModelVersions {
        try ModelVersions(
            "Note = title String, draft String",
            "Note = title String, draft String, stars Integer16 required =0",
            """
            Folder = name String
            Note = title String, draft String, stars Integer16 required =0
            """,
            """
            Folder = name String, notes >> Note.folder
            Note = title String, draft String, stars Integer16 required =0, folder > Folder.notes
            """)
    }

    /// The same without the drafts.
    private nonisolated static func withoutDrafts() throws -> ModelVersions {
        let last = try ManagedObjectModel(
            """
            Folder = name String, notes >> Note.folder
            Note = title String, stars Integer16 required =0, folder > Folder.notes
            """)
        return ModelVersions(versions: try versions().versions + [ModelVersion(names: ["5"], model: last)])
    }

    private func store(_ version: String? = nil) throws -> TestStore {
        try TestStore(at: version, registry: MigrationRegistry(models: Self.versions), count: 9)
    }

    private func launch(
        _ store: TestStore, _ versions: ModelVersions, _ change: (inout RunOptions) -> Void = { _ in }
    ) -> AppLaunch {
        var options = RunOptions()
        options.patience = .zero
        change(&options)
        return AppLaunch(
            StoreLaunch(store: URL(fileURLWithPath: store.path), models: .versions(versions), options: options))
    }

    private func rows(_ store: TestStore) throws -> String {
        try SQLiteShell.run(store.path, "SELECT ZTITLE FROM ZNOTE ORDER BY Z_PK")
    }

    @Test func `three versions behind, the store is brought up to date, and every note is there`() async throws {
        let store = try store()
        let before = try rows(store)
        let launch = try launch(store, Self.versions())
        await launch.begin()
        #expect(launch.screen == .open)
        #expect(try rows(store) == before)
        #expect(try SQLiteShell.run(store.path, "SELECT count(ZFOLDER), max(ZSTARS) FROM ZNOTE") == "0|0\n")
        // The next launch finds nothing to do.
        let next = try self.launch(store, Self.versions())
        await next.begin()
        #expect(next.screen == .open)
    }

    @Test func `interrupted, it goes on at the next launch`() async throws {
        let store = try store()
        let before = try rows(store)
        let first = try launch(store, Self.versions())
        let task = Task { await first.begin() }
        task.cancel()
        await task.value
        #expect(first.screen == .working || first.screen == .open)
        #expect(try rows(store) == before)
        let second = try launch(store, Self.versions())
        await second.begin()
        #expect(second.screen == .open)
        #expect(try rows(store) == before)
    }

    @Test func `what would be lost is a question, and goes only when it is accepted`() async throws {
        let store = try store()
        let launch = try launch(store, Self.withoutDrafts())
        await launch.begin()
        guard case .question(let sentences) = launch.screen else {
            Issue.record("\(launch.screen)")
            return
        }
        #expect(sentences.contains { $0.contains("Note.draft") }, "\(sentences)")
        #expect(try SQLiteShell.run(store.path, "SELECT count(ZDRAFT) FROM ZNOTE") != "0\n")
        await launch.accept()
        #expect(launch.screen == .open)
    }

    @Test func `a store that is ahead of the app is told, and stays`() async throws {
        let store = try store("4")
        let before = try rows(store)
        let older = try Self.versions().versions.prefix(2)
        let launch = launch(store, ModelVersions(versions: Array(older)))
        await launch.begin()
        guard case .message(_, canGoBack: false) = launch.screen else {
            Issue.record("\(launch.screen)")
            return
        }
        #expect(try rows(store) == before)
    }

    @Test func `a store that is in use is told, and stays`() async throws {
        let store = try store()
        let other = try SQLiteProcess(store.path)
        defer { other.kill() }
        _ = try other.run("BEGIN EXCLUSIVE")
        let launch = try launch(store, Self.versions())
        await launch.begin()
        guard case .message(let text, canGoBack: false) = launch.screen else {
            Issue.record("\(launch.screen)")
            return
        }
        #expect(text.contains("using your data"))
    }

    @Test func `going back restores the store of the earlier version`() async throws {
        let store = try store()
        let digest = try SQLiteShell.run(store.path, ".sha3sum --schema")
        let launch = try launch(store, Self.versions())
        await launch.begin()
        await launch.goBack()
        #expect(try SQLiteShell.run(store.path, ".sha3sum --schema") == digest)
    }
}
