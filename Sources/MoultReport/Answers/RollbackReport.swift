import MoultEngine
import MoultModel

extension RollbackReport {
    package var document: JSONValue {
        [
            "format": 1, "run": .string(run), "restored": restored.document, "saved": saved?.document ?? .null,
            "setAside": JSONValue(setAside), "seconds": .double(seconds),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let version = restored.version.isEmpty ? "" : " (\(restored.version.printable))"
        var lines = ["Restored \(restored.name)\(version) in \(Quantity.duration(seconds))."]
        if let saved { lines.append("What was there is kept as the backup \(saved.name).") }
        if let setAside { lines.append("What was there could not be read. It is in \(setAside).") }
        return lines
    }
}
