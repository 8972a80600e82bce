import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Whole migrations of small stores, looked at with the sqlite3 shell.
@Suite("Planned migrations")
struct PlannedMigrationTests {
    // MARK: - A world of users and posts

    private static func versions(_ models: [EntityDescription]...) throws -> ModelVersions {
        try ModelVersions(of: models)
    }

    private static func user(_ attributes: [AttributeDescription] = []) -> EntityDescription {
        var user = EntityDescription("User = name String, posts >> Post.author")
        user.attributes += attributes
        return user
    }

    private static func post(_ attributes: [AttributeDescription] = [], renaming: String? = nil) -> EntityDescription {
        let title = renaming.map { "\($0) String was=title" } ?? "title String"
        var post = EntityDescription("Post = \(title), author > User.posts")
        post.attributes += attributes
        return post
    }

    /// A store of the first version with three users; user 1 has posts 1 and 2, user 2 has post 3.
    private func store(of versions: ModelVersions, history: Bool = false, external: [UInt8]? = nil) throws -> (
        folder: ScratchFolder, path: String
    ) {
        let folder = try ScratchFolder()
        let path = folder.path + "/Forum.sqlite"
        let maker = try StoreCreator(versions.versions[0], history: history)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        let users = try ["Ann", "Bob", "Cid"].map { try writer.insert("User", ["name": .attribute(.string($0))]) }
        for (title, author) in [("One", 0), ("Two", 0), ("Three", 1)] {
            var values: [String: PropertyValue] = [
                "title": .attribute(.string(title)), "author": .toOne(users[author]),
            ]
            if let external, title == "Two" { values["body"] = .attribute(.binary(external)) }
            _ = try writer.insert("Post", values)
        }
        try writer.finish()
        return (folder, path)
    }

