import CSQLite
import MoultBasics

/// The file of an open database, read and written past SQLite's cache.
///
/// It uses the connection's own descriptor: opening and closing the file another way would drop SQLite's locks on it.
package struct DatabaseFile {
    private let connection: Connection
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    /// Nil if SQLite has no file of the database, as of one in memory.
    package init?(_ connection: Connection, schema: String = "main") {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection.handle, schema, SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK,
            let pointer, let methods = pointer.pointee.pMethods?.pointee
        else { return nil }
        (self.connection, file, self.methods) = (connection, pointer, methods)
    }

    /// The size in bytes.
    package var size: Int64 {
        get throws {
            var size: Int64 = 0
            let result = methods.xFileSize?(file, &size) ?? IOError.size
            guard result == SQLITE_OK else { throw error(result) }
            return size
        }
    }

    /// Reads the bytes from an offset; those beyond the end of the file are zeros.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        for start in stride(from: 0, to: buffer.count, by: Self.limit) {
            let part = buffer[start..<min(start + Self.limit, buffer.count)]
            let place = UnsafeMutableRawBufferPointer(rebasing: part).baseAddress
            let result = methods.xRead?(file, place, Int32(part.count), offset + Int64(start)) ?? IOError.read
            guard result == SQLITE_OK || result == IOError.shortRead else { throw error(result) }
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        for start in stride(from: 0, to: bytes.count, by: Self.limit) {
            let part = bytes[start..<min(start + Self.limit, bytes.count)]
            let place = UnsafeRawBufferPointer(rebasing: part).baseAddress
            let result = methods.xWrite?(file, place, Int32(part.count), offset + Int64(start)) ?? IOError.write
            guard result == SQLITE_OK else { throw error(result) }
        }
    }

    /// The largest page: SQLite's file system takes no more than 128 KiB in one call.
    private static let limit = 65_536

    private func error(_ result: Int32) -> any Error {
        MigrationError.sqlite(
            result, sqlite3_errstr(result).map { String(cString: $0) } ?? "unknown", place: connection.path)
    }
}

extension Connection {
    /// Whether the header of the database's file says that it is in WAL mode, also to a connection that reads no WAL.
    package var isFileInWALMode: Bool {
        get throws {
            var header = [UInt8](repeating: 0, count: 20)
            try header.withUnsafeMutableBytes { try DatabaseFile(self)?.read(into: $0, at: 0) }
            return header.isInWALMode
        }
    }
}
