/// Character references in text: `&amp;`, `&#8212;`, `&#x2014;`.
enum HTMLEntities {
    /// Replaces every reference once, from left to right. What a reference gives is not looked at again, so that
    /// `&amp;lt;` becomes the text `&lt;` and no tag; replacing `&amp;` in a first pass and `&lt;` in a second would
    /// decode it twice.
    static func decoded(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var result = ""
        var rest = Substring(text)
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[ampersand...]
            if let (character, length) = reference(rest.utf8) {
                result.unicodeScalars.append(character)
                rest = rest[rest.utf8.index(rest.startIndex, offsetBy: length)...]
            } else {
                result.append("&")
                rest = rest[rest.unicodeScalars.index(after: rest.startIndex)...]
            }
        }
        return result + rest
    }

    /// The character of the reference that `text` begins with, and the reference's length in bytes. One without its
    /// semicolon, as in `R&D`, is text.
    private static func reference(_ text: Substring.UTF8View) -> (Unicode.Scalar, Int)? {
        // No name below is longer.
        guard let semicolon = text.prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let length = text.distance(from: text.startIndex, to: semicolon) + 1
        guard let name = String(text.dropFirst().prefix(length - 2)) else { return nil }
        if let character = named[name] { return (character, length) }
        guard name.first == "#" else { return nil }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(character).map { ($0, length) }
    }

    /// The HTML standard reads 128 to 159 as Windows did; 0 and what is no character become U+FFFD.
    private static func character(_ number: UInt32) -> Unicode.Scalar? {
        if let windows = windows[number] { return windows }
        return number == 0 ? "\u{FFFD}" : Unicode.Scalar(number) ?? "\u{FFFD}"
    }

    private static let named: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}", "copy": "©", "reg": "®",
        "trade": "™", "hellip": "…", "mdash": "—", "ndash": "–", "lsquo": "‘", "rsquo": "’", "ldquo": "“",
        "rdquo": "”", "laquo": "«", "raquo": "»", "bull": "•", "middot": "·", "deg": "°", "frac12": "½",
        "euro": "€", "pound": "£", "yen": "¥", "cent": "¢", "sect": "§", "para": "¶", "times": "×", "hearts": "♥",
        "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß",
        "eacute": "é", "egrave": "è", "ecirc": "ê", "aacute": "á", "agrave": "à", "acirc": "â", "ccedil": "ç",
        "iacute": "í", "oacute": "ó", "uacute": "ú", "ntilde": "ñ", "aring": "å", "oslash": "ø", "aelig": "æ",
    ]

    private static let windows: [UInt32: Unicode.Scalar] = [
        0x80: "€", 0x82: "‚", 0x83: "ƒ", 0x84: "„", 0x85: "…", 0x86: "†", 0x87: "‡", 0x88: "ˆ", 0x89: "‰", 0x8A: "Š",
        0x8B: "‹", 0x8C: "Œ", 0x8E: "Ž", 0x91: "‘", 0x92: "’", 0x93: "“", 0x94: "”", 0x95: "•", 0x96: "–", 0x97: "—",
        0x98: "˜", 0x99: "™", 0x9A: "š", 0x9B: "›", 0x9C: "œ", 0x9E: "ž", 0x9F: "Ÿ",
    ]
}
