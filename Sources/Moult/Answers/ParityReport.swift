import MoultBasics
import MoultSession

/// The findings of a run of the parity package on a Mac, as the package recorded them.
package struct ParityReport: Sendable {
    /// The Core Data version that was compared, its system, and the version of Moult.
    package let (coreData, system, moult): (String, String, String)
    package let checks: [Check]
    /// Hashes that only Core Data knows, with their subjects.
    package let hashes: [(subject: String, hash: String)]

    package struct Check: Sendable {
        package let kind: String
        package let subject: String
        package let compared: Int64
        package let error: String?
        package let differences: [Difference]

        package var isEqual: Bool { error == nil && differences.isEmpty }
    }

    package struct Difference: Sendable {
        package let (kind, place, moult, apple): (String, String, String, String)
    }

    /// - Throws: `usage` if it is not a report of that package, with the place of the first fault.
    package init(_ bytes: [UInt8], place: String) throws {
        let document = try JSONValue(parsing: bytes, place: place, code: .usage)
        func wrong(_ what: String) -> MigrationError {
            MigrationError(
                .usage, "This is no report of a parity run: \(what).", place: place,
                remedy: "Give the file that moult-parity wrote, the program of the package Parity.")
        }
        func text(_ value: JSONValue, _ key: String) throws -> String {
            guard let text = value[key]?.string else { throw wrong("\(key) is missing") }
            return text
        }
        guard document["format"]?.integer == 1, let list = document["checks"]?.array else {
            throw wrong("format 1 with a list of checks is missing")
        }
        (coreData, system) = (try text(document, "coreData"), try text(document, "system"))
        moult = try text(document, "moult")
        checks = try list.map { check in
            guard let compared = check["compared"]?.integer, let differences = check["differences"]?.array else {
                throw wrong("a check has no number of what was compared, or no differences")
            }
            return Check(
                kind: try text(check, "kind"), subject: try text(check, "subject"), compared: compared,
                error: check["error"]?.string,
                differences: try differences.map {
                    Difference(
                        kind: try text($0, "kind"), place: try text($0, "place"), moult: try text($0, "moult"),
                        apple: try text($0, "apple"))
                })
        }
        hashes = (document["hashes"]?.members ?? []).compactMap { member in
            member.value.string.map { (member.key, $0) }
        }
    }

    package var isEqual: Bool { checks.allSatisfy(\.isEqual) }

    /// The report in Markdown: a table of the kinds of check, then each difference, then the hashes.
    package var lines: [String] {
        let kinds = checks.reduce(into: [String]()) { all, check in
            if !all.contains(check.kind) { all.append(check.kind) }
        }
        var lines = ["Core Data: \(coreData), \(system). \(moult).", ""]
        lines += ["| check | made | compared | equal | differ | could not be made |", "|---|---|---|---|---|---|"]
        lines += kinds.map { kind in
            let all = checks.filter { $0.kind == kind }
            let failed = all.filter { $0.error != nil }.count
            let equal = all.filter(\.isEqual).count
            let compared = all.reduce(0) { $0 + $1.compared }
            return "| \(kind) | \(all.count) | \(compared) | \(equal) | \(all.count - equal - failed) | \(failed) |"
        }
        for check in checks where !check.isEqual {
            lines += ["", "**\(Self.cell(check.kind)): \(Self.cell(check.subject))**", ""]
            if let error = check.error { lines.append(Self.cell(error)) }
            guard !check.differences.isEmpty else { continue }
            lines += ["| what | where | Moult | Apple |", "|---|---|---|---|"]
            lines += check.differences.map {
                "| \(Self.cell($0.kind)) | \(Self.cell($0.place)) | \(Self.cell($0.moult)) | \(Self.cell($0.apple)) |"
            }
        }
        if !hashes.isEmpty {
            lines += ["", "| version hash of | Core Data's |", "|---|---|"]
            lines += hashes.map { "| \(Self.cell($0.subject)) | `\(Self.cell($0.hash))` |" }
        }
        return lines
    }

    package var document: JSONValue {
        [
            "format": 1, "coreData": .string(coreData), "system": .string(system), "moult": .string(moult),
            "equal": .bool(isEqual), "checks": JSONValue(checks.count),
            "differing": .array(
                checks.filter { !$0.isEqual }.map {
                    [
                        "kind": .string($0.kind), "subject": .string($0.subject), "error": JSONValue($0.error),
                        "differences": JSONValue($0.differences.count),
                    ]
                }),
        ]
    }

    /// Returns a text for a table cell: one line, without a character that ends the cell.
    private static func cell(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ").printable.replacing("|", with: "\\|")
    }
}
