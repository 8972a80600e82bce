import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Functions of several values, by their selectors. All except `count:` ignore nil.
package enum Aggregate: String, Sendable, CaseIterable {
    /// The number of elements, including nil.
    case count = "count:"
    /// The sum; 0 for no values.
    case sum = "sum:"
    /// The average, a decimal if the values are decimals and otherwise a real; nil for no values.
    case average = "average:"
    case minimum = "min:"
    case maximum = "max:"
    /// The middle value, or the average of the middle two; nil for no values.
    case median = "median:"
    /// A collection of the most frequent values, in sorted order.
    case mode = "mode:"
    /// The standard deviation of the whole population, not of a sample; nil for no values.
    case standardDeviation = "stddev:"

    /// - Throws: `MigrationError` with code `invalidPredicate` if the elements cannot be added or compared.
    package func value(of elements: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
        if self == .count { return .integer(Int64(elements.count)) }
        let values = elements.filter { !$0.isNull }
        switch self {
        case .count: return .integer(Int64(elements.count))
        case .sum: return try sum(values)
        case .average: return try average(values)
        case .minimum: return try sorted(values).first ?? .null
        case .maximum: return try sorted(values).last ?? .null
        case .median: return try median(values)
        case .mode: return .collection(mode(values))
        case .standardDeviation: return try standardDeviation(values)
        }
    }

    private func sum(_ values: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
        var sum = ExpressionValue.integer(0)
        for value in values {
            guard !value.isDate else { throw mismatch("a date") }
            guard value.kind == .number else { throw mismatch(value.kind.name) }
            sum = try Expression.Arithmetic.add.value(sum, value)
        }
        return sum
    }

    private func average(_ values: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
        if values.isEmpty { return .null }
        let sum = try sum(values)
        if case .decimal = sum { return try Expression.Arithmetic.divide.value(sum, .integer(Int64(values.count))) }
        return .finite((sum.number?.double ?? 0) / Double(values.count))
    }

    /// Returns the values sorted; equal ones keep their order.
    private func sorted(_ values: [ExpressionValue]) throws(MigrationError) -> [ExpressionValue] {
        guard let kind = values.first?.kind else { return [] }
        if let other = values.first(where: { $0.kind != kind }) { throw mismatch(other.kind.name) }
        if [.object, .collection].contains(kind) { throw mismatch(kind.name) }
        return values.enumerated().sorted { left, right in
            switch ExpressionValue.ordering(left.element, right.element) {
            case .orderedAscending: true
            case .orderedSame: left.offset < right.offset
            case .orderedDescending: false
            }
        }.map(\.element)
    }

    private func median(_ values: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
        let sorted = try sorted(values)
        if sorted.isEmpty { return .null }
        let upper = sorted[sorted.count / 2]
        return sorted.count % 2 == 1 ? upper : try average([sorted[sorted.count / 2 - 1], upper])
    }

    private func mode(_ values: [ExpressionValue]) -> [ExpressionValue] {
        let groups = Dictionary(grouping: values, by: \.key).values
        let most = groups.map(\.count).max()
        return groups.filter { $0.count == most }.compactMap(\.first)
            .sorted { ExpressionValue.ordering($0, $1) == .orderedAscending }
    }

    private func standardDeviation(_ values: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
        guard let mean = try average(values).number?.double else { return .null }
        let squares = values.map { value in
            let distance = (value.number?.double ?? 0) - mean
            return distance * distance
        }
        return .finite((squares.reduce(0, +) / Double(values.count)).squareRoot())
    }

    private func mismatch(_ found: String) -> MigrationError {
        .predicate(
            "\(rawValue) cannot aggregate \(found).",
            remedy: [.sum, .average, .median, .standardDeviation].contains(self)
                ? "Give it numbers only." : "Give it values of one kind.")
    }
}

/// The operators of key-value coding in a key path.
package enum CollectionOperator: String, Sendable, CaseIterable {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case unionOfObjects = "@unionOfObjects"
    case distinctUnionOfObjects = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    /// Whether a key path follows the operator; otherwise it applies to the elements themselves.
    package var takesPath: Bool { self != .count }

    /// - Parameter elements: the values at the path after the operator. Unions leave out nil and keep values in the
    ///   order of their first occurrence.
    package func value(of elements: [ExpressionValue]) throws(MigrationError) -> ExpressionValue {
        switch self {
        case .count: return try Aggregate.count.value(of: elements)
        case .sum: return try Aggregate.sum.value(of: elements)
        case .average: return try Aggregate.average.value(of: elements)
        case .minimum: return try Aggregate.minimum.value(of: elements)
        case .maximum: return try Aggregate.maximum.value(of: elements)
        case .unionOfObjects, .unionOfArrays: return .collection(elements.filter { !$0.isNull })
        case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            var seen: Set<ExpressionValue.Key> = []
            return .collection(elements.filter { !$0.isNull && seen.insert($0.key).inserted })
        }
    }
}
