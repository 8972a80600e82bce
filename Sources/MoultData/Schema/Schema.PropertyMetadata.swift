import MoultModel

extension Schema {
    /// The description of a property, as `@Model` generates it.
    public struct PropertyMetadata {
        /// The property's name in the source and in the store's model.
        public let name: String
        /// The key path of the property in the class that owns this metadata, for use as a dictionary key.
        public let keyPath: AnyKeyPath
        package let shape: _PropertyShape
        package let declared: Declaration
        /// The Swift type of the property.
        package let valueType: any Any.Type
        /// The initial value in the source, computed at each call; nil if there is none.
        package let initialValue: (() -> Any)?
        /// Notifies observers of an object that the property changed without being set: through the other side of a
        /// relationship, or because a context read the object again.
        package let noteChange: (any PersistentModel) -> Void
        /// Reads the value from backing data, for callers that do not know the property's type.
        package let read: (String, any BackingData) -> Any
        /// The columns of an attribute: its name or, for a composite, the paths of its leaves in order of declaration.
        package let paths: [String]
        /// Whether the property can have a value of its only column.
        package let canRead: (AttributeValue) -> Bool
        /// Whether the property can have the values of all its columns; used if ``readsColumnsTogether`` is true.
        package let canReadColumns: (any BackingData) -> Bool
        /// Whether only all columns together show whether there is a value.
        package let readsColumnsTogether: Bool
        /// Whether ``canRead`` is true for every value that the column can hold.
        package let readsEveryValue: Bool
        /// Whether there is a stand-in for a missing value of the property.
        package let hasStandIn: () -> Bool
        /// Returns the values of the columns for a value of the property's type, by path; nil for a value of another
        /// type.
        package let columnValues: (Any) throws -> [String: AttributeValue]?

        /// Creates the description of a property, as `@Model` generates it: `initial` computes the initial value in the
        /// source, and `declared` holds the arguments of the property's macro.
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

        /// Returns the declaration by `@Attribute`; without arguments, that of a property without a macro.
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
    /// The description of a class, as `@Model` generates it once for each class.
    public struct ModelMetadata: @unchecked Sendable {
        /// The entity's name, which is the class name without its enclosing types.
        public let name: String
        /// The properties, inherited ones first, then the class's own in source order.
        public let properties: [PropertyMetadata]
        /// The superclass, if it is a model too.
        public let parent: (any PersistentModel.Type)?
        /// The names of the properties, by their key paths from this class.
        package let namesByKeyPath: [AnyKeyPath: String]
        package let propertiesByName: [String: PropertyMetadata]
        let uniqueness: [[AnyKeyPath]]
        let indices: [IndexMetadata]
        /// The source location of the class; nil for a class that `@Model` did not generate.
        let declaration: SourceDeclaration?

        /// Creates the description of a class, as `@Model` generates it; `properties` begins with the inherited ones,
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

        /// The properties that the class itself declares.
        var ownProperties: ArraySlice<PropertyMetadata> {
            properties.dropFirst(parent?.schemaMetadata.properties.count ?? 0)
        }
    }

    /// The source location of a class and its properties, for messages.
    public struct SourceDeclaration: Sendable {
        /// The file, in the form of `#fileID`: `Module/File.swift`.
        public let file: String
        /// The line, from 1.
        public let line: Int
        /// The lines of the properties that the class itself declares.
        public let properties: [String: Int]

        /// Creates the source location of a class, as `@Model` generates it.
        public init(file: String, line: Int, properties: [String: Int]) {
            (self.file, self.line, self.properties) = (file, line, properties)
        }
    }

    /// An index that `#Index` declares.
    public enum IndexMetadata {
        case binary([AnyKeyPath])
        case rtree([AnyKeyPath])
    }

    /// The kinds of indexes of a model.
    public enum Index<Model: PersistentModel> {
        /// An index: its kind, and the key paths of its properties.
        public enum Types<Root: PersistentModel> {
            case binary([PartialKeyPath<Root>])
            /// An R-tree, for ranges or locations.
            case rtree([PartialKeyPath<Root>])
        }
    }
}
