import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Plain reading of the folders that models lie in.
enum ModelFolder {
    /// No real model comes near it; a file above it is not a model.
    private static let greatestSize = 256 << 20

    /// - Throws: `MigrationError` with code `fileNotFound` or `fileNotReadable`.
    static func bytes(at path: String) throws -> [UInt8] {
        // A FIFO would wait for somebody at its other end.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw unreadable(path) }
            throw MigrationError(
                .fileNotFound, "There is no file at this path.", place: path, remedy: "Check the path.")
        }
        defer { close(descriptor) }
        var record = stat()
        guard fstat(descriptor, &record) == 0 else { throw unreadable(path) }
        guard record.st_mode & S_IFMT == S_IFREG else {
            throw MigrationError(
                .modelInvalid, "This is not a plain file, but for example a folder, a pipe or a device.", place: path,
                remedy: "Give the path of a model.")
        }
        guard record.st_size <= greatestSize else {
            throw MigrationError(
                .modelInvalid, "The file is larger than any model (\(record.st_size) bytes).", place: path,
                remedy: "Give the path of a model.")
        }
        return try bytes(of: descriptor, path)
    }

    private static func bytes(of descriptor: Int32, _ path: String) throws -> [UInt8] {
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count <= greatestSize {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { break }
            if count > 0 { bytes += piece[..<count] } else if errno != EINTR { throw unreadable(path) }
        }
        return bytes
    }

    private static func unreadable(_ path: String) -> MigrationError {
        MigrationError(
            .fileNotReadable, "The file cannot be read.", place: path, remedy: "Check its permissions.",
            cause: String(cString: strerror(errno)))
    }

    /// The full paths of what lies in a folder, in byte order.
    static func entries(of path: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
                .sorted { $0.precedesInByteOrder($1) }.map { path + "/" + $0 }
        } catch {
            throw MigrationError(
                .fileNotReadable, "The folder cannot be read.", place: path, remedy: "Check its permissions.",
                cause: "\(error)")
        }
    }

    /// Whether something is at the path, if only a link that leads nowhere or what may not be looked at: reading it then
    /// says why it cannot be read.
    static func mayExist(_ path: String) -> Bool {
        var record = stat()
        return lstat(path, &record) == 0 || errno != ENOENT && errno != ENOTDIR
    }

    /// Whether a folder is at the path; nil if nothing is.
    static func isFolder(_ path: String) -> Bool? {
        // Foundation and FoundationEssentials spell their own question differently; this one they share.
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return FileManager.default.fileExists(atPath: path + "/.")
    }
}
