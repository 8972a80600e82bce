import MoultModel

/// A request of a browser.
package struct Request: Sendable {
    package let method: String
    /// Without the query, decoded.
    package let path: String
    /// The fields of the query and of a form, decoded; of several of one name the first.
    package let query: [String: String]
    package let form: [String: String]
    private let headers: [(name: String, value: String)]

    /// The longest form that is read.
    package static let formLimit = 64 << 10

    /// - Parameter target: path and query as they were sent.
    /// - Returns: nil for a target or a form that is not encoded as the standard asks.
    package init?(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first?.utf8.percentDecoded(plusIsBlank: false), path.hasPrefix("/"),
            let query = (parts.count > 1 ? Array(parts[1].utf8) : []).fields, body.count <= Self.formLimit
        else { return nil }
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers.map { ($0.0.lowercased(), $0.1) }
        let isForm = self.headers.contains {
            $0.name == "content-type" && $0.value.hasPrefix("application/x-www-form-urlencoded")
        }
        guard let form = isForm ? body.fields : [:] else { return nil }
        self.form = form
    }

    /// The value of a header that was sent once; nil if it was not, or several times.
    package func header(_ name: String) -> String? {
        let values = headers.filter { $0.name == name }
        return values.count == 1 ? values.first?.value : nil
    }

    package func hasHeader(_ name: String) -> Bool { headers.contains { $0.name == name } }

    package func cookie(_ name: String) -> String? {
        let pairs = headers.filter { $0.name == "cookie" }.flatMap { $0.value.split(separator: ";") }
        for pair in pairs {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == name { return String(parts[1]) }
        }
        return nil
    }
}

extension [UInt8] {
    /// The fields of `application/x-www-form-urlencoded`; nil where the encoding is wrong.
    fileprivate var fields: [String: String]? {
        var fields: [String: String] = [:]
        for field in split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first?.percentDecoded(plusIsBlank: true),
                let value = parts.count > 1 ? parts[1].percentDecoded(plusIsBlank: true) : ""
            else { return nil }
            if fields[name] == nil { fields[name] = value }
        }
        return fields
    }
}

extension Collection<UInt8> {
    /// Nil for an escape that is none, and for bytes that are not UTF-8.
    fileprivate func percentDecoded(plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The address of a page with its query.
func address(_ path: String, _ fields: KeyValuePairs<String, String> = [:]) -> String {
    let query = fields.map { "\($0.percentEncoded)=\($1.percentEncoded)" }.joined(separator: "&")
    return query.isEmpty ? path : "\(path)?\(query)"
}

extension String {
    fileprivate var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
