import MoultBasics
import MoultObjects

/// The stand-ins for the values of a store. They depend only on the values and a seed.
///
/// Every stand-in is requested twice. The first pass notes the value and returns it unchanged; the second returns the
/// stand-in. A value has the same stand-in everywhere, so that texts still refer to the same objects.
final class StandIns {
    let words: ModelWords
    private let seed: UInt64
    /// The shift of dates in seconds. It is a whole number of weeks, so weekdays, times of day and intervals stay.
    private let shift: Int64
    private var texts: Set<[UInt8]> = []
    private var numbers: Set<Int64> = []
    private var fractions: Set<[UInt8]> = []
    /// Texts and bytes that a rule keeps.
    private(set) var kept: Set<[UInt8]> = []
    private var shortBytes: [[UInt8]: [UInt8]] = [:]
    private var usedBytes: Set<[UInt8]> = []
    private var made: Made?

    private struct Made {
        let texts: TextStandIns
        let numbers: [Int64: Int64]
        let fractions: [[UInt8]: [UInt8]]
        let originals: OriginalTexts
    }

    /// - Parameter words: the texts, numbers and dates of the models, which stay as they are.
    init(seed: UInt64, words: ModelWords) {
        self.seed = seed
        self.words = words
        var generator = SeededGenerator(seed: seed)
        let weeks = Int64.random(in: 52...520, using: &generator)
        shift = (Bool.random(using: &generator) ? weeks : -weeks) * 7 * 86_400
    }

    // MARK: - The two passes

    func keep(_ bytes: [UInt8]) { kept.insert(bytes) }

    /// Whether a text is a value of the store.
    func isNoted(_ text: [UInt8]) -> Bool { texts.contains(text) || kept.contains(text) }

    /// Ends the first pass.
    func make() {
        // A value that stays is not a leak, wherever it occurs.
        let fixed = kept.union(words.texts)
        let originals = OriginalTexts(texts.subtracting(fixed).filter { !stays($0) })
        let wholes = NumberStandIns(numbers, fixed: words.numbers, seed: seed &+ 1) { number in
            originals.first(in: Array(String(number).utf8)) == nil
        }
        let plain = texts.filter { TextKind($0) == .plain && !stays($0) }
        made = Made(
            texts: TextStandIns(
                plain, besides: originals, reserved: fixed.union(texts.filter(stays)), seed: seed &+ 2
            ) { TextKind($0) == .plain },
            numbers: wholes.standIns,
            fractions: TextStandIns(fractions, besides: OriginalTexts([]), after: UInt8(ascii: "."), seed: seed &+ 3)
                .standIns, originals: originals)
    }

    /// The original texts that must not be found in the copy.
    var originals: OriginalTexts { made?.originals ?? OriginalTexts([]) }
    /// Returns the plain texts that are not stand-ins. A value that equals one of them was not replaced.
    func missed(_ found: Set<[UInt8]>) -> Set<[UInt8]> {
        found.filter { TextKind($0) == .plain }.subtracting(made?.texts.standIns.values.map { $0 } ?? [])
    }

    /// The number of distinct texts.
    var textCount: Int { texts.count }
    var unorderedTexts: Int { made?.texts.unordered ?? 0 }

    /// Whether a text stays as it is.
    private func stays(_ text: [UInt8]) -> Bool {
        if words.texts.contains(text) { return true }
        switch TextKind(text) {
        case .word: return true
        case .number(let sign, let whole, _, _):
            return Int64(sign + whole).map { abs(Double($0)) < 10 || words.numbers.contains($0) } ?? false
        case .plain: return !TextStandIns.hasReplaceable(text)
        default: return false
        }
    }

    // MARK: - Texts

    func text(_ bytes: [UInt8]) -> [UInt8] {
        guard made != nil else {
            texts.insert(bytes)
            _ = converted(bytes)
            return bytes
        }
        return words.texts.contains(bytes) ? bytes : converted(bytes)
    }

