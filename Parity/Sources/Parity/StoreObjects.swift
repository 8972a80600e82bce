import CoreData
import Foundation

/// All objects of a store with their values, as Core Data or as Moult reads them.
struct StoreObjects {
    private(set) var objects: [ObjectKey: [String: PlainValue]] = [:]

    /// As Core Data fetches them, entity by entity.
    init(fetchedBy context: NSManagedObjectContext, of model: NSManagedObjectModel) throws {
        var all: [ObjectKey: [String: PlainValue]] = [:]
        try context.performAndWait {
            for entity in model.entities where !entity.isAbstract {
                guard let name = entity.name else { continue }
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.includesSubentities = false
                request.returnsObjectsAsFaults = false
                for object in try context.fetch(request) {
                    all[try ObjectKey(object)] = try Self.values(of: object, entity)
                }
            }
        }
        objects = all
    }

    /// As `moult dump --json` prints them. The model says what type each value has.
    init(dump: String, of model: NSManagedObjectModel) throws {
        for line in dump.split(separator: "\n") {
            guard
                let row = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let key = ObjectKey(row), let values = row["values"] as? [String: Any],
                let entity = model.entitiesByName[key.entity]
            else { throw ParityError("This is no line of a dump: \(line.prefix(200))") }
            objects[key] = try values.reduce(into: [:]) { all, value in
                all[value.key] = try Self.value(value.value, of: value.key, entity)
            }
        }
    }

    /// What two readers of one store say differently.
    func differences(from other: StoreObjects) -> [Difference] {
        var found: [Difference] = []
        for key in Set(objects.keys).union(other.objects.keys).sorted() {
            guard let mine = objects[key], let theirs = other.objects[key] else {
                let isHere = objects[key] != nil
                found.append(
                    Difference(
                        .object, "\(key)", moult: isHere ? "there" : "missing", apple: isHere ? "missing" : "there"))
                continue
            }
            for name in Set(mine.keys).union(theirs.keys).sorted() {
                // Core Data omits what a composite attribute has no value for.
                let (left, right) = (mine[name] ?? .null, theirs[name] ?? .null)
                if left != right {
                    found.append(Difference(.value, "\(key).\(name)", moult: "\(left)", apple: "\(right)"))
                }
            }
        }
        return found
    }

    // MARK: - Core Data's values

    private static func values(
        of object: NSManagedObject, _ entity: NSEntityDescription
    ) throws -> [String: PlainValue] {
        var values: [String: PlainValue] = [:]
        for (name, attribute) in entity.attributesByName where !attribute.isTransient {
            let value = object.value(forKey: name)
            if attribute.attributeType == .compositeAttributeType {
                flatten(value, name, into: &values)
            } else {
                values[name] = plain(value, attribute)
            }
        }
        for (name, relationship) in entity.relationshipsByName {
            let value = object.value(forKey: name)
            switch value {
            case nil: values[name] = .null
            case let one as NSManagedObject: values[name] = .one(try ObjectKey(one))
            case let set as NSOrderedSet:
                values[name] = .many(try keys(set.array))
            case let set as NSSet:
                let keys = try keys(set.allObjects)
                values[name] = .many(relationship.isOrdered ? keys : keys.sorted())
            default: values[name] = .other("\(type(of: value))")
            }
        }
        return values
    }

    private static func keys(_ objects: [Any]) throws -> [ObjectKey] {
        try objects.compactMap { $0 as? NSManagedObject }.map { try ObjectKey($0) }
    }

