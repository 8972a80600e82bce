import MoultBasics
import MoultSQLite
import MoultStore

/// The highest keys of entities that a rollback, a downgrade or a replacement has taken out of a store, in its records.
/// A migration that brings an entity back, under this name or another, continues from its key.
package enum KeptKeys {
    /// Returns the keys by entity name; none if the record cannot be used, without which an app must still be able to
    /// open its store.
    ///
    /// - Parameter uuid: the store's UUID. The record of another store is not used.
    /// - Throws: the error of the disk.
    package static func read(_ sidecar: StoreRecords, of uuid: String, _ system: any System) throws -> [String: Int64] {
        do {
            guard try system.exists(sidecar.keys) else { return [:] }
            let bytes = try system.read(sidecar.keys, as: .metadataInvalid)
            let json = try JSONValue(parsing: bytes, place: sidecar.keys, code: .metadataInvalid)
            guard json["format"]?.integer == 1, json["uuid"]?.string == uuid else { return [:] }
            let keys = (json["keys"]?.members ?? []).compactMap { member in
                member.value.integer.map { (member.key, $0) }
            }
            // No key could follow the largest number.
            return Dictionary(keys.filter { $0.1 > 0 && $0.1 < .max }, uniquingKeysWith: max)
        } catch let error as MigrationError where error.code != .inputOutput {
            return [:]
        }
    }

    /// Adds the keys to the records of a store that is made from this one and has its UUID.
    package static func copy(
        _ sidecar: StoreRecords, to other: StoreRecords, of uuid: String, _ system: any System
    ) throws {
        let keys = try read(sidecar, of: uuid, system)
        guard !keys.isEmpty else { return }
        try other.make(system)
        try add(keys, other, of: uuid, system)
    }

    /// Adds keys before the store loses the rows that have them. They were given, whether the run succeeds or not.
    package static func add(
        _ keys: [String: Int64], _ sidecar: StoreRecords, of uuid: String, _ system: any System
    ) throws {
        let present = try read(sidecar, of: uuid, system)
        let all = present.merging(keys.filter { $0.value > 0 }, uniquingKeysWith: max)
        guard all != present else { return }
        let json = JSONValue.object([
            .init("format", .integer(1)), .init("uuid", .string(uuid)),
            .init("keys", JSONValue(sorted: all.mapValues(JSONValue.integer))),
        ])
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: sidecar.keys, sidecar.rights)
    }
}
