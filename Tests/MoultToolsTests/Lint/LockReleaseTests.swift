import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// Released versions, read from `moult.lock`.
@Suite("Lint against a lock")
struct LockReleaseTests {
    private static let v1 = LintExample.Version(
        "App", "<entity name=\"Post\"><attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/></entity>")
    private static let edited = LintExample.Version(
        "App", "<entity name=\"Post\"><attribute name=\"title\" attributeType=\"String\"/></entity>")
    private static let v2 = LintExample.Version(
        "App 2", "<entity name=\"Post\"><attribute name=\"body\" optional=\"YES\" attributeType=\"String\"/></entity>")

    /// The findings of a model whose lock is next to it.
    private func codes(_ path: String) throws -> [String] {
        let bundle = try ModelBundle(contentsOf: path)
        let lock = try #require(bundle.lock)
        let release = try #require(LintRelease(lock, of: bundle, place: "moult.lock"))
        return Lint().findings(in: try LintSubject(bundle, releases: [release]), path: path).map(\.rule.code)
    }

    private func locked() throws -> (ScratchFolder, model: String) {
        let folder = try ScratchFolder()
        let model = folder.path + "/App.xcdatamodeld"
        try ExampleModel.write([Self.v1], current: nil, to: model)
        var lock = ModelLock()
        try lock.pin(try ModelBundle(contentsOf: model))
        try lock.contents.write(toFile: folder.path + "/moult.lock", atomically: true, encoding: .utf8)
        return (folder, model)
    }

    @Test func `an edit of a locked version is an error, and reported once`() throws {
        let (folder, model) = try locked()
        defer { withExtendedLifetime(folder) {} }
        #expect(try codes(model).isEmpty)
        try ExampleModel.write([Self.edited], current: nil, to: model)
        #expect(try codes(model) == ["OPEN001"])
    }

    @Test func `with a lock and a revision, an edit is reported once, and a lock that is gone is an error`() throws {
        let (folder, model) = try locked()
        let repository = try Repository(folder.path)
        try repository.commitAll()
        func found() throws -> [LintFinding] {
            let bundle = try ModelBundle(contentsOf: model)
            let releases = try LintRelease.all(of: bundle, lock: nil, since: "HEAD")
            return Lint().findings(in: try LintSubject(bundle, releases: releases), path: model)
        }
        #expect(try found().isEmpty)
        try ExampleModel.write([Self.edited], current: nil, to: model)
        let edits = try found()
        #expect(edits.map(\.rule.code) == ["OPEN001"])
        // The model of the revision shows what changed.
        #expect(edits.first?.member == "title", "\(edits.map(\.message))")
        try ExampleModel.write([Self.v1], current: nil, to: model)
        try FileManager.default.removeItem(atPath: folder.path + "/moult.lock")
        let gone = try found()
        #expect(gone.map(\.rule.code) == ["OPEN002"] && gone.first?.severity == .error)
        #expect(gone.first?.message.contains("moult.lock") == true, "\(gone.map(\.message))")
    }

    @Test func `what a locked version has is a note, also if it is a warning elsewhere`() throws {
        let folder = try ScratchFolder()
        let model = folder.path + "/App.xcdatamodeld"
        let tags = LintExample.Version(
            "App",
            "<entity name=\"Post\"><attribute name=\"tags\" optional=\"YES\" attributeType=\"Transformable\"/></entity>"
        )
        try ExampleModel.write([tags], current: nil, to: model)
        func severities() throws -> [Finding.Severity] {
            let bundle = try ModelBundle(contentsOf: model)
            let releases = try LintRelease.all(of: bundle, lock: nil, since: nil)
            return Lint().findings(in: try LintSubject(bundle, releases: releases), path: model).map(\.severity)
        }
        #expect(try severities().contains { $0 > .note })
        var lock = ModelLock()
        try lock.pin(try ModelBundle(contentsOf: model))
        try lock.contents.write(toFile: folder.path + "/moult.lock", atomically: true, encoding: .utf8)
        let locked = try severities()
        #expect(!locked.isEmpty && locked.allSatisfy { $0 == .note }, "\(locked)")
    }

    @Test func `a bundle that was renamed is found under its old name in the lock`() throws {
        let (folder, model) = try locked()
        let renamed = folder.path + "/Store.xcdatamodeld"
        try FileManager.default.moveItem(atPath: model, toPath: renamed)
        #expect(try codes(renamed).isEmpty)
        try ExampleModel.write([Self.edited, Self.v2], current: "App 2", to: renamed)
        #expect(try codes(renamed).contains("OPEN001"))
    }

    @Test
    func `the lock knows the current version, so that moving it back or no longer naming it is an error`() throws {
        let (folder, model) = try locked()
        try ExampleModel.write([Self.v1, Self.v2], current: "App 2", to: model)
        var lock = ModelLock()
        try lock.pin(try ModelBundle(contentsOf: model))
        #expect(lock.contents.contains("\"current\": {\n    \"App.xcdatamodeld\": \"App 2\"\n  }"), "\(lock.contents)")
        try lock.contents.write(toFile: folder.path + "/moult.lock", atomically: true, encoding: .utf8)
        #expect(try !codes(model).contains { $0.hasPrefix("OPEN") })
        try ExampleModel.write([Self.v1, Self.v2], current: "App", to: model)
        #expect(try codes(model).contains("OPEN004"))
        try FileManager.default.removeItem(atPath: model + "/.xccurrentversion")
        #expect(try codes(model).filter { $0.hasPrefix("OPEN") } == ["OPEN008"])
        // A bundle that is renamed keeps its current version.
        try ExampleModel.write([Self.v1, Self.v2], current: "App", to: model)
        try FileManager.default.moveItem(atPath: model, toPath: folder.path + "/Store.xcdatamodeld")
        #expect(try codes(folder.path + "/Store.xcdatamodeld").contains("OPEN004"))
    }

    @Test func `a lock without the current version, as an older Moult wrote it, says nothing of it`() throws {
        let (folder, model) = try locked()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.path + "/moult.lock"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let start = try #require(text.range(of: ",\n  \"current\""))
        try (text[..<start.lowerBound] + "\n}\n").write(toFile: path, atomically: true, encoding: .utf8)
        try ExampleModel.write([Self.v1, Self.v2], current: "App", to: model)
        #expect(try codes(model).filter { $0.hasPrefix("OPEN") } == ["OPEN003"])
    }

    @Test func `a lock that has another model only says nothing of this one`() throws {
        let (folder, model) = try locked()
        let copy = folder.path + "/Copy.xcdatamodeld"
        try FileManager.default.copyItem(atPath: model, toPath: copy)
        let bundle = try ModelBundle(contentsOf: copy)
        #expect(LintRelease(try #require(bundle.lock), of: bundle, place: "moult.lock") == nil)
    }
}
