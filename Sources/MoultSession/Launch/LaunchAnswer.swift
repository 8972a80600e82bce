import MoultBasics
import MoultEngine

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The losses that a person has accepted for a migration that is not finished, kept next to the store.
struct LaunchAnswer: Codable {
    private(set) var accepted: [String] = []

    private static func path(for store: String, _ system: any System) throws -> String {
        Path.join(try StoreRecords(of: store, system).folder, "launch.json")
    }

    /// Reads the answer; there is none if the file is missing or not readable as one.
    init(for store: String, _ system: any System) throws {
        let path = try Self.path(for: store, system)
        guard try system.exists(path) else { return }
        let bytes = try system.read(path)
        self = (try? JSONDecoder().decode(Self.self, from: Data(bytes))) ?? self
    }

    /// Adds places to the answer of a store.
    static func accept(_ places: [String], for store: String, _ system: any System = POSIXSystem()) throws {
        var answer = try LaunchAnswer(for: store, system)
        answer.accepted = (answer.accepted + places).unique()
        let records = try StoreRecords(of: store, system)
        try system.makeFolder(records.folder, records.rights)
        let bytes = [UInt8](try JSONEncoder().encode(answer))
        try system.write(bytes, to: path(for: store, system), records.rights)
    }

    func remove(for store: String, _ system: any System) throws {
        guard !accepted.isEmpty else { return }
        _ = try system.remove(Self.path(for: store, system))
    }
}
