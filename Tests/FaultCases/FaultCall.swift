import Foundation
import MoultBasics
import MoultModel
import MoultTesting

/// Runs that die where a case wants one that did.
enum FaultCall {
    /// The calls that a run makes, on a copy of the folder.
    static func count(in folder: String, of path: String, _ body: (any System) throws -> Void) throws -> Int {
        let kept = folder + ".kept"
        try FileManager.default.copyItem(atPath: folder, toPath: kept)
        let disk = try FaultDisk(folder, nil)
        let result = try disk.run { try body($0) }
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: kept, toPath: folder)
        try result.get()
        return disk.operations.count
    }

    static func die(at call: Int, in folder: String, _ body: (any System) throws -> Void) throws {
        let disk = try FaultDisk(folder, Fault(.stop, at: call))
        _ = try disk.run { try body($0) }
    }
}
