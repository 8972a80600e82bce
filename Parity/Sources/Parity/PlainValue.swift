import CoreData
import Foundation

/// A value of an object in the form in which both sides are compared.
enum PlainValue: Equatable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case decimal(Decimal)
    case text(String)
    /// Seconds since 2001-01-01; equal within a nanosecond, which is what a dump has.
    case date(Double)
    case bytes(Data)
    case one(ObjectKey)
    case many([ObjectKey])
    /// What neither side can compare, with what it is.
    case other(String)

    static func == (left: PlainValue, right: PlainValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right || left.isNaN && right.isNaN
        case (.decimal(let left), .decimal(let right)): left == right
        case (.text(let left), .text(let right)): Array(left.utf8) == Array(right.utf8)
        case (.date(let left), .date(let right)): abs(left - right) <= 1e-9
        case (.bytes(let left), .bytes(let right)): left == right || isSameArchive(left, right)
        case (.one(let left), .one(let right)): left == right
        case (.many(let left), .many(let right)): left == right
        case (.other(let left), .other(let right)): left == right
        default: false
        }
    }

    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .date(let seconds): "\(seconds) s"
        case .bytes(let data): "\(data.count) bytes, \(data.prefix(12).base64EncodedString())"
        case .one(let key): "\(key)"
        case .many(let keys): "\(keys)"
        case .other(let text): text
        }
    }

    /// Two keyed archives of equal objects may differ in their bytes.
    private static func isSameArchive(_ left: Data, _ right: Data) -> Bool {
        let classes = [
            NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSUUID.self,
        ]
        func object(_ data: Data) -> NSObject? {
            (try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)) as? NSObject
        }
        guard let left = object(left), let right = object(right) else { return false }
        return left.isEqual(right)
    }
}

/// An object's entity and primary key.
struct ObjectKey: Hashable, Comparable, CustomStringConvertible {
    let entity: String
    let key: Int64

    static func < (left: ObjectKey, right: ObjectKey) -> Bool { (left.entity, left.key) < (right.entity, right.key) }

    var description: String { "\(entity)/p\(key)" }
}

extension ObjectKey {
    /// Of an object, whose URI is `x-coredata://STORE/Post/p3`.
    init(_ object: NSManagedObject) throws {
        let uri = object.objectID.uriRepresentation()
        guard let entity = object.entity.name, let key = Int64(uri.lastPathComponent.dropFirst()) else {
            throw ParityError("\(uri) names no row.")
        }
        self.init(entity: entity, key: key)
    }

    /// From `{"entity": …, "pk": …}`.
    init?(_ value: Any) {
        guard let value = value as? [String: Any], let entity = value["entity"] as? String,
            let key = value["pk"] as? NSNumber
        else { return nil }
        self.init(entity: entity, key: key.int64Value)
    }
}
