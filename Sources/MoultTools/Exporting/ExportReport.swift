import MoultExport
import MoultModel
import MoultReport
import MoultStore

/// The objects of a store, written as CSV, JSON Lines or a plain SQLite database.
package struct ExportReport: ToolAnswer {
    private let path: String
    private let format: ExportFormat
    private let outcome: ExportWriter.Outcome

    /// Writes a folder, or a database.
    ///
    /// - Throws: `usage` if the path is taken; what the selection and writing throw.
    package init(
        _ store: String, _ selection: ExportSelection, _ format: ExportFormat, isExact: Bool, versions: ModelVersions?,
        to path: String
    ) throws {
        outcome = try ExportWriter(format, isExact: isExact).write(store, selection, versions: versions, to: path)
        (self.path, self.format) = (path, format)
    }

    /// The number of texts that have an apostrophe in front.
    package var guarded: Int { outcome.guarded }

    /// Writes the objects of one entity as a text.
    ///
    /// - Parameter write: takes each part of the text, and says whether to continue.
    /// - Returns: the number of texts that have an apostrophe in front.
    package static func write(
        _ store: String, _ selection: ExportSelection, _ format: ExportFormat, isExact: Bool, versions: ModelVersions?,
        _ write: (String) -> Bool
    ) throws -> Int {
        let probe = try StoreProbe(store)
        defer { probe.close() }
        return try probe.undisturbed {
            let export = try StoreExport(selection, of: probe, versions: versions)
            guard let part = export.parts.first(where: { $0.relationship == nil }) else { return 0 }
            var text = ExportText(part, format, isExact: isExact)
            _ = write(text.heading)
            try export.forEachRow(of: part) { row in
                var line: [UInt8] = []
                text.append(row, to: &line)
                return write(String(decoding: line, as: UTF8.self))
            }
            return text.guarded
        }
    }

    package var document: JSONValue {
        [
            "format": 1, "path": .string(path),
            "parts": .array(
                outcome.parts.map {
                    [
                        "name": .string($0.name), "entity": .string($0.entity),
                        "relationship": JSONValue($0.relationship), "place": .string($0.place),
                        "rows": JSONValue($0.rows),
                    ]
                }),
            "guarded": JSONValue(outcome.guarded),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left(format == .sqlite ? "table" : "file"), .right("rows")])
        for part in outcome.parts { table.add(part.place, Quantity.count(part.rows)) }
        return table.lines(style: style)
    }
}
