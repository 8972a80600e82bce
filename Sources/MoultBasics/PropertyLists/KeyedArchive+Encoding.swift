extension KeyedArchive {
    /// The order in which classes encode their fields. Together with the order of dictionaries (``HashTableOrder``) it
    /// determines the number of each object in an archive.
    package struct Encoding: Sendable {
        /// The field names by class, without inherited ones. Fields that are not listed follow in byte order.
        let fields: [String: [String]]
        /// Fields that use `encodeConditionalObject(_:forKey:)`: the object is encoded only if another field refers to
        /// it.
        let conditional: Set<String>

        package init(fields: [String: [String]], conditional: Set<String>) {
            self.fields = fields
            self.conditional = conditional
        }

        func fields(of classes: [String]) -> [String] { classes.reversed().flatMap { fields[$0] ?? [] } }
    }
}

/// Numbers the objects of an archive as `NSKeyedArchiver` does. Each object gets its number at the first reference to
/// it, followed by everything it refers to, and its class after its fields.
struct ArchiveEncoder {
    private(set) var objects: [PropertyList]
    private let encoding: KeyedArchive.Encoding
    /// The objects by their new numbers.
    private(set) var order = [0]
    /// New numbers by old ones; nil if nothing has referred to the object yet.
    private var numbers: [Int?]
    private var isEncoded: [Bool]
    /// The distinct field layouts; objects of a class share a few.
    private(set) var layouts: [FieldLayout] = []
    private var layoutsOfClass: [Int: [Int]] = [:]
    /// The index of each object's layout; nil for an object without fields.
    private(set) var layoutOfObject: [Int?]

    init(_ objects: [PropertyList], _ encoding: KeyedArchive.Encoding) {
        self.objects = objects
        self.encoding = encoding
        numbers = [0] + [Int?](repeating: nil, count: max(objects.count - 1, 0))
        layoutOfObject = [Int?](repeating: nil, count: objects.count)
        isEncoded = [true] + [Bool](repeating: false, count: max(objects.count - 1, 0))
    }

    /// The fields of an object, in encoding order and in archive order.
    struct FieldLayout {
        let encoded: [String]
        let written: [String]
        /// Whether each encoded field only mentions its objects.
        let mentions: [Bool]
    }

    /// Returns the new number of an object; 0, which is nil, if there is no such object.
    func number(of object: Int) -> Int { numbers.indices.contains(object) ? numbers[object] ?? 0 : 0 }

    mutating func encode(root: PropertyList) {
        guard let root = root.uid, objects.indices.contains(root) else { return }
        encode(root)
        // An object with only conditional references is still part of the model.
        var position = 0
        while position < order.count {
            if !isEncoded[order[position]] { encode(order[position]) }
            position += 1
        }
    }

    /// Encodes without recursion, because a model may be deeply nested.
    private mutating func encode(_ first: Int) {
        var waiting = [(object: first, isMentioned: false)]
        while let (object, isMentioned) = waiting.popLast() {
            guard objects.indices.contains(object) else { continue }
            if numbers[object] == nil {
                numbers[object] = order.count
                order.append(object)
            }
            guard !isMentioned, !isEncoded[object] else { continue }
            isEncoded[object] = true
            sortDictionary(object)
            guard case .dictionary(let fields) = objects[object] else { continue }
            let layout = layout(of: fields)
            layoutOfObject[object] = layout
            let start = waiting.count
            for (field, isMentioned) in zip(layouts[layout].encoded, layouts[layout].mentions) {
                fields[field]?.forEachReference { waiting.append(($0, isMentioned)) }
            }
            waiting[start...].reverse()
        }
    }

    /// Reorders the entries of a dictionary with string keys as a hash table has them.
    private mutating func sortDictionary(_ object: Int) {
        guard case .dictionary(var fields) = objects[object], case .array(let keys) = fields["NS.keys"],
            case .array(let values) = fields["NS.objects"], keys.count == values.count, keys.count > 1
        else { return }
        let names = keys.compactMap { $0.uid.flatMap { objects.indices.contains($0) ? objects[$0].string : nil } }
        guard names.count == keys.count else { return }
        let positions = HashTableOrder.positions(of: names)
        fields["NS.keys"] = .array(positions.map { keys[$0] })
        fields["NS.objects"] = .array(positions.map { values[$0] })
        objects[object] = .dictionary(fields)
    }

