import MoultModel
import MoultPropertyList
import MoultSQLite
import MoultStore

extension ObjectStore {
    /// Reads the present metadata of the store, with what applications keep there.
    package func metadata() throws -> StoreMetadata { try reading { try StoreMetadata(from: connection) } }

    /// Changes what applications keep in the metadata, under names of their own: one step, over what is there now.
    ///
    /// - Throws: `usage` where `body` adds one of Core Data's own entries; then nothing is written.
    package func updateMetadata<Result>(_ body: (inout [String: PropertyList]) throws -> Result) throws -> Result {
        try writing {
            var metadata = try StoreMetadata(from: connection)
            var entries = metadata.applicationEntries
            let result = try body(&entries)
            if let own = entries.keys.filter(StoreMetadata.Key.all.contains).min() {
                throw MigrationError(
                    .usage, "\(own) is an entry of Core Data's own, which an application may not change.", place: own,
                    remedy: "Choose another name.")
            }
            guard entries != metadata.applicationEntries else { return result }
            metadata.entries = metadata.entries.filter { StoreMetadata.Key.all.contains($0.key) }
                .merging(entries) { own, _ in own }
            try metadata.write(to: connection)
            return result
        }
    }
}
