extension PersistentModel {
    /// The context that has the object; nil for one that none took in, or that left it.
    public var modelContext: ModelContext? { persistentBackingData._context as? ModelContext }
}
