/// Gives an actor a context of its own, and `init(modelContainer:)`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "MoultDataMacros", type: "ModelActorMacro")

/// The protocol, as `@ModelActor` writes it: the macro has the same name.
public typealias _ModelActor = ModelActor
