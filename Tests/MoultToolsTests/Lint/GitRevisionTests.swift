import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// Released versions, read through git.
@Suite("Lint since a revision")
struct GitRevisionTests {
    private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
    private static let body = "<attribute name=\"body\" optional=\"YES\" attributeType=\"String\"/>"
    private static func version(_ name: String, _ properties: String...) -> LintExample.Version {
        .init(name, "<entity name=\"Post\">\(properties.joined())</entity>")
    }
    private static let v1 = version("App", title)
    private static let v2 = version("App 2", title, body)

    /// A repository with a commit of these versions in `App.xcdatamodeld`.
    private func repository(_ versions: [LintExample.Version]) throws -> (ScratchFolder, Repository, model: String) {
        let folder = try ScratchFolder()
        let model = folder.path + "/App.xcdatamodeld"
        try ExampleModel.write(versions, current: nil, to: model)
        let repository = try Repository(folder.path)
        try repository.commitAll()
        return (folder, repository, model)
    }

    private func codes(_ path: String, since revision: String) throws -> [String] {
        try ExampleModel.findings(at: path, Lint(), since: revision).map(\.rule.code)
            // These bundles mark no current version.
            .filter { $0.hasPrefix("OPEN") && $0 != "OPEN012" }
    }

    private func error(_ revision: String, _ path: String) throws -> MigrationError {
        let bundle = try ModelBundle(contentsOf: path)
        return try #require(throws: MigrationError.self) {
            _ = try GitRevision(revision, around: path).model(of: bundle)
        }
    }

    @Test func `a new version is no finding, an edited one is`() throws {
        let (folder, _, model) = try repository([Self.v1])
        defer { withExtendedLifetime(folder) {} }
        try ExampleModel.write([Self.v2], current: "App 2", to: model)
        #expect(try codes(model, since: "main").isEmpty)
        try ExampleModel.write([Self.version("App", Self.body)], current: "App 2", to: model)
        #expect(try codes(model, since: "main") == ["OPEN001"])
        let finding = try #require(
            try ExampleModel.findings(at: model, Lint(), since: "main").first { $0.rule.code == "OPEN001" })
        #expect(finding.message.contains("The attribute Post.title is removed"))
        #expect(finding.place == "Post.body" && finding.line == 2)
    }

    @Test func `what the other branch has added since is not missing here`() throws {
        let (folder, repository, model) = try repository([Self.v1])
        defer { withExtendedLifetime(folder) {} }
        try repository.git("checkout", "--quiet", "-b", "work")
        try repository.git("checkout", "--quiet", "main")
        try ExampleModel.write([Self.v2], current: nil, to: model)
        try repository.commitAll()
        try repository.git("checkout", "--quiet", "work")
        #expect(try codes(model, since: "main").isEmpty)
    }

    @Test(arguments: ["Store.xcdatamodeld", "Sources/App.xcdatamodeld"])
    func `a renamed or moved bundle hides no edit`(to place: String) throws {
        let (folder, _, model) = try repository([Self.v1, Self.v2])
        let moved = folder.path + "/" + place
        try FileManager.default.createDirectory(atPath: folder.path + "/Sources", withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: model, toPath: moved)
        #expect(try codes(moved, since: "HEAD").isEmpty)
        try ExampleModel.write([Self.version("App", Self.body)], current: nil, to: moved)
        #expect(try codes(moved, since: "HEAD") == ["OPEN001"])
    }

    @Test func `a bundle of one version that was renamed and edited with its version is still compared`() throws {
        let (folder, _, model) = try repository([Self.v1])
        try FileManager.default.removeItem(atPath: model)
        let renamed = folder.path + "/Store.xcdatamodeld"
        try ExampleModel.write([Self.version("Store", Self.body)], current: nil, to: renamed)
        #expect(try codes(renamed, since: "HEAD") == ["OPEN002"])
    }

    @Test func `a version that was renamed is found by its hashes, or edited by its identifier`() throws {
        let folder = try ScratchFolder()
        let model = folder.path + "/App.xcdatamodeld"
        func write(_ name: String, _ property: String) throws {
            try FileManager.default.createDirectory(
                atPath: "\(model)/\(name).xcdatamodel", withIntermediateDirectories: true)
            try """
            <model userDefinedModelVersionIdentifier="1.0"><entity name="Post">\(property)</entity></model>
            """.write(toFile: "\(model)/\(name).xcdatamodel/contents", atomically: true, encoding: .utf8)
        }
        try write("App", Self.title)
        try Repository(folder.path).commitAll()
        try FileManager.default.moveItem(
            atPath: model + "/App.xcdatamodel", toPath: model + "/App 1.xcdatamodel")
        #expect(try codes(model, since: "HEAD").isEmpty)
        try write("App 1", Self.body)
        #expect(try codes(model, since: "HEAD") == ["OPEN001"])
    }

    @Test func `steps between released versions are not reported again`() throws {
        let (folder, _, model) = try repository([Self.v2, Self.version("App 3", Self.title)])
        defer { withExtendedLifetime(folder) {} }
        func removed(since revision: String?) throws -> Int {
            try ExampleModel.findings(at: model, Lint(), since: revision).count { $0.rule.code == "DATA002" }
        }
        #expect(try removed(since: nil) == 1)
        #expect(try removed(since: "HEAD") == 0)
    }

    @Test func `a copy of a model is a model of its own, and new`() throws {
        let (folder, _, model) = try repository([Self.v1])
        let copy = folder.path + "/Copy.xcdatamodeld"
        try FileManager.default.copyItem(atPath: model, toPath: copy)
        let error = try error("HEAD", copy)
        #expect(error.code == .modelNotFound && error.exitCode == 4)
        #expect(error.remedy.contains("leave the argument since out"))
    }

    @Test func `an unknown revision, no common ancestor and no repository are errors with the next step`() throws {
        let (folder, repository, model) = try repository([Self.v1])
        defer { withExtendedLifetime(folder) {} }
        let unknown = try error("origin/main", model)
        #expect(unknown.exitCode == 2 && unknown.message.contains("origin/main"))
        #expect(try error("--output=x", model).exitCode == 2)
        try repository.git("checkout", "--quiet", "--orphan", "other")
        try repository.commitAll("Begin again")
        let apart = try error("main", model)
        #expect(apart.exitCode == 2 && apart.message.contains("no common ancestor"))
        let alone = try ScratchFolder()
        try ExampleModel.write([Self.v1], current: nil, to: alone.path + "/App.xcdatamodeld")
        let outside = try error("main", alone.path + "/App.xcdatamodeld")
        #expect(outside.exitCode == 2 && outside.message.contains("no git repository"))
    }

    @Test func `a shallow clone is told how to fetch the rest`() throws {
        let (folder, repository, model) = try repository([Self.v1])
        try repository.git("tag", "released")
        try ExampleModel.write([Self.v2], current: nil, to: model)
        try repository.commitAll()
        let clones = try ScratchFolder()
        let clone = clones.path + "/clone"
        let made = try ChildProcess.run("git", ["clone", "--quiet", "--depth=1", "file://" + folder.path, clone])
        try #require(made.exit == 0, "\(made.output)")
        let error = try error("released", clone + "/App.xcdatamodeld")
        #expect(error.exitCode == 2 && error.message.contains("shallow"))
        #expect(error.remedy.contains("git fetch --unshallow"))
    }
}
