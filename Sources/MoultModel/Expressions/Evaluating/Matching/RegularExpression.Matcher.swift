extension RegularExpression {
    /// Runs a program over one text, in all of its states at once.
    struct Matcher {
        struct TooMuchWork: Error {}

        private enum Goal {
            /// The whole rest of the text fits.
            case whole
            /// A beginning of the rest fits.
            case beginning
            /// Something that ends there fits, wherever it begins.
            case end(Int)
        }

        /// Steps of one match next to those that a pattern takes which looks neither ahead nor behind.
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
            if case .end(let end) = goal {
                (position, last, startsAnew) = (0, end, true)
            }
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

        /// Goes on from an instruction as far as no scalar has to be read.
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

        private mutating func looks(
            from start: Int, at position: Int, isAhead: Bool
        ) throws(TooMuchWork) -> Bool {
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

    /// The instructions that a text has led to so far.
    private struct States {
        /// The instructions that read a scalar.
        var reading: [Int] = []
        var hasMatch = false
        private var marks: [UInt32]
        private var mark: UInt32 = 1

        init(count: Int) { marks = Array(repeating: 0, count: count) }

        /// False for one that is there already.
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
