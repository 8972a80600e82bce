import Foundation
import MoultModel
import MoultSystem

/// A small volume of its own, which really fills.
package final class SmallVolume {
    package let path: String

    package struct Refused: Error {}

    /// Nil, said aloud, where this user may not mount.
    package init?(kilobytes: Int) throws {
        path = FileManager.default.temporaryDirectory.path + "/moult-volume-\(UUID().uuidString)"
        try POSIXSystem().makeFolder(path)
        guard try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", path]) else {
            print("SKIPPED: no small volume can be mounted here, which takes root")
            try POSIXSystem().remove(path)
            return nil
        }
    }

    deinit {
        _ = try? Self.run("umount", [path])
        try? FileManager.default.removeItem(atPath: path)
    }

    /// - Throws: ``Refused`` where the system does not do it.
    package func remount(_ options: String) throws {
        guard try Self.run("mount", ["-o", "remount,\(options)", path]) else { throw Refused() }
    }

    /// For the time of the call a file leaves so many bytes of room, up to a page less.
    package func withRoom<Result>(_ room: Int, _ body: () throws -> Result) throws -> Result {
        let ballast = path + "/ballast"
        // A child of another test would keep the room taken.
        let file = open(ballast, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw MigrationError.system("write", ballast) }
        defer {
            close(file)
            unlink(ballast)
        }
        let size = Int(try POSIXSystem().space(at: path).available) - room
        let number = size > 0 ? posix_fallocate(file, 0, size) : 0
        guard number == 0 else { throw MigrationError.system("write", ballast, error: number) }
        return try body()
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Bool {
        try ChildProcess.run(program, arguments).exit == 0
    }
}
