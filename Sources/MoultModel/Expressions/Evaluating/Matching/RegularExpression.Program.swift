extension RegularExpression {
    /// A pattern as a machine with few states: each instruction is one, and a text is read once for all of them.
    struct Program: Sendable {
        enum Instruction: Sendable {
            case set(ScalarSet)
            case split(Int, Int)
            case jump(Int)
            case assertion(Assertion)
            /// A look-around. The pattern that has to fit, or must not, begins right after it and ends with a match;
            /// the rest begins at `next`.
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
}
