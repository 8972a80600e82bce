import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultTools
import Synchronization
import TestSupport
import Testing

/// An app's launch, before anything opens the store.
@Suite struct StoreLaunchTests {
    private let forum: ForumStore

    init() throws { forum = try ForumStore() }

    @Test func `an app asks for Core Data's messages by the environment, or by Core Data's argument`() {
        let argument = "-com.apple.CoreData.MigrationDebug"
        #expect(MigrationDebug.isAsked(environment: "1", []) && !MigrationDebug.isAsked(environment: "0", ["app"]))
        #expect(MigrationDebug.isAsked(environment: nil, ["app", argument, "1"]))
        for arguments in [["app"], ["app", argument], ["app", argument, "0"]] {
            #expect(!MigrationDebug.isAsked(environment: nil, arguments))
        }
        #expect(MigrationDebug.line("Completed successfully") == "[Migration Debug] Completed successfully")
    }

    /// A launch that accepts the losses, or asks.
    private func launch(accepts: Bool = true, patience: Duration = .seconds(2)) -> StoreLaunch {
        var options = RunOptions()
        options.acceptedLosses = accepts ? .all : .none
        options.patience = patience
        return StoreLaunch(
            store: URL(fileURLWithPath: forum.path), models: .bundle(URL(fileURLWithPath: forum.models)),
            options: options)
    }

    /// The forum's model, compiled as an app has it.
    private func compiled() throws -> URL {
        let url = URL(fileURLWithPath: forum.folder.path + "/Forum.momd")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        for file in try CompiledModel(compiling: forum.models).files {
            try Data(file.bytes).write(to: url.appendingPathComponent(file.name))
        }
        return url
    }

    /// What the sqlite3 shell says of the rows of every table of the model.
    private func rows() throws -> String {
        try forum.sql("SELECT count(*) FROM ZPOST; SELECT count(*) FROM ZUSER")
    }

    @Test func `models without files are versions too, named as given or by numbers`() async throws {
        let files = try CompiledModel(compiling: forum.models).files
        var findings: [Finding] = []
        var models: [ManagedObjectModel] = []
        for name in ["Forum", "Forum 2"] {
            let file = try #require(files.first { $0.name == "\(name).mom" })
            models.append(try ManagedObjectModel(compiled: file.bytes, findings: &findings))
        }
        var options = RunOptions()
        options.acceptedLosses = .all
        let cases: [([String]?, String)] = [(nil, "2.0"), (["old", "new"], "new"), (["same", "same"], "2")]
        for (names, target) in cases {
            let forum = try ForumStore()
            let launch = StoreLaunch(
                store: URL(fileURLWithPath: forum.path), models: .inCode(models, named: names), options: options)
            let before = try forum.sql("SELECT count(*) FROM ZPOST")
            guard case .ready(let reports) = try await launch.prepare() else {
                Issue.record("not ready")
                return
            }
            #expect(reports.map(\.to) == [target])
            #expect(try forum.sql("SELECT count(*) FROM ZPOST") == before)
        }
    }

    @Test func `an older store is migrated in one call, and a current one is only looked at`() async throws {
        let before = try rows()
        guard case .ready(let reports) = try await launch().prepare() else {
            Issue.record("not ready")
            return
        }
        #expect(reports.map(\.outcome) == [.migrated] && reports.first?.backup != nil)
        #expect(try rows() == before)
        let bytes = try forum.bytes()
        for models in [StoreLaunch.Models.bundle(try compiled()), .project(try Project(models: forum.models))] {
            let again = StoreLaunch(store: URL(fileURLWithPath: forum.path), models: models)
            guard case .ready(let none) = try await again.prepare() else {
                Issue.record("not ready")
                return
            }
            #expect(none.isEmpty)
        }
        #expect(try forum.bytes() == bytes)
    }

