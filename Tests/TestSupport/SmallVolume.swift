import Foundation
import MoultBasics
import MoultModel

/// A small volume of its own, which really fills.
package final class SmallVolume {
    package let path: String

    package struct Refused: Error {}

    /// The file whose contents the volume is; nil if they are in memory.
    private let image: String?

    /// Nil, said aloud, where this user may not mount.
    package convenience init?(kilobytes: Int) throws {
        try self.init(nil, ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs"], "no small volume")
    }

    /// A volume of XFS, where files can share their blocks.
    ///
    /// Nil, said aloud, where this user may not mount, or where `mkfs.xfs` is not installed.
    package static func cloning() throws -> SmallVolume? {
        let image = FileManager.default.temporaryDirectory.path + "/moult-image-\(UUID().uuidString)"
        // The least that XFS takes, of which little is written.
        try POSIXSystem().write([], to: image)
        guard truncate(image, 320 << 20) == 0,
            (try? run("mkfs.xfs", ["-q", "-m", "reflink=1", image])) == true
        else {
            print("SKIPPED: no volume of XFS can be made here, which takes mkfs.xfs")
            try? FileManager.default.removeItem(atPath: image)
            return nil
        }
        return try SmallVolume(image, ["-o", "loop", image], "no volume of XFS")
    }

    private init?(_ image: String?, _ arguments: [String], _ what: String) throws {
        self.image = image
        path = FileManager.default.temporaryDirectory.path + "/moult-volume-\(UUID().uuidString)"
        try POSIXSystem().makeFolder(path)
        guard try Self.run("mount", arguments + [path]) else {
            print("SKIPPED: \(what) can be mounted here, which takes root")
            try POSIXSystem().remove(path)
            if let image { try POSIXSystem().remove(image) }
            return nil
        }
    }

    deinit {
        _ = try? Self.run("umount", [path])
        try? FileManager.default.removeItem(atPath: path)
        if let image { try? FileManager.default.removeItem(atPath: image) }
    }

    /// - Throws: ``Refused`` where the system does not do it.
    package func remount(_ options: String) throws {
        guard try Self.run("mount", ["-o", "remount,\(options)", path]) else { throw Refused() }
    }

    /// For the time of the call a file leaves so many bytes of room, up to a page less.
    package func withRoom<Result>(_ room: Int, _ body: () throws -> Result) throws -> Result {
        let ballast = path + "/ballast"
        let file = open(ballast, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw MigrationError.system("write", ballast) }
        defer {
            // A child that another test has just forked still has the file open, which would keep the room taken.
            _ = ftruncate(file, 0)
            close(file)
            unlink(ballast)
        }
        let size = Int(try POSIXSystem().space(at: path).available) - room
        #if canImport(Darwin)
            let number = ENOTSUP
        #else
            let number = size > 0 ? posix_fallocate(file, 0, size) : 0
        #endif
        guard number == 0 else { throw MigrationError.system("write", ballast, error: number) }
        return try body()
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        try ChildProcess.run(program, arguments).exit == 0
    }
}
