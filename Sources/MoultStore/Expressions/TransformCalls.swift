import MoultModel

/// The closures that the expression of one attribute may call, and the calls that were lowered.
final class TransformCalls {
    /// By the name that expressions call them by.
    let available: [String: ValueTransform]
    let attribute: AttributeDescription
    private let entity: String
    private let sourceEntity: String
    /// The prefix of the functions' names, which no other expression of the script has.
    private let prefix: String
    private(set) var functions: [TransformFunction] = []

    init(
        _ available: [ValueTransform], for attribute: AttributeDescription, of entity: String,
        from sourceEntity: String, prefix: String
    ) {
        self.available = Dictionary(available.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.attribute = attribute
        self.entity = entity
        self.sourceEntity = sourceEntity
        self.prefix = prefix
    }

    /// The name of the function that makes the call.
    func call(_ transform: ValueTransform, _ arguments: [TransformFunction.Argument]) -> String {
        let name = "\(prefix)_\(functions.count)"
        functions.append(
            TransformFunction(
                name: name, transform: transform, attribute: attribute, entity: entity, sourceEntity: sourceEntity,
                arguments: arguments))
        return name
    }
}
