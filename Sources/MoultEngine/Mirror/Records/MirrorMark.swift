import MoultPropertyList
import MoultSQLite
import MoultStore

/// How far the store that follows is, kept in its own metadata under one key of an application's, so that it is written
/// in the same transaction as the rows: after a crash the rows and the mark tell of one moment.
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

    var entry: PropertyList {
        var entries: [String: PropertyList] = [
            "mirror": .string(identifier), "contents": .dictionary(contents.mapValues(PropertyList.integer)),
        ]
        entries["transaction"] = transaction.map(PropertyList.integer)
        return .dictionary(entries)
    }
}
