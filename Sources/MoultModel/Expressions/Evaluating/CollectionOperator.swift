/// The operators of key-value coding that stand in a key path.
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

    /// Whether a key path stands behind it; without one it is about the elements themselves.
    package var takesPath: Bool { self != .count }

    /// - Parameter elements: what the path behind the operator leads to. Unions leave nil out and keep the order in
    ///   which values are first met.
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
