import Foundation
import MoultBasics
import MoultModel

/// A machine whose calls that write fail where the test says so: one of them, as on a full disk, or all from some
/// moment on, as on a machine that dies and neither writes nor tidies any more.
package final class FaultySystem: ForwardingSystem, @unchecked Sendable {
    private let fault: @Sendable (Int) -> Int32?
    private let lock = NSLock()
    private var (calls, failures) = (0, 0)

    /// - Parameter fault: the error's number for the call with that number, counted from 0; nil where it goes on.
    package init(_ fault: @escaping @Sendable (_ call: Int) -> Int32?) { self.fault = fault }

    package var hasFailed: Bool { lock.withLock { failures > 0 } }

    private func check(_ path: String) throws {
        let number = lock.withLock {
            defer { calls += 1 }
            return calls
        }
        guard let error = fault(number) else { return }
        lock.withLock { failures += 1 }
        throw MigrationError.system("write", path, error: error)
    }

    package func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try check(path)
        try real.write(bytes, to: path, rights)
    }
    package func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try check(path)
        try real.append(bytes, to: path, rights)
    }
    package func synchronise(_ path: String) throws {
        try check(path)
        try real.synchronise(path)
    }
    package func rename(_ path: String, to newPath: String) throws {
        try check(path)
        try real.rename(path, to: newPath)
    }
    package func exchange(_ path: String, with other: String) throws -> Bool {
        try check(path)
        return try real.exchange(path, with: other)
    }
    package func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        try check(path)
        try real.copy(path, to: copy, rights)
    }
    package func remove(_ path: String) throws -> Bool {
        try check(path)
        return try real.remove(path)
    }
}
