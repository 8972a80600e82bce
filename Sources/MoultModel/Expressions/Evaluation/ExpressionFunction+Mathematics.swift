import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ExpressionFunction {
    fileprivate static func operand(
        _ value: ExpressionValue, of selector: String, wanted: String
    ) throws(MigrationError) -> ExpressionNumber {
        guard let number = value.number, !value.isDate else {
            throw .predicate(
                "\(selector) cannot take \(value.isDate ? "a date" : value.kind.name).", remedy: "Give it \(wanted).")
        }
        return number
    }

    /// Functions of one or two numbers. A result that is mathematically undefined is nil, as in SQLite.
    package enum Mathematics: String, Sendable, CaseIterable {
        case squareRoot = "sqrt:"
        /// The logarithm to base 10.
        case logarithm = "log:"
        case naturalLogarithm = "ln:"
        case exponential = "exp:"
        /// An integer stays an integer; any other number becomes a real. The next three do the same.
        case floor = "floor:"
        case ceiling = "ceiling:"
        case truncation = "trunc:"
        case magnitude = "abs:"
        /// The remainder of both numbers truncated to integers; nil for a division by zero.
        case modulus = "modulus:by:"

        /// - Throws: `MigrationError` with code `invalidPredicate` for arguments that are not numbers.
        package func value(_ arguments: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
            var numbers: [ExpressionNumber] = []
            for argument in arguments {
                if argument.isNull { return .null }
                numbers.append(try ExpressionFunction.operand(argument, of: rawValue, wanted: "a number"))
            }
            guard let number = numbers.first, let last = numbers.last else { return .null }
            if self == .modulus { return remainder(number.integer, last.integer) }
            if case .integer(let whole) = number, let result = value(ofInteger: whole) { return result }
            return value(ofReal: number.double)
        }

        private func remainder(_ left: Int64, _ right: Int64) -> ExpressionValue {
            if right == 0 { return .null }
            return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
        }

        /// Returns the result for an integer; nil if the result is a real.
        private func value(ofInteger number: Int64) -> ExpressionValue? {
            switch self {
            case .floor, .ceiling, .truncation: .integer(number)
            case .magnitude: number == .min ? nil : .integer(Swift.abs(number))
            default: nil
            }
        }

        private func value(ofReal number: Double) -> ExpressionValue {
            switch self {
            case .squareRoot: .finite(number.squareRoot())
            case .logarithm: number > 0 ? .finite(log10(number)) : .null
            case .naturalLogarithm: number > 0 ? .finite(log(number)) : .null
            case .exponential: .finite(exp(number))
            case .floor: .finite(number.rounded(.down))
            case .ceiling: .finite(number.rounded(.up))
            case .truncation: .finite(number.rounded(.towardZero))
            case .magnitude: .finite(number.magnitude)
            case .modulus: .null
            }
        }
    }

    /// Functions of the bits of integers; other numbers are truncated to integers.
    package enum Bits: String, Sendable, CaseIterable {
        case and = "bitwiseAnd:with:"
        case or = "bitwiseOr:with:"
        case exclusiveOr = "bitwiseXor:with:"
        /// A shift by 64 or more leaves nothing; a negative shift goes in the opposite direction.
        case leftShift = "leftshift:by:"
        case rightShift = "rightshift:by:"
        case complement = "onesComplement:"

        /// - Throws: `MigrationError` with code `invalidPredicate` for arguments that are not numbers.
        package func value(_ arguments: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
            guard let first = arguments.first, let last = arguments.last, !first.isNull, !last.isNull else {
                return .null
            }
            let left = try Self.integer(first, rawValue)
            let right = try Self.integer(last, rawValue)
            switch self {
            case .and: return .integer(left & right)
            case .or: return .integer(left | right)
            case .exclusiveOr: return .integer(left ^ right)
            case .leftShift: return .integer(left << right)
            case .rightShift: return .integer(left >> right)
            case .complement: return .integer(~left)
            }
        }

        static func integer(_ value: ExpressionValue, _ selector: String) throws(MigrationError) -> Int64 {
            try ExpressionFunction.operand(value, of: selector, wanted: "an integer").integer
        }
    }
}
