import MoultEngine
import MoultModel

/// The objects of a store's quarantine, oldest first.
package struct QuarantineListing: Sendable {
    /// The first objects, up to a limit.
    package private(set) var objects: [QuarantineEntry] = []
    /// The number of all objects.
    package private(set) var count = 0

    package init(_ quarantine: Quarantine, limit: Int) throws {
        try quarantine.forEachEntry { entry in
            count += 1
            if count <= limit { objects.append(entry) }
        }
    }

    package var document: JSONValue {
        ["format": 1, "count": JSONValue(count), "quarantined": .array(objects.map(\.summary))]
    }

    package func lines(style: TextStyle) -> [String] {
        if count == 0 { return ["The quarantine is empty."] }
        var table = TextTable([
            .right("id"), .left("time"), .left("entity"), .right("key"), .left("by"), .left("reason"),
        ])
        for entry in objects {
            table.add("\(entry.id)", entry.time, entry.entityName, "\(entry.key)", entry.origin, entry.reason)
        }
        let rest = count - objects.count
        guard rest > 0 else { return table.lines(style: style) }
        return table.lines(style: style) + [
            String(advice: "… and \(Quantity.count(rest)) more: see \(option: .limit).")
        ]
    }
}

extension QuarantineEntry {
    private var members: [JSONValue.Member] {
        [
            .init("id", .integer(id)), .init("run", .string(run)), .init("time", .string(time)),
            .init("entity", .string(entityName)), .init("pk", .integer(key)), .init("reason", .string(reason)),
            .init("by", .string(origin)),
        ]
    }

    /// The object without its values, which may be large.
    fileprivate var summary: JSONValue { .object(members) }

    /// - Throws: `metadataInvalid` if the quarantine's own record of the values is damaged.
    package var document: JSONValue {
        get throws { .object(members + [.init("object", try values)]) }
    }

    private var values: JSONValue {
        get throws { try JSONValue(parsing: Array(json.utf8), place: "quarantine \(id)", code: .metadataInvalid) }
    }

    /// The object for a person: where it was and why it left, then a property a line.
    package func lines(style: TextStyle) throws -> [String] {
        var table = TextTable([.left(""), .left("")])
        for property in try values.members ?? [] { table.add("  \(property.key)", Self.text(property.value)) }
        return [
            style.bold("\(entityName.printable) \(key)"),
            "removed \(time) by \(origin.printable), run \(run.printable)", reason.printable,
        ] + table.lines(style: style)
    }

    private static func text(_ value: JSONValue) -> String {
        // Links that led to the object, which it does not know of itself.
        if let links = value.array {
            return links.map { "\($0["from"]?.string ?? "") by \($0["relationship"]?.string ?? "")" }
                .joined(separator: ", ")
        }
        if let list = value["toMany"]?.array { return list.compactMap(\.string).joined(separator: ", ") }
        guard let held = value["toOne"] ?? value["value"], held != .null else { return "nil" }
        return held.string ?? held.compact
    }
}