    private static func plain(_ value: Any?, _ attribute: NSAttributeDescription) -> PlainValue {
        guard let value, !(value is NSNull) else { return .null }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return integer(value)
        case .booleanAttributeType:
            return (value as? Bool).map { .integer($0 ? 1 : 0) } ?? integer(value)
        case .doubleAttributeType:
            return (value as? Double).map(PlainValue.real) ?? other(value)
        case .floatAttributeType:
            return (value as? Float).map { .real(Double($0)) } ?? other(value)
        case .decimalAttributeType:
            return (value as? NSDecimalNumber).map { .decimal($0.decimalValue) } ?? other(value)
        case .stringAttributeType: return (value as? String).map(PlainValue.text) ?? other(value)
        case .dateAttributeType:
            return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) } ?? other(value)
        case .UUIDAttributeType: return (value as? UUID).map { .text($0.uuidString) } ?? other(value)
        case .URIAttributeType: return (value as? URL).map { .text($0.absoluteString) } ?? other(value)
        case .binaryDataAttributeType: return (value as? Data).map(PlainValue.bytes) ?? other(value)
        case .transformableAttributeType:
            if let data = value as? Data { return .bytes(data) }
            let archive = try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
            return archive.map(PlainValue.bytes) ?? other(value)
        default: return other(value)
        }
    }

    private static func integer(_ value: Any) -> PlainValue {
        if let number = value as? NSNumber { return .integer(number.int64Value) }
        return (value as? any BinaryInteger).map { .integer(Int64($0)) } ?? other(value)
    }

    /// The leaves of a composite attribute under the names that a dump gives them: `place.latitude`.
    private static func flatten(_ value: Any?, _ name: String, into values: inout [String: PlainValue]) {
        if let elements = value as? [String: Any] {
            for (element, value) in elements { flatten(value, "\(name).\(element)", into: &values) }
        } else if let value, !(value is NSNull) {
            values[name] = loose(value)
        }
    }

    private static func other(_ value: Any) -> PlainValue { .other("\(type(of: value)): \(value)") }

    /// A value whose type only the value itself tells: numbers are compared as numbers, everything else as text.
    static func loose(_ value: Any) -> PlainValue {
        switch value {
        case let data as Data: .text(data.base64EncodedString())
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let id as UUID: .text(id.uuidString)
        case let url as URL: .text(url.absoluteString)
        case let text as String: (DumpedDate.seconds(text)).map(PlainValue.date) ?? .text(text)
        // Its text, because JSONSerialization makes a decimal number of long digits.
        case let number as NSNumber: Double("\(number)").map(PlainValue.real) ?? .integer(number.int64Value)
        case let number as any BinaryInteger: .real(Double(number))
        case let number as Double: .real(number)
        case let flag as Bool: .real(flag ? 1 : 0)
        default: other(value)
        }
    }

    // MARK: - Values of a dump

    private static func value(_ value: Any, of name: String, _ entity: NSEntityDescription) throws -> PlainValue {
        if value is NSNull { return .null }
        if let relationship = entity.relationshipsByName[name] {
            if let list = value as? [Any] {
                let keys = list.compactMap { ObjectKey($0) }
                return .many(relationship.isOrdered ? keys : keys.sorted())
            }
            return ObjectKey(value).map(PlainValue.one) ?? other(value)
        }
        // A leaf of a composite attribute.
        if name.contains(".") { return loose(value) }
        guard let attribute = entity.attributesByName[name] else { return other(value) }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            return (value as? NSNumber).map { .integer($0.int64Value) } ?? other(value)
        case .doubleAttributeType: return real(value) { Double($0) }
        // A dump has the shortest text that reads back equal as a Float.
        case .floatAttributeType: return real(value) { Float($0).map(Double.init) }
        case .decimalAttributeType:
            return (value as? String).flatMap { Decimal(string: $0, locale: nil) }.map(PlainValue.decimal)
                ?? other(value)
        case .dateAttributeType:
            return (value as? String).flatMap(DumpedDate.seconds).map(PlainValue.date) ?? other(value)
        case .binaryDataAttributeType, .transformableAttributeType:
            return (value as? String).flatMap { Data(base64Encoded: $0) }.map(PlainValue.bytes) ?? other(value)
        default: return (value as? String).map(PlainValue.text) ?? other(value)
        }
    }

    private static func real(_ value: Any, _ parse: (String) -> Double?) -> PlainValue {
        switch value {
        case let number as NSNumber: parse("\(number)").map(PlainValue.real) ?? other(value)
        case let text as String: Double(text).map(PlainValue.real) ?? other(value)
        default: other(value)
        }
    }
}

/// A date of a dump: `2019-02-04T23:44:02.274999976Z`, always UTC with nine decimals.
enum DumpedDate {
    /// Seconds since 2001-01-01; nil if it is no such text.
    static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: "T")
        guard parts.count == 2, parts[1].hasSuffix("Z") else { return nil }
        let day = parts[0].drop { $0 == "-" || $0 == "+" }.split(separator: "-").compactMap { Int($0) }
        let time = parts[1].dropLast().split(separator: ":")
        guard day.count == 3, time.count == 3, let hour = Int(time[0]), let minute = Int(time[1]),
            let second = Double(time[2])
        else { return nil }
        let year = parts[0].hasPrefix("-") ? -day[0] : day[0]
        return Double((days(year, day[1], day[2]) * 24 + hour) * 60 + minute) * 60 + second
    }

    /// Days from 2001-01-01 in the proleptic Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 730_791
    }
}
