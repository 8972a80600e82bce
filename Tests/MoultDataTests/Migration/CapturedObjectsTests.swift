import Foundation
import MoultData
import Synchronization
import TestSupport
import Testing

/// A stage that keeps objects in `willMigrate`, deletes them, and inserts others in `didMigrate`.
///
/// The tests run one after another: a plan keeps what it read in a static variable, as apps write it.
@Suite(.serialized) struct CapturedObjectsTests {
    enum V1: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
        static var models: [any PersistentModel.Type] { [Person.self] }
        @Model final class Person {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    enum V2: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
        static var models: [any PersistentModel.Type] { [Person.self, City.self] }
        @Model final class Person {
            var first: String
            var last: String
            var born: Date
            var city: City
            init(first: String, last: String, born: Date, city: City) {
                self.first = first
                self.last = last
                self.born = born
                self.city = city
            }
        }
        @Model final class City {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    enum Deleting: SchemaMigrationPlan {
        static let names = Mutex<[String]>([])
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self, toVersion: V2.self,
                    willMigrate: { context in
                        let people = try context.fetch(FetchDescriptor<V1.Person>(sortBy: [SortDescriptor(\.name)]))
                        names.withLock { $0 = people.map(\.name) }
                        for person in people { context.delete(person) }
                        try context.save()
                    },
                    didMigrate: { context in
                        let city = V2.City(name: "Bern")
                        for name in names.withLock({ $0 }) {
                            let parts = name.split(separator: " ").map(String.init)
                            context.insert(
                                V2.Person(
                                    first: parts[0], last: parts[1], born: Date(timeIntervalSince1970: 0), city: city))
                        }
                        try context.save()
                    })
            ]
        }
    }

    enum Keeping: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self, toVersion: V2.self,
                    willMigrate: { context in _ = try context.fetch(FetchDescriptor<V1.Person>()).map(\.name) },
                    didMigrate: nil)
            ]
        }
    }

    @Test func `objects that are deleted first need no values`() throws {
        let store = try VersionedStore()
        try store.open(V1.self) { context in
            for name in ["Ada Byron", "Emmy Noether"] { context.insert(V1.Person(name: name)) }
        }
        try store.open(V2.self, Deleting.self) { context in
            let people = try context.fetch(FetchDescriptor<V2.Person>(sortBy: [SortDescriptor(\.first)]))
            #expect(people.map(\.last) == ["Byron", "Noether"] && people.map(\.city.name) == ["Bern", "Bern"])
        }
        #expect(try store.sql("SELECT ZFIRST, ZLAST FROM ZPERSON ORDER BY 1") == "Ada|Byron\nEmmy|Noether\n")
    }

    @Test(arguments: [true, false]) func `an empty store is migrated`(_ deletes: Bool) throws {
        let store = try VersionedStore()
        try store.open(V1.self) { _ in }
        let plan: any SchemaMigrationPlan.Type = deletes ? Deleting.self : Keeping.self
        try store.open(V2.self, plan) { context in
            let count = try context.fetchCount(FetchDescriptor<V2.Person>())
            #expect(count == 0)
        }
    }

    @Test func `objects that are left without values are refused, and the store is as it was`() throws {
        let store = try VersionedStore()
        try store.open(V1.self) { $0.insert(V1.Person(name: "Ada Byron")) }
        let error = #expect(throws: SwiftDataError.self) { try store.open(V2.self, Keeping.self) { _ in } }
        #expect(error?.message.contains("1 object has no Person.born, which is required.") == true)
        #expect(error?.remedy.contains("delete the objects before the change") == true)
        #expect(try store.sql("SELECT ZNAME FROM ZPERSON") == "Ada Byron\n")
    }

    enum Careful: SchemaMigrationPlan {
        static let backups = Mutex<[BackupManager.Backup]>([])
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self, toVersion: V2.self,
                    willMigrate: { context in
                        let backupManager = BackupManager()
                        let made = try backupManager.createBackup()
                        backups.withLock { $0 = [made] }
                        try context.delete(model: V1.Person.self)
                        MigrationLogger.shared.logMigrationStart(from: "1.0.0", to: "2.0.0")
                    },
                    didMigrate: { _ in
                        try BackupManager().createBackup()
                        MigrationLogger.shared.logMigrationSuccess(from: "1.0.0", to: "2.0.0", duration: 1.5)
                    })
            ]
        }
    }

    @Test func `a stage that asks for a backup has the one of its migration`() throws {
        let store = try VersionedStore()
        try store.open(V1.self) { $0.insert(V1.Person(name: "Ada Byron")) }
        let config = SwiftDataConfiguration(schema: Schema(versionedSchema: V2.self), isCloudKitEnabled: false)
        _ = try config.makeContainer(migrationPlan: Careful.self, url: store.url)
        _ = try makeVersionedContainer(
            schema: V2.self, migrationPlan: Careful.self, url: store.url, isCloudKitEnabled: false)
        let made = Careful.backups.withLock { $0.first }
        let backup = try #require(made)
        #expect(try BackupManager(storeAt: store.url).backups().map(\.name) == [backup.name])
        #expect(try SQLiteShell.run(backup.url.path, "SELECT ZNAME FROM ZPERSON") == "Ada Byron\n")
        #expect(try store.sql("SELECT count(*) FROM ZPERSON") == "0\n")
    }
}
