import MoultEngine
import MoultModel
import MoultPropertyList
import MoultSQLite
import MoultStore
import MoultSystem

/// The progress of the store that follows, kept in its own metadata under one application key, so that it is written in
/// the same transaction as the rows: after a crash the rows and the mark tell of one moment.
struct MirrorMark: Equatable {
    static let key = "MoultMirror"

    /// ``MirrorRecord/identifier``
    var identifier: String
    /// The last transaction of persistent history that is in the rows; nil for a store without history.
    var transaction: Int64?
    /// By table, the sum over its rows as ``MirrorContents`` reckons it.
    var contents: [String: Int64]

    init(identifier: String, transaction: Int64?, contents: [String: Int64]) {
        self.identifier = identifier
        self.transaction = transaction
        self.contents = contents
    }

    /// Nil if the store follows none.
    init?(_ metadata: StoreMetadata) {
        guard let entry = metadata.entries[Self.key], let identifier = entry["mirror"]?.string,
            let contents = entry["contents"]?.dictionary?.compactMapValues(\.integer)
        else { return nil }
        self.init(identifier: identifier, transaction: entry["transaction"]?.integer, contents: contents)
    }

    /// The mark of what is at a path; nil if it is no store, or one that follows none.
    ///
    /// - Throws: what the disk says: a store that cannot be read may follow.
    static func read(in store: String, _ system: any System) throws -> MirrorMark? {
        do {
            return try StoreProbe.read(store, system: system) { try MirrorMark(StoreMetadata(from: $0.connection)) }
        } catch let error as MigrationError where [.notAStore, .storeCorrupted, .metadataInvalid].contains(error.code) {
            return nil
        }
    }

    var entry: PropertyList {
        var entries: [String: PropertyList] = [
            "mirror": .string(identifier), "contents": .dictionary(contents.mapValues(PropertyList.integer)),
        ]
        entries["transaction"] = transaction.map(PropertyList.integer)
        return .dictionary(entries)
    }
}
