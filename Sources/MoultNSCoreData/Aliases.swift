#if !canImport(Darwin)
    public import MoultCoreData

    /// A property that is kept by the store: what `@NSManaged` is on Apple's platforms.
    public typealias Managed<Value> = NSManaged<Value>

    // Foundation has empty classes of these names on Linux.

    /// An expression that is built from parts, for dictionary results and comparisons.
    public typealias NSExpression = MoultCoreData.NSExpression
    /// A comparison that is built from parts.
    public typealias NSComparisonPredicate = MoultCoreData.NSComparisonPredicate
#endif
