import Foundation
import MoultCoreData
import TestSupport
import Testing

@Suite struct ModelFilesTests {
    @Test func `a model that is not there is an error with a code`() throws {
        let url = URL(fileURLWithPath: "/nowhere/Model.momd")
        let error = try #require(throws: MigrationError.self) { try ManagedObjectModel(contentsOf: url) }
        #expect(error.code == .modelNotFound)
        #expect(error.place == url.path)
    }

    @Test func `a model that cannot be read is an error with a code`() throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/Model.mom")
        try Data("nonsense".utf8).write(to: url)
        let error = try #require(throws: MigrationError.self) { try ManagedObjectModel(contentsOf: url) }
        #expect(error.exitCode == 4)
        #expect(error.place.hasPrefix(url.path))
    }

    @Test(.enabled(if: Corpus.isWhole)) func `an optimised model that lies alone is found by its folder`() throws {
        let path = try #require(Corpus.paths { $0.hasSuffix("XCServerCoreData2.0.2.omo") }.first)
        let folder = try ScratchFolder()
        let bundle = try #require(Bundle(path: folder.path))
        var hashes: [[String: Data]] = []
        for ending in ["omo", "mom"] {
            try FileManager.default.copyItem(
                atPath: String(path.dropLast(3)) + ending, toPath: "\(folder.path)/Model.\(ending)")
            hashes.append(try ManagedObjectModel.mergedModel(from: [bundle]).entityVersionHashesByName)
        }
        #expect(hashes[0] == hashes[1] && !hashes[0].isEmpty)
    }

    @Test(.enabled(if: Corpus.isWhole)) func `a bundle gives all versions and its current one`() throws {
        let path = try #require(
            Corpus.paths { $0.hasSuffix(".momd/VersionInfo.plist") }.max { count($0) < count($1) })
        let url = URL(fileURLWithPath: path).deletingLastPathComponent()
        let versions = try ModelVersions(contentsOf: url)
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: URL(fileURLWithPath: path)), format: nil)
        let info = try #require(list as? [String: Any])
        let current = try #require(info["NSManagedObjectModel_CurrentVersionName"] as? String)
        #expect(versions.current?.names.contains(current) == true)
        // The hashes that Apple's compiler computed.
        let hashes = try #require(info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
        #expect(hashes.count > 1)
        #expect(try ManagedObjectModel(contentsOf: url).entityVersionHashesByName == hashes[current])
        for (name, expected) in hashes {
            #expect(versions[name]?.model.entityVersionHashesByName == expected, "\(name)")
        }
    }

    private func count(_ path: String) -> Int {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
    }
}
