extension RegularExpression {
    /// Reads a pattern: alternatives of sequences of quantified parts.
    struct Parser {
        private struct Flags {
            var ignoresCase: Bool
            var dotIsAny = false
            var isMultiline = false
        }

        private static let depthLimit = 64
        /// The maximum number in `{…}`.
        private static let countLimit = 1000

        private let scalars: [Unicode.Scalar]
        private var position = 0
        private var depth = 0
        private var flags: Flags

        init(_ pattern: String, ignoresCase: Bool) {
            scalars = Array(pattern.unicodeScalars)
            flags = Flags(ignoresCase: ignoresCase)
        }

        mutating func whole() throws(Fault) -> Pattern {
            let pattern = try alternatives()
            guard position == scalars.count else { throw fault("a parenthesis is not opened") }
            return pattern
        }

        private mutating func alternatives() throws(Fault) -> Pattern {
            depth += 1
            defer { depth -= 1 }
            guard depth < Self.depthLimit else { throw fault("it is nested too deeply") }
            var choices = [try sequence()]
            while take("|") { choices.append(try sequence()) }
            return choices.count == 1 ? choices[0] : .choice(choices)
        }

        private mutating func sequence() throws(Fault) -> Pattern {
            var parts: [Pattern] = []
            while let scalar = peek(), scalar != "|", scalar != ")" {
                if take("\\Q") {
                    parts += quoted()
                    if let last = parts.popLast() { parts.append(try quantified(last)) }
                } else if let part = try part() {
                    parts.append(try quantified(part))
                }
            }
            return .sequence(parts)
        }

        /// Reads literal scalars up to `\E` or the end.
        private mutating func quoted() -> [Pattern] {
            var parts: [Pattern] = []
            while let scalar = peek(), !take("\\E") {
                parts.append(.set(ScalarSet(scalar, ignoresCase: flags.ignoresCase)))
                position += 1
            }
            return parts
        }

        /// Reads a part; nil for a group that only changes flags.
        private mutating func part() throws(Fault) -> Pattern? {
            guard let scalar = peek() else { return nil }
            position += 1
            switch scalar {
            case "(": return try group()
            case "[": return .set(try set())
            case ".":
                return .set(
                    flags.dotIsAny ? ScalarSet(isNegative: true) : ScalarSet(.property(.lineBreak), isNegative: true))
            case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
            case "$": return .assertion(flags.isMultiline ? .lineEnd : .lastLineEnd)
            case "*", "+", "?", "{":
                position -= 1
                throw fault("nothing precedes \(scalar)")
            case "\\": return try escapedPart()
            default: return .set(ScalarSet(scalar, ignoresCase: flags.ignoresCase))
            }
        }

        // MARK: Quantifiers

        private mutating func quantified(_ part: Pattern) throws(Fault) -> Pattern {
            guard let (least, most) = try quantifier() else { return part }
            if take("+") { throw fault("possessive quantifiers are not supported", before: 1) }
            // Lazy and greedy quantifiers differ in the first match; here only the existence of a match counts.
            _ = take("?")
            return .repetition(part, least, most)
        }

        private mutating func quantifier() throws(Fault) -> (Int, Int?)? {
            if take("*") { return (0, nil) }
            if take("+") { return (1, nil) }
            if take("?") { return (0, 1) }
            guard take("{") else { return nil }
            let least = try count()
            var most: Int? = least
            if take(",") { most = peek() == "}" ? nil : try count() }
            guard take("}"), most.map({ $0 >= least }) ?? true else { throw fault("the numbers in braces are wrong") }
            return (least, most)
        }

        private mutating func count() throws(Fault) -> Int {
            var digits = ""
            while let scalar = peek(), ("0"..."9").contains(scalar) {
                digits += String(scalar)
                position += 1
            }
            guard let count = Int(digits), count <= Self.countLimit else {
                throw fault("a number up to \(Self.countLimit) is expected")
            }
            return count
        }

        // MARK: Groups

