import Foundation
import MoultBasics
import MoultModel
import MoultStore

extension StoreMetadata {
    /// The metadata as Core Data hands it out.
    var dictionary: [String: Any] {
        var result = entries.mapValues(\.foundation)
        result[StoreMetadataKey.storeUUID] = uuid
        return result
    }

    /// Takes over what an application may change: every entry but Core Data's own, which must stay as they are.
    ///
    /// - Throws: `usage` for a change of Core Data's own entries and for a value that no property list can hold.
    mutating func setApplicationEntries(of dictionary: [String: Any]) throws {
        var changed = entries.filter { Key.all.contains($0.key) }
        for (key, value) in dictionary where key != StoreMetadataKey.storeUUID {
            let list = try PropertyList(foundation: value, place: key)
            guard changed[key] == nil || changed[key] == list, !Key.all.contains(key) || changed[key] != nil else {
                throw MigrationError(
                    .usage, "The metadata's \(key) belongs to Core Data and cannot be set.", place: key,
                    remedy: "Use a key of your own.")
            }
            changed[key] = list
        }
        entries = changed
    }
}

extension PropertyList {
    /// As Foundation has it: `Bool`, `Int`, `Double`, `Date`, `Data`, `String`, arrays and dictionaries.
    var foundation: Any {
        switch self {
        case .null: NSNull()
        case .boolean(let flag): flag
        case .integer(let number): Int(number)
        case .unsignedInteger(let number): number
        case .real(let number): number
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): Data(bytes)
        case .string(let text): text
        case .array(let elements): elements.map(\.foundation)
        case .dictionary(let entries): entries.mapValues(\.foundation)
        case .uid(let index): index
        }
    }

    /// - Throws: `usage` for what no property list can hold.
    init(foundation value: Any, place: String) throws {
        switch value {
        case let text as String: self = .string(text)
        case let data as Data: self = .data([UInt8](data))
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let flag as Bool where type(of: value) == Bool.self: self = .boolean(flag)
        case let elements as [Any]: self = .array(try elements.map { try PropertyList(foundation: $0, place: place) })
        case let entries as [String: Any]:
            self = .dictionary(try entries.mapValues { try PropertyList(foundation: $0, place: place) })
        default:
            if let number = NumberReading.integer(value) {
                self = .integer(number)
            } else if let number = NumberReading.double(value) {
                self = .real(number)
            } else {
                throw MigrationError(
                    .usage, "A \(type(of: value)) cannot be stored in a store's metadata.", place: place,
                    remedy: "Give texts, numbers, dates, data, and arrays and dictionaries of them.")
            }
        }
    }
}
