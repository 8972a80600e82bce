/// Makes a class a model: its stored properties are kept in a store, and changes of them can be observed.
///
///     @Model final class Note {
///         @Attribute(.unique) var title: String
///         var isPinned = false
///         @Relationship(deleteRule: .cascade, inverse: \Attachment.note) var attachments: [Attachment] = []
///
///         init(title: String) { self.title = title }
///     }
///
/// The entity is named as the class is, without the types that it lies in. Every class needs an initialiser. A class
/// whose parent is a model is a model that inherits.
@attached(
    member, conformances: PersistentModel, Observable, names: named(_$backingData), named(persistentBackingData),
    named(_$ownValues), named(_$observationRegistrar), named(init(backingData:)), named(_$properties),
    named(_$Constants), named(_$metadata), named(schemaMetadata))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, Observable, Hashable)
public macro Model() = #externalMacro(module: "MoultDataMacros", type: "ModelMacro")

/// Says how a property is kept.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "MoultDataMacros", type: "PropertyMarkerMacro")

/// Says how two models hang together. The inverse is named on one side of a pair; the other side follows.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = nil, maximumModelCount: Int? = nil, originalName: String? = nil,
    inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "MoultDataMacros", type: "PropertyMarkerMacro")

/// A property that no store keeps. It needs a default value.
@attached(peer)
public macro Transient() = #externalMacro(module: "MoultDataMacros", type: "PropertyMarkerMacro")

/// Properties whose values no two objects share together.
@freestanding(declaration)
public macro Unique<Model: PersistentModel>(_ constraints: [PartialKeyPath<Model>]...) =
    #externalMacro(module: "MoultDataMacros", type: "ModelConstraintMacro")

/// Properties that are looked up together.
@freestanding(declaration)
public macro Index<Model: PersistentModel>(_ indices: [PartialKeyPath<Model>]...) =
    #externalMacro(module: "MoultDataMacros", type: "ModelConstraintMacro")

/// Properties that are looked up together, each list with the kind of its index.
@freestanding(declaration)
public macro Index<Model: PersistentModel>(_ indices: Schema.Index<Model>.Types<Model>...) =
    #externalMacro(module: "MoultDataMacros", type: "ModelConstraintMacro")

/// The macro that `@Model` puts on every initialiser of a class that may have relationships.
@attached(body)
public macro _ModelInitializer() = #externalMacro(module: "MoultDataMacros", type: "ModelInitializerMacro")

/// The macro that `@Model` puts on every property that is kept.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_$kept_))
public macro _PersistedProperty() = #externalMacro(module: "MoultDataMacros", type: "PersistedPropertyMacro")
