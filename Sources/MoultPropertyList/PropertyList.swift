import MoultModel

/// A property list as a value: what a store's metadata, a version list and a keyed archive are made of.
package enum PropertyList: Sendable, Hashable {
    /// Only binary files know it; Core Data writes none.
    case null
    case boolean(Bool)
    case integer(Int64)
    /// A number above `Int64.max`; smaller ones are always `integer`.
    case unsignedInteger(UInt64)
    case real(Double)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case string(String)
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A reference inside a keyed archive.
    case uid(Int)

    /// Reads a binary (`bplist00`) or XML property list; the first bytes tell which.
    ///
    /// Safe on any input: every access is checked, nesting is limited, cycles and lists that unfold to more than
    /// four million values are refused.
    /// - Throws: `MigrationError` with code `propertyListInvalid`, whose place is the byte at fault, or
    ///   the line of an XML list.
    package init(parsing bytes: [UInt8]) throws(MigrationError) {
        if bytes.starts(with: Array("bplist0".utf8)) {
            var reader = try BinaryPropertyListReader(bytes)
            self = try reader.read()
        } else {
            self = try XMLPropertyListReader().read(bytes)
        }
    }
}

// MARK: - Looking inside

extension PropertyList {
    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var data: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
    package var array: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
    package var dictionary: [String: PropertyList]? { if case .dictionary(let entries) = self { entries } else { nil } }
    package var uid: Int? { if case .uid(let index) = self { index } else { nil } }

    /// The integer, or a boolean as 0 or 1: archives use either for a flag.
    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        default: nil
        }
    }

    /// The boolean, or whether an integer is not 0: archives use either for a flag.
    package var boolean: Bool? { integer.map { $0 != 0 } }

    /// The number as a double, whether it is stored as a real or an integer.
    package var real: Double? {
        if case .real(let number) = self { number } else { integer.map(Double.init) }
    }

    /// The value under a key; nil if there is none or this is no dictionary.
    package subscript(key: String) -> PropertyList? { dictionary?[key] }
}

extension MigrationError {
    /// A fault in a property list at a byte offset.
    static func propertyList(_ message: String, at offset: Int) -> MigrationError {
        propertyList(message, place: "byte \(offset)")
    }

    /// A fault in an XML property list.
    static func propertyList(_ message: String, line: Int) -> MigrationError {
        propertyList(message, place: "line \(line)")
    }

    private static func propertyList(_ message: String, place: String) -> MigrationError {
        MigrationError(
            .propertyListInvalid, "The property list is damaged: \(message).", place: place,
            remedy: "Restore the file from a backup, or create it again with the tool that wrote it.")
    }
}
