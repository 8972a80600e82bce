import MoultModel

extension Schema {
    /// The description that `@Model` gives of one property.
    public struct PropertyMetadata {
        /// The property's name in the source and in the store's model.
        public let name: String
        /// The property in the class that was asked; good as the key of a dictionary.
        public let keyPath: AnyKeyPath
        package let shape: _PropertyShape
        package let declared: Declaration
        /// The Swift type of the property.
        package let valueType: any Any.Type
        /// The value that the source gives, computed again; nil if it gives none.
        package let initialValue: (() -> Any)?
        /// Tells those who observe an object that the property changed without having been set: by the other side of a
        /// relationship, or by a context that reads the object again.
        package let noteChange: (any PersistentModel) -> Void
        /// Reads the value of the type from backing data, for a model in the hand of someone who knows no type.
        package let read: (String, any BackingData) -> Any
        /// The columns of an attribute: its name, or the paths of a composite's leaves in the order of declaration.
        package let paths: [String]
        /// Whether a value of the only column is one that the property can have.
        package let canRead: (AttributeValue) -> Bool
        /// The same of all columns, where ``readsColumnsTogether`` says so.
        package let canReadColumns: (any BackingData) -> Bool
        /// Whether the columns say only together whether they hold a value.
        package let readsColumnsTogether: Bool
        /// Whether ``canRead`` holds for every value that the column can hold.
        package let readsEveryValue: Bool
        /// Whether there is something to show where a row holds no value of the property.
        package let hasStandIn: () -> Bool
        /// The columns' values for a value of the property's type, by their paths; nil for one of another type.
        package let columnValues: (Any) throws -> [String: AttributeValue]?

        /// Creates the description of one property, as `@Model` writes it: `initial` computes the value that the source
        /// gives, and `declared` is what its macro says.
        public init<Model: PersistentModel, Property: _ModelProperty>(
            _ name: String, _ keyPath: KeyPath<Model, Property.Value>, _ property: Property,
            default initial: (() -> Property.Value)? = nil, _ declared: Declaration = .attribute()
        ) {
            (self.name, self.keyPath, self.declared) = (name, keyPath, declared)
            shape = property.shape(name)
            if case .attribute(let attribute) = shape { paths = attribute.paths } else { paths = [name] }
            valueType = Property.Value.self
            initialValue = initial.map { initial in { initial() } }
            noteChange = { model in
                guard let model = model as? Model else { return }
                model._$observationRegistrar.withMutation(of: model, keyPath: keyPath) {}
            }
            read = { property.read($0, of: $1) }
            canRead = { property.canRead($0) }
            canReadColumns = { property.canRead(name, of: $0) }
            readsColumnsTogether = property.readsColumnsTogether
            readsEveryValue = property.readsEveryValue
            hasStandIn = { initial != nil || property.blank != nil }
            columnValues = { value in
                try (value as? Property.Value).map { try property.columnValues(of: $0, name) }
            }
        }
    }
}

extension Schema.PropertyMetadata {
    /// The declaration of the property by `@Attribute` or `@Relationship`.
    public struct Declaration {
        let attributeOptions: [Schema.Attribute.Option]
        let relationshipOptions: [Schema.Relationship.Option]
        var deleteRule = Schema.Relationship.DeleteRule.nullify
        var minimumModelCount: Int?
        var maximumModelCount: Int?
        let originalName: String?
        var inverse: AnyKeyPath?
        let hashModifier: String?

        /// Returns the declaration by `@Attribute`; without arguments, that of a property that has no macro.
        public static func attribute(
            _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
        ) -> Declaration {
            Declaration(
                attributeOptions: options, relationshipOptions: [], originalName: originalName,
                hashModifier: hashModifier)
        }

        /// Returns the declaration by `@Relationship`.
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

extension Schema {
    /// The description that `@Model` gives of a class: made once, and never changed.
    public struct ModelMetadata: @unchecked Sendable {
        /// The entity's name: the class's, without the types that it lies in.
        public let name: String
        /// Inherited ones first, then the class's own in their order in the source.
        public let properties: [PropertyMetadata]
        /// The parent class, where that is a model too.
        public let parent: (any PersistentModel.Type)?
        /// The names of the properties by their key paths from this class.
        package let namesByKeyPath: [AnyKeyPath: String]
        package let propertiesByName: [String: PropertyMetadata]
        let uniqueness: [[AnyKeyPath]]
        let indices: [IndexMetadata]
        /// The source location of the class; nil for one that `@Model` has not written.
        let declaration: SourceDeclaration?

        /// Creates the description of a class, as `@Model` writes it; `properties` begins with the inherited ones,
        /// `uniqueness` and `indices` come from `#Unique` and `#Index`.
        public init(
            name: String, properties: [PropertyMetadata], parent: (any PersistentModel.Type)? = nil,
            uniqueness: [[AnyKeyPath]] = [], indices: [IndexMetadata] = [], declaration: SourceDeclaration? = nil
        ) {
            (self.name, self.properties, self.parent) = (name, properties, parent)
            (self.uniqueness, self.indices, self.declaration) = (uniqueness, indices, declaration)
            namesByKeyPath = Dictionary(properties.map { ($0.keyPath, $0.name) }) { first, _ in first }
            propertiesByName = Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
        }

        /// The properties that the class declares itself.
        var ownProperties: ArraySlice<PropertyMetadata> {
            properties.dropFirst(parent?.schemaMetadata.properties.count ?? 0)
        }
    }

    /// The source location of a class and its properties, for messages.
    public struct SourceDeclaration: Sendable {
        /// `Module/File.swift`, as `#fileID` has it.
        public let file: String
        /// From 1.
        public let line: Int
        /// The lines of the properties that the class declares itself.
        public let properties: [String: Int]

        /// Creates the source location of a class, as `@Model` writes it.
        public init(file: String, line: Int, properties: [String: Int]) {
            (self.file, self.line, self.properties) = (file, line, properties)
        }
    }

    /// One index of `#Index`.
    public enum IndexMetadata {
        case binary([AnyKeyPath])
        case rtree([AnyKeyPath])
    }

    /// The kinds of indexes of a model.
    public enum Index<Model: PersistentModel> {
        /// One index: its kind, and the key paths of its properties.
        public enum Types<Root: PersistentModel> {
            case binary([PartialKeyPath<Root>])
            /// For values that are ranges or places.
            case rtree([PartialKeyPath<Root>])
        }
    }
}
