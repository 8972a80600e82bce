import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultStore
import TestSupport
import Testing

/// Folders of stores of released versions as models.
@Suite("Frozen stores")
struct FrozenStoreTests {
    private static let corpus = packageRoot.path + "/Tests/Corpus"
    private static let bookmarks = corpus + "/duckduckgo__BrowserServicesKit/Tests/BookmarksTests/Resources"

    /// A folder with the stores of five versions; their rows are in the logs.
    private func folder() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        for number in 1...5 { _ = try folder.copyStore("\(Self.bookmarks)/Bookmarks_V\(number).sqlite") }
        return folder
    }

    @Test func `each store is a version with the hashes of its metadata, named after its file`() throws {
        let folder = try folder()
        let bundle = try ModelBundle(modelOrStoreAt: folder.path)
        #expect(bundle.versions.map(\.name) == (1...5).map { "Bookmarks_V\($0)" })
        #expect(bundle.findings == [] && bundle.path == folder.path)
        for version in bundle.versions {
            let path = try #require(bundle.files[version.name])
            let hashes = try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection).hashes }
            #expect(version.hashes.isCompatible(with: hashes) && !hashes.entities.isEmpty)
            // The versions are those of the model that Xcode has.
            let models = Self.corpus + "/duckduckgo__BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld"
            #expect(try ModelVersions(contentsOf: models).position(matching: version.hashes) != nil)
        }
        #expect(Set(bundle.versions.map(\.hashes.checksum)).count == 5)
    }

    @Test func `an order, a lock and folders of one store each give the versions`() throws {
        let folder = try folder()
        let names = [3, 1, 2, 5, 4].map { "Bookmarks_V\($0)" }
        #expect(try ModelBundle(modelOrStoreAt: folder.path, order: names).versions.map(\.name) == names)
        var lock = ModelLock()
        try lock.pin(try ModelBundle(modelOrStoreAt: folder.path, order: names))
        try lock.contents.write(toFile: folder.path + "/moult.lock", atomically: true, encoding: .utf8)
        let locked = try ModelBundle(modelOrStoreAt: folder.path + "/")
        #expect(locked.versions.map(\.name) == names && locked.findings == [], "\(locked.findings)")
        let freezes = try ScratchFolder()
        for version in ["1.0.0", "2.0.0"] {
            try FileManager.default.createDirectory(
                atPath: "\(freezes.path)/\(version)", withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: "\(Self.corpus)/TrinsicVentures__FreezeRay/\(version)-fw1448.sqlite",
                toPath: "\(freezes.path)/\(version)/App.sqlite")
        }
        #expect(try ModelBundle(modelOrStoreAt: freezes.path).versions.map(\.name) == ["1.0.0", "2.0.0"])
    }

    @Test func `a store without a model and a file that is no store are named and left out`() throws {
        let folder = try folder()
        let seed = Self.corpus + "/RestKit__RestKit/Examples/RKTwitterCoreData/RKSeedDatabase.sqlite"
        let store = try folder.copyStore(seed)
        let other = folder.path + "/other.sqlite"
        _ = try SQLiteShell.run(other, "CREATE TABLE t (x)")
        let bundle = try ModelBundle(modelOrStoreAt: folder.path)
        #expect(bundle.versions.count == 5)
        #expect(bundle.findings.map(\.code) == ["frozen-store-without-model", "frozen-store-not-read"])
        #expect(bundle.findings.map(\.place) == [store, other])
        let alone = try ScratchFolder()
        _ = try alone.copyStore(seed)
        let error = #expect(throws: MigrationError.self) { try ModelBundle(modelOrStoreAt: alone.path) }
        #expect(error?.code == .modelNotFound && error?.message.contains("contains no model") == true)
    }

    @Test func `models in the folder come first, and a folder of neither is an error as before`() throws {
        let folder = try folder()
        let model = Self.corpus + "/alemar11__CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd"
        try FileManager.default.copyItem(atPath: model, toPath: folder.path + "/SampleModel.momd")
        let bundle = try ModelBundle(modelOrStoreAt: folder.path)
        #expect(bundle.versions.map(\.name) == ["SampleModel", "SampleModel2", "SampleModel3"])
        let empty = try ScratchFolder()
        try "text".write(toFile: empty.path + "/notes.txt", atomically: true, encoding: .utf8)
        let error = #expect(throws: MigrationError.self) { try ModelBundle(modelOrStoreAt: empty.path) }
        #expect(error?.code == .modelNotFound && error?.message == "The folder contains no version of a model.")
    }
}
