import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// Objects that go back from the quarantine stand where they stood in every ordered list, and whatever led to them leads
/// to them again, with an inverse or without.
struct QuarantineOrderTests {  // tier: long
    private let folder: ScratchFolder
    private let store: String
    private let version: ModelVersion
    private let layout: StoreLayout

    init() throws {
        folder = try ScratchFolder()
        store = folder.path + "/Music.sqlite"
        version = ModelVersion(names: ["1"], model: try Self.model())
        let maker = try StoreCreator(version)
        layout = maker.layout
        try maker.make(at: store)
        let objects = try ObjectStore(store, model: version.model)
        defer { objects.close() }
        let coordinator = ObjectCoordinator(model: version.model)
        try coordinator.add(objects)
        let context = ObjectContext(coordinator: coordinator)
        try Self.fill(context)
        try context.save()
    }

    /// Albums and playlists with ordered songs; a player whose present song and queue no song knows of.
    private static func model() throws -> ManagedObjectModel {
        func many(_ name: String, _ entity: String, _ inverse: String?, isOrdered: Bool = true)
            -> RelationshipDescription
        {
            .init(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 0, isOrdered: isOrdered)
        }
        let title = AttributeDescription(name: "title", type: .string)
        return try ManagedObjectModel(entities: [
            EntityDescription(name: "Album", attributes: [title], relationships: [many("songs", "Song", "album")]),
            EntityDescription(
                name: "Song", attributes: [title],
                relationships: [
                    .init(name: "album", destinationEntityName: "Album", inverseName: "songs"),
                    many("lists", "Playlist", "songs"), many("similar", "Song", "similar"),
                ]),
            EntityDescription(name: "Single", superentityName: "Song"),
            EntityDescription(name: "Playlist", attributes: [title], relationships: [many("songs", "Song", "lists")]),
            EntityDescription(
                name: "Player", attributes: [title],
                relationships: [
                    .init(name: "current", destinationEntityName: "Song"), many("queue", "Song", nil),
                ]),
        ])
    }

    private static func fill(_ context: ObjectContext) throws {
        func make(_ entity: String, _ count: Int) throws -> [Object] {
            try (0..<count).map { number in
                let object = try context.insert(entity)
                try object.setAttribute("title", .string("\(entity) \(number)"))
                return object
            }
        }
        let songs = try make("Song", 8) + make("Single", 4)
        let (albums, lists, players) = (try make("Album", 3), try make("Playlist", 4), try make("Player", 3))
        for (number, album) in albums.enumerated() {
            try album.setToMany(
                "songs", songs.enumerated().filter { $0.offset % 3 == number }.map(\.element).reversed())
        }
        for (number, list) in lists.enumerated() {
            try list.setToMany("songs", (0..<6).map { songs[($0 * 5 + number * 3) % songs.count] })
        }
        for (number, player) in players.enumerated() {
            try player.setToOne("current", songs[number * 3])
            try player.setToMany("queue", songs[(number * 4)..<(number * 4 + 4)].reversed())
        }
        for number in 0..<5 { try songs[number].setToMany("similar", [songs[number + 5], songs[(number + 3) % 5]]) }
    }

    /// Every row, ordered by key, without the counters of writes; the lists in their order, not by their numbers.
    private func contents() throws -> [String] {
        var lines: [String] = []
        for table in layout.tables {
            let columns = table.columns.filter { $0.role != .optimisticLock }.map { "\"\($0.name)\"" }
            let query = "SELECT \(columns.joined(separator: ", ")) FROM \(table.name) ORDER BY Z_PK"
            lines += try SQLiteShell.run(store, query).split(separator: "\n").map { "\(table.name) \($0)" }
        }
        for join in layout.joinTables {
            let query = "SELECT * FROM \(join.name) ORDER BY 1, 2"
            lines += try SQLiteShell.run(store, query).split(separator: "\n").map { "\(join.name) \($0)" }
        }
        return lines
    }

    private func quarantine(_ entity: String, _ predicate: String) throws {
        let rule = ValidationRule(
            "out", of: entity, .predicate(try Predicate(parsing: "NOT (\(predicate))")), fix: .quarantine)
        let audit = try RuleAudit(store, [rule], version: version)
        _ = try Migrator().run(try #require(try audit.mending()), on: store)
    }

    private func restore() throws -> RestorationResult {
        let restoration = try Restoration(into: store, at: version)
        _ = try Migrator().run(restoration.migration, on: store)
        return restoration.report
    }

    @Test(arguments: [
        ["Song": "title IN {'Song 0', 'Song 3', 'Song 6', 'Single 0', 'Single 1'}"],
        ["Album": "TRUEPREDICATE"], ["Playlist": "title != 'x'"], ["Player": "TRUEPREDICATE"],
        ["Song": "TRUEPREDICATE"],
        ["Album": "title = 'Album 0'", "Playlist": "title != 'Playlist 1'", "Song": "title LIKE '*ng*'"],
    ])
    func `what goes out comes back to where it was`(rules: [String: String]) throws {
        let before = try contents()
        for (entity, predicate) in rules.sorted(by: { $0.key < $1.key }) { try quarantine(entity, predicate) }
        #expect(try contents() != before)
        let report = try restore()
        #expect(report.refused.isEmpty && report.restored.flatMap(\.lostLinks).isEmpty)
        #expect(try contents() == before)
    }

    @Test func `objects that went one by one come back in any order`() throws {
        let before = try contents()
        for (entity, title) in [
            ("Song", "Song 3"), ("Song", "Song 0"), ("Album", "Album 0"), ("Song", "Song 6"), ("Player", "Player 1"),
            ("Song", "Single 1"), ("Playlist", "Playlist 2"),
        ] {
            try quarantine(entity, "title = '\(title)'")
        }
        let report = try restore()
        #expect(report.restored.count == 7 && report.restored.flatMap(\.lostLinks).isEmpty)
        #expect(try contents() == before)
    }

    @Test func `a link that leads elsewhere by now is told, and stays`() throws {
        try quarantine("Song", "title IN {'Song 0', 'Song 3'}")
        let kept = try #require(try Quarantine(StoreRecords(store: store)).entry(1))
        let shown = try kept.lines(style: .plain).joined(separator: "\n")
        #expect(shown.contains(" by current") && shown.contains(" by queue"), "\(shown)")
        // Player 0 has another song now.
        let other = try SQLiteShell.run(store, "SELECT Z_PK FROM ZSONG WHERE ZTITLE = 'Song 1'").dropLast()
        let player = try #require(version.model.entity("Player"))
        guard case .foreignKey(_, _, let number?)? = layout.storage(ofRelationship: "current", in: player),
            let song = layout.entityNumbers["Song"]
        else {
            Issue.record("The song of a player has no column of numbers.")
            return
        }
        _ = try SQLiteShell.run(
            store, "UPDATE ZPLAYER SET ZCURRENT = \(other), \(number) = \(song) WHERE ZTITLE = 'Player 0'")
        let report = try restore()
        let lost = report.restored.flatMap(\.lostLinks)
        #expect(
            lost.count == 1 && lost[0].hasPrefix("the link current of Player ")
                && lost[0].hasSuffix("another object now"))
        #expect(
            try SQLiteShell.run(store, "SELECT ZCURRENT FROM ZPLAYER WHERE ZTITLE = 'Player 0'") == "\(other)\n")
    }
}
