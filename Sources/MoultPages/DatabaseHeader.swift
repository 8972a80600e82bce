import MoultSQLite

/// The header of a database, its first hundred bytes (the SQLite file format, section 1.3). An optional field is nil
/// where it holds what SQLite does not write.
struct DatabaseHeader {
    let pageSize: Int?
    let reserved: Int
    /// Pages of the database; nil where an older SQLite has left the field alone.
    let pageCount: Int?
    let freelist: (trunk: Int, count: Int)?
    /// Whether there are pages of the pointer map.
    let isAutoVacuum: Bool?
    /// 1 UTF-8, 2 and 3 UTF-16.
    let encoding: Int
    /// Whether every field that has few values holds one of them.
    let isSound: Bool

    init(_ bytes: [UInt8]) {
        pageSize = bytes.databasePageSize
        let named = bytes.prefix(16).elementsEqual("SQLite format 3\0".utf8)
        let versions = bytes.count >= 24 && [1, 2].contains(bytes[18]) && [1, 2].contains(bytes[19])
        let fractions = bytes.count >= 24 && bytes[21] == 64 && bytes[22] == 32 && bytes[23] == 32
        let written = bytes.number32(56) ?? 0
        let format = bytes.number32(44) ?? -1
        isSound =
            named && versions && fractions && pageSize != nil && (0...4).contains(format) && (0...3).contains(written)
        encoding = isSound ? max(written, 1) : 1
        reserved = isSound && bytes[20] <= 32 ? Int(bytes[20]) : 0
        guard isSound else {
            (pageCount, freelist, isAutoVacuum) = (nil, nil, nil)
            return
        }
        let count = bytes.number32(28) ?? 0
        pageCount = count > 0 && bytes.number32(24) == bytes.number32(92) ? count : nil
        freelist = (bytes.number32(32) ?? 0, bytes.number32(36) ?? 0)
        isAutoVacuum = bytes.number32(52) != 0
    }
}
