/// Makes a class a model: a store keeps its stored properties, and their changes can be observed.
///
///     @Model final class Note {
///         @Attribute(.unique) var title: String
///         var isPinned = false
///         @Relationship(deleteRule: .cascade, inverse: \Attachment.note) var attachments: [Attachment] = []
///
///         init(title: String) { self.title = title }
///     }
///
/// The entity has the name of the class, without the types that enclose it. Every class needs an initialiser. A class
/// whose superclass is a model inherits from that model.
@attached(
    member, conformances: PersistentModel, Observable, names: named(_$backingData), named(persistentBackingData),
    named(_$ownValues), named(_$observationRegistrar), named(init(backingData:)), named(_$properties),
    named(_$Constants), named(_$metadata), named(schemaMetadata))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, Observable, Hashable)
public macro Model() = #externalMacro(module: "MoultDataMacros", type: "ModelMacro")

/// Specifies how a property is stored.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "MoultDataMacros", type: "PropertyMarkerMacro")

/// Specifies how two models are related. Name the inverse on one side of a pair; the other side follows.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = nil, maximumModelCount: Int? = nil, originalName: String? = nil,
    inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "MoultDataMacros", type: "PropertyMarkerMacro")

/// Marks a property that is not stored. It needs a default value.
@attached(peer)
public macro Transient() = #externalMacro(module: "MoultDataMacros", type: "PropertyMarkerMacro")

/// Declares combinations of properties whose values must be unique.
@freestanding(declaration)
public macro Unique<Model: PersistentModel>(_ constraints: [PartialKeyPath<Model>]...) =
    #externalMacro(module: "MoultDataMacros", type: "ModelConstraintMacro")

/// Declares combinations of properties to index.
@freestanding(declaration)
public macro Index<Model: PersistentModel>(_ indices: [PartialKeyPath<Model>]...) =
    #externalMacro(module: "MoultDataMacros", type: "ModelConstraintMacro")

/// Declares combinations of properties to index, each with a kind of index.
@freestanding(declaration)
public macro Index<Model: PersistentModel>(_ indices: Schema.Index<Model>.Types<Model>...) =
    #externalMacro(module: "MoultDataMacros", type: "ModelConstraintMacro")

/// Added by `@Model` to every initialiser of a class that may have relationships.
@attached(body)
public macro _ModelInitializer() = #externalMacro(module: "MoultDataMacros", type: "ModelInitializerMacro")

/// Added by `@Model` to every stored property.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_$kept_))
public macro _PersistedProperty() = #externalMacro(module: "MoultDataMacros", type: "PersistedPropertyMacro")
