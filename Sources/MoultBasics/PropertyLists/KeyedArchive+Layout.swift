extension KeyedArchive.Builder {
    /// Returns the archive as `NSKeyedArchiver` on a Mac writes it, byte for byte.
    package func archive(root: PropertyList, _ encoding: KeyedArchive.Encoding) -> [UInt8] {
        var encoder = ArchiveEncoder(objects, encoding)
        encoder.encode(root: root)
        return ArchiveLayout(encoder).bytes
    }
}

/// Lays out a binary property list as Foundation lays out an archive.
///
/// Foundation writes a value once per object in memory, not once per equal value. Short strings and integers are tagged
/// pointers, so equal ones are the same object; so is a constant in a program. A reference or a flag is written each
/// time, although only the first copy is used.
private struct ArchiveLayout {
    private var objects: [BinaryPropertyListWriter.Object] = []
    private var known: [Identity: Int] = [:]
    private let encoder: ArchiveEncoder
    /// The numbers of the keys in each layout.
    private var keys: [Int: [Int]] = [:]
    /// The number of the first reference to each object, by the object's number.
    private var references: [Int?]

    private enum Identity: Hashable {
        case key(String)
        case text(String)
        case className(String)
        /// A number in the table of objects or in a field; the two have different types.
        case number(Int64, isObject: Bool)
        case flag(Bool)
    }

    init(_ encoder: ArchiveEncoder) {
        self.encoder = encoder
        references = [Int?](repeating: nil, count: encoder.order.count)
        let keys = ["$version", "$archiver", "$top", "$objects"]
        addDictionary(keys) { layout, key in
            switch key {
            case "$version": return layout.add(.integer(100_000), isObject: false)
            case "$archiver": return layout.add(.string("NSKeyedArchiver"), isObject: false)
            case "$top":
                let root = layout.encoder.order.dropFirst().first ?? 0
                return layout.addDictionary(["root"]) { layout, _ in layout.add(.uid(root), isObject: false) }
            default: return layout.addArray(layout.encoder.order) { $0.add(object: $1) }
            }
        }
    }

    var bytes: [UInt8] { BinaryPropertyListWriter.bytes(of: objects) }

    // MARK: Containers

    @discardableResult
    private mutating func addDictionary(_ keys: [String], _ value: (inout Self, String) -> Int) -> Int {
        let number = append(.leaf(.null))
        let references = keys.map { addOnce(.string($0), .key($0)) }
        objects[number] = .dictionary(keys: references, values: keys.map { value(&self, $0) })
        return number
    }

    private mutating func addArray<Element>(_ elements: [Element], _ add: (inout Self, Element) -> Int) -> Int {
        let number = append(.leaf(.null))
        objects[number] = .array(elements.map { add(&self, $0) })
        return number
    }

    private mutating func add(object number: Int) -> Int {
        guard case .dictionary(let fields) = encoder.objects[number] else {
            return add(encoder.objects[number], isObject: true)
        }
        if let name = fields["$classname"], let classes = fields["$classes"]?.array {
            return addDictionary(["$classname", "$classes"]) { layout, key in
                key == "$classname" ? layout.add(className: name) : layout.addArray(classes) { $0.add(className: $1) }
            }
        }
        guard let layout = encoder.layoutOfObject[number] else { return append(.leaf(.null)) }
        let written = encoder.layouts[layout].written
        let place = append(.leaf(.null))
        let references = keys[layout] ?? written.map { addOnce(.string($0), .key($0)) }
        keys[layout] = references
        objects[place] = .dictionary(
            keys: references, values: written.map { add(fields[$0] ?? .null, isObject: false) })
        return place
    }

    // MARK: Values

    private mutating func add(_ value: PropertyList, isObject: Bool) -> Int {
        switch value {
        case .string(let text): Self.isPartOfPointer(text) ? addOnce(value, .text(text)) : append(.leaf(value))
        case .integer(let number): addOnce(value, .number(number, isObject: isObject))
        case .boolean(let flag): add(flag)
        case .uid(let old): add(reference: encoder.number(of: old))
        case .array(let elements): addArray(elements) { $0.add($1, isObject: false) }
        case .dictionary(let entries):
            addDictionary(entries.keys.inByteOrder()) {
                $0.add(entries[$1] ?? .null, isObject: false)
            }
        default: append(.leaf(value))
        }
    }

    /// Adds a class name. The names of Foundation's own collections are constants; other names are separate objects.
    private mutating func add(className: PropertyList) -> Int {
        guard let name = className.string, Self.constantNames.contains(name), !Self.isPartOfPointer(name) else {
            return add(className, isObject: false)
        }
        return addOnce(className, .className(name))
    }

    private static let constantNames: Set = [
        "NSArray", "NSDictionary", "NSMutableArray", "NSMutableDictionary", "NSObject", "NSSet",
    ]

    private mutating func addOnce(_ value: PropertyList, _ identity: Identity) -> Int {
        if let number = known[identity] { return number }
        let number = append(.leaf(value))
        known[identity] = number
        return number
    }

    private mutating func add(_ flag: Bool) -> Int {
        let number = append(.leaf(.boolean(flag)))
        let first = known[.flag(flag)] ?? number
        known[.flag(flag)] = first
        return first
    }

    private mutating func add(reference object: Int) -> Int {
        let number = append(.leaf(.uid(object)))
        let first = references[object] ?? number
        references[object] = first
        return first
    }

    private mutating func append(_ object: BinaryPropertyListWriter.Object) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    /// Whether a string fits into a tagged pointer on a 64-bit Mac: seven ASCII characters, nine of the 64 most
    /// frequent, or eleven of the 32 most frequent.
    private static func isPartOfPointer(_ text: String) -> Bool {
        let units = text.utf8
        guard units.count <= 11 else { return false }
        let longest = units.lazy.map { $0 < 0x80 ? longestWith[Int($0)] : 0 }.min() ?? 7
        return units.count <= longest
    }

    /// The maximum length of a string that contains each ASCII character.
    private static let longestWith: [Int] = {
        var longest = [Int](repeating: 7, count: 0x80)
        for unit in "bDNvwyUL2O856P-B79AFKEWV_zGJ/HYX".utf8 { longest[Int(unit)] = 9 }
        for unit in "eilotrm.apdnsIc ufkMShjTRxgC4013".utf8 { longest[Int(unit)] = 11 }
        return longest
    }()
}
