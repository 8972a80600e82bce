import MoultModel

/// The status of a mirror, found out without writing to either store.
public struct MirrorStatus: Sendable, Hashable {
    package var record: MirrorRecord
    /// The path of the store that apps write to.
    public package(set) var primary: String
    /// The path of the store that follows.
    public package(set) var replica: String
    /// The means by which it is known what was written.
    public package(set) var means: MirrorMeans
    /// Transactions to copy; nil without history.
    public package(set) var transactions: Int64?
    /// Objects that were written since; nil if every row would have to be compared.
    public package(set) var objects: Int64?
    /// The reason why each sync compares every row, in one sentence; nil if it does not.
    public package(set) var reason: String?

    /// The name of the first store's version.
    public var from: String { record.from }
    /// The name of the second store's version.
    public var to: String { record.to }
    /// Whether apps write to the second store.
    public var isCutOver: Bool { record.state == .cutOver }
    /// Whether there is anything to copy.
    public var isBehind: Bool { objects != 0 || record.comparesAll }
    /// The losses that undoing the cut-over would cause, in one sentence each.
    public var losses: [String] { record.losses }

    package var document: JSONValue {
        [
            "format": 1, "state": .string(record.state.rawValue), "primary": .string(primary),
            "replica": .string(replica), "from": .string(from), "to": .string(to),
            "means": .string(means.rawValue), "transactions": transactions.map(JSONValue.integer) ?? .null,
            "objects": objects.map(JSONValue.integer) ?? .null, "behind": .bool(isBehind), "reason": JSONValue(reason),
            "losses": JSONValue(losses),
        ]
    }

    package var lines: [String] {
        let behind: String
        switch (isBehind, objects, transactions) {
        case (false, _, _): behind = "It is up to date."
        case (_, nil, let transactions?): behind = "It is \(Quantity.count(transactions, "transaction")) behind."
        case (_, nil, nil): behind = "To find out whether it is behind, every row has to be compared."
        case (_, let objects?, let transactions?):
            behind =
                "It is \(Quantity.count(transactions, "transaction")) behind, which wrote to \(Quantity.count(objects, "object"))."
        case (_, let objects?, nil): behind = "It is \(Quantity.count(objects, "object")) behind."
        }
        return ["Apps write to \(primary.printable).", "\(replica.printable) follows. \(behind)"]
            + (reason.map { ["Each sync compares every row: \($0)"] } ?? [])
    }
}
