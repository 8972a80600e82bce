import Foundation
import Moult
import MoultBasics
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// The shapes of a model at the tags of a repository, compared with those that Python finds.
@Suite("Shapes at tags")
struct ShapeTests {  // tier: long
    /// The bundle of a real app, edited in place at each tag: one in the package, and three of the corpus.
    private static let histories = [
        packageRoot.path + "/Tests/Corpus/objcio__core-data/Migrations/Migrations/Moody.xcdatamodeld",
        "/Bookmarks/BookmarksModel.xcdatamodeld", "/XCServerCoreData.xcdatamodeld", "/WooCommerce.xcdatamodeld",
    ]

    @Test(arguments: histories)
    func `every shape of a model that was edited in place is found, and none invented`(bundle: String) async throws {
        guard bundle.hasPrefix(packageRoot.path) || Corpus.has(bundle) else { return }
        // A folder of one commit may have compiled models alone.
        let found = Corpus.paths { $0.hasSuffix(bundle) }
        let path = found.first { !$0.contains("/@") } ?? found.first ?? bundle
        let folder = try ScratchFolder()
        try ShapeWitness.make(from: path, in: folder.path, tags: 12)
        let model = folder.path + "/App/Edited.xcdatamodeld"
        let report = try await Project(models: model).reconstruct(tags: "v*")
        let witness = try ShapeWitness.shapes(folder.path, tags: "v*", at: ["App/Edited.xcdatamodeld"])
        #expect(report.taggedShapes.count == witness.shapes.count && !witness.shapes.isEmpty)
        #expect(Set(report.taggedShapes) == Set(witness.shapes))
        #expect(report.tags.sorted() == witness.tags && report.tagsWithoutModel.isEmpty)
        #expect(report.findings.filter { $0.code != "way-not-found" } == [], "\(report.findings)")
        // The working tree has the last one.
        #expect(report.shapes.filter { $0.version == "Edited" }.map(\.tags.last) == ["v12"])
        #expect(report.shapes.allSatisfy { ($0.version == nil) == ($0.missingVersion != nil) })
    }

    /// The commits of a real repository, in which the bundle was moved twice, in any order.
    @Test(.enabled(if: Corpus.has("/@fbca827d")))
    func `a model that was moved is found where it was, and another one beside it is not`() async throws {
        let project = try #require(Corpus.paths { $0.hasSuffix("/@fbca827d") }.first)
        let root = URL(fileURLWithPath: project).deletingLastPathComponent().path
        let folder = try ScratchFolder()
        let repository = try Repository(folder.path)
        let commits = try FileManager.default.contentsOfDirectory(atPath: root).filter { $0.hasPrefix("@") }.sorted()
        for commit in commits {
            try? FileManager.default.removeItem(atPath: folder.path + "/Tests")
            let tests = "\(root)/\(commit)/Tests"
            if FileManager.default.fileExists(atPath: tests) {
                // The corpus may be read-only.
                let copied = try ChildProcess.run("cp", ["-r", "--no-preserve=mode", tests, folder.path])
                try #require(copied.exit == 0, "\(copied.output)")
                // The witness reads no compiled models.
                for file in try POSIXSystem().files(below: folder.path + "/Tests") where file.contains(".mom") {
                    try FileManager.default.removeItem(atPath: "\(folder.path)/Tests/\(file)")
                }
            }
            try repository.commitAll(commit)
            try repository.git("tag", "c" + commit.dropFirst())
        }
        let places = [
            "Tests/Resources/SampleModel/SampleModel.xcdatamodeld", "Tests/SampleModel/SampleModel.xcdatamodeld",
            "Tests/SampleModel.xcdatamodeld",
        ]
        let report = try await Project(models: folder.path + "/" + places[0]).reconstruct()
        let witness = try ShapeWitness.shapes(folder.path, tags: "c*", at: places)
        let shapes = witness.shapes
        #expect(Set(places) == Set(report.places.map(\.path)))
        #expect(Set(report.taggedShapes) == Set(shapes) && report.shapes.count == shapes.count && !shapes.isEmpty)
        #expect(report.tagsWithoutModel.count == commits.count - Set(shapes.flatMap(\.tags)).count)
    }
}