    private mutating func layout(of fields: [String: PropertyList]) -> Int {
        let classNumber = fields["$class"]?.uid ?? 0
        let known = layoutsOfClass[classNumber]?.first { layout in
            layouts[layout].encoded.count == fields.count && layouts[layout].encoded.allSatisfy { fields[$0] != nil }
        }
        if let known { return known }
        let classes = objects.indices.contains(classNumber) ? objects[classNumber]["$classes"]?.array : nil
        let named = encoding.fields(of: classes?.compactMap(\.string) ?? []).filter { fields[$0] != nil }
        let others = Set(fields.keys).subtracting(named + ["$class"]).inByteOrder()
        let encoded = named + others + (fields["$class"] != nil ? ["$class"] : [])
        layoutsOfClass[classNumber, default: []].append(layouts.count)
        layouts.append(
            FieldLayout(
                encoded: encoded, written: HashTableOrder.positions(of: encoded).map { encoded[$0] },
                mentions: encoded.map(encoding.conditional.contains)))
        return layouts.count - 1
    }
}

extension PropertyList {
    /// Calls `body` with each reference in a field of an archived object.
    fileprivate func forEachReference(_ body: (Int) -> Void) {
        switch self {
        case .uid(let number): body(number)
        case .array(let elements): for element in elements { element.forEachReference(body) }
        case .dictionary(let entries):
            for (_, value) in entries.inByteOrder(of: { $0.key }) {
                value.forEachReference(body)
            }
        default: break
        }
    }
}

/// The key order of a mutable dictionary of Core Foundation. Archives are written in this order.
///
/// Each key has a slot in a table: the slot that its hash selects, or the next free one. A table with too many keys is
/// replaced by a larger one, which takes the keys over slot by slot. The order therefore depends on the order of
/// insertion, and is the same on every machine.
package enum HashTableOrder {
    /// The table sizes: the number of slots, and the maximum number of keys.
    private static let sizes: [(slots: Int, capacity: Int)] = [
        (3, 3), (7, 6), (13, 11), (23, 19), (41, 32), (71, 52), (127, 85), (191, 118), (251, 155), (383, 237),
        (631, 390), (1087, 672), (1723, 1065),
    ]

    /// Returns the positions of `keys`, inserted one after the other, in table order. If they do not fit into the
    /// largest table, they keep their own order.
    package static func positions(of keys: [String]) -> [Int] {
        guard keys.count <= 1065 else { return Array(keys.indices) }
        let hashes = keys.map(hash)
        var size = 0
        var slots = [Int?](repeating: nil, count: sizes[size].slots)
        func grow() {
            size += 1
            var larger = [Int?](repeating: nil, count: sizes[size].slots)
            for case let position? in slots { insert(position, hashes, into: &larger) }
            slots = larger
        }
        for position in keys.indices {
            if position == slots.count { grow() }
            insert(position, hashes, into: &slots)
            if position + 1 > sizes[size].capacity { grow() }
        }
        return slots.compactMap { $0 }
    }

    private static func insert(_ position: Int, _ hashes: [UInt64], into slots: inout [Int?]) {
        var slot = Int(hashes[position] % UInt64(slots.count))
        while slots[slot] != nil { slot = (slot + 1) % slots.count }
        slots[slot] = position
    }

    /// Returns the hash of a string in Core Foundation. For more than 96 UTF-16 units, only three runs of 32 count.
    static func hash(_ text: String) -> UInt64 {
        let units = Array(text.utf16)
        guard units.count > 96 else { return finished(mixed(units[...], into: UInt64(units.count)), units.count) }
        let middle = units.count / 2 - 16
        var result = mixed(units.prefix(32), into: UInt64(units.count))
        result = mixed(units[middle..<middle + 32], into: result)
        return finished(mixed(units.suffix(32), into: result), units.count)
    }

    private static func mixed(_ units: ArraySlice<UInt16>, into start: UInt64) -> UInt64 {
        var (result, rest) = (start, units)
        while rest.count >= 4 {
            let factors: [UInt64] = [16_974_593, 66_049, 257, 1]
            result = zip(rest, factors).reduce(result &* 67_503_105) { $0 &+ UInt64($1.0) &* $1.1 }
            rest = rest.dropFirst(4)
        }
        return rest.reduce(result) { $0 &* 257 &+ UInt64($1) }
    }

    private static func finished(_ result: UInt64, _ count: Int) -> UInt64 { result &+ result << UInt64(count & 31) }
}
