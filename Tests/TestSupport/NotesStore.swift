import MoultModel
import MoultStore

/// Five notes with a title and a body, and tags: a store of the first of two versions, into whose tables the sqlite3 shell
/// puts what an app of its own might.
///
/// `Z_ENT`: Note 1, Tag 2.
package final class NotesStore {
    package let folder: ScratchFolder
    package let path: String
    package let versions: ModelVersions

    /// - Parameters:
    ///   - sql: what an app has done to the store.
    ///   - later: the attributes of Note in the second version.
    ///   - links: whether notes have tags: of two tags, one has two notes and one has one.
    ///   - keepsTag: whether the second version has tags.
    package init(
        _ sql: String, to later: [AttributeDescription], history: Bool = false, links: Bool = false,
        keepsTag: Bool = true
    ) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Notes.sqlite"
        let tag = EntityDescription("Tag = name String\(links ? ", notes >> Note.tags" : "")")
        let first = EntityDescription("Note = title String, body String\(links ? ", tags >> Tag.notes" : "")")
        var second = first
        second.attributes = later
        versions = try ModelVersions(of: [[first, tag], [second] + (keepsTag ? [tag] : [])])
        try StoreCreator(versions.versions[0], history: history).make(at: path)
        let pairs = """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'), (2, 2, 1, 'b');
            INSERT INTO Z_1TAGS VALUES (1, 1), (2, 1), (3, 2); UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_ENT = 2;
            """
        try shell(
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZBODY)
                SELECT value, 1, 1, 'title ' || value, 'body ' || value FROM generate_series(1, 5);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_ENT = 1;
            \(links ? pairs : "")
            \(sql)
            """)
    }

    /// What the sqlite3 shell prints.
    @discardableResult
    package func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }
}