        private mutating func group() throws(Fault) -> Pattern? {
            let outer = flags
            guard take("?") else { return try rest(of: outer) }
            if take(":") { return try rest(of: outer) }
            for (sign, isAhead, isNegative) in [
                ("=", true, false), ("!", true, true), ("<=", false, false), ("<!", false, true),
            ] where take(sign) {
                guard let pattern = try rest(of: outer) else { return nil }
                return .look(isAhead: isAhead, isNegative: isNegative, pattern)
            }
            if take("#") {
                while let scalar = peek(), scalar != ")" { position += 1 }
                guard take(")") else { throw fault("a parenthesis is not closed") }
                return nil
            }
            if take("<") {
                while let scalar = peek(), scalar.isWord { position += 1 }
                guard take(">") else { throw fault("the name of a group is not closed") }
                return try rest(of: outer)
            }
            if take(">") { throw fault("atomic groups are not supported", before: 3) }
            try takeFlags()
            // The flags apply until the end of the enclosing group, or of their own group.
            if take(")") { return nil }
            guard take(":") else { throw fault("only the flags i, s and m are supported") }
            return try rest(of: outer)
        }

        private mutating func rest(of outer: Flags) throws(Fault) -> Pattern? {
            let pattern = try alternatives()
            guard take(")") else { throw fault("a parenthesis is not closed") }
            flags = outer
            return pattern
        }

        private mutating func takeFlags() throws(Fault) {
            var isOn = true
            while let scalar = peek(), scalar != ")", scalar != ":" {
                switch scalar {
                case "-": isOn = false
                case "i": flags.ignoresCase = isOn
                case "s": flags.dotIsAny = isOn
                case "m": flags.isMultiline = isOn
                default: throw fault("only the flags i, s and m are supported")
                }
                position += 1
            }
        }

        // MARK: Escapes

        private mutating func escapedPart() throws(Fault) -> Pattern {
            switch peek() {
            case "A": return assertion(.textStart)
            case "z": return assertion(.textEnd)
            case "Z": return assertion(.lastLineEnd)
            case "b": return assertion(.wordBoundary)
            case "B": return assertion(.noWordBoundary)
            case "R":
                position += 1
                let pair = [Unicode.Scalar("\r"), "\n"].map { Pattern.set(ScalarSet($0, ignoresCase: false)) }
                return .choice([.sequence(pair), .set(ScalarSet(.property(.lineBreak)))])
            case let digit? where ("1"..."9").contains(digit):
                throw fault("back references are not supported", before: 1)
            default:
                var set = ScalarSet(try escapedElement())
                set.ignoresCase = flags.ignoresCase
                return .set(set)
            }
        }

        private mutating func assertion(_ assertion: Assertion) -> Pattern {
            position += 1
            return .assertion(assertion)
        }

