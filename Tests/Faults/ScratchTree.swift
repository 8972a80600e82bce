import Foundation
import MoultBasics
import TestSupport

/// A folder for trials that goes when they are over, or with the next campaign when its process was killed.
enum ScratchTree {
    static func with<Result>(_ name: String, _ body: (_ path: String) throws -> Result) throws -> Result {
        let system = POSIXSystem()
        let path = try system.resolve(system.temporaryFolder) + "/\(name)-\(getpid())"
        try remove(path)
        try system.makeFolder(path, .byUmask)
        defer { removeInTime(path) }
        return try body(path)
    }

    /// Removes those of processes that are no more.
    static func removeAbandoned(_ name: String) throws {
        let system = POSIXSystem()
        for entry in try system.list(system.temporaryFolder) where entry.hasPrefix(name + "-") {
            guard let identifier = pid_t(entry.dropFirst(name.count + 1)), kill(identifier, 0) != 0 else { continue }
            removeInTime(try system.resolve(system.temporaryFolder) + "/" + entry)
        }
    }

    /// The processes of a campaign that was interrupted end a moment after it, which is long on a busy machine.
    private static func removeInTime(_ path: String) {
        for _ in 0..<200 where (try? remove(path)) == nil { usleep(50_000) }
    }

    /// With the volumes that a killed process has left mounted in it.
    static func remove(_ path: String) throws {
        let mounts = try String(decoding: POSIXSystem().read("/proc/mounts"), as: UTF8.self)
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 1, words[1].hasPrefix(path + "/") else { continue }
            _ = try ChildProcess.run("umount", [String(words[1])])
        }
        try POSIXSystem().removeTree(path)
    }
}
