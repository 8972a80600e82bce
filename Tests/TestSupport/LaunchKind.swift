import Foundation
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore

/// A kind of migration that an app's launch does, with a store of the older version and a witness that reads either
/// version by SQL alone.
package enum LaunchKind: String, CaseIterable, Sendable {
    /// A column and two indexes are added to a table of many rows.
    case catalogue
    /// Tables are rebuilt, and a relationship becomes many-to-many.
    case rebuild
    /// A mapping model with a policy fills a new attribute.
    case policy
    /// Three stages with code between them, over external data.
    case stages
    /// Four versions on the way, over external data.
    case chain

    package func versions() throws -> ModelVersions {
        switch self {
        case .catalogue:
            try ModelVersions(
                "Note = title String indexed, stars Integer32, body String",
                "Note index=byStars:stars = title String indexed, stars Integer32, body String, tag String indexed")
        case .rebuild: try KillableVersions.make()
        case .policy:
            try ModelVersions(
                "Note = number Integer32, text String", "Note = number Integer32, text String, title String")
        case .stages: try FlightVersions.make()
        case .chain:
            try ModelVersions(
                """
                Album = title String, photos >> Photo.album
                Photo = name String, image Binary external, album > Album.photos
                """,
                """
                Album = title String, photos >> Photo.album
                Photo = name String, image Binary external, stars Integer16 required =3, album > Album.photos
                """,
                """
                Album = title String, photos >> Photo.album
                Photo = name String, picture Binary external was=image, stars Integer16 required =3, album > Album.photos
                """,
                """
                Album = title String, photos >> Photo.album
                Photo = name String indexed, picture Binary external, stars Integer16 required =3, album > Album.photos
                Person = name String
                """)
        }
    }

    package func registry() throws -> MigrationRegistry {
        switch self {
        case .catalogue, .rebuild, .chain: return MigrationRegistry()
        case .stages: return FlightVersions.registry()
        case .policy:
            var registry = MigrationRegistry()
            registry.register(policy: { Titling() }, named: "Titling")
            registry.register(
                mapping: try MappingModel([
                    EntityMapping(from: "Note", to: "Note", entityMigrationPolicyClassName: "Titling")
                ]).completed(from: versions().versions[0], to: versions().versions[1]), from: "1", to: "2")
            return registry
        }
    }

    private final class Titling: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let note = try manager.makeDestinationInstance(forSource: source)
            note["title"] = .string("Note \(source.integer("number") ?? 0)")
        }
    }

    // MARK: - The store

    package func makeStore(at path: String) throws {
        if self == .stages { return try FlightVersions.makeStore(at: path, count: 120, external: 4) }
        let maker = try StoreCreator(versions().versions[0])
        try maker.make(at: path)
        switch self {
        case .catalogue: try Self.fillNotes(path)
        case .chain: try Self.fillPhotos(path, maker.layout)
        default:
            let writer = try ObjectWriter(store: path, layout: maker.layout, speed: .reckless)
            let count = self == .rebuild ? 1_000 : 1_500
            try SampleData(seed: 1, count: count, counts: ["Author": 3], isHostile: false).fill(writer)
            try writer.finish()
        }
    }

    /// Adds enough rows that their migration takes longer than any call of the tests may.
    private static func fillNotes(_ path: String) throws {
        _ = try SQLiteShell.run(
            path,
            """
            BEGIN;
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSTARS, ZBODY)
                SELECT value, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'), 1, 'Note ' || (value * 7919 % 100003),
                    value % 6, iif(value % 3, 'A body of some words, of the note ' || value, NULL)
                FROM generate_series(1, 240000);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 240000 WHERE Z_NAME = 'Note';
            COMMIT
            """)
    }

    private static func fillPhotos(_ path: String, _ layout: StoreLayout) throws {
        let writer = try ObjectWriter(store: path, layout: layout)
        let album = try writer.insert("Album", ["title": .attribute(.string("Summer"))])
        for number in 0..<300 {
            let size = number < 4 ? ExternalStorage.threshold + number : 20 + number % 50
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
            _ = try writer.insert(
                "Photo",
                [
                    "name": .attribute(.string("Photo \(number)")), "image": .attribute(.binary(bytes)),
                    "album": .toOne(number % 4 == 3 ? nil : album),
                ])
        }
        try writer.finish()
    }

    // MARK: - The witness

    /// Returns the sqlite3 shell's account of a store of either version: its soundness, and every row of the older, by
    /// counts, sums and digests. Pass a store that the shell may heal.
    package func witness(_ path: String) throws -> [String] {
        let soundness = try SQLiteShell.run(path, "PRAGMA integrity_check")
        return [soundness] + (try rows(path))
    }

    private func rows(_ path: String) throws -> [String] {
        func lines(_ sql: String) throws -> [String] {
            try SQLiteShell.run(path, sql).split(separator: "\n").map(String.init)
        }
        switch self {
        case .stages: return try FlightVersions.witness(path)
        case .catalogue:
            return try lines(
                """
                SELECT count(*), sum(Z_PK), sum(ZSTARS), count(ZBODY) FROM ZNOTE;
                SELECT hex(sha3_query('SELECT Z_PK, ZTITLE, ZSTARS, ZBODY FROM ZNOTE ORDER BY 1'))
                """)
        case .rebuild:
            let join = try SQLiteShell.run(
                path, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
            let pairs = join.isEmpty ? "ZLINK WHERE ZITEM IS NOT NULL" : join.trimmingCharacters(in: .newlines)
            return try lines(
                """
                SELECT Z_PK, ZNAME, ZRATE, hex(ZDATA) FROM ZITEM ORDER BY 1; SELECT Z_PK, ZPLACE FROM ZLINK ORDER BY 1;
                SELECT Z_PK, ZNAME FROM ZAUTHOR ORDER BY 1; SELECT count(*) FROM \(pairs)
                """)
        case .policy: return try lines("SELECT Z_PK, ZNUMBER, ZTEXT FROM ZNOTE ORDER BY 1")
        case .chain:
            let columns = try SQLiteShell.run(path, "SELECT group_concat(name) FROM pragma_table_info('ZPHOTO')")
            let data = columns.contains("ZPICTURE") ? "ZPICTURE" : "ZIMAGE"
            return try lines(
                """
                SELECT Z_PK, ZNAME, ZALBUM, \(FlightVersions.digest(of: data, in: path)) FROM ZPHOTO ORDER BY 1;
                SELECT Z_PK, ZTITLE FROM ZALBUM
                """)
        }
    }

    /// Whether the store is of the newest version, by its tables alone.
    package func isNew(_ path: String) throws -> Bool {
        let question =
            switch self {
            case .catalogue: "SELECT count(*) FROM pragma_table_info('ZNOTE') WHERE name = 'ZTAG'"
            case .rebuild: "SELECT count(*) FROM sqlite_master WHERE name = 'ZAARDVARK'"
            case .policy: "SELECT count(*) FROM pragma_table_info('ZNOTE') WHERE name = 'ZTITLE'"
            case .stages: "SELECT count(*) = 0 FROM pragma_table_info('ZAIRCRAFT') WHERE name = 'ZFLIGHTDATA'"
            case .chain: "SELECT count(*) FROM sqlite_master WHERE name = 'ZPERSON'"
            }
        return try SQLiteShell.run(path, question) == "1\n"
    }
}
