import MoultModel
import MoultStore
import MoultSystem

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes large values into files beside the store and says what the column holds.
final class ExternalFiles {
    private let storage: ExternalStorage
    private let system: any System
    private var isFolderMade = false

    init(_ storage: ExternalStorage, _ system: some System) {
        self.storage = storage
        self.system = system
    }

    func cell(for value: [UInt8]) throws -> [UInt8] {
        guard value.count >= ExternalStorage.threshold else { return ExternalStorage.Cell.inline(value).bytes }
        if !isFolderMade {
            try system.makeFolder(storage.supportFolder)
            try system.makeFolder(storage.folder)
            isFolderMade = true
        }
        let name = UUID().uuidString
        try system.write(value, to: Path.join(storage.folder, name))
        return ExternalStorage.Cell.file(name).bytes
    }
}