    private func migrate(_ path: String, _ versions: ModelVersions, inPlace: Bool = false, answers: [Answer] = [])
        throws -> MigrationOutcome
    {
        let prepared = try PreparedMigration(path, versions: versions, options: .init(answers: Answers(answers)))
        return try Migrator().run(#require(try prepared.choosing(inPlace ? .inPlace : .cheapest).migration()), on: path)
    }

    // MARK: - Tests

    @Test func `in place a column is added and one renamed, and nothing else is written`() throws {
        let versions = try Self.versions(
            [Self.user(), Self.post()],
            [Self.user([.init(name: "age", type: .integer16)]), Self.post(renaming: "headline")])
        let (folder, path) = try store(of: versions)
        defer { withExtendedLifetime(folder) {} }
        _ = try migrate(path, versions, inPlace: true)
        #expect(
            try SQLiteShell.run(path, "SELECT ZHEADLINE, ZAUTHOR FROM ZPOST; SELECT count(ZAGE) FROM ZUSER")
                == "One|1\nTwo|1\nThree|2\n0\n")
        #expect(
            try SQLiteShell.run(path, "SELECT sql FROM sqlite_master WHERE name = 'ZUSER'")
                == "CREATE TABLE ZUSER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR , \"ZAGE\" INTEGER)\n"
        )
        // What was altered in place is altered again.
        let next = ModelVersions(
            versions: [
                versions.versions[1],
                ModelVersion(
                    names: ["3"],
                    model: try ManagedObjectModel(entities: [
                        Self.user([
                            .init(name: "age", type: .integer16),
                            .init(
                                name: "admin", type: .boolean, isOptional: false,
                                defaultValue: .boolean(false)),
                        ]), Self.post(renaming: "headline"),
                    ])),
            ])
        _ = try migrate(path, next)
        #expect(
            try SQLiteShell.run(path, "SELECT ZNAME, ZADMIN, ZAGE FROM ZUSER WHERE Z_PK = 1") == "Ann|0|\n")
    }

    @Test func `in place is refused where rows would have to be written, with every reason`() throws {
        let required = AttributeDescription(
            name: "age", type: .integer16, isOptional: false, defaultValue: .integer(18))
        let versions = try Self.versions([Self.user(), Self.post()], [Self.user([required]), Self.post()])
        let (folder, path) = try store(of: versions)
        defer { withExtendedLifetime(folder) {} }
        #expect {
            try migrate(path, versions, inPlace: true)
        } throws: { error in
            (error as? MigrationError)?.code == .unsupported && "\(error)".contains("ZAGE gets new values")
        }
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM pragma_table_info('ZUSER')") == "4\n")
    }

    @Test(arguments: [10, 200_000])
    func `bytes go into external storage and come back out of their file`(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let outside = AttributeDescription(name: "body", type: .binary, allowsExternalBinaryDataStorage: true)
        let inside = AttributeDescription(name: "body", type: .binary)
        let versions = try Self.versions(
            [Self.user(), Self.post([outside])], [Self.user(), Self.post([inside])],
            [Self.user(), Self.post([outside])])
        let (folder, path) = try store(of: versions, external: bytes)
        defer { withExtendedLifetime(folder) {} }
        let inner = ModelVersions(versions: Array(versions.versions[0...1]))
        _ = try migrate(path, inner)
        let body = "SELECT hex(ZBODY) FROM ZPOST WHERE ZTITLE = 'Two'"
        #expect(try [UInt8](hexadecimal: SQLiteShell.run(path, body)) == bytes)
        _ = try migrate(path, ModelVersions(versions: Array(versions.versions[1...2])))
        #expect(try [UInt8](hexadecimal: SQLiteShell.run(path, body)) == [1] + bytes)
    }

    @Test func `values whose files are not there are counted before a migration, and those that are there are not`()
        throws
    {
        let outside = AttributeDescription(name: "body", type: .binary, allowsExternalBinaryDataStorage: true)
        let versions = try Self.versions(
            [Self.user(), Self.post([outside])],
            [Self.user([.init(name: "age", type: .integer16)]), Self.post([outside])])
        let (folder, path) = try store(of: versions, external: [UInt8](repeating: 7, count: 200_000))
        defer { withExtendedLifetime(folder) {} }
        #expect(try PreparedMigration(path, versions: versions).missingFiles == [])
        try FileManager.default.removeItem(atPath: ExternalStorage(store: path).folder)
        let prepared = try PreparedMigration(path, versions: versions)
        let found = try #require(prepared.missingFiles.first)
        #expect(prepared.missingFiles.count == 1 && found.severity == .warning)
        #expect(found.code == "external-file-missing" && found.place == "Post.body" && found.keys.count == 1)
        #expect(found.message.hasPrefix("1 object keeps Post.body in a file that is not there."), "\(found)")
        _ = try Migrator().run(#require(try prepared.migration()), on: path)
    }

    @Test
    func `a mirror's records keep their names under the new numbers, when asked; else the store is refused`() throws {
        let admin = EntityDescription(name: "Admin", attributes: [.init(name: "level", type: .integer16)])
        let versions = try Self.versions([Self.user(), Self.post()], [Self.user(), Self.post(), admin])
        let (folder, path) = try store(of: versions)
        defer { withExtendedLifetime(folder) {} }
        _ = try SQLiteShell.run(
            path,
            """
            CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR );
            CREATE UNIQUE INDEX u ON ANSCKRECORDMETADATA (ZENTITYID COLLATE BINARY ASC, ZENTITYPK COLLATE BINARY ASC);
            INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1, 'post-1'), (2, 2, 1, 'user-1'), (3, 2, 2, 'user-2')
            """)
        #expect {
            try PreparedMigration(path, versions: versions)
        } throws: {
            ($0 as? MigrationError)?.code == .cloudKit
        }
        let prepared = try PreparedMigration(path, versions: versions, options: .init(allowsCloudKit: true))
        _ = try Migrator().run(#require(try prepared.migration()), on: path)
        #expect(
            try SQLiteShell.run(
                path, "SELECT ZENTITYID, ZENTITYPK, ZCKRECORDNAME FROM ANSCKRECORDMETADATA ORDER BY Z_PK")
                == "2|1|post-1\n3|1|user-1\n3|2|user-2\n")
    }

    /// Records of an entity that an earlier version of the app removed without its records: no table has its objects.
    @Test func `a mirror's records of an entity whose table is gone are not given to another entity`() throws {
        let admin = EntityDescription(name: "Admin", attributes: [.init(name: "level", type: .integer16)])
        let versions = try Self.versions([Self.user(), Self.post()], [Self.user(), Self.post(), admin])
        let (folder, path) = try store(of: versions)
        defer { withExtendedLifetime(folder) {} }
        _ = try SQLiteShell.run(
            path,
            """
            CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZCKRECORDNAME VARCHAR );
            CREATE UNIQUE INDEX u ON ANSCKRECORDMETADATA (ZENTITYID COLLATE BINARY ASC, ZENTITYPK COLLATE BINARY ASC);
            INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1, 1, 'post-1'), (2, 2, 1, 'user-1'), (3, 3, 1, 'gone-1'),
                (4, 3, 2, 'gone-2'), (5, 9, 1, 'older-1')
            """)
        let prepared = try PreparedMigration(path, versions: versions, options: .init(allowsCloudKit: true))
        _ = try Migrator().run(#require(try prepared.migration()), on: path)
        #expect(
            try SQLiteShell.run(
                path, "SELECT ZENTITYID, ZENTITYPK, ZCKRECORDNAME FROM ANSCKRECORDMETADATA ORDER BY Z_PK")
                == "2|1|post-1\n3|1|user-1\n9|1|older-1\n")
        #expect(try StoreAudit(path, model: versions.versions[1].model).isSound)
    }

    @Test func `a rename that Core Data forbids in a mirrored store is named before anything is migrated`() throws {
        let renamed = EntityDescription(
            name: "Person", attributes: [.init(name: "title", type: .string, renamingIdentifier: "name")],
            renamingIdentifier: "User")
        let versions = try Self.versions(
            [EntityDescription(name: "User", attributes: [.init(name: "name", type: .string)])], [renamed])
        let folder = try ScratchFolder()
        let path = folder.path + "/Forum.sqlite"
        try StoreCreator(versions.versions[0]).make(at: path)
        let unmirrored = try PreparedMigration(path, versions: versions)
        #expect(!unmirrored.storeFindings.contains { $0.code == "cloudkit-rename" })
        _ = try SQLiteShell.run(
            path, "CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER )")
        let error = #expect(throws: MigrationError.self) { try PreparedMigration(path, versions: versions) }
        #expect(error?.code == .cloudKit && error?.message.contains("forbids renaming") == true)
        // That the app migrates the store would be no way out.
        #expect(error?.remedy.contains("Let the app migrate it") == false)
        let prepared = try PreparedMigration(path, versions: versions, options: .init(allowsCloudKit: true))
        let named = prepared.storeFindings.filter { $0.code == "cloudkit-rename" && $0.severity == .warning }
        #expect(named.map(\.place).sorted() == ["Person", "Person.title"])
        #expect(named.allSatisfy { $0.message.contains("forbids renaming") && $0.remedy.contains("Keep ") })
    }

    @Test func `a mirrored store's plan names a field that changes its type, and what to deploy`() throws {
        func user(_ type: AttributeType, _ more: AttributeDescription...) -> EntityDescription {
            EntityDescription(name: "User", attributes: [.init(name: "age", type: type)] + more)
        }
        let added = AttributeDescription(name: "email", type: .string)
        let versions = try Self.versions(
            [user(.integer16)], [user(.double, added), EntityDescription(name: "Note")])
        let folder = try ScratchFolder()
        let path = folder.path + "/Forum.sqlite"
        try StoreCreator(versions.versions[0]).make(at: path)
        let unmirrored = try PreparedMigration(path, versions: versions)
        #expect(!unmirrored.storeFindings.contains { $0.code.hasPrefix("cloudkit-") })
        _ = try SQLiteShell.run(
            path, "CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER )")
        // The app can migrate the store: only the export of such a field fails.
        let error = #expect(throws: MigrationError.self) { try PreparedMigration(path, versions: versions) }
        #expect(error?.remedy.contains("Let the app migrate it") == true)
        let prepared = try PreparedMigration(path, versions: versions, options: .init(allowsCloudKit: true))
        let found = prepared.storeFindings.filter { $0.code.hasPrefix("cloudkit-") }
        #expect(found.map(\.code) == ["cloudkit-retype", "cloudkit-deploy"])
        #expect(found.map(\.severity) == [.warning, .warning])
        #expect(found.first?.message == "CD_User.CD_age is INT64 in Production for ever, and User.age needs DOUBLE.")
        #expect(found.last?.message.hasSuffix("CD_Note and CD_User.CD_email.") == true, "\(found)")
        // Production may have something else than the first version needs.
        var production = try CloudKitRequirements(versions.versions[1].model).schema
        production.types["CD_Note"]?.fields["CD_entityName"] = .init(.init(.integer))
        var options = PreparedMigration.Options(allowsCloudKit: true)
        options.cloudKitProduction = CloudKitProduction(production)
        let compared = try PreparedMigration(path, versions: versions, options: options).storeFindings
            .filter { $0.code.hasPrefix("cloudkit-") }
        #expect(compared.map(\.place) == ["CD_Note.CD_entityName"], "\(compared)")
    }

    @Test func `a plan is refused where the store has changed since`() throws {
        let versions = try Self.versions(
            [Self.user(), Self.post()], [Self.user([.init(name: "age", type: .integer16)]), Self.post()])
        let (folder, path) = try store(of: versions)
        defer { withExtendedLifetime(folder) {} }
        let prepared = try PreparedMigration(path, versions: versions)
        _ = try SQLiteShell.run(path, "CREATE INDEX later ON ZPOST (ZTITLE)")
        #expect {
            try Migrator().run(#require(try prepared.migration()), on: path)
        } throws: {
            ($0 as? MigrationError)?.code == .planStale
        }
    }

    @Test
    func `a store of one configuration gets that configuration's entities of the new version, and no others`() throws {
        let tag = EntityDescription(name: "Tag", attributes: [.init(name: "word", type: .string)])
        let model = { (entities: [EntityDescription]) in
            try ManagedObjectModel(
                entities: entities,
                configurations: [
                    .init(name: "Local", entityNames: ["User", "Post"]), .init(name: "Cloud", entityNames: ["Tag"]),
                ])
        }
        let versions = ModelVersions(
            versions: [
                ModelVersion(names: ["1"], model: try model([Self.user(), Self.post(), tag])),
                ModelVersion(
                    names: ["2"],
                    model: try model([Self.user([.init(name: "age", type: .integer16)]), Self.post(), tag])),
            ])
        let (folder, path) = try store(of: Self.versions([Self.user(), Self.post()]))
        defer { withExtendedLifetime(folder) {} }
        _ = try migrate(path, versions)
        #expect(
            try SQLiteShell.run(path, "SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY") == "1|Post|3\n2|User|3\n")
        #expect(try SQLiteShell.run(path, "SELECT count(*), count(ZAGE) FROM ZUSER") == "3|0\n")
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM sqlite_master WHERE name = 'ZTAG'") == "0\n")
        #expect(try PreparedMigration(path, versions: versions).bound == nil)
    }
}
