import MoultBasics
import MoultModel
import MoultObjects

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension MoultObjects.QuarantinedObject {
    /// Returns the values that the object held, by property, read back from its document.
    ///
    /// - Throws: `metadataInvalid` for a document that Moult did not write; `dataConflict` for a value that cannot be
    ///   read back. The place is the property.
    func values() throws -> [(name: String, value: ObjectDocumentValue)] {
        try (document().members ?? []).filter { $0.key != JSONValue.incomingKey }.map { member in
            if member.value["stored"]?.string != nil {
                throw MigrationError(
                    .dataConflict, "its \(member.key) cannot be read by the model", place: "\(entity).\(member.key)",
                    remedy: "Insert the object with the app; \(.showQuarantine) prints its values.")
            }
            guard let value = ObjectDocumentValue(member.value) else {
                throw MigrationError(
                    .dataConflict, "its \(member.key) cannot be read", place: "\(entity).\(member.key)",
                    remedy: "Insert the object with the app.")
            }
            return (member.key, value)
        }
    }

    private func document() throws -> JSONValue {
        try JSONValue(parsing: Array(object.utf8), place: "\(entity) \(key) in the quarantine", code: .metadataInvalid)
    }

    /// The number of one member in an ordered list.
    struct Seat {
        let relationship: String
        let end: ObjectID
        let number: Int64
        /// Whether the list is the object's own, and `end` is the member.
        let isOwn: Bool
    }

    /// Returns the numbers in ordered lists, except those that cannot be read.
    func seats() throws -> [Seat] {
        try (document().members ?? []).filter { $0.key != JSONValue.incomingKey }.flatMap { member -> [Seat] in
            let ends = member.value["toMany"]?.array ?? member.value["toOne"].map { [$0] } ?? []
            let places = member.value["places"]?.array ?? member.value["place"].map { [$0] } ?? []
            func seats(_ numbers: [JSONValue], isOwn: Bool) -> [Seat] {
                zip(ends, numbers).compactMap { end, number in
                    guard let id = end.string.flatMap({ ObjectID(uri: $0) }), let number = number.integer else {
                        return nil
                    }
                    return Seat(relationship: member.key, end: id, number: number, isOwn: isOwn)
                }
            }
            return seats(places, isOwn: false) + seats(member.value["order"]?.array ?? [], isOwn: true)
        }
    }

    /// Returns the links to the object from relationships without an inverse, except those that cannot be read.
    func incoming() throws -> [ObjectSurroundings.IncomingLink] {
        (try document()[JSONValue.incomingKey]?.array ?? []).compactMap { link in
            guard let owner = link["from"]?.string.flatMap({ ObjectID(uri: $0) }),
                let relationship = link["relationship"]?.string
            else { return nil }
            return .init(owner: owner, relationship: relationship, place: link["place"]?.integer)
        }
    }
}

/// The value of one property in the document of an object.
enum ObjectDocumentValue {
    case attribute(AttributeValue?)
    case toOne(ObjectID?)
    case toMany([ObjectID])

    /// Whether the object had no value.
    var isEmpty: Bool {
        switch self {
        case .attribute(let value): value == nil
        case .toOne(let id): id == nil
        case .toMany(let ids): ids.isEmpty
        }
    }

    /// Returns nil for anything but a value of a document.
    init?(_ document: JSONValue) {
        if let uris = document["toMany"]?.array {
            let ids = uris.compactMap { $0.string.flatMap { ObjectID(uri: $0) } }
            guard ids.count == uris.count else { return nil }
            self = .toMany(ids)
        } else if let destination = document["toOne"] {
            if destination == .null {
                self = .toOne(nil)
            } else if let id = destination.string.flatMap({ ObjectID(uri: $0) }) {
                self = .toOne(id)
            } else {
                return nil
            }
        } else if let value = document["value"] {
            if value == .null {
                self = .attribute(nil)
            } else if let type = document["type"]?.string.flatMap(AttributeType.init(name:)),
                let value = AttributeValue(document: value, type: type, seconds: document["seconds"]?.double)
            {
                self = .attribute(value)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}

extension AttributeValue {
    /// Reads ``document`` back; nil if it is not a value of the type.
    ///
    /// - Parameter seconds: a date's exact seconds since the reference date, because its text has only nine decimals.
    package init?(document: JSONValue, type: AttributeType, seconds: Double?) {
        let bytes = document.string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
        switch (type, document) {
        case (.integer16, .integer(let number)), (.integer32, .integer(let number)), (.integer64, .integer(let number)):
            self = .integer(number)
        case (.boolean, .bool(let flag)): self = .boolean(flag)
        case (.double, _), (.float, _):
            guard let number = document.double ?? document.string.flatMap(Double.init) else { return nil }
            self = .double(number)
        case (.date, _):
            // The document of a date outside the calendar has its seconds alone, as digits in base64.
            let digits = document["base64"]?.string.flatMap([UInt8].init(base64:))
            guard
                let seconds = seconds ?? document.string.flatMap(Self.seconds)
                    ?? digits.flatMap({ Double(String(decoding: $0, as: UTF8.self)) })
            else { return nil }
            self = .date(seconds)
        case (.decimal, .string(let digits)): self = .decimal(digits)
        case (.string, .string(let text)): self = .string(text)
        case (.uri, .string(let text)): self = .uri(text)
        case (.uuid, .string(let text)):
            guard let uuid = UUID(uuidString: text)?.uuid else { return nil }
            self = .uuid(withUnsafeBytes(of: uuid) { Array($0) })
        case (.binary, .string):
            guard let bytes else { return nil }
            self = .binary(bytes)
        case (.transformable, .string):
            guard let bytes else { return nil }
            self = .transformable(bytes)
        default: return nil
        }
    }

    private static func seconds(_ text: String) -> Double? {
        Timestamp(iso8601: text)?.seconds(since: Timestamp(seconds: Int64(DateText.referenceDate)))
    }
}
