import Foundation
import MoultBasics

/// A folder that counts as another volume: nothing can be renamed into it, or out of it.
package struct TwoVolumes: ForwardingSystem {
    package let real: any System
    private let folder: String

    package init(_ real: any System = POSIXSystem(), at folder: String) { (self.real, self.folder) = (real, folder) }

    private func check(_ path: String, _ newPath: String) throws {
        guard path.hasPrefix(folder + "/") == newPath.hasPrefix(folder + "/") else {
            throw MigrationError.system("rename", path, error: EXDEV)
        }
    }

    package func rename(_ path: String, to newPath: String) throws {
        try check(path, newPath)
        try real.rename(path, to: newPath)
    }

    package func rename(_ path: String, toUnused newPath: String) throws {
        try check(path, newPath)
        try real.rename(path, toUnused: newPath)
    }
}
