import MoultBasics

/// The schema of a CloudKit container as values: its roles and its record types.
///
/// Neither the types nor the fields have an order; an export sorts them by the bytes of their names.
package struct CloudKitSchema: Sendable, Equatable {
    /// The roles, in the order of the text.
    package var roles: [String] = []
    /// The record types by name.
    package var types: [String: RecordType] = [:]

    package init() {}

    /// The record types in the order of an export.
    package var typesInOrder: [RecordType] { types.values.inByteOrder { $0.name } }

    /// A record type: its fields, and who may read and write its records.
    package struct RecordType: Sendable, Equatable {
        package let name: String
        /// The fields by name.
        package var fields: [String: Field] = [:]
        /// The grants, in the order of the text.
        package var grants: [Grant] = []

        package init(_ name: String) { self.name = name }

        /// The names of the fields in the order of an export.
        package var fieldNames: [String] { fields.keys.inByteOrder() }
    }

    /// A field of a record type.
    package struct Field: Sendable, Equatable {
        package var type: FieldType
        /// The indexes, in the order of the text.
        package var indexes: [Index]

        package init(_ type: FieldType, _ indexes: [Index] = []) { (self.type, self.indexes) = (type, indexes) }
    }

    /// The type of a field's values.
    package struct FieldType: Sendable, Hashable, CustomStringConvertible {
        package var primitive: Primitive
        package var isEncrypted: Bool
        package var isList: Bool

        package init(_ primitive: Primitive, isEncrypted: Bool = false, isList: Bool = false) {
            (self.primitive, self.isEncrypted, self.isList) = (primitive, isEncrypted, isList)
        }

        /// Returns whether the values have the same type, encrypted or not.
        package func hasValues(of other: FieldType) -> Bool { primitive == other.primitive && isList == other.isList }

        /// The type as the schema language spells it, such as `ENCRYPTED STRING`.
        package var description: String {
            let word = (isEncrypted ? "ENCRYPTED " : "") + primitive.rawValue
            return isList ? "LIST<\(word)>" : word
        }
    }

    /// A type of single values, as the schema language spells it.
    package enum Primitive: String, Sendable, CaseIterable {
        case asset = "ASSET"
        case bytes = "BYTES"
        case double = "DOUBLE"
        case integer = "INT64"
        case location = "LOCATION"
        case number = "NUMBER"
        case numberAsInteger = "NUMBER PREFERRED AS INT64"
        case numberAsDouble = "NUMBER PREFERRED AS DOUBLE"
        case reference = "REFERENCE"
        case string = "STRING"
        case timestamp = "TIMESTAMP"

        /// Whether a field of the type can be encrypted.
        package var canBeEncrypted: Bool {
            [.bytes, .double, .integer, .location, .string, .timestamp].contains(self)
        }
    }

    /// An index of a field.
    package enum Index: String, Sendable, CaseIterable {
        case queryable = "QUERYABLE"
        case searchable = "SEARCHABLE"
        case sortable = "SORTABLE"
    }

    /// The rights of a role on the records of a type.
    package struct Grant: Sendable, Equatable {
        package let rights: [Right]
        package let role: String

        package init(_ rights: [Right], to role: String) { (self.rights, self.role) = (rights, role) }
    }

    /// A right on the records of a type.
    package enum Right: String, Sendable, CaseIterable {
        case read = "READ"
        case create = "CREATE"
        case write = "WRITE"
    }
}

extension CloudKitSchema {
    /// Returns the schema with the record types and fields of another one added. A field that both have stays as it is
    /// here.
    package func adding(_ other: CloudKitSchema) -> CloudKitSchema {
        var whole = self
        whole.roles += other.roles.filter { !roles.contains($0) }
        for (name, type) in other.types {
            guard var own = whole.types[name] else {
                whole.types[name] = type
                continue
            }
            for (field, added) in type.fields where own.fields[field] == nil { own.fields[field] = added }
            whole.types[name] = own
        }
        return whole
    }
}

extension UInt8 {
    /// Whether the byte may be in a name of CloudKit: an ASCII letter, a digit or an underscore.
    package var isInCloudKitName: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }
}

/// The schema in CloudKit's Production environment, as somebody saved it.
package struct CloudKitProduction: Sendable {
    package let schema: CloudKitSchema
    /// The configuration that is mirrored; nil for those that the model marks.
    package let configuration: String?

    package init(_ schema: CloudKitSchema, configuration: String? = nil) {
        (self.schema, self.configuration) = (schema, configuration)
    }
}

/// The part that a field plays in the mirroring of a store, by its name.
package enum CloudKitFieldRole: Sendable {
    /// A field that the server gives every record, such as `___recordID`.
    case system
    /// A field for moving a record into a share.
    case receipt
    /// The asset next to a field, for a value that is too large for the record.
    case companion
    /// A value or a to-one relationship, or the name of the entity.
    case core

    /// The end of a companion's name.
    package static let companionEnd = "_ckAsset"
    /// The field for moving a record into a share.
    package static let receiptName = "CD_moveReceipt"

    package init(of name: String) {
        switch name {
        case _ where name.hasPrefix("___"): self = .system
        case Self.receiptName, Self.receiptName + Self.companionEnd: self = .receipt
        case _ where name.hasSuffix(Self.companionEnd): self = .companion
        default: self = .core
        }
    }
}
