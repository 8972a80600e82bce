import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Bundles made in a scratch folder, locked, and then changed.
@Suite struct ModelLockTests {
    private let folder: ScratchFolder
    private var bundle: String { folder.path + "/Forum.xcdatamodeld" }

    init() throws {
        folder = try ScratchFolder()
        try write("Forum", ["title"])
        try write("Forum 2", ["title", "body"])
        try write("Forum 10", ["title", "body", "date"])
    }

    private func write(
        _ name: String, _ attributes: [String], indexed: Bool = false, extraEntity: Bool = false
    ) throws {
        let post = EntityDescription(
            name: "Post",
            attributes: attributes.map { AttributeDescription(name: $0, type: .string, isIndexed: indexed) })
        let entities = [post] + (extraEntity ? [EntityDescription(name: "Extra")] : [])
        let path = bundle + "/\(name).xcdatamodel"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try ManagedObjectModel(entities: entities).xmlContents()
            .write(toFile: path + "/contents", atomically: true, encoding: .utf8)
    }

    private func lock() throws {
        var lock = ModelLock()
        try lock.pin(try ModelBundle(contentsOf: bundle))
        try lock.contents.write(toFile: ModelLock.path(besideModelAt: bundle), atomically: true, encoding: .utf8)
    }

    @Test func `without a lock nothing is said`() throws {
        let versions = try ModelVersions(contentsOf: bundle)
        #expect(versions.versions.map(\.name) == ["Forum", "Forum 2", "Forum 10"])
        #expect(versions.findings.isEmpty)
    }

    @Test func `unchanged versions are sound`() throws {
        try lock()
        #expect(FileManager.default.fileExists(atPath: folder.path + "/moult.lock"))
        #expect(try ModelVersions(contentsOf: bundle).findings.isEmpty)
    }

    @Test func `the file reads back equal`() throws {
        var lock = ModelLock()
        try lock.pin(try ModelBundle(contentsOf: bundle))
        #expect(try ModelLock(json: Array(lock.contents.utf8), place: "") == lock)
    }

    @Test func `a changed version is an error that names the entity`() throws {
        try lock()
        try write("Forum 2", ["title", "text"], extraEntity: true)
        let findings = try ModelVersions(contentsOf: bundle).findings
        #expect(findings.map(\.code) == ["released-version-changed"])
        #expect(findings.map(\.severity) == [.error])
        #expect(findings[0].message.contains("Forum 2 differs from the locked one: Post changed; Extra added"))
    }

    @Test func `a change beyond the hash is a warning`() throws {
        try lock()
        try write("Forum 2", ["title", "body"], indexed: true)
        let findings = try ModelVersions(contentsOf: bundle).findings
        #expect(findings.map(\.code) == ["released-version-changed-unhashed"])
        #expect(findings.map(\.severity) == [.warning])
    }

    @Test func `missing and new versions`() throws {
        try lock()
        try FileManager.default.removeItem(atPath: bundle + "/Forum 2.xcdatamodel")
        try write("Forum 11", ["title"])
        let findings = try ModelVersions(contentsOf: bundle).findings
        #expect(findings.map(\.code) == ["released-version-missing", "version-not-locked"])
    }

    @Test func `the lock gives the order unless one is given`() throws {
        var lock = ModelLock()
        try lock.pin(try ModelBundle(contentsOf: bundle, order: ["Forum 10", "Forum"]))
        try lock.contents.write(toFile: ModelLock.path(besideModelAt: bundle), atomically: true, encoding: .utf8)
        #expect(try ModelVersions(contentsOf: bundle).versions.map(\.name) == ["Forum 10", "Forum", "Forum 2"])
        let order = ["Forum 2", "Forum 10", "Forum"]
        #expect(try ModelVersions(contentsOf: bundle, order: order).versions.map(\.name) == order)
    }

    @Test func `a lock whose entities do not give its checksum is refused at its line`() throws {
        try lock()
        let path = folder.path + "/moult.lock"
        try SchemaFiles.changeHash(ofVersion: "Forum 2", inLock: path)
        #expect(try ModelVersions(contentsOf: bundle).findings.map(\.code) == ["released-version-changed"])
        try lock()
        // As a merge would: the entity of one version in the other.
        var lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
        let entities = lines.indices.filter { lines[$0].contains("\"Post\": ") }
        let checksums = lines.indices.filter { lines[$0].contains("\"checksum\": ") }
        try #require(entities.count == 3 && checksums.count == 3)
        lines[entities[1]] = lines[entities[0]]
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let error = try #require(throws: MigrationError.self) { try ModelVersions(contentsOf: bundle) }
        #expect(error.code == .lockFileMismatch && error.place == "\(path):\(checksums[1] + 1)", "\(error)")
        #expect(error.message.contains("has the version Forum 2 of Forum.xcdatamodeld, whose checksum"), "\(error)")
    }

    @Test func `a lock that is none is refused`() throws {
        try "{\"format\":9}".write(toFile: folder.path + "/moult.lock", atomically: true, encoding: .utf8)
        let error = #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: bundle) }
        #expect(error?.code == .lockFileMismatch)
    }
}

/// What a wrong `--model PATH` gets.
@Suite struct ModelPathTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    @Test(arguments: ["", "/none", "/empty.xcdatamodeld", "/empty.xcdatamodel", "/empty", "/note.txt", "/two"])
    func `a wrong path`(path: String) throws {
        for name in ["empty.xcdatamodeld", "empty.xcdatamodel", "empty", "two/A.momd", "two/B.xcdatamodeld"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
        }
        try "hello".write(toFile: folder.path + "/note.txt", atomically: true, encoding: .utf8)
        let error = #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: folder.path + path) }
        #expect(error?.code == (path == "/none" ? .fileNotFound : .modelNotFound), "\(String(describing: error))")
        #expect(error?.place.hasPrefix(folder.path) == true)
    }

    @Test func `every form of one model is the same version`() throws {
        let model = try RichModel.model()
        let source = folder.path + "/A.xcdatamodel"
        try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
        try model.xmlContents().write(toFile: source + "/contents", atomically: true, encoding: .utf8)
        try model.json.indented.write(toFile: folder.path + "/B.json", atomically: true, encoding: .utf8)
        for path in [source, source + "/", source + "/contents", folder.path + "/B.json"] {
            #expect(try ModelVersions(contentsOf: path).versions.map(\.model) == [model], "\(path)")
        }
        let both = try ModelVersions(contentsOf: folder.path)
        #expect(both.versions.map(\.names) == [["B", "A"]])
        #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: folder.path, order: ["C"]) }
        #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: folder.path, order: ["A", "A"]) }
        try model.json.indented.write(toFile: folder.path + "/A.json", atomically: true, encoding: .utf8)
        #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: folder.path) }
    }
}
