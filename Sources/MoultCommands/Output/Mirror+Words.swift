import MoultEngine
import MoultMirror
import MoultModel
import MoultReport

extension MirrorRecord {
    var document: JSONValue {
        [
            "format": 1, "mirror": .string(identifier), "state": .string(state.rawValue), "second": .string(second),
            "from": .string(from), "to": .string(to), "startedAt": .string(startedAt), "isOneWay": .bool(isOneWay),
            "losses": JSONValue(losses),
        ]
    }
}

extension MirrorOutcome {
    var document: JSONValue {
        [
            "format": 1, "means": .string(means.rawValue), "inserted": .integer(changes.inserted),
            "updated": .integer(changes.updated), "deleted": .integer(changes.deleted), "reason": JSONValue(reason),
            "seconds": .double(seconds),
        ]
    }

    var lines: [String] {
        let counts = "\(changes.inserted) new, \(changes.updated) changed, \(changes.deleted) deleted"
        let what = changes.all == 0 ? "Nothing has been written since." : "Rows copied: \(counts)."
        return [what] + (reason.map { ["Every row was compared: \($0)"] } ?? [])
    }
}

extension MirrorStatus {
    var document: JSONValue {
        [
            "format": 1, "state": .string(record.state.rawValue), "primary": .string(primary),
            "replica": .string(replica), "from": .string(record.from), "to": .string(record.to),
            "means": .string(means.rawValue), "transactions": transactions.map(JSONValue.integer) ?? .null,
            "objects": objects.map(JSONValue.integer) ?? .null, "behind": .bool(isBehind), "reason": JSONValue(reason),
            "losses": JSONValue(record.losses),
        ]
    }

    var lines: [String] {
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

extension MirrorVerification {
    var document: JSONValue {
        [
            "format": 1, "equal": .bool(isEqual), "rows": .integer(rows), "obstacle": JSONValue(obstacle),
            "differences": .array(
                differences.map { difference in
                    [
                        "table": .string(difference.table), "missing": .integer(difference.missing),
                        "surplus": .integer(difference.surplus),
                        "keys": .array(difference.keys.map(JSONValue.integer)),
                    ]
                }), "others": JSONValue(others),
        ]
    }

    var lines: [String] {
        if isEqual {
            return ["Equal: \(Quantity.count(rows, "row")) compared, value by value, with a fresh migration."]
        }
        return (obstacle.map { ["Not brought up to date: \($0)"] } ?? [])
            + differences.map { difference in
                "\(difference.table): \(Quantity.count(difference.missing, "row")) only in a fresh migration, "
                    + "\(Quantity.count(difference.surplus)) only in the store that follows; keys "
                    + difference.keys.map(String.init).joined(separator: ", ")
            } + others.map { "\($0) differs." }
    }
}
