import Foundation
import MoultCoreData

/// The albums of one store. Its model is in the resource bundle of this module.
public struct Library: Sendable {
    public let container: PersistentContainer
    /// The compiled model, with all its versions.
    public static let model = Bundle.module.url(forResource: "Albums", withExtension: "momd")

    /// Opens the store, which is made or migrated if need be.
    public init(at url: URL) async throws {
        container = try PersistentContainer(name: "Albums", bundle: .module)
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
        try await container.loadPersistentStores()
        try container.register(Album.self, Photo.self)
    }

    /// Adds an album with photos of these texts.
    public func add(_ title: String, photos texts: [String]) throws {
        let context = container.viewContext
        try context.performAndWait {
            let album = try Album(context: context)
            album.title = title
            for text in texts {
                let photo = try Photo(context: context)
                photo.text = text
                photo.width = 640
                album.addToPhotos(photo)
            }
            try context.save()
        }
    }

    /// The texts of an album's photos, in its order.
    public func photos(of title: String) throws -> [String] {
        let context = container.viewContext
        return try context.performAndWait {
            var request = Album.fetchRequest()
            request.predicate = try FetchPredicate(format: "title == %@", title)
            return try context.fetch(request).flatMap(\.photos).map { $0.text ?? "" }
        }
    }
}
