/// An HTTP request from a browser.
package struct Request: Sendable {
    package let method: String
    /// The decoded path, without the query.
    package private(set) var path: String
    /// The decoded fields of the query and of a form. Of several fields with one name, the first counts.
    package let query: [String: String]
    package let form: [String: String]
    private let fields: [(name: String, value: String)]
    private let headers: [(name: String, value: String)]

    /// The maximum length of a form, in bytes.
    package static let formLimit = 64 << 10

    /// - Parameter target: the path and query, as sent.
    /// - Returns: nil for a target or a form with an invalid encoding, and for a body that is too long.
    package init?(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8] = []) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first?.utf8.percentDecoded(plusIsBlank: false), path.hasPrefix("/"),
            let query = (parts.count > 1 ? Array(parts[1].utf8) : []).fields, body.count <= Self.formLimit
        else { return nil }
        (self.method, self.path, self.query, fields) = (method, path, query.firsts, query)
        self.headers = headers.map { ($0.0.lowercased(), $0.1) }
        let isForm = self.headers.contains {
            $0.name == "content-type" && $0.value.hasPrefix("application/x-www-form-urlencoded")
        }
        guard let form = isForm ? body.fields : [] else { return nil }
        self.form = form.firsts
    }

    /// Returns every value of a field of the query, in order.
    package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The request with another path.
    func at(_ path: String) -> Request {
        var request = self
        request.path = path
        return request
    }

    /// Returns the value of a header that was sent exactly once; nil otherwise.
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
    /// The fields of `application/x-www-form-urlencoded`; nil if the encoding is invalid.
    fileprivate var fields: [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for field in split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first?.percentDecoded(plusIsBlank: true),
                let value = parts.count > 1 ? parts[1].percentDecoded(plusIsBlank: true) : ""
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }
}

extension [(name: String, value: String)] {
    /// The first value of each name.
    fileprivate var firsts: [String: String] {
        Dictionary(map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Collection<UInt8> {
    /// Returns nil for an invalid escape, and for bytes that are not UTF-8.
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

/// Returns the address of a page with its query.
func address(_ path: String, _ fields: KeyValuePairs<String, String> = [:]) -> String {
    address(path, fields.map { ($0, $1) })
}

func address(_ path: String, _ fields: [(String, String)]) -> String {
    let query = fields.map { "\($0.percentEncoded)=\($1.percentEncoded)" }.joined(separator: "&")
    return query.isEmpty ? path : "\(path)?\(query)"
}

extension String {
    /// The text as the place in a page that an address ends with.
    var addressFragment: String { percentEncoded }

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
