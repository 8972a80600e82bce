import MoultBasics
import MoultPlan

/// A CloudKit schema as a text (`.ckdb`), as the CloudKit console and `cktool export-schema` write it.
///
/// Reading and writing an export gives the same bytes. Comments, the order of a text written by hand, and the case of
/// its keywords are not kept.
package struct CloudKitSchemaFile: Sendable, Equatable {
    package var schema: CloudKitSchema
    /// Whether an empty line ends the text. Both forms of exports exist.
    package var endsWithEmptyLine = false

    package init(_ schema: CloudKitSchema) { self.schema = schema }

    /// - Parameter path: the path for error messages.
    /// - Throws: `modelInvalid` with the line and the column of what is not part of the language.
    package init(_ bytes: [UInt8], path: String) throws(MigrationError) {
        var reader = try CloudKitSchemaReader(bytes, path: path)
        schema = try reader.read()
        endsWithEmptyLine = bytes.suffix(2) == [0x0A, 0x0A]
    }

    /// - Throws: `modelInvalid` with the line and the column of what is not part of the language; any error from reading
    ///   the file.
    package init(contentsOf path: String) throws {
        if path == Self.standardInput {
            try self.init(Self.input(), path: Self.shown(path))
        } else {
            try self.init(try POSIXSystem().read(path, limit: Self.limit, as: .modelInvalid), path: path)
        }
    }

    /// The path that stands for standard input.
    package static let standardInput = "-"
    /// A limit far above the size of any schema that CloudKit can have.
    private static let limit = 64 << 20

    /// Returns a path for a person.
    package static func shown(_ path: String) -> String { path == standardInput ? "standard input" : path }

    /// Reads standard input to its end, or to the limit.
    private static func input() -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            let count = systemRead(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }

    // MARK: - The text

    /// The text in the order and the columns of an export.
    package var text: String {
        let roles = schema.roles.map { "    CREATE ROLE \($0.inSchema);" }
        let parts = (roles.isEmpty ? [] : [roles]) + schema.typesInOrder.map(Self.lines)
        let lines = ["DEFINE SCHEMA"] + parts.flatMap { [""] + $0 } + (endsWithEmptyLine ? [""] : [])
        return lines.map { $0 + "\n" }.joined()
    }

    private static func lines(of type: CloudKitSchema.RecordType) -> [String] {
        let names = type.fieldNames
        let width = names.map { $0.inSchema.utf8.count }.max() ?? 0
        let fields = names.compactMap { name in
            type.fields[name].map { field in
                let column = String(repeating: " ", count: width - name.inSchema.utf8.count)
                let words = [field.type.description] + field.indexes.map(\.rawValue)
                return "        \(name.inSchema)\(column) \(words.joined(separator: " "))"
            }
        }
        let grants = type.grants.map { grant in
            "        GRANT \(grant.rights.map(\.rawValue).joined(separator: ", ")) TO \(grant.role.inSchema)"
        }
        let items = fields + grants
        return ["    RECORD TYPE \(type.name.inSchema) ("]
            + items.enumerated().map { $1 + ($0 + 1 < items.count ? "," : "") } + ["    );"]
    }
}

extension ProjectConfiguration {
    /// The schema of CloudKit's Production environment that the configuration names; nil if it names none.
    ///
    /// - Throws: any error from reading it.
    package var cloudKitProduction: CloudKitProduction? {
        get throws {
            try cloudKitSchema.map {
                CloudKitProduction(try CloudKitSchemaFile(contentsOf: $0).schema, configuration: cloudKitConfiguration)
            }
        }
    }
}

extension String {
    /// The words that a name in the schema language must not be without quotes.
    private static let reserved: Set = ["grant", "preferred", "queryable", "searchable", "sortable"]

    /// The name as the schema language spells it, in quotes where they are needed.
    fileprivate var inSchema: String {
        let isPlain = (utf8.first.map(\.isASCIILetter) ?? false) && utf8.allSatisfy(\.isInCloudKitName)
        return isPlain && !Self.reserved.contains(lowercased()) ? self : "\"\(self)\""
    }
}

extension UInt8 {
    var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