/// A model that was edited, renamed and moved in its history.
@Suite("Reconstruction")
struct ReconstructionTests {  // tier: long
    private static func attribute(_ name: String) -> String {
        "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\"/>"
    }
    private static func version(_ name: String, _ attributes: String...) -> LintExample.Version {
        let post = "<entity name=\"Post\">\(attributes.map(attribute).joined())</entity>"
        return .init(name, post + "<entity name=\"User\">\(attribute("name"))</entity>")
    }

    /// A repository with a tag for each state of `App.xcdatamodeld`.
    private func repository(_ states: [LintExample.Version]...) throws -> (ScratchFolder, model: String) {
        let folder = try ScratchFolder()
        let repository = try Repository(folder.path)
        let model = folder.path + "/App.xcdatamodeld"
        for (number, versions) in states.enumerated() {
            try? FileManager.default.removeItem(atPath: model)
            let current = versions.count > 1 ? versions.last?.name : nil
            try ExampleModel.write(versions, current: current, to: model)
            try repository.commitAll()
            try repository.git("tag", "v\(number + 1)")
        }
        return (folder, model)
    }

    private static let edited = [
        [version("App", "title")], [version("App", "title", "body")],
        [version("App", "title", "body", "date"), version("App 2", "title", "date")],
    ]

    private func edited() throws -> (ScratchFolder, model: String) {
        try repository(Self.edited[0], Self.edited[1], Self.edited[2])
    }

    @Test func `a shape has its tags, those that released it, and the version that describes it`() async throws {
        let (folder, model) = try edited()
        let report = try await Project(models: model).reconstruct()
        #expect(report.tags == ["v1", "v2", "v3"])
        #expect(report.shapes.map(\.tags) == [["v1"], ["v2"], ["v3"], ["v3"]])
        #expect(report.shapes.map(\.releases) == [["v1"], ["v2"], [], ["v3"]])
        #expect(report.shapes.map(\.version) == [nil, nil, "App", "App 2"])
        #expect(report.shapes.map(\.missingVersion) == ["App v1", "App v2", nil, nil])
        #expect(report.shapes[0].place == "v1:App.xcdatamodeld/App.xcdatamodel/contents")
        // What was current at v1 and v2 comes before App 2, which was released later.
        #expect(report.order == ["App", "App v1", "App v2", "App 2"] && !report.isComplete)
        withExtendedLifetime(folder) {}
    }

