import Foundation
import MoultModel
import MoultStore
import TestSupport

/// A library whose rows are written by the sqlite3 shell: shelves in a hierarchy, books that need a shelf, loans that
/// need a book, one cover a book, tags with unique names, and a derived count.
///
/// `Z_ENT`: Book 1, Novel 2, Cover 3, Loan 4, Shelf 5, Tag 6.
final class LibraryStore {
    let folder: ScratchFolder
    let path: String
    let version: ModelVersion
    let layout: StoreLayout

    init(_ rows: String = LibraryStore.rows, history: Bool = false) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Library.sqlite"
        version = ModelVersion(names: ["1"], model: try Self.model())
        let maker = try StoreCreator(version, history: history)
        layout = maker.layout
        try maker.make(at: path)
        try shell(rows)
    }

    /// Runs SQL without the triggers, whose functions the shell has not, and puts them back.
    @discardableResult
    func shell(_ sql: String) throws -> String {
        let drops = layout.triggers.map { "DROP TRIGGER IF EXISTS \"\($0.name)\";" }.joined()
        let makes = layout.triggers.map { $0.sql + ";" }.joined(separator: "\n")
        return try SQLiteShell.run(path, "\(drops)\n\(sql);\n\(makes)")
    }

    /// The one line that a query prints.
    func line(_ sql: String) throws -> String { String(try SQLiteShell.run(path, sql).dropLast()) }

    /// Overwrites the root page of a table or index with that of another.
    func overwritePage(of name: String, with other: String) throws {
        try SQLiteShell.overwritePage(of: name, with: other, in: path)
    }

    /// The sqlite3 shell's hash over everything but history and counters.
    func hash() throws -> String { try SQLiteShell.run(path, ".sha3sum --schema") }

    /// Ten shelves in a row below the first, a hundred books, their covers, loans and tags.
    static let rows = """
        INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZNAME, ZCODE, ZPARENT, ZBOOKCOUNT)
            SELECT value, 5, 1, 'Shelf ' || value, value, iif(value = 1, NULL, value - 1), 10 FROM generate_series(1, 10);
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSHELF, Z_FOK_SHELF, ZCOVER, ZGENRE)
            SELECT value, iif(value % 5 = 0, 2, 1), 1, 'It''s "' || value || '"', (value - 1) / 10 + 1, value, value,
                iif(value % 5 = 0, 'crime', NULL) FROM generate_series(1, 100);
        INSERT INTO ZCOVER (Z_PK, Z_ENT, Z_OPT, ZBOOK, Z1_BOOK)
            SELECT value, 3, 1, value, iif(value % 5 = 0, 2, 1) FROM generate_series(1, 100);
        INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT, ZREADER, ZBOOK, Z1_BOOK)
            SELECT value, 4, 1, 'r' || value, value, iif(value % 5 = 0, 2, 1)
            FROM generate_series(1, 50);
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 6, 1, 'tag ' || value FROM generate_series(1, 10);
        INSERT INTO Z_1TAGS SELECT value, value % 10 + 1 FROM generate_series(1, 100);
        UPDATE Z_PRIMARYKEY SET Z_MAX = 100 WHERE Z_ENT < 16000
        """

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Book = title String, shelf > Shelf.books required, cover > Cover.book, loans >> Loan.book, tags >> Tag.books
            Novel (Book) = genre String
            Cover = book > Book.cover
            Loan = reader String, book > Book.loans required
            Shelf = name String, code Integer32, bookCount Integer64 derived=books.@count, parent > Shelf.children,
                children >> Shelf.parent, books >> Book.shelf ordered
            Tag unique=name = name String, books >> Book.tags
            """)
    }
}
