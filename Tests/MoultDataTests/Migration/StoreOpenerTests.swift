import MoultData
import MoultModel
import TestSupport
import Testing

@Suite struct StoreOpenerTests {
    @Test func `a store is made where there is none, and opened again`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/memos.store"
        for _ in 0..<2 {
            let store = try StoreOpener(schema: Schema(versionedSchema: MemosV1.self)).open(at: URL(filePath: path))
            store.close()
        }
        #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZMEMO") == "0\n")
        #expect(
            try SQLiteShell.run(path, "SELECT name FROM sqlite_master WHERE name = 'ATRANSACTION'") == "ATRANSACTION\n")
    }

    @Test func `a store of the first version is brought to the newest`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/memos.store"
        try StoreOpener(schema: Schema(versionedSchema: MemosV1.self), plan: MemosPlan.self)
            .open(at: URL(filePath: path)).close()
        _ = try SQLiteShell.run(
            path,
            "INSERT INTO ZMEMO(Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'one'); UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Memo'"
        )
        let opener = try StoreOpener(schema: Schema(versionedSchema: MemosV2.self), plan: MemosPlan.self)
        let store = try opener.open(at: URL(filePath: path))
        #expect(try store.store.metadata().versionIdentifiers == ["2.0.0"])
        store.close()
        #expect(try SQLiteShell.run(path, "SELECT ZHEADLINE, ZISPINNED FROM ZMEMO") == "one|0\n")
    }

    @Test func `a store in memory needs no migration`() throws {
        let opener = try StoreOpener(schema: Schema(versionedSchema: MemosV2.self), plan: MemosPlan.self)
        #expect(try opener.open(at: nil).store.path == "")
    }
}

enum MemosV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Memo.self] }

    @Model final class Memo {
        var title: String
        init(title: String) { self.title = title }
    }
}

enum MemosV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Memo.self] }

    @Model final class Memo {
        @Attribute(originalName: "title") var headline: String
        var isPinned = false
        init(headline: String) { self.headline = headline }
    }
}

enum MemosPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MemosV1.self, MemosV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: MemosV1.self, toVersion: MemosV2.self)] }
}
