import MoultBasics

/// The readable forms of a value in bytes: JSON, a keyed archive of known classes, or a property list.
///
/// The bytes made from a value's document have the same meaning as the original, but not always the same JSON spelling
/// or mutable class. A value without a JSON form is an object with one key: `{"$date": …}`, `{"$data": base64}`,
/// `{"$uuid": …}`, `{"$url": …}`, `{"$set": […]}`, `{"$orderedSet": […]}`, `{"$number": "nan"}`, and `{"$dictionary":
/// [[key, value], …]}` for a dictionary whose keys are not all plain strings.
package enum ReadableData: String, Sendable, CaseIterable {
    case json = "$json"
    /// An archive of `NSKeyedArchiver`.
    case archive = "$archive"
    /// An archive of an `NSData` that holds JSON, which is how SwiftData stores an array of structs.
    case archivedJSON = "$archivedJSON"
    case propertyList = "$plist"

    /// Returns the value in some bytes; nil if the bytes cannot be read and written back.
    ///
    /// - Parameter usual: the form of the attribute's other values. A value in another form is wrapped in an object
    ///   with the form's name as its only key, so that its bytes can be recreated.
    package static func document(of bytes: [UInt8], usual: ReadableData?) -> JSONValue? {
        guard let (form, value) = read(bytes) else { return nil }
        // A plain string means base64, and an object with a form's name means a value in that form.
        var isPlain = form == usual && wrapped(value) == nil
        if case .string = value { isPlain = false }
        if value == .null { isPlain = false }
        return isPlain || usual == nil ? value : .object([.init(form.rawValue, value)])
    }

    /// Returns the bytes of a value from ``document(of:usual:)`` or from a person.
    ///
    /// - Returns: nil for a string, which is base64 or similar and not a document, and for a value without bytes in
    ///   that form.
    package static func bytes(of document: JSONValue, usual: ReadableData) -> [UInt8]? {
        if let (form, value) = wrapped(document) { return form.bytes(of: value) }
        if case .string = document { return nil }
        return usual.bytes(of: document)
    }

    private static func wrapped(_ value: JSONValue) -> (ReadableData, JSONValue)? {
        guard let members = value.members, members.count == 1, let form = ReadableData(rawValue: members[0].key) else {
            return nil
        }
        return (form, members[0].value)
    }

    private static func read(_ bytes: [UInt8]) -> (ReadableData, JSONValue)? {
        if let value = json(bytes) { return (.json, value) }
        guard bytes.starts(with: Array("bplist0".utf8)) || bytes.starts(with: Array("<?xml".utf8)),
            let list = try? PropertyList(parsing: bytes)
        else { return nil }
        guard list["$archiver"] != nil else {
            var reader = ReadableReader()
            return reader.value(list).map { (.propertyList, $0) }
        }
        guard let root = (try? KeyedArchive(parsing: bytes))?.root else { return nil }
        if let data = root.data, let value = json(data) { return (.archivedJSON, value) }
        var reader = ReadableReader()
        return reader.value(root, depth: 0).map { (.archive, $0) }
    }

    /// Returns the JSON array or object in some bytes; nil for any other bytes, and for numbers that lose digits. Shorter
    /// bytes are JSON only by chance.
    package static func json(_ bytes: [UInt8]) -> JSONValue? {
        // A nil that JSONValue could take for null needs a type.
        guard let value = bytes.withUnsafeBytes(parsed), value.isExact else { return nil }
        return value
    }

    /// Returns the text of the JSON array or object in some bytes: in its shortest spelling, or as it is if that would
    /// lose digits. Nil for any other bytes.
    package static func text(ofJSON bytes: UnsafeRawBufferPointer) -> String? {
        parsed(bytes).map { $0.isExact ? $0.compact : String(decoding: bytes, as: UTF8.self) }
    }

    private static func parsed(_ bytes: UnsafeRawBufferPointer) -> JSONValue? {
        let blank = Set(" \t\r\n".utf8)
        guard let first = bytes.first(where: { !blank.contains($0) }),
            [UInt8(ascii: "["), UInt8(ascii: "{")].contains(first)
        else { return nil }
        return try? JSONValue(parsing: Array(bytes), place: "", code: .usage)
    }

    private func bytes(of value: JSONValue) -> [UInt8]? {
        var writer = ReadableWriter()
        switch self {
        case .json: return Array(value.compact.utf8)
        case .archivedJSON:
            let data = writer.archive.leaf(.data(Array(value.compact.utf8)))
            return writer.archive.archive(root: data)
        case .archive: return writer.reference(to: value, depth: 0).map { writer.archive.archive(root: $0) }
        case .propertyList: return writer.list(of: value, depth: 0)?.binary
        }
    }

    /// People do not read values that are nested deeper.
    static let depthLimit = 64
}

