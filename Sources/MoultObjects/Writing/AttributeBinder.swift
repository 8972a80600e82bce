import MoultModel
import MoultSQLite
import MoultStore

/// Binds values of one attribute to one parameter, each as its column stores it.
final class AttributeBinder {
    let attribute: AttributeDescription
    let parameter: Int
    private let external: ExternalFiles
    private let place: String

    init(attribute: AttributeDescription, parameter: Int, external: ExternalFiles, place: String) {
        self.attribute = attribute
        self.parameter = parameter
        self.external = external
        self.place = place
    }

    func bind(_ value: AttributeValue, to statement: Statement) throws {
        switch (attribute.type, value) {
        case (.integer16, .integer(let number)) where Int16(exactly: number) != nil,
            (.integer32, .integer(let number)) where Int32(exactly: number) != nil,
            (.integer64, .integer(let number)):
            try statement.bind(number, at: parameter)
        case (.boolean, .boolean(let flag)):
            try statement.bind(flag ? Int64(1) : 0, at: parameter)
        case (.double, .double(let number)), (.date, .date(let number)):
            try statement.bind(number, at: parameter)
        case (.float, .double(let number)):
            try statement.bind(Double(Float(number)), at: parameter)
        case (.string, .string(let text)), (.uri, .uri(let text)):
            try statement.bind(text, at: parameter)
        case (.decimal, .decimal(let digits)):
            try bind(decimal: digits, to: statement)
        case (.uuid, .uuid(let bytes)) where bytes.count == 16:
            try bind(bytes, to: statement)
        case (.binary, .binary(let bytes)), (.transformable, .transformable(let bytes)):
            try bind(attribute.allowsExternalBinaryDataStorage ? external.cell(for: bytes) : bytes, to: statement)
        default:
            throw MigrationError(
                .dataConflict, "\(place) is of type \(attribute.type.name) and cannot hold \(value.kindPhrase).",
                place: place,
                remedy: "Give a value of the attribute's type.")
        }
    }

    private func bind(decimal digits: String, to statement: Statement) throws {
        switch DecimalStorage.value(digits) {
        case .integer(let number)?: try statement.bind(number, at: parameter)
        case .real(let number)?: try statement.bind(number, at: parameter)
        case .text(let text)?: try statement.bind(text, at: parameter)
        case .blob?, .null?, nil:
            throw MigrationError(
                .dataConflict,
                "\(place) is of type Decimal and cannot hold what is no number, or is beyond what a REAL keeps.",
                place: place,
                remedy: "Give a number in digits, such as 12.50.")
        }
    }

    private func bind(_ bytes: [UInt8], to statement: Statement) throws {
        try bytes.withUnsafeBytes { try statement.bind($0, at: parameter) }
    }
}
