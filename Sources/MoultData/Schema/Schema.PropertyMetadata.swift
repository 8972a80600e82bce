import MoultModel

extension Schema {
    /// What `@Model` says of one property.
    public struct PropertyMetadata {
        public let name: String
        /// The property in the class that was asked; good as the key of a dictionary.
        public let keyPath: AnyKeyPath
        package let shape: _PropertyShape
        package let declared: Declaration
        /// The Swift type of the property.
        package let valueType: any Any.Type
        /// The value that the source gives, computed anew; nil where it gives none.
        package let initialValue: (() -> Any)?
        /// Tells those who observe an object that the property changed without having been set: by the other side of a
        /// relationship, or by a context that reads the object again.
        package let noteChange: (any PersistentModel) -> Void
        /// Reads the value of the type from backing data, for a model in the hand of someone who knows no type.
        package let read: (String, any BackingData) -> Any
        /// Whether a stored value is one that the property can have.
        package let canRead: (AttributeValue) -> Bool
        /// Whether ``canRead`` holds for every value that the column can hold.
        package let readsEveryValue: Bool
        /// Whether there is something to show where a row holds no value of the property.
        package let hasStandIn: () -> Bool
        /// A constant of the property's type as the store has it; nil for another type, `.some(nil)` for nil.
        package let attributeValue: (Any) throws -> AttributeValue??

        public init<Model: PersistentModel, Property: _ModelProperty>(
            _ name: String, _ keyPath: KeyPath<Model, Property.Value>, _ property: Property,
            default initial: (() -> Property.Value)? = nil, _ declared: Declaration = .attribute()
        ) {
            self.name = name
            self.keyPath = keyPath
            self.declared = declared
            shape = property.shape
            valueType = Property.Value.self
            initialValue = initial.map { initial in { initial() } }
            noteChange = { model in
                guard let model = model as? Model else { return }
                model._$observationRegistrar.withMutation(of: model, keyPath: keyPath) {}
            }
            read = { property.read($0, of: $1) }
            canRead = { property.canRead($0) }
            readsEveryValue = property.readsEveryValue
            hasStandIn = { initial != nil || property.blank != nil }
            attributeValue = { value in
                try (value as? Property.Value).map { try property.attributeValue(of: $0) }
            }
        }
    }
}

extension Schema.PropertyMetadata {
    /// What `@Attribute` or `@Relationship` says of the property.
    public struct Declaration {
        let attributeOptions: [Schema.Attribute.Option]
        let relationshipOptions: [Schema.Relationship.Option]
        var deleteRule = Schema.Relationship.DeleteRule.nullify
        var minimumModelCount: Int?
        var maximumModelCount: Int?
        let originalName: String?
        var inverse: AnyKeyPath?
        let hashModifier: String?

        public static func attribute(
            _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
        ) -> Declaration {
            Declaration(
                attributeOptions: options, relationshipOptions: [], originalName: originalName,
                hashModifier: hashModifier)
        }

        public static func relationship(
            _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
            minimumModelCount: Int? = nil, maximumModelCount: Int? = nil, originalName: String? = nil,
            inverse: AnyKeyPath? = nil, hashModifier: String? = nil
        ) -> Declaration {
            Declaration(
                attributeOptions: [], relationshipOptions: options, deleteRule: deleteRule,
                minimumModelCount: minimumModelCount, maximumModelCount: maximumModelCount,
                originalName: originalName, inverse: inverse, hashModifier: hashModifier)
        }
    }
}