    @Test func `a loss is a decision, and its acceptance holds until the migration is finished`() async throws {
        // The last version has no posts.
        let versions = try ModelVersions(contentsOf: URL(fileURLWithPath: forum.models))
        let shorter = try ManagedObjectModel(
            entities: versions.versions[0].model.entities.filter { $0.name == "User" }.map { user in
                var user = user
                user.properties.removeAll { ["posts", "topics"].contains($0.name) || $0.name == "email" }
                return user
            })
        let models = ModelVersions(versions: [versions.versions[0], ModelVersion(names: ["short"], model: shorter)])
        func launch() -> StoreLaunch {
            StoreLaunch(store: URL(fileURLWithPath: forum.path), models: .versions(models))
        }
        let before = try forum.bytes()
        // Asked twice, it is the same: nothing was accepted.
        var asked: StoreLaunch.Decision?
        for _ in 0..<2 {
            let answer = try await launch().prepare()
            guard case .needsDecision(let decision) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(decision.losses.contains { $0.place == "Post" && $0.count == 6 }, "\(decision.sentences)")
            #expect(decision.sentences.count == decision.losses.count)
            #expect(decision.error.code == .lossNotAccepted && !"\(decision.error)".contains("--"))
            asked = decision
        }
        #expect(try forum.bytes() == before)
        let answer = try await asked?.accept()
        guard case .ready(let reports) = answer else {
            Issue.record("\(answer as Any)")
            return
        }
        #expect(reports.first?.losses.contains { $0.place == "Post" && $0.count == 6 } == true)
        #expect(!FileManager.default.fileExists(atPath: forum.path + ".moult/launch.json"))
        #expect(try forum.sql("SELECT count(*) FROM sqlite_master WHERE name = 'ZPOST'") == "0")
    }

    @Test func `where no store is, none is made`() async throws {
        let url = URL(fileURLWithPath: forum.folder.path + "/none.sqlite")
        let names = try FileManager.default.contentsOfDirectory(atPath: forum.folder.path).sorted()
        guard
            case .ready(let reports) = try await StoreLaunch(
                store: url, models: .bundle(URL(fileURLWithPath: forum.models))
            ).prepare()
        else {
            Issue.record("not ready")
            return
        }
        #expect(reports.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: forum.folder.path).sorted() == names)
    }

    @Test func `a call that is suspended ends unfinished, and the next one ends the migration`() async throws {
        let answer = try launch().run(isCancelled: { true })
        guard case .unfinished(let progress) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(progress.fraction < 1 && !progress.words.isEmpty)
        #expect(try forum.sql("PRAGMA integrity_check") == "ok")
        guard case .ready(let reports) = try await launch().prepare() else {
            Issue.record("not ready")
            return
        }
        #expect(reports.count == 1)
    }

    @Test func `a store that another process holds is in use, and is left alone`() async throws {
        let other = try SQLiteProcess(forum.path)
        _ = try other.run("BEGIN EXCLUSIVE")
        let before = try forum.bytes()
        let answer = try await launch(patience: .zero).prepare()
        guard case .unavailable(.storeInUse(let error)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(error.code == .locked)
        #expect(try forum.bytes() == before)
        other.kill()
    }

    @Test func `a volume without room is told with what is missing`() throws {
        struct Full: ForwardingSystem {
            func space(at path: String) throws -> VolumeSpace {
                var space = try real.space(at: path)
                space.available = 1_000
                return space
            }
        }
        let before = try forum.bytes()
        let answer = try launch().run(on: Full())
        guard case .unavailable(.insufficientStorage(let missing, let error)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(missing > 1_000 && error.code == .insufficientStorage)
        #expect(try forum.bytes() == before)
    }

    @Test func `a model that is missing is a mistake of the app, and is thrown`() async throws {
        let nowhere = URL(fileURLWithPath: forum.folder.path + "/Nowhere.momd")
        let launch = StoreLaunch(store: URL(fileURLWithPath: forum.path), models: .bundle(nowhere))
        let error = await #expect(throws: MigrationError.self) { _ = try await launch.prepare() }
        #expect(error?.code == .fileNotFound || error?.code == .modelNotFound)
    }

    @Test func `after a migration it can go back`() async throws {
        let dump = try forum.sql(".sha3sum --schema")
        let launch = launch()
        _ = try await launch.prepare()
        #expect(try forum.sql(".sha3sum --schema") != dump)
        #expect(try await launch.goBack().count == 1)
        #expect(try forum.sql(".sha3sum --schema") == dump)
    }
}
