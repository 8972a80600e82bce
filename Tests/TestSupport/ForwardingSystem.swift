import MoultBasics
import MoultModel

/// A machine that passes every call to the real one, for tests that put a fault in place of a few.
package protocol ForwardingSystem: System {
    var real: any System { get }
}

extension ForwardingSystem {
    package var real: any System { POSIXSystem() }
    package func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        try real.copy(path, to: copy, rights)
    }
    package func isLink(_ path: String) throws -> Bool { try real.isLink(path) }
    package func status(of path: String) throws -> FileStatus? { try real.status(of: path) }
    package func resolve(_ path: String) throws -> String { try real.resolve(path) }
    package func list(_ folder: String) throws -> [String] { try real.list(folder) }
    package func read(_ path: String, prefix count: Int) throws -> [UInt8] { try real.read(path, prefix: count) }
    package func isWritable(_ path: String) -> Bool { real.isWritable(path) }
    package func space(at path: String) throws -> VolumeSpace { try real.space(at: path) }
    package func digest(of path: String) throws -> [UInt8] { try real.digest(of: path) }
    package func makeFile(_ path: String, _ rights: FileRights) throws { try real.makeFile(path, rights) }
    package func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try real.write(bytes, to: path, rights)
    }
    package func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try real.append(bytes, to: path, rights)
    }
    package func synchronise(_ path: String) throws { try real.synchronise(path) }
    package func rename(_ path: String, to newPath: String) throws { try real.rename(path, to: newPath) }
    package func rename(_ path: String, toUnused newPath: String) throws {
        try real.rename(path, toUnused: newPath)
    }
    package func remove(_ path: String) throws -> Bool { try real.remove(path) }
    package func makeFolder(_ path: String, _ rights: FileRights) throws { try real.makeFolder(path, rights) }
    package func setSize(_ size: Int64, of path: String) throws { try real.setSize(size, of: path) }
    package func setMode(_ mode: UInt32, of path: String) throws { try real.setMode(mode, of: path) }
    package func lock(_ path: String, _ rights: FileRights) throws -> FileLock? { try real.lock(path, rights) }
    package var processIdentifier: Int32 { real.processIdentifier }
    package var user: UInt32 { real.user }
    package func startTime(ofProcess identifier: Int32) -> String? { real.startTime(ofProcess: identifier) }
    package func holders(of path: String) -> [RunningProcess] { real.holders(of: path) }
    package var now: Timestamp { real.now }
    package var monotonicNanoseconds: UInt64 { real.monotonicNanoseconds }
    package var temporaryFolder: String { real.temporaryFolder }
    package func uniqueName() -> String { real.uniqueName() }
}
