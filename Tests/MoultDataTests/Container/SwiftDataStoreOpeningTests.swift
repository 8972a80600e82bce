import Foundation
import MoultData
import TestSupport
import Testing

/// The store that SwiftData made, opened, read and added to by models written to match it.
@Suite(.enabled(if: Corpus.isAvailable)) struct SwiftDataStoreOpeningTests {
    private let folder: ScratchFolder
    private let path: String

    init() throws {
        folder = try ScratchFolder()
        path = try folder.copyStore(try #require(Corpus.stores.first { $0.hasSuffix("CartKitSwiftData_v1.sqlite") }))
    }

    private func open() throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: Carts.self), configurations: .init(url: URL(fileURLWithPath: path)))
    }

    private func sql(_ text: String) throws -> String { try SQLiteShell.run(path, text) }

    @Test func `its rows are read`() throws {
        let carts = try ModelContext(try open()).all(Carts.CartModel.self)
        let row = try sql("SELECT ZID, ZSTOREID, ZSTATUS, ZCREATEDAT, ZMETADATAJSON FROM ZCARTMODEL")
        let cart = try #require(carts.first)
        let seconds = cart.createdAt.timeIntervalSinceReferenceDate
        let json = String(decoding: cart.metadataJSON ?? Data(), as: UTF8.self)
        #expect("\(cart.id)|\(cart.storeId)|\(cart.status)|\(seconds)|\(json)\n" == row && carts.count == 1)
        #expect(cart.items.isEmpty && cart.displayName == nil && cart.maxItemCount == nil)
    }

    @Test func `opening and reading change nothing`() throws {
        let dump = ".dump"
        let before = try sql(dump)
        _ = try ModelContext(try open()).all(Carts.CartModel.self)
        #expect(try sql(dump) == before)
    }

    @Test func `what is added stands there as SwiftData would have put it, and the schema is still SwiftData's`() throws
    {
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"
        let settled =
            "SELECT hex(Z_PLIST), Z_UUID FROM Z_METADATA; SELECT hex(Z_CONTENT) FROM Z_MODELCACHE; "
            + "PRAGMA user_version; PRAGMA application_id; PRAGMA auto_vacuum; PRAGMA page_size;"
        let before = (try sql(schema), try sql(settled), try sql("SELECT * FROM ATRANSACTION"))
        do {
            let context = ModelContext(try open())
            let item = Carts.CartItemModel(id: "one")
            item.unitPriceAmount = Decimal(string: "12.50") ?? 0
            let modifier = Carts.CartItemModifierModel(id: "large")
            item.modifiers = [modifier]
            let cart = try #require(try context.all(Carts.CartModel.self).first)
            cart.items.append(item)
            cart.status = "open"
            try context.save()
        }
        #expect(try sql(schema) == before.0 && sql(settled) == before.1)
        #expect(try sql("SELECT Z_PK, Z_ENT, Z_OPT, ZSTATUS FROM ZCARTMODEL") == "1|3|2|open\n")
        #expect(
            try sql("SELECT Z_PK, Z_ENT, Z_OPT, Z3ITEMS, ZID, ZUNITPRICEAMOUNT FROM ZCARTITEMMODEL")
                == "1|1|1|1|one|12.5\n")
        #expect(try sql("SELECT Z_PK, Z_ENT, Z_OPT, Z1MODIFIERS, ZID FROM ZCARTITEMMODIFIERMODEL") == "1|2|1|1|large\n")
        // The history goes on: what was there, then one transaction with a row for each object.
        #expect(try sql("SELECT * FROM ATRANSACTION").hasPrefix(before.2))
        #expect(try sql("SELECT Z_PK, Z_ENT, Z_OPT IS NULL FROM ATRANSACTION") == "1|16002|1\n2|16002|1\n")
        let changes = try sql(
            "SELECT Z_ENT, Z_OPT IS NULL, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE "
                + "WHERE ZTRANSACTIONID = 2 ORDER BY ZENTITY")
        // The bits of CartModel: its attributes by name, status the tenth of thirteen; then its list.
        #expect(changes == "16001|1|0|1|1|\n16001|1|0|2|1|\n16001|1|1|3|1|0044\n")
        #expect(try sql("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY") == "1|1\n2|1\n3|1\n16001|4\n16002|2\n16003|3\n")
        #expect(try sql("PRAGMA integrity_check") == "ok\n")
        let history = try ModelContext(try open()).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(history.map(\.changes.count) == [1, 3])
        #expect(history[0].bundleIdentifier == "com.apple.dt.xctest.tool" && history[0].processIdentifier == "xctest")
    }

    @Test func `an insert with the identity of its row changes the row`() throws {
        let context = ModelContext(try open())
        let id = try #require(try context.all(Carts.CartModel.self).first).id
        let cart = Carts.CartModel(id: id, storeId: "other")
        let fresh = ModelContext(context.container)
        fresh.insert(cart)
        try fresh.save()
        #expect(try sql("SELECT Z_PK, ZSTOREID FROM ZCARTMODEL") == "1|other\n")
    }

    @Test func `models that are not its own are refused, and it stays as it is`() throws {
        let before = try sql(".dump")
        #expect(throws: SwiftDataError.self) {
            try ModelContainer(
                for: Bookshop.Book.self, configurations: .init(url: URL(fileURLWithPath: path), allowsSave: false))
        }
        #expect(try sql(".dump") == before)
    }
}