    @Test func `a single version, a renamed bundle and a moved one are the model, and a copy beside it is not`()
        async throws
    {
        let folder = try ScratchFolder()
        let repository = try Repository(folder.path)
        let files = FileManager.default
        try ExampleModel.write([Self.version("App", "title")], current: nil, to: folder.path)
        try repository.commitAll()
        try repository.git("tag", "v1")
        try files.createDirectory(atPath: folder.path + "/Old.xcdatamodeld", withIntermediateDirectories: true)
        try files.moveItem(
            atPath: folder.path + "/App.xcdatamodel", toPath: folder.path + "/Old.xcdatamodeld/App.xcdatamodel")
        try ExampleModel.write(
            [Self.version("App", "title", "body")], current: nil, to: folder.path + "/Old.xcdatamodeld")
        try repository.commitAll()
        try repository.git("tag", "v2")
        try files.createDirectory(atPath: folder.path + "/Sources", withIntermediateDirectories: true)
        let model = folder.path + "/Sources/App.xcdatamodeld"
        try files.moveItem(atPath: folder.path + "/Old.xcdatamodeld", toPath: model)
        try ExampleModel.write(
            [Self.version("Copy", "title", "copied")], current: nil, to: folder.path + "/Copy.xcdatamodeld")
        try repository.commitAll()
        try repository.git("tag", "v3")
        let report = try await Project(models: model).reconstruct()
        #expect(
            report.places.map(\.path) == ["Sources/App.xcdatamodeld", "Old.xcdatamodeld", "App.xcdatamodel"])
        #expect(report.shapes.map(\.tags) == [["v1"], ["v2", "v3"]])
        #expect(report.description.contains("Old.xcdatamodeld is the model at v2."), "\(report)")
    }

    @Test func `compiled models that the repository keeps have shapes too`() async throws {
        let sample = packageRoot.path + "/Tests/Corpus/alemar11__CoreDataPlus/Tests/Resources/SampleModel"
        let folder = try ScratchFolder()
        let model = folder.path + "/SampleModel.xcdatamodeld"
        let repository = try Repository(folder.path)
        try FileManager.default.copyItem(atPath: sample + "/SampleModel.xcdatamodeld", toPath: model)
        for name in ["SampleModel", "SampleModel2"] {
            try FileManager.default.removeItem(atPath: "\(model)/\(name).xcdatamodel")
        }
        try SchemaFiles.mark("SampleModel3", inBundle: model)
        try FileManager.default.copyItem(
            atPath: sample + "/Fixtures/SampleModel.momd", toPath: folder.path + "/Shipped.momd")
        try repository.commitAll()
        try repository.git("tag", "1.0")
        let whole = try ModelBundle(contentsOf: sample + "/Fixtures/SampleModel.momd")
        let stores = sample + "/Fixtures"
        let report = try await Project(models: model).reconstruct(stores: stores)
        let checksums = Set(whole.versions.map(\.hashes.checksum.base64))
        #expect(checksums.count == 3 && Set(report.shapes.map(\.checksum)) == checksums)
        #expect(
            Set(report.stores.map { Path.name(of: $0.path) }) == ["SampleModel_V1.sqlite", "SampleModel_V2.sqlite"])
        #expect(report.stores.allSatisfy { $0.tags == ["1.0"] && $0.checksum != nil }, "\(report)")
        // The second one was never current at a tag; it is missing because a store has it.
        #expect(report.shapes.count { $0.missingVersion != nil } == 2, "\(report)")
        let written = try await Project(models: model).reconstruct(stores: stores, isWriting: true)
        #expect(written.written == model && written.isComplete)
        let versions = try ModelBundle(contentsOf: model).versions
        #expect(Set(versions.map(\.hashes.checksum.base64)) == checksums && versions.last?.name == "SampleModel3")
    }

    @Test func `schemas that an app's tool exports are followed as JSON, and written so`() async throws {
        let (source, model) = try repository([Self.version("App", "title")])
        let folder = try ScratchFolder()
        let repository = try Repository(folder.path)
        try "{\"name\": \"package\"}".write(toFile: folder.path + "/package.json", atomically: true, encoding: .utf8)
        let schema = folder.path + "/schema"
        for (number, attributes) in [["title"], ["title", "body"]].enumerated() {
            let one = attributes.count == 1 ? Self.version("App", "title") : Self.version("App", "title", "body")
            try? FileManager.default.removeItem(atPath: model)
            try ExampleModel.write([one], current: nil, to: model)
            try await Project(models: model).exportSchema(to: folder.path + "/export", replacing: true)
            try? FileManager.default.removeItem(atPath: schema)
            try FileManager.default.createDirectory(atPath: schema, withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: folder.path + "/export/App.json", toPath: schema + "/App.json")
            try FileManager.default.removeItem(atPath: folder.path + "/export")
            try repository.commitAll()
            try repository.git("tag", "v\(number + 1)")
        }
        let report = try await Project(models: schema).reconstruct(isWriting: true)
        #expect(report.shapes.map(\.tags) == [["v1"], ["v2"]] && report.written == schema, "\(report)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: schema).sorted() == [
                "App.json", "moult.lock", "schema v1.json",
            ])
        let bundle = try ModelBundle(contentsOf: schema)
        #expect(bundle.versions.map(\.name) == ["schema v1", "App"] && bundle.findings == [])
        withExtendedLifetime(source) {}
    }

    // MARK: - Writing

    @Test func `the missing versions are as they were at the tag, in order, locked, and nothing else is changed`()
        async throws
    {
        let (folder, model) = try edited()
        let before = try contents(of: model)
        let report = try await Project(models: model).reconstruct(tags: "v*", isWriting: true)
        #expect(report.written == model && report.isComplete)
        let after = try contents(of: model)
        #expect(before.allSatisfy { after[$0.key] == $0.value } && !before.isEmpty)
        let added = Set(after.keys).subtracting(before.keys)
        #expect(added == ["App v1.xcdatamodel/contents", "App v2.xcdatamodel/contents"])
        let git = try ChildProcess.run(
            "git", ["-C", folder.path, "show", "v2:App.xcdatamodeld/App.xcdatamodel/contents"])
        #expect(after["App v2.xcdatamodel/contents"].map { String(decoding: $0, as: UTF8.self) } == git.output)
        let bundle = try ModelBundle(contentsOf: model)
        #expect(bundle.versions.map(\.name) == ["App", "App v1", "App v2", "App 2"])
        #expect(bundle.currentName == "App 2" && bundle.findings == [], "\(bundle.findings)")
        #expect(LockReport(checking: [bundle]).findings == [])
        // There is nothing left to write.
        let again = try await Project(models: model).reconstruct(isWriting: true)
        #expect(again.written == nil && again.isComplete && again.order == [])
        #expect(try contents(of: model) == after)
    }

    private func contents(of folder: String) throws -> [String: [UInt8]] {
        let names = try POSIXSystem().files(below: folder)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try POSIXSystem().read(folder + "/" + $0)) })
    }

    @Test func `stores in the field get a way to the current version`() async throws {
        let bookmarks = packageRoot.path + "/Tests/Corpus/duckduckgo__BrowserServicesKit"
        let folder = try ScratchFolder()
        try ShapeWitness.make(
            from: bookmarks + "/Sources/Bookmarks/BookmarksModel.xcdatamodeld", in: folder.path, tags: 6)
        let model = folder.path + "/App/Edited.xcdatamodeld"
        let field = try ScratchFolder()
        let stores = try (1...5).map { number in
            try field.copyStore("\(bookmarks)/Tests/BookmarksTests/Resources/Bookmarks_V\(number).sqlite")
        }
        for store in stores {
            await #expect(throws: MigrationError.self) { _ = try await Project(models: model).plan(for: store) }
        }
        let report = try await Project(models: model).reconstruct(stores: field.path, isWriting: true)
        let byPath = report.stores.sorted { $0.path < $1.path }
        #expect(byPath.map(\.tags) == (1...5).map { ["v\($0)"] }, "\(report)")
        #expect(byPath.map(\.version) == (1...5).map { "Edited v\($0)" })
        for (number, store) in stores.enumerated() {
            if number < 2 {
                // Whether a property of the third version is new is a question for a person.
                let error = await #expect(throws: MigrationError.self) {
                    _ = try await Project(models: model).plan(for: store)
                }
                #expect(error?.code == .question)
            } else {
                let plan = try await Project(models: model).plan(for: store)
                #expect(plan.refusal == nil && !plan.json.isEmpty)
            }
        }
        #expect(report.findings.map(\.code).contains("way-not-found"), "\(report.findings)")
    }

    @Test func `a disk that fails or ends at any call leaves the model as it was or whole, and the next call finishes`()
        throws
    {
        let (template, _) = try edited()
        for isDeath in [false, true] {
            var (hasEnded, olds, news) = (false, 0, 0)
            for call in 0..<80 where !hasEnded {
                let folder = try ScratchFolder()
                for name in [".git", "App.xcdatamodeld"] {
                    try FileManager.default.copyItem(
                        atPath: "\(template.path)/\(name)", toPath: "\(folder.path)/\(name)")
                }
                let model = folder.path + "/App.xcdatamodeld"
                let before = try contents(of: model)
                let system = FaultySystem { isDeath ? ($0 >= call ? EIO : nil) : ($0 == call ? ENOSPC : nil) }
                let work = try Reconstruction(
                    ModelBundle(contentsOf: model), isInFiles: true, tags: [], stores: nil)
                _ = try? work.write(system)
                hasEnded = !system.hasFailed
                let after = try contents(of: model)
                if after == before {
                    olds += 1
                    // Only a process that ends cannot take its lock file back.
                    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                    #expect(isDeath || names.sorted() == [".git", "App.xcdatamodeld"], "call \(call): \(names)")
                } else {
                    news += 1
                    #expect(after.count == before.count + 2, "call \(call)")
                    let names = try ModelBundle(contentsOf: model).versions.map(\.name)
                    #expect(names == ["App", "App v1", "App v2", "App 2"], "call \(call)")
                }
                try Reconstruction(ModelBundle(contentsOf: model), isInFiles: true, tags: [], stores: nil).write()
                let bundle = try ModelBundle(contentsOf: model)
                #expect(bundle.versions.map(\.name) == ["App", "App v1", "App v2", "App 2"], "call \(call)")
                #expect(LockReport(checking: [bundle]).findings == [], "call \(call)")
            }
            #expect(hasEnded && olds > 3 && news > 0)
        }
    }

    @Test func `a model without versions gets a bundle, and a locked version that has changed is refused`() async throws
    {
        let folder = try ScratchFolder()
        let repository = try Repository(folder.path)
        let model = folder.path + "/App.xcdatamodel"
        for (number, version) in [Self.version("App", "title"), Self.version("App", "body")].enumerated() {
            try ExampleModel.write([version], current: nil, to: folder.path)
            try repository.commitAll()
            try repository.git("tag", "v\(number + 1)")
        }
        let report = try await Project(models: model).reconstruct(isWriting: true)
        #expect(report.written == model + "d")
        let bundle = try ModelBundle(contentsOf: model + "d")
        #expect(bundle.versions.map(\.name) == ["App v1", "App"] && bundle.currentName == "App")
        let taken = await #expect(throws: MigrationError.self) {
            _ = try await Project(models: model).reconstruct(isWriting: true)
        }
        #expect(taken?.code == .wouldReplace)

        let (edited, other) = try edited()
        let contents = other + "/App 2.xcdatamodel/contents"
        _ = try LockReport(locking: [ModelBundle(contentsOf: other)], again: false) { _ in throw CancellationError() }
        try String(contentsOfFile: contents, encoding: .utf8).replacing("title", with: "subject")
            .write(toFile: contents, atomically: true, encoding: .utf8)
        let refused = await #expect(throws: MigrationError.self) {
            _ = try await Project(models: other).reconstruct(isWriting: true)
        }
        #expect(refused?.code == .lockFileMismatch && refused?.message.contains("App 2") == true)
        withExtendedLifetime(edited) {}
    }

    @Test func `a version that closes a way which is open now is named with the versions whose stores it stops`()
        async throws
    {
        func version(_ name: String, _ date: String) -> LintExample.Version {
            .init(name, "<entity name=\"Post\">\(Self.attribute("title"))\(date)</entity>")
        }
        let first = version("App", "")
        let number = "<attribute name=\"date\" optional=\"YES\" attributeType=\"Integer 64\"/>"
        let date = "<attribute name=\"date\" optional=\"YES\" attributeType=\"Date\"/>"
        let (folder, model) = try repository(
            [first], [first, version("App 2", number)], [first, version("App 2", date)])
        let report = try await Project(models: model).reconstruct()
        #expect(report.order == ["App", "App v2", "App 2"])
        let finding = try #require(report.findings.first { $0.code == "way-not-found" }, "\(report.findings)")
        #expect(
            finding.message.hasSuffix("This also stops stores of App, which have a way without the missing versions."))
        #expect(report.findings.count == 1)
        withExtendedLifetime(folder) {}
    }

    @Test func `the single version beside the bundle that took its place is named, and is no other model when removed`()
        async throws
    {
        let folder = try ScratchFolder()
        let repository = try Repository(folder.path)
        try ExampleModel.write([Self.version("App", "title")], current: nil, to: folder.path)
        try repository.commitAll()
        try repository.git("tag", "v1")
        let bundle = folder.path + "/App.xcdatamodeld"
        try ExampleModel.write([Self.version("App", "title")], current: nil, to: bundle)
        let error = await #expect(throws: MigrationError.self) { _ = try await Project(models: bundle).reconstruct() }
        #expect(error?.remedy.contains("App.xcdatamodel beside it counts as another model") == true, "\(error as Any)")
        try FileManager.default.removeItem(atPath: folder.path + "/App.xcdatamodel")
        #expect(try await Project(models: bundle).reconstruct().isComplete)
    }

    // MARK: - What is not there

    @Test func `a version that cannot be read at a tag is a finding, and the other tags still count`() async throws {
        let (folder, model) = try edited()
        let repository = Repository(at: folder.path)
        let contents = model + "/App.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        try "<<<<<<< HEAD\n\(text)".write(toFile: contents, atomically: true, encoding: .utf8)
        try repository.commitAll()
        try repository.git("tag", "v4")
        try repository.git(
            "tag", "blob", repository.git("rev-parse", "HEAD:App.xcdatamodeld/App.xcdatamodel/contents").trimmed)
        try text.write(toFile: contents, atomically: true, encoding: .utf8)
        let report = try await Project(models: model).reconstruct()
        // Whether a property of the current version is new is a question for a person.
        let findings = report.findings.filter { $0.code != "way-not-found" }
        #expect(findings.map(\.code) == ["tag-not-read", "tag-not-read"], "\(report.findings)")
        #expect(findings.map(\.place) == ["blob", "v4:App.xcdatamodeld/App.xcdatamodel/contents"])
        #expect(report.tags == ["v1", "v2", "v3", "v4"] && report.shapes.count == 4)
        #expect(report.shapes.last?.releases == ["v3", "v4"])
    }

    @Test func `a store of no tag, and a file that is no store, are named`() async throws {
        let (folder, model) = try edited()
        let stores = try ScratchFolder()
        let other = packageRoot.path + "/Tests/Corpus/objcio__core-data/Migrations/MigrationsTests/Moody.moody"
        let store = try stores.copyStore(other)
        try "text".write(toFile: stores.path + "/notes.txt", atomically: true, encoding: .utf8)
        let report = try await Project(models: model).reconstruct(stores: stores.path)
        #expect(report.stores.map { Path.name(of: $0.path) } == [Path.name(of: store)])
        #expect(report.stores.map(\.checksum) == [nil] && report.stores.map(\.tags) == [[]])
        let codes = report.findings.map(\.code).filter { $0 != "way-not-found" }
        #expect(codes == ["store-of-no-tag"] && !report.isComplete)
        let error = await #expect(throws: MigrationError.self) {
            _ = try await Project(models: model).reconstruct(stores: stores.path + "/nothing")
        }
        #expect(error?.code == .fileNotFound)
        withExtendedLifetime(folder) {}
    }

    @Test
    func `no repository, no tag, no model at the tags, and a model of another kind are errors with the next step`()
        async throws
    {
        func error(_ model: String, _ tags: String? = nil, isWriting: Bool = false) async throws -> MigrationError {
            let error = await #expect(throws: MigrationError.self) {
                _ = try await Project(models: model).reconstruct(tags: tags, isWriting: isWriting)
            }
            return try #require(error)
        }
        let alone = try ScratchFolder()
        try ExampleModel.write([Self.version("App", "title")], current: nil, to: alone.path + "/App.xcdatamodeld")
        let outside = try await error(alone.path + "/App.xcdatamodeld")
        #expect(outside.code == .usage && outside.message.contains("no git repository"))
        #expect(outside.remedy == "Run it in a git repository.")
        let (folder, model) = try edited()
        let untagged = try await error(model, "release-*")
        #expect(untagged.message == "The repository has no tag that matches release-*.")
        #expect(untagged.remedy.contains("git fetch --tags"))
        let copy = folder.path + "/New.xcdatamodeld"
        try ExampleModel.write(
            [.init("New", "<entity name=\"Draft\">\(Self.attribute("text"))</entity>")], current: nil, to: copy)
        #expect(try await error(copy).code == .modelNotFound)
        let one = try await error(model + "/App.xcdatamodel")
        #expect(one.code == .usage && one.message.contains("one version of \(model)"))
        _ = try await Project.compile(model, to: folder.path + "/App.momd")
        let compiled = try await error(folder.path + "/App.momd", isWriting: true)
        #expect(compiled.code == .usage && compiled.message.contains("source only"))
    }

    @Test func `a shallow clone says that it may lack tags`() async throws {
        let (folder, _) = try edited()
        let clones = try ScratchFolder()
        let clone = clones.path + "/clone"
        let made = try ChildProcess.run(
            "git", ["clone", "--quiet", "--depth=1", "--branch=v3", "file://" + folder.path, clone])
        try #require(made.exit == 0, "\(made.output)")
        let report = try await Project(models: clone + "/App.xcdatamodeld").reconstruct()
        #expect(report.tags == ["v3"] && report.findings.map(\.code) == ["history-shallow"])
        #expect(report.findings.first?.remedy.contains("git fetch --unshallow") == true)
    }
}
