import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Values derived from what a mapping model computes.
struct DerivedValueTests {
    @Test(arguments: [
        (false, "first|FIRST\nTwo|TWO\n"), (true, "One!|ONE!\nTwo!|TWO!\n"),
    ])
    func `what is derived from a computed value is computed again`(byClosure: Bool, expected: String) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Notes.sqlite"
        let versions = try ModelVersions(
            "Note = title String, upper String derived=uppercase:(title)",
            "Note = title String, more String, upper String derived=uppercase:(title)")
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZUPPER)
                VALUES (1, 1, 1, 'One', 'ONE'), (2, 1, 1, 'Two', 'TWO');
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2
            """)
        var note = EntityMapping(from: "Note", to: "Note")
        note.attributeMappings = [
            try byClosure
                ? PropertyMapping("title", from: "title") { (title: String?) -> String? in title.map { $0 + "!" } }
                : PropertyMapping("title", "TERNARY($source.title == 'One', 'first', $source.title)")
        ]
        let mapping = MappingModel([note]).completed(from: versions.versions[0], to: versions.versions[1])
        let stage = try RegisteredStage(mapping, named: "titles", in: versions)
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registered: [stage]))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT ZTITLE, ZUPPER FROM ZNOTE ORDER BY Z_PK") == expected)
    }
}
