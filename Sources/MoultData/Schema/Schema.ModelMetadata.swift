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
            self.name = name
            self.properties = properties
            self.parent = parent
            self.uniqueness = uniqueness
            self.indices = indices
            self.declaration = declaration
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
            self.file = file
            self.line = line
            self.properties = properties
        }
    }

    /// One index of `#Index`.
    public enum IndexMetadata {
        case binary([AnyKeyPath])
        case rtree([AnyKeyPath])
    }
}
