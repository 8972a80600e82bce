import Foundation
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport

/// The bundle of an example, written to a folder as Xcode would.
struct ExampleModel {
    let folder: ScratchFolder
    var path: String { folder.path + "/App.xcdatamodeld" }

    init(_ example: LintExample) throws {
        folder = try ScratchFolder()
        try Self.write(example.versions, current: Self.current(of: example), to: path)
    }

    /// The version that Xcode would mark: the last one unless the example names another; nil for a single version.
    private static func current(of example: LintExample) -> String? {
        guard example.isMarked, example.versions.count > 1 else { return example.current }
        return example.current ?? example.versions.last?.name
    }

    static func write(_ versions: [LintExample.Version], current: String?, to path: String) throws {
        for version in versions {
            let model = "\(path)/\(version.name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
            try version.contents?.write(toFile: model + "/contents", atomically: true, encoding: .utf8)
        }
        if let current { try SchemaFiles.mark(current, inBundle: path) }
    }

    /// A repository whose only commit has the released versions, and the bundle as it is now.
    static func released(_ example: LintExample) throws -> (folder: ScratchFolder, model: String) {
        let folder = try ScratchFolder()
        let model = folder.path + "/App.xcdatamodeld"
        try write(example.released, current: example.releasedCurrent, to: model)
        try Repository(folder.path).commitAll()
        try FileManager.default.removeItem(atPath: model)
        try write(example.versions, current: current(of: example), to: model)
        return (folder, model)
    }

    /// The findings of a lint of an example, against what it says was released.
    static func findings(_ example: LintExample, _ lint: Lint) throws -> [LintFinding] {
        guard !example.released.isEmpty else {
            let model = try ExampleModel(example)
            let schema = try example.schema.map {
                LintSchema(try CloudKitSchemaFile(Array($0.utf8), path: "Production.ckdb"), path: "Production.ckdb")
            }
            return try findings(at: model.path, lint, answers: try Answers(example.answers), schema: schema)
        }
        let (folder, model) = try released(example)
        defer { withExtendedLifetime(folder) {} }
        return try findings(at: model, lint, since: "HEAD")
    }

    static func findings(
        at path: String, _ lint: Lint, since revision: String? = nil, answers: Answers = .none,
        schema: LintSchema? = nil
    ) throws -> [LintFinding] {
        let bundle = try ModelBundle(contentsOf: path)
        let releases = try revision.map { revision in
            let commit = try GitRevision(revision, around: path)
            return [LintRelease(try commit.model(of: bundle), at: commit)]
        }
        let subject = try LintSubject(bundle, answers: answers, releases: releases ?? [], schema: schema)
        return lint.findings(in: subject, path: path)
    }
}

/// A git repository for a test.
struct Repository {
    let folder: String

    init(_ folder: String) throws {
        self.folder = folder
        try git("init", "--quiet", "--initial-branch=main")
    }

    /// The repository that is in a folder already.
    init(at folder: String) { self.folder = folder }

    struct Failure: Error { let text: String }

    @discardableResult
    func git(_ arguments: String...) throws -> String {
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        let run = try ChildProcess.run("git", ["-C", folder] + identity + arguments)
        guard run.exit == 0 else { throw Failure(text: run.output) }
        return run.output
    }

    func commitAll(_ message: String = "Change") throws {
        try git("add", "--all")
        try git("commit", "--quiet", "--allow-empty", "-m", message)
    }
}
