#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ObjectID: CustomStringConvertible {
    /// Tells the temporary identities of this process from those of others.
    private static let process = UUID()

    /// The URI as Core Data writes it (`uriRepresentation()`): `x-coredata://UUID/Entity/p1`, and for a temporary
    /// identity `x-coredata:///Entity/tUUID1`, where the UUID is that of the process.
    public var description: String {
        let name = entityName.percentEncoded
        guard let store else { return "x-coredata:///\(name)/t\(Self.process.uuidString)\(key)" }
        return "x-coredata://\(store.uuidString)/\(name)/p\(key)"
    }

    /// Reads a URI of a permanent identity, or of a temporary one of this process; nil for anything else.
    package init?(uri: String) {
        let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].lowercased() == "x-coredata:", parts[1].isEmpty,
            let name = parts[3].percentDecoded, !name.isEmpty
        else { return nil }
        if parts[2].isEmpty {
            let prefix = "t" + Self.process.uuidString
            guard parts[4].hasPrefix(prefix), let number = Int64(parts[4].dropFirst(prefix.count)) else { return nil }
            self.init(temporary: number, entityName: name)
        } else {
            guard let store = UUID(uuidString: String(parts[2])), parts[4].first == "p",
                let key = Int64(parts[4].dropFirst()), key > 0
            else { return nil }
            self.init(store: store, entityName: name, key: key)
        }
    }
}

extension StringProtocol {
    /// With all but the characters that a URI never reserves written as `%` and two digits for each byte.
    fileprivate var percentEncoded: String {
        if utf8.allSatisfy(\.isUnreserved) { return String(self) }
        let digits = [Character]("0123456789ABCDEF")
        return utf8.reduce(into: "") { text, byte in
            if byte.isUnreserved {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }

    /// Nil if a `%` stands without its digits, or where the bytes are no UTF-8.
    fileprivate var percentDecoded: String? {
        guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let high = digits.first?.hexadecimalDigit, let low = digits.last?.hexadecimalDigit
            else { return nil }
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(self)
        }
    }

    fileprivate var hexadecimalDigit: UInt8? {
        Character(Unicode.Scalar(self)).hexDigitValue.map { UInt8($0) }
    }
}