extension JSONValue {
    /// Whether all numbers kept their digits when read; a whole number beyond 2^63 becomes a Double.
    fileprivate var isExact: Bool {
        switch self {
        case .double(let number): number.magnitude < 9_007_199_254_740_992
        case .array(let elements): elements.allSatisfy(\.isExact)
        case .object(let members): members.allSatisfy { $0.value.isExact }
        default: true
        }
    }
}

// MARK: - Reading

/// Turns archived objects and property lists into JSON.
private struct ReadableReader {
    /// The number of values left to read, because a small archive can unfold to any size.
    private var left = 200_000

    /// Returns nil for an object of an unknown class.
    mutating func value(_ object: KeyedArchive.Value, depth: Int) -> JSONValue? {
        left -= 1
        guard left > 0, depth < ReadableData.depthLimit else { return nil }
        guard let name = object.className else { return value(object.content, depth: depth) }
        switch name {
        case "NSNull": return .null
        case "NSString", "NSMutableString": return object.string.map(JSONValue.string)
        case "NSDate": return object.date.map(Self.date)
        case "NSData", "NSMutableData": return object.data.map { Self.tag("data", .string($0.base64)) }
        case "NSUUID":
            return object.uuid.flatMap { $0.count == 16 ? Self.tag("uuid", .string($0.uuidText)) : nil }
        case "NSURL":
            guard object["NS.base"] == nil else { return nil }
            return object["NS.relative"]?.string.map { Self.tag("url", .string($0)) }
        case "NSArray", "NSMutableArray": return object.elements.flatMap { list($0, depth) }.map(JSONValue.array)
        case "NSSet", "NSMutableSet":
            return object.elements.flatMap { list($0, depth) }.map { Self.tag("set", .array($0)) }
        case "NSOrderedSet", "NSMutableOrderedSet":
            var elements: [KeyedArchive.Value] = []
            while let element = object["NS.object.\(elements.count)"] { elements.append(element) }
            return list(elements, depth).map { Self.tag("orderedSet", .array($0)) }
        case "NSDictionary", "NSMutableDictionary":
            guard let keys = object["NS.keys"]?.elements.flatMap({ list($0, depth) }),
                let values = object["NS.objects"]?.elements.flatMap({ list($0, depth) }), keys.count == values.count
            else { return nil }
            return Self.dictionary(Array(zip(keys, values)))
        default: return nil
        }
    }

    private mutating func list(_ elements: [KeyedArchive.Value], _ depth: Int) -> [JSONValue]? {
        var values: [JSONValue] = []
        for element in elements {
            guard let value = value(element, depth: depth + 1) else { return nil }
            values.append(value)
        }
        return values
    }

