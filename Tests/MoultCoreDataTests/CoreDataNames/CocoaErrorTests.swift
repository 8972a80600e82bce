import Foundation
import MoultCoreData
import MoultNSCoreData
import TestSupport
import Testing

/// The numbers of errors, and what they contain.
@Suite struct CocoaErrorTests {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/Cards.sqlite")
    }

    @Test func `no file is 260, and a file that is no database is 259`() throws {
        func error() throws -> NSError {
            try #require(throws: NSError.self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
            }
        }
        let missing = try error()
        #expect(missing.code == CocoaError.fileReadNoSuchFile.rawValue && missing.code == 260)
        #expect((missing.userInfo[NSUnderlyingErrorKey] as? MigrationError)?.code == .fileNotFound)
        try Data("not a database, whatever its name says".utf8).write(to: url)
        #expect(try error().code == 259)
        let corrupt = try #require(throws: NSError.self) { try Cards.container(url) }
        #expect(corrupt.domain == NSCocoaErrorDomain && corrupt.code == CocoaError.fileReadCorruptFile.rawValue)
        #expect((corrupt.userInfo[NSUnderlyingErrorKey] as? MigrationError)?.code == .notAStore)
    }

    @Test func `the error of a migration policy is the underlying error`() throws {
        do {
            let container = try Cards.container(url)
            Cards.insert("a", in: container.viewContext)
            try container.viewContext.save()
            for store in container.persistentStoreCoordinator.persistentStores {
                try container.persistentStoreCoordinator.remove(store)
            }
        }
        let (old, new) = (Cards.model(), Cards.model { $0.properties.append(Cards.attribute("back")) })
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        mapping.entityMappings.first?.entityMigrationPolicyClassName = NSStringFromClass(FailingPolicy.self)
        let error = try #require(throws: NSError.self) {
            try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
                from: url, type: .sqlite, mapping: mapping,
                to: URL(fileURLWithPath: folder.path + "/New.sqlite"), type: .sqlite)
        }
        #expect(error.domain == NSCocoaErrorDomain && error.code == NSEntityMigrationPolicyError)
        let thrown = error.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(thrown?.domain == "Cards" && thrown?.code == 77)
    }

    @Test func `a request of a class knows its entity`() throws {
        func own(_ card: NSEntityDescription) { card.managedObjectClassName = NSStringFromClass(OwnCard.self) }
        let container = try Cards.container(model: Cards.model(own))
        let request = OwnCard.fetchRequest()
        #expect(request.entityName == "Card")
        #expect(request.entity === container.managedObjectModel.entitiesByName["Card"])
        // Each context has its own.
        let other = try Cards.container(
            model: Cards.model { card in
                own(card)
                card.properties.append(Cards.attribute("back"))
            })
        for container in [container, other] {
            Cards.insert("a", in: container.viewContext)
            #expect(try container.viewContext.count(for: request) == 1)
        }
    }
}

/// A class that no other test uses: its entity is that of the newest model.
final class OwnCard: NSManagedObject {}

final class FailingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        throw NSError(domain: "Cards", code: 77)
    }
}
