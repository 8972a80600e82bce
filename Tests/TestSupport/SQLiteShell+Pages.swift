import Foundation

extension SQLiteShell {
    /// Overwrites the root page of a table or index with that of another, as a write does that goes to the wrong place.
    package static func overwritePage(of name: String, with other: String, in path: String) throws {
        _ = try run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        func number(_ query: String) throws -> Int { Int(try run(path, query).dropLast()) ?? 0 }
        let size = try number("PRAGMA page_size")
        let places = try [name, other].map {
            (try number("SELECT rootpage FROM sqlite_master WHERE name = '\($0)'") - 1) * size
        }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(places[1]))
        let page = try file.read(upToCount: size) ?? Data()
        try file.seek(toOffset: UInt64(places[0]))
        try file.write(contentsOf: page)
        try file.close()
    }
}
