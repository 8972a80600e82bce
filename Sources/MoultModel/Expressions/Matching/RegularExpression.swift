import MoultBasics
import Synchronization

/// The right side of `MATCHES`: a regular expression that must match a whole text.
///
/// The syntax is the part of ICU's that needs no backtracking: literals and their escapes, `.`, classes with ranges,
/// `\d \w \s \h \v`, categories such as `\p{Lu}` and POSIX names, groups, alternatives, greedy and lazy quantifiers,
/// anchors, `\b`, look-ahead and look-behind, `(?i)`, `(?s)`, `(?m)` and `\Q…\E`. Back references, possessive
/// quantifiers, atomic groups and scripts are rejected. The running time is therefore bounded: the length of the text
/// times the length of the pattern, and once more the length of the text for each look-around.
package struct RegularExpression: Sendable {
    package let pattern: String
    private let options: Predicate.Options
    private let program: Program

    /// - Parameter options: `[c]` ignores the case of letters; `[d]` folds the pattern and each text
    ///   (``Swift/String/folded(_:)``).
    /// - Throws: `MigrationError` with code `invalidPredicate`, which shows the pattern and the position of the fault.
    package init(_ pattern: String, _ options: Predicate.Options = []) throws(MigrationError) {
        self.pattern = pattern
        self.options = options.contains(.normalized) ? [] : options.intersection(.diacriticInsensitive)
        var parser = Parser(
            pattern.folded(self.options),
            ignoresCase: options.contains(.caseInsensitive) && !options.contains(.normalized))
        do throws(Fault) {
            program = try Program(try parser.whole())
        } catch {
            throw .predicate(
                "The regular expression \(pattern) cannot be parsed: \(error.message) at character \(error.position).",
                remedy: "Correct the pattern after MATCHES.")
        }
    }

    /// - Throws: `MigrationError` with code `invalidPredicate` if a long text with look-arounds exceeds a limit.
    package func matches(_ text: String) throws(MigrationError) -> Bool {
        var matcher = Matcher(program, text.folded(options))
        do throws(Matcher.TooMuchWork) {
            return try matcher.matchesWhole()
        } catch {
            throw .predicate(
                "A text of \(text.unicodeScalars.count) characters takes too long to match with \(pattern).",
                remedy: "Use fewer lookaheads and lookbehinds in the pattern.")
        }
    }

    /// A fault in a pattern, at the position of a Unicode scalar from 0.
    struct Fault: Error {
        var message: String
        var position: Int
    }

    private struct Key: Hashable {
        let pattern: String
        let options: Int
    }

    private static let known = Mutex<[Key: RegularExpression]>([:])
    private static let knownLimit = 64

    /// Returns the expression for a pattern, parsed once for many texts.
    package static func cached(
        _ pattern: String, _ options: Predicate.Options = []
    ) throws(MigrationError) -> RegularExpression {
        let key = Key(pattern: pattern, options: options.rawValue)
        // Canonically equivalent keys are equal, but their patterns differ.
        if let known = known.withLock({ $0[key] }), known.pattern.utf8.elementsEqual(pattern.utf8) { return known }
        let made = try RegularExpression(pattern, options)
        known.withLock { known in
            if known.count >= knownLimit { known.removeAll() }
            known[key] = made
        }
        return made
    }

    /// The syntax tree of a regular expression.
    indirect enum Pattern {
        case set(ScalarSet)
        case sequence([Pattern])
        case choice([Pattern])
        /// The upper bound is nil for any number.
        case repetition(Pattern, Int, Int?)
        case assertion(Assertion)
        case look(isAhead: Bool, isNegative: Bool, Pattern)
    }

    /// A condition between two scalars, or at an end of the text.
    enum Assertion: Sendable {
        /// `^` and `\A`
        case textStart
        /// `\z`
        case textEnd
        /// `$` and `\Z`: also before a last line break.
        case lastLineEnd
        /// `^` under `(?m)`
        case lineStart
        /// `$` under `(?m)`
        case lineEnd
        case wordBoundary
        case noWordBoundary
    }

    /// A compiled pattern. Each instruction is a state, and a text is read once for all of them.
    struct Program: Sendable {
        enum Instruction: Sendable {
            case set(ScalarSet)
            case split(Int, Int)
            case jump(Int)
            case assertion(Assertion)
            /// A look-around. Its pattern begins right after this instruction and ends with a match; the rest of the
            /// program begins at `next`.
            case look(isAhead: Bool, isNegative: Bool, next: Int)
            case match
        }

        private static let sizeLimit = 20_000

        private(set) var instructions: [Instruction] = []

        init(_ pattern: Pattern) throws(Fault) {
            try add(pattern)
            try emit(.match)
        }

        private mutating func emit(_ instruction: Instruction) throws(Fault) {
            guard instructions.count < Self.sizeLimit else {
                throw Fault(message: "its repetitions make it too big", position: 0)
            }
            instructions.append(instruction)
        }

        private mutating func add(_ pattern: Pattern) throws(Fault) {
            switch pattern {
            case .set(let set): try emit(.set(set))
            case .assertion(let assertion): try emit(.assertion(assertion))
            case .sequence(let parts): for part in parts { try add(part) }
            case .choice(let parts): try add(choice: parts)
            case .repetition(let part, let least, let most): try add(repetitionOf: part, least, most)
            case .look(let isAhead, let isNegative, let part):
                let start = instructions.count
                try emit(.match)
                try add(part)
                try emit(.match)
                instructions[start] = .look(isAhead: isAhead, isNegative: isNegative, next: instructions.count)
            }
        }

        private mutating func add(choice parts: [Pattern]) throws(Fault) {
            var ends: [Int] = []
            for (index, part) in parts.enumerated() {
                let start = instructions.count
                if index < parts.count - 1 { try emit(.match) }
                try add(part)
                guard index < parts.count - 1 else { break }
                ends.append(instructions.count)
                try emit(.match)
                instructions[start] = .split(start + 1, instructions.count)
            }
            for end in ends { instructions[end] = .jump(instructions.count) }
        }

        private mutating func add(repetitionOf part: Pattern, _ least: Int, _ most: Int?) throws(Fault) {
            for _ in 0..<least { try add(part) }
            guard let most else {
                let start = instructions.count
                try emit(.match)
                try add(part)
                try emit(.jump(start))
                instructions[start] = .split(start + 1, instructions.count)
                return
            }
            var starts: [Int] = []
            for _ in least..<most {
                starts.append(instructions.count)
                try emit(.match)
                try add(part)
            }
            for start in starts { instructions[start] = .split(start + 1, instructions.count) }
        }
    }

    /// Runs a program over one text, in all its states at once.
    struct Matcher {
        struct TooMuchWork: Error {}

        private enum Goal {
            /// The whole rest of the text matches.
            case whole
            /// A prefix of the rest matches.
            case beginning
            /// A match ends at this position, wherever it begins.
            case end(Int)
        }

        /// The limit on steps of one match, besides those of a pattern without look-around.
        private static let lookLimit = 2_000_000

        private let instructions: [Program.Instruction]
        private let scalars: [Unicode.Scalar]
        private var work = 0
        private let workLimit: Int
        /// The results of look-arounds, by instruction and position, so that each is evaluated once.
        private var looks: [Int: Bool] = [:]

        init(_ program: Program, _ text: String) {
            instructions = program.instructions
            scalars = Array(text.unicodeScalars)
            workLimit = Self.lookLimit + (scalars.count + 1) * instructions.count
        }

        mutating func matchesWhole() throws(TooMuchWork) -> Bool { try run(from: 0, at: 0, .whole) }

        private mutating func run(from start: Int, at position: Int, _ goal: Goal) throws(TooMuchWork) -> Bool {
            var states = States(count: instructions.count)
            var next = states
            var position = position
            var last = scalars.count
            var startsAnew = false
            if case .end(let end) = goal { (position, last, startsAnew) = (0, end, true) }
            try enter(start, at: position, &states)
            while true {
                if states.hasMatch {
                    if case .beginning = goal { return true }
                    if position == last { return true }
                }
                guard position < last, startsAnew || !states.reading.isEmpty else { return false }
                next.removeAll()
                for state in states.reading {
                    if case .set(let set) = instructions[state], set.contains(scalars[position]) {
                        try enter(state + 1, at: position + 1, &next)
                    }
                }
                position += 1
                if startsAnew { try enter(start, at: position, &next) }
                swap(&states, &next)
            }
        }

        /// Follows an instruction until a scalar has to be read.
        private mutating func enter(_ start: Int, at position: Int, _ states: inout States) throws(TooMuchWork) {
            var waiting = [start]
            while let index = waiting.popLast() {
                guard states.insert(index) else { continue }
                work += 1
                guard work <= workLimit else { throw TooMuchWork() }
                switch instructions[index] {
                case .set: states.reading.append(index)
                case .match: states.hasMatch = true
                case .jump(let target): waiting.append(target)
                case .split(let first, let second): waiting += [second, first]
                case .assertion(let assertion): if holds(assertion, at: position) { waiting.append(index + 1) }
                case .look(let isAhead, let isNegative, let after):
                    if try looks(from: index + 1, at: position, isAhead: isAhead) != isNegative {
                        waiting.append(after)
                    }
                }
            }
        }

        private mutating func looks(from start: Int, at position: Int, isAhead: Bool) throws(TooMuchWork) -> Bool {
            let key = position * instructions.count + start
            if let known = looks[key] { return known }
            let result = try run(from: start, at: position, isAhead ? .beginning : .end(position))
            looks[key] = result
            return result
        }

        private func holds(_ assertion: Assertion, at position: Int) -> Bool {
            let before = position > 0 ? scalars[position - 1] : nil
            let after = position < scalars.count ? scalars[position] : nil
            switch assertion {
            case .textStart: return before == nil
            case .textEnd: return after == nil
            case .lastLineEnd:
                let rest = scalars[position...]
                return rest.isEmpty || (rest.count == 1 && rest.allSatisfy(\.isLineBreak))
                    || rest.elementsEqual(["\r", "\n"])
            case .lineStart: return before?.isLineBreak ?? true
            case .lineEnd: return after?.isLineBreak ?? true
            case .wordBoundary: return (before?.isWord ?? false) != (after?.isWord ?? false)
            case .noWordBoundary: return (before?.isWord ?? false) == (after?.isWord ?? false)
            }
        }
    }

    /// The instructions reached so far.
    private struct States {
        /// The reached instructions that read a scalar.
        var reading: [Int] = []
        var hasMatch = false
        private var marks: [UInt32]
        private var mark: UInt32 = 1

        init(count: Int) { marks = Array(repeating: 0, count: count) }

        /// Returns false if the instruction is already in the set.
        mutating func insert(_ index: Int) -> Bool {
            guard marks[index] != mark else { return false }
            marks[index] = mark
            return true
        }

        mutating func removeAll() {
            reading.removeAll(keepingCapacity: true)
            hasMatch = false
            mark &+= 1
        }
    }
}
