import MoultModel
import MoultPropertyList

extension Expression {
    /// The value expression of a property mapping.
    /// - Throws: `unsupported` with the class and the selector where it is not known; `modelInvalid` if it is nested in
    ///   itself or without end.
    init(mapped value: KeyedArchive.Value, place: String) throws(MigrationError) {
        guard ArchivedExpression(value).isSmall else {
            throw .modelInvalid(
                "The value expression is nested too deeply.", place: place,
                remedy: "Write a shorter expression.")
        }
        guard let expression = Expression(archived: value) else {
            throw MigrationError(
                .unsupported,
                "The value expression is of a kind that Moult does not know: \(ArchivedExpression(value)).",
                place: place, remedy: "Compute the value in a migration policy instead.")
        }
        self = expression
    }
}

/// An expression as it lies in an archive, whether Moult knows its class or not.
struct ArchivedExpression: CustomStringConvertible {
    /// The largest of the known mapping models has fewer than ten parts.
    private static let sizeLimit = 4096
    private static let knownClasses: Set<String> = [
        "NSConstantValueExpression", "NSSelfExpression", "NSVariableExpression", "NSKeyPathExpression",
        "NSKeyPathSpecifierExpression", "NSFunctionExpression", "NSAggregateExpression", "NSSubqueryExpression",
    ]

    private let value: KeyedArchive.Value

    init(_ value: KeyedArchive.Value) { self.value = value }

    /// Whether it has few parts when all references are followed. Parts that are shared are counted each time, because
    /// they are copied when it is read: a hundred objects, each of them twice the next, are 2¹⁰⁰.
    var isSmall: Bool {
        var sizes: [Int: Int] = [:]
        var budget = Self.sizeLimit
        return (size(of: value, &sizes, &budget) ?? .max) <= Self.sizeLimit
    }

    /// Nil for one without end, or whose archive has too many objects to say.
    private func size(of value: KeyedArchive.Value, _ sizes: inout [Int: Int], _ budget: inout Int) -> Int? {
        if let identity = value.identity {
            // 0 marks an object that is being counted: it is a part of itself.
            if let known = sizes[identity] { return known == 0 ? nil : known }
            sizes[identity] = 0
        }
        budget -= 1
        guard budget > 0 else { return nil }
        var total = 1
        for part in Self.parts(of: value) {
            guard let size = size(of: part, &sizes, &budget) else { return nil }
            total = min(total + size, Self.sizeLimit + 1)
        }
        if let identity = value.identity { sizes[identity] = total }
        return total
    }

    private static func parts(of value: KeyedArchive.Value) -> [KeyedArchive.Value] {
        (value.elements ?? []) + value.keys.filter { $0 != "NS.objects" }.compactMap { value[$0] }
    }

    /// The class of the first part that is not known, and where that or the whole is a call, its selector.
    var description: String {
        let unknown = firstUnknown(in: value, depth: 0) ?? value
        let selector = (unknown["NSSelectorName"] ?? value["NSSelectorName"])?.string
        return (unknown.className ?? "no expression") + (selector.map { " (\($0))" } ?? "")
    }

    private func firstUnknown(in value: KeyedArchive.Value, depth: Int) -> KeyedArchive.Value? {
        guard depth < 16, let name = value.className, name.hasSuffix("Expression") || depth == 0 else { return nil }
        guard Self.knownClasses.contains(name) else { return value }
        let operands = ["NSOperand", "NSCollection"].compactMap { value[$0] }
        let arguments = value["NSArguments"]?.elements ?? []
        let parts = operands + operands.flatMap { $0.elements ?? [] } + arguments
        return parts.lazy.compactMap { firstUnknown(in: $0, depth: depth + 1) }.first
    }
}