    private func converted(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        switch TextKind(bytes) {
        case .word: return bytes
        case .plain: return made?.texts.standIns[bytes] ?? bytes
        case .uuid: return Array(uuid(text: text).utf8)
        case .object:
            return Array((TextKind.objectScheme + uuid(text: String(text.dropFirst(13).prefix(36)))).utf8)
                + bytes.dropFirst(49)
        case .date(let day):
            let moved = Timestamp(seconds: day * 86_400 + shift)
            return Array(moved.iso8601.utf8.prefix(10)) + bytes.dropFirst(10)
        case .number(let sign, let whole, let fraction, let exponent):
            return Array(number(sign: sign, whole: whole, fraction: fraction, exponent: exponent).utf8)
        }
    }

    private func uuid(text: String) -> String {
        guard let bytes = TextKind.uuidBytes(text) else { return text }
        let new = Self.uuid(uuid(bytes).hexadecimal)
        return text.contains { $0.isLowercase } ? new.lowercased() : new.uppercased()
    }

    /// Formats 32 digits as a UUID.
    private static func uuid(_ digits: String) -> String {
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    // MARK: - Numbers

    func whole(_ number: Int64) -> Int64 {
        if made == nil { numbers.insert(number) }
        return made?.numbers[number] ?? number
    }

    /// Returns the stand-in of a decimal number. The integer part has its own stand-in; the stand-ins of fractions keep
    /// their order.
    private func number(sign: String, whole: String, fraction: String?, exponent: String) -> String {
        let zeros = whole.prefix { $0 == "0" }.dropLast(whole.allSatisfy { $0 == "0" } ? 1 : 0)
        let number = Int64(sign + whole) ?? 0
        var text = sign + zeros + (whole.isEmpty ? "" : String(self.whole(number).magnitude))
        if let fraction {
            let key = Array("\(number).\(fraction)".utf8)
            if made == nil { fractions.insert(key) }
            let isSplit = words.splitNumbers.contains(number)
            let digits = isSplit ? key : made?.fractions[key] ?? key
            text += "." + String(decoding: digits.drop { $0 != UInt8(ascii: ".") }.dropFirst(), as: UTF8.self)
        }
        return text + exponent
    }

    func real(_ number: Double, isFloat: Bool = false) -> Double {
        let isSingle = isFloat && Double(Float(number)) == number
        let text = isSingle ? Float(number).description : number.description
        guard number != 0, number.isFinite, number.magnitude != .greatestFiniteMagnitude,
            case .number(let sign, let whole, let fraction, let exponent) = TextKind(Array(text.utf8)),
            let new = Double(self.number(sign: sign, whole: whole, fraction: fraction, exponent: exponent)),
            new.isFinite
        else { return number }
        return isSingle ? Float(new).isFinite ? Double(Float(new)) : number : new
    }

    /// Returns the shifted date. Dates far from the present, such as `Date.distantPast`, are markers and stay.
    func date(_ seconds: Double) -> Double {
        seconds.magnitude < 3e10 && !words.dates.contains(seconds) ? seconds + Double(shift) : seconds
    }

    // MARK: - Bytes

    /// Returns 16 other bytes, with the same UUID version and variant.
    func uuid(_ bytes: [UInt8]) -> [UInt8] {
        guard made != nil, bytes.count == 16, Set(bytes).count > 1 else { return bytes }
        for salt in 0..<16 {
            var new = random(16, for: bytes, salt)
            new[6] = new[6] & 0x0F | bytes[6] & 0xF0
            new[8] = new[8] & 0x3F | bytes[8] & 0xC0
            let digits = new.hexadecimal
            let forms = [new, Array(Self.uuid(digits.lowercased()).utf8), Array(Self.uuid(digits.uppercased()).utf8)]
            if forms.allSatisfy({ originals.first(in: $0) == nil }) { return new }
        }
        return random(16, for: bytes, 16)
    }

    /// Returns as many other bytes. Every fourth is a byte that no UTF-8 text contains, so no text of four characters
    /// occurs in them.
    func bytes(_ bytes: [UInt8]) -> [UInt8] {
        if let list = listed(bytes) { return list }
        guard made != nil, !bytes.isEmpty else { return bytes }
        if let known = shortBytes[bytes] { return known }
        var new = noise(bytes, 0)
        guard bytes.count < 16 else { return new }
        var salt = 1
        while usedBytes.contains(new) || new == bytes, salt < 256 {
            new = noise(bytes, salt)
            salt += 1
        }
        usedBytes.insert(new)
        shortBytes[bytes] = new
        return new
    }

    private func noise(_ bytes: [UInt8], _ salt: Int) -> [UInt8] {
        var new = random(bytes.count, for: bytes, salt)
        for place in stride(from: 3, to: new.count, by: 4) { new[place] = 0xF8 | new[place] & 0x07 }
        return new
    }

    private func random(_ count: Int, for bytes: [UInt8], _ salt: Int) -> [UInt8] {
        let key = [seed, UInt64(salt)].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let digest = Digest.sha256(key + bytes)
        var generator = SeededGenerator(seed: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        var new: [UInt8] = []
        new.reserveCapacity(count + 8)
        while new.count < count {
            let number = generator.next()
            for place in 0..<8 { new.append(UInt8(truncatingIfNeeded: number >> UInt64(place * 8))) }
        }
        return Array(new.prefix(count))
    }
}

/// Property lists, archives and JSON inside bytes. Their texts, numbers, dates and data get stand-ins; their structure
/// and the names of their parts stay, so that they remain readable.
extension StandIns {
    /// Returns the bytes with stand-ins; nil if they are none of these formats.
    func listed(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8)) {
            return (try? PropertyList(parsing: bytes)).map { list($0).binary }
        }
        guard bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "["),
            let value = try? JSONValue(parsing: bytes, place: "", code: .usage)
        else { return nil }
        return Array(json(value).compact.utf8)
    }

    /// - Parameter key: the list's key in its parent.
    func list(_ list: PropertyList, named key: String = "") -> PropertyList {
        switch list {
        case .string(let text):
            // Names of classes, versions and other parts of an archive begin with `$`.
            guard text.hasPrefix("$") || key.hasPrefix("$") else { return .string(self.text(text)) }
            keepTexts(of: list)
            return list
        case .data(let bytes): return .data(self.bytes(bytes))
        case .date(let seconds): return .date(date(seconds))
        case .integer(let number): return key.hasPrefix("$") || key.hasPrefix("NS") ? list : .integer(whole(number))
        case .real(let number): return .real(key == "NS.time" ? date(number) : real(number))
        case .array(let elements):
            guard !key.hasPrefix("$class") else {
                keepTexts(of: list)
                return list
            }
            return .array(elements.map { self.list($0, named: key == "$objects" ? "" : key) })
        case .dictionary(let entries):
            if entries["$classname"] != nil {
                keepTexts(of: list)
                return list
            }
            return .dictionary(
                Dictionary(
                    entries.map { (name($0), self.list($1, named: $0)) }, uniquingKeysWith: { first, _ in first }))
        case .null, .boolean, .unsignedInteger, .uid: return list
        }
    }

    /// Returns a name unchanged if it could be an identifier. Any other name, such as a dictionary's key, is treated as
    /// a text.
    private func name(_ name: String) -> String {
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_$.".contains($0)) }
        guard isPlain, name.first?.isNumber == false else { return text(name) }
        keep(Array(name.utf8))
        return name
    }

    /// Notes the texts of a list that stays as it is.
    private func keepTexts(of list: PropertyList) {
        switch list {
        case .string(let text): keep(Array(text.utf8))
        case .array(let elements): for element in elements { keepTexts(of: element) }
        case .dictionary(let entries): for element in entries.values { keepTexts(of: element) }
        default: break
        }
    }

    private func json(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(self.text(text))
        case .integer(let number): .integer(whole(number))
        case .double(let number): .double(real(number))
        case .array(let elements): .array(elements.map(json))
        case .object(let members): .object(members.map { .init(name($0.key), json($0.value)) })
        case .null, .bool: value
        }
    }

    private func text(_ text: String) -> String { String(decoding: self.text(Array(text.utf8)), as: UTF8.self) }
}
