import Albums
import Foundation
import MoultCoreData
import Testing

@Suite struct LibraryTests {
    private func withStore(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("albums-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("albums.sqlite"))
    }

    @Test func `the container finds the compiled model, and a store is saved and opened again`() async throws {
        try await withStore { url in
            try await Library(at: url).add("Summer", photos: ["Beach", "Harbour"])
            #expect(try await Library(at: url).photos(of: "Summer") == ["Beach", "Harbour"])
        }
    }

    /// Makes a store of the first version and closes it.
    private func makeFirst(at url: URL) async throws {
        let versions = try ModelVersions(contentsOf: try #require(Library.model))
        let first = PersistentContainer(name: "Albums", managedObjectModel: try #require(versions["Albums"]?.model))
        first.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
        try await first.loadPersistentStores()
        let context = first.viewContext
        try context.performAndWait {
            let album = try context.insertNewObject(forEntityName: "Album")
            let photo = try context.insertNewObject(forEntityName: "Photo")
            try album.setValue("Old", forKey: "title")
            try photo.setValue("Ship", forKey: "caption")
            try photo.setValue(album, forKey: "album")
            try context.save()
        }
        for store in first.persistentStoreCoordinator.persistentStores {
            try first.persistentStoreCoordinator.remove(store)
        }
    }

    @Test func `a store of the first version is migrated as it is opened`() async throws {
        try await withStore { url in
            try await makeFirst(at: url)
            #expect(try await Library(at: url).photos(of: "Old") == ["Ship"])
        }
    }
}
