import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

@Suite("Generated Core Data classes") struct CoreDataClassesTests {
    private func body(_ file: GeneratedFile) -> [String] {
        Array(
            file.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).drop {
                $0.hasPrefix("//")
            })
    }

    /// What Xcode 15 makes of such an entity, as many public repositories have it.
    @Test func `for Core Data they are Xcode's, below the header`() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Photo", managedObjectClassName: "Photo",
                attributes: [
                    .init(name: "caption", type: .string, isOptional: false),
                    .init(name: "width", type: .integer32, usesScalarValueType: true),
                    .init(name: "rating", type: .double, usesScalarValueType: false),
                    .init(name: "taken", type: .date, usesScalarValueType: false),
                    .init(name: "price", type: .decimal), .init(name: "extra", type: .transformable),
                    .init(name: "names", type: .transformable, attributeValueClassName: "[String]"),
                ],
                relationships: [
                    .init(name: "albums", destinationEntityName: "Photo", inverseName: "cover", maxCount: 0),
                    .init(name: "cover", destinationEntityName: "Photo", inverseName: "albums"),
                ])
        ])
        let files = try CoreDataClasses(model, .coreData, .whole).files
        #expect(files.map(\.name) == ["Photo+CoreDataClass.swift", "Photo+CoreDataProperties.swift"])
        #expect(
            body(files[0]).joined(separator: "\n") == """

                import Foundation
                import CoreData

                @objc(Photo)
                public class Photo: NSManagedObject {

                }

                """)
        #expect(
            body(files[1]).joined(separator: "\n") == """

                import Foundation
                import CoreData


                extension Photo {

                    @nonobjc public class func fetchRequest() -> NSFetchRequest<Photo> {
                        return NSFetchRequest<Photo>(entityName: "Photo")
                    }

                    @NSManaged public var caption: String?
                    @NSManaged public var extra: NSObject?
                    @NSManaged public var names: [String]?
                    @NSManaged public var price: NSDecimalNumber?
                    @NSManaged public var rating: NSNumber?
                    @NSManaged public var taken: Date?
                    @NSManaged public var width: Int32
                    @NSManaged public var albums: NSSet?
                    @NSManaged public var cover: Photo?

                }

                // MARK: Generated accessors for albums
                extension Photo {

                    @objc(addAlbumsObject:)
                    @NSManaged public func addToAlbums(_ value: Photo)

                    @objc(removeAlbumsObject:)
                    @NSManaged public func removeFromAlbums(_ value: Photo)

                    @objc(addAlbums:)
                    @NSManaged public func addToAlbums(_ values: NSSet)

                    @objc(removeAlbums:)
                    @NSManaged public func removeFromAlbums(_ values: NSSet)

                }

                extension Photo : Identifiable {

                }

                """)
    }

    @Test func `an ordered relationship has Xcode's ten accessors`() throws {
        let files = try CoreDataClasses(Shelf.model(), .coreData, .whole).files
        let text = try #require(files.first { $0.name == "Author+CoreDataProperties.swift" }).text
        let selectors = text.split(separator: "\n").filter { $0.contains("@objc(") }.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(
            selectors == [
                "@objc(insertObject:inBooksAtIndex:)", "@objc(removeObjectFromBooksAtIndex:)",
                "@objc(insertBooks:atIndexes:)", "@objc(removeBooksAtIndexes:)",
                "@objc(replaceObjectInBooksAtIndex:withObject:)", "@objc(replaceBooksAtIndexes:withBooks:)",
                "@objc(addBooksObject:)", "@objc(removeBooksObject:)", "@objc(addBooks:)", "@objc(removeBooks:)",
            ])
        let editor = try #require(files.first { $0.name == "Editor+CoreDataClass.swift" }).text
        #expect(editor.contains("public class Editor: Author {"))
    }

    @Test func `the model's own choice, categories alone, and entities without a class`() throws {
        var entities = try Shelf.model().entities
        entities[0].codeGenerationType = "category"
        entities[3].codeGenerationType = nil
        let model = try ManagedObjectModel(entities: entities)
        func names(_ choice: CoreDataClasses.Choice) throws -> [String] {
            try CoreDataClasses(model, .coreData, choice).files.map { String($0.name.prefix { $0 != "." }) }
        }
        #expect(
            try names(.asModelled) == [
                "Author+CoreDataProperties", "Book+CoreDataClass", "Book+CoreDataProperties", "Editor+CoreDataClass",
                "Editor+CoreDataProperties",
            ])
        #expect(try CoreDataClasses(model, .coreData, .asModelled).skipped == ["Tag"])
        #expect(try names(.category).count == 4)
        #expect(try names(.whole).count == 8)
        entities[3].managedObjectClassName = "NSManagedObject"
        let files = try CoreDataClasses(ManagedObjectModel(entities: entities), .coreData, .whole).files
        #expect(files.count == 6)
        let book = try #require(files.first { $0.name == "Book+CoreDataProperties.swift" }).text
        #expect(book.contains("public func addToTags(_ value: NSManagedObject)"))
    }

    @Test func `names that hide Foundation's or the language's are escaped and qualified`() throws {
        let model = try ManagedObjectModel("Data class=Data = class Binary, protocol String")
        let text = try CoreDataClasses(model, .coreData, .whole).files.map(\.text).joined()
        #expect(text.contains("@NSManaged public var `class`: Foundation.Data?"))
        #expect(text.contains("@NSManaged public var `protocol`: String?"))
    }

    @Test func `a class that Swift cannot have, and a class of two entities, are refused`() throws {
        func model(_ first: String, _ second: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(name: "A", managedObjectClassName: first),
                EntityDescription(name: "B", managedObjectClassName: second),
            ])
        }
        for (first, second) in [("My Class", "B"), ("A", "A")] {
            #expect(throws: MigrationError.self) {
                try CoreDataClasses(model(first, second), .coreData, .whole)
            }
        }
    }
}
