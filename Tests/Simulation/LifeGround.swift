import Foundation
import MoultBasics
import MoultModel
import MoultStore

/// The file that a life begins as.
struct LifeGround {
    private let life: Life
    private let version: ModelVersion
    private let isOther: Bool

    init(_ life: Life, _ history: ModelHistory) {
        self.life = life
        (version, isOther) = (history.held(0), history.isOther)
    }

    func make(at path: String) throws {
        let ground = life.ground
        let uuid = String(format: "00000000-0000-400\(isOther ? 1 : 0)-8000-%012llX", life.seed & 0xFFFF_FFFF_FFFF)
        try StoreCreator(version, history: ground.hasHistory, uuid: uuid).make(at: path)
        let system = POSIXSystem()
        try system.setMode(ground.rights, of: path)
        for folder in [LifeRun.support(of: path), LifeRun.support(of: path) + "/_EXTERNAL_DATA"]
        where try system.exists(folder) {
            try system.setMode(ground.folderRights, of: folder)
        }
        let file = try SQLiteFile(path)
        defer { file.close() }
        let isChanged = ground.pageSize != 4_096 || ground.emptyBytes > 0 || ground.fullBytes != nil
        if isChanged || !ground.isWAL { try file.rows("PRAGMA journal_mode = DELETE") }
        if ground.pageSize != 4_096 {
            try file.rows("PRAGMA page_size = \(ground.pageSize)")
            try file.rows("VACUUM")
        }
        if ground.emptyBytes > 0 { try leaveEmptyPages(file, ground.emptyBytes) }
        if let bytes = ground.fullBytes { try fill(file, bytes) }
        if ground.isWAL, isChanged { try file.rows("PRAGMA journal_mode = WAL") }
        guard ground.lastKey > 0 else { return }
        try file.rows("UPDATE Z_PRIMARYKEY SET Z_MAX = \(ground.lastKey) WHERE Z_SUPER = 0 AND Z_ENT < 16001")
    }

    /// Lets the file grow to a size, so that what comes next lies behind it.
    private func fill(_ file: SQLiteFile, _ bytes: Int) throws {
        try file.rows("PRAGMA synchronous = OFF")
        try file.rows("CREATE TABLE simulated (bytes)")
        let sizes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        while let size = try file.rows(sizes)[0][0].integer, Int(size) < bytes - 1 << 20 {
            try file.rows("INSERT INTO simulated VALUES (zeroblob(\(min(bytes - Int(size), 64 << 20))))")
        }
    }

    /// Lets the file grow, and frees the pages again: what comes next lies behind them, or in them.
    private func leaveEmptyPages(_ file: SQLiteFile, _ bytes: Int) throws {
        try file.rows("PRAGMA synchronous = OFF")
        try file.rows("CREATE TABLE simulated (bytes)")
        let piece = 64 << 20
        for _ in 0..<max(1, bytes / piece) { try file.rows("INSERT INTO simulated VALUES (zeroblob(\(piece)))") }
        try file.rows("DELETE FROM simulated WHERE rowid > 1")
    }
}
