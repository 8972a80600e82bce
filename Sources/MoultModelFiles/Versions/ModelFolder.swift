import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Plain reading of the folders that models lie in.
enum ModelFolder {
    /// No real model comes near it; a file above it is not a model.
    private static let greatestSize = 256 << 20

    /// - Throws: `MigrationError` with code `fileNotFound` or `fileNotReadable`.
    static func bytes(at path: String) throws -> [UInt8] {
        guard FileManager.default.fileExists(atPath: path) else {
            throw MigrationError(
                .fileNotFound, "There is no file at this path.", place: path, remedy: "Check the path.")
        }
        do {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            guard (size ?? 0) <= greatestSize else {
                throw MigrationError(
                    .modelInvalid, "The file is larger than any model (\(size ?? 0) bytes).", place: path,
                    remedy: "Give the path of a model.")
            }
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch let error as MigrationError {
            throw error
        } catch {
            throw MigrationError(
                .fileNotReadable, "The file cannot be read.", place: path, remedy: "Check its permissions.",
                cause: "\(error)")
        }
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

    /// Whether a folder is at the path; nil where nothing is.
    static func isFolder(_ path: String) -> Bool? {
        // Foundation and FoundationEssentials spell their own question differently; this one they share.
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return FileManager.default.fileExists(atPath: path + "/.")
    }
}
