import MoultBasics
import MoultEngine
import MoultSession

extension MoveReport {
    package var document: JSONValue {
        [
            "format": 1, "outcome": .string(outcome.rawValue), "run": .string(run), "to": .string(destination),
            "backup": backup?.document ?? .null, "bytes": .integer(bytes), "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let place = destination.printable
        guard outcome == .moved else { return ["The store has already been moved to \(place)."] }
        var lines = ["Moved the store to \(place) in \(Quantity.duration(seconds)), verified."]
        if let backup { lines.append("The backup \(backup.name) is kept at the old place.") }
        if let untidied { lines.append("The next call tidies up the old place. \(untidied.message)") }
        return lines
    }
}