        private static let properties: [Unicode.Scalar: ScalarSet.Property] = [
            "d": .digit, "w": .word, "s": .space, "h": .horizontalSpace, "v": .lineBreak,
        ]
        private static let controls: [Unicode.Scalar: UInt32] = ["t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27]

        /// Reads the element after a backslash, also inside a class.
        private mutating func escapedElement() throws(Fault) -> ScalarSet.Element {
            guard let scalar = peek() else { throw fault("a backslash ends it") }
            position += 1
            if let property = Self.properties[scalar] { return .property(property) }
            if let lower = scalar.properties.lowercaseMapping.unicodeScalars.first, lower != scalar,
                let property = Self.properties[lower]
            {
                return .set(ScalarSet(.property(property), isNegative: true))
            }
            if let control = Self.controls[scalar] { return .range(control...control) }
            switch scalar {
            case "p", "P":
                let property = try property()
                return scalar == "p" ? .property(property) : .set(ScalarSet(.property(property), isNegative: true))
            case "u": return try code(digits: 4)
            case "U": return try code(digits: 8)
            case "x": return try take("{") ? code(digits: nil) : code(digits: 2)
            case "0":
                let digits = scalars[position...].prefix(3).prefix { ("0"..."7").contains($0) }
                position += digits.count
                let value = digits.reduce(0) { $0 * 8 + ($1.value - 0x30) }
                return .range(value...value)
            case let letter where letter.isASCII && letter.isWord && letter != "_":
                throw fault("\\\(letter) is not known", before: 2)
            default: return .range(scalar.value...scalar.value)
            }
        }

        private mutating func property() throws(Fault) -> ScalarSet.Property {
            let start = position
            guard take("{") else {
                guard let letter = peek(), let property = ScalarSet.Property(name: String(letter)) else {
                    throw fault("a property is expected")
                }
                position += 1
                return property
            }
            let name = name(upTo: "}")
            guard take("}"), let property = ScalarSet.Property(name: name) else {
                throw Fault(message: "the property \(name) is not known", position: start)
            }
            return property
        }

        /// Reads a code; `count` is nil for digits in braces.
        private mutating func code(digits count: Int?) throws(Fault) -> ScalarSet.Element {
            var digits = ""
            while let scalar = peek(), scalar.properties.isASCIIHexDigit, digits.count < count ?? 8 {
                digits += String(scalar)
                position += 1
            }
            guard let value = UInt32(digits, radix: 16), Unicode.Scalar(value) != nil,
                count.map({ $0 == digits.count }) ?? take("}")
            else { throw fault("the hexadecimal digits of a character are expected") }
            return .range(value...value)
        }

        // MARK: Classes

        /// Reads a class, after its opening bracket and through its closing one.
        private mutating func set() throws(Fault) -> ScalarSet {
            depth += 1
            defer { depth -= 1 }
            guard depth < Self.depthLimit else { throw fault("it is nested too deeply") }
            var set = ScalarSet(isNegative: take("^"))
            set.ignoresCase = flags.ignoresCase
            // A bracket right at the start is a literal one.
            if take("]") { set.elements.append(.range(0x5D...0x5D)) }
            while !take("]") {
                guard peek() != nil else { throw fault("a class is not closed") }
                if take("&&") {
                    set.intersections.append(try intersection())
                } else {
                    set.elements.append(try element())
                }
            }
            return set
        }

        /// Reads an operand of `&&`, up to the next `&&` or the end of the class, without consuming it.
        private mutating func intersection() throws(Fault) -> ScalarSet {
            var set = ScalarSet()
            set.ignoresCase = flags.ignoresCase
            while peek() != "]", !(peek() == "&" && peek(1) == "&") {
                guard peek() != nil else { throw fault("a class is not closed") }
                set.elements.append(try element())
            }
            return set
        }

        private mutating func name(upTo end: Unicode.Scalar) -> String {
            var name = ""
            while let scalar = peek(), scalar != end {
                name += String(scalar)
                position += 1
            }
            return name
        }

        private mutating func element() throws(Fault) -> ScalarSet.Element {
            if take("[:") {
                let isNegative = take("^")
                let start = position
                let name = name(upTo: ":")
                guard take(":]"), let property = ScalarSet.Property(name: name) else {
                    throw Fault(message: "the class \(name) is not known", position: start)
                }
                return .set(ScalarSet(.property(property), isNegative: isNegative))
            }
            if take("[") { return .set(try set()) }
            let start = position
            let first = try single()
            guard peek() == "-", let next = peek(1), next != "]", next != "[", case .range(let low) = first else {
                return first
            }
            position += 1
            guard case .range(let high) = try single(), low.lowerBound <= high.lowerBound else {
                throw Fault(message: "a range goes backwards", position: start)
            }
            return .range(low.lowerBound...high.lowerBound)
        }

        private mutating func single() throws(Fault) -> ScalarSet.Element {
            guard let scalar = peek() else { throw fault("a class is not closed") }
            position += 1
            if scalar != "\\" { return .range(scalar.value...scalar.value) }
            if take("b") { return .range(8...8) }
            return try escapedElement()
        }

        // MARK: Scalars

        private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
            position + distance < scalars.count ? scalars[position + distance] : nil
        }

        private mutating func take(_ text: String) -> Bool {
            guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
            position += text.unicodeScalars.count
            return true
        }

        private func fault(_ message: String, before: Int = 0) -> Fault {
            Fault(message: message, position: max(0, position - before))
        }
    }
}