    mutating func value(_ list: PropertyList, depth: Int = 0) -> JSONValue? {
        left -= 1
        guard left > 0, depth < ReadableData.depthLimit else { return nil }
        switch list {
        case .null: return .null
        case .boolean(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .unsignedInteger, .uid: return nil
        case .real(let number):
            return number.isFinite ? .double(number) : Self.tag("number", .string("\(number)"))
        case .date(let seconds): return Self.date(seconds)
        case .data(let bytes): return Self.tag("data", .string(bytes.base64))
        case .string(let text): return .string(text)
        case .array(let elements):
            var values: [JSONValue] = []
            for element in elements {
                guard let value = value(element, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        case .dictionary(let entries):
            var pairs: [(JSONValue, JSONValue)] = []
            for (key, element) in entries.inByteOrder(of: { $0.key }) {
                guard let value = value(element, depth: depth + 1) else { return nil }
                pairs.append((.string(key), value))
            }
            return Self.dictionary(pairs)
        }
    }

    private static func dictionary(_ pairs: [(JSONValue, JSONValue)]) -> JSONValue {
        let names = pairs.compactMap(\.0.string)
        guard names.count == pairs.count, !names.contains(where: { $0.hasPrefix("$") }), Set(names).count == names.count
        else { return tag("dictionary", .array(pairs.map { .array([$0.0, $0.1]) })) }
        return .object(zip(names, pairs).map { .init($0, $1.1) })
    }

    /// Returns ISO 8601 if that is exact, otherwise seconds since 2001.
    private static func date(_ seconds: Double) -> JSONValue {
        if let text = DateText.text(sinceReferenceDate: seconds), DateText.secondsSinceReferenceDate(text) == seconds {
            return tag("date", .string(text))
        }
        return tag("date", seconds.isFinite ? .double(seconds) : .string("\(seconds)"))
    }

    private static func tag(_ name: String, _ value: JSONValue) -> JSONValue { .object([.init("$" + name, value)]) }
}

// MARK: - Writing

/// Makes archives and property lists from JSON.
private struct ReadableWriter {
    var archive = KeyedArchive.Builder()

    /// Returns nil for a value without an archived form.
    mutating func reference(to value: JSONValue, depth: Int) -> PropertyList? {
        guard depth < ReadableData.depthLimit else { return nil }
        switch value {
        case .null: return archive.object(classes: ["NSNull", "NSObject"], [:])
        case .bool(let flag): return archive.leaf(.boolean(flag))
        case .integer(let number): return archive.leaf(.integer(number))
        case .double(let number): return archive.leaf(.real(number))
        case .string(let text): return archive.string(text)
        case .array(let elements): return references(elements, depth).map { archive.array($0) }
        case .object(let members):
            guard let (name, value) = Self.tag(members) else {
                return dictionary(members.map { (.string($0.key), $0.value) }, depth)
            }
            return object(name, value, depth)
        }
    }

    private mutating func object(_ name: String, _ value: JSONValue, _ depth: Int) -> PropertyList? {
        switch name {
        case "$date":
            return Self.seconds(value).map {
                archive.object(classes: ["NSDate", "NSObject"], ["NS.time": .real($0)])
            }
        case "$data": return value.string.flatMap([UInt8].init(base64:)).map { archive.leaf(.data($0)) }
        case "$number": return value.string.flatMap(Double.init).map { archive.leaf(.real($0)) }
        case "$uuid":
            guard let bytes = value.string.flatMap(Self.uuid) else { return nil }
            return archive.object(classes: ["NSUUID", "NSObject"], ["NS.uuidbytes": .data(bytes)])
        case "$url":
            guard let text = value.string else { return nil }
            let relative = archive.string(text)
            return archive.object(
                classes: ["NSURL", "NSObject"], ["NS.base": KeyedArchive.Builder.null, "NS.relative": relative])
        case "$set": return value.array.flatMap { references($0, depth) }.map { archive.set($0) }
        case "$orderedSet":
            guard let elements = value.array.flatMap({ references($0, depth) }) else { return nil }
            let fields = Dictionary(
                elements.enumerated().map { ("NS.object.\($0)", $1) }, uniquingKeysWith: { first, _ in first })
            return archive.object(classes: ["NSOrderedSet", "NSObject"], fields)
        case "$dictionary":
            let pairs = value.array?.compactMap { pair in
                pair.array.flatMap { $0.count == 2 ? ($0[0], $0[1]) : nil }
            }
            guard let pairs, pairs.count == value.array?.count else { return nil }
            return dictionary(pairs, depth)
        default: return nil
        }
    }

    private mutating func dictionary(_ pairs: [(JSONValue, JSONValue)], _ depth: Int) -> PropertyList? {
        guard let keys = references(pairs.map(\.0), depth), let values = references(pairs.map(\.1), depth) else {
            return nil
        }
        return archive.object(
            classes: ["NSDictionary", "NSObject"], ["NS.keys": .array(keys), "NS.objects": .array(values)])
    }

    private mutating func references(_ values: [JSONValue], _ depth: Int) -> [PropertyList]? {
        var references: [PropertyList] = []
        for value in values {
            guard let reference = reference(to: value, depth: depth + 1) else { return nil }
            references.append(reference)
        }
        return references
    }

    /// Returns the value as a property list.
    func list(of value: JSONValue, depth: Int) -> PropertyList? {
        guard depth < ReadableData.depthLimit else { return nil }
        switch value {
        case .null: return nil
        case .bool(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .double(let number): return .real(number)
        case .string(let text): return .string(text)
        case .array(let elements):
            let values = elements.compactMap { list(of: $0, depth: depth + 1) }
            return values.count == elements.count ? .array(values) : nil
        case .object(let members):
            switch Self.tag(members) {
            case ("$date", let value)?: return Self.seconds(value).map(PropertyList.date)
            case ("$data", let value)?: return value.string.flatMap([UInt8].init(base64:)).map(PropertyList.data)
            case ("$number", let value)?: return value.string.flatMap(Double.init).map(PropertyList.real)
            case ("$dictionary", let value)?:
                let pairs = value.array?.compactMap { pair in
                    pair.array.flatMap { pair in pair.first?.string.map { ($0, pair.last ?? .null) } }
                }
                return pairs.flatMap { entries($0, depth) }
            case .some: return nil
            case nil: return entries(members.map { ($0.key, $0.value) }, depth)
            }
        }
    }

    private func entries(_ pairs: [(String, JSONValue)], _ depth: Int) -> PropertyList? {
        var entries: [String: PropertyList] = [:]
        for (key, value) in pairs {
            guard let value = list(of: value, depth: depth + 1) else { return nil }
            entries[key] = value
        }
        return .dictionary(entries)
    }

    private static func tag(_ members: [JSONValue.Member]) -> (String, JSONValue)? {
        guard members.count == 1, members[0].key.hasPrefix("$") else { return nil }
        return (members[0].key, members[0].value)
    }

    private static func uuid(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: "-") })
        guard digits.count == 32 else { return nil }
        let bytes = stride(from: 0, to: 32, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
        return bytes.count == 16 ? bytes : nil
    }

    private static func seconds(_ value: JSONValue) -> Double? {
        switch value {
        case .string(let text): DateText.secondsSinceReferenceDate(text) ?? Double(text)
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
