#if !canImport(Darwin)
    public import MoultCoreData

    /// A property stored by the model, like `@NSManaged` on Apple's platforms.
    public typealias Managed<Value> = NSManaged<Value>

    // Foundation has empty classes with these names on Linux.

    /// An expression composed of parts, for dictionary results and comparisons.
    public typealias NSExpression = MoultCoreData.NSExpression
    /// A comparison composed of parts.
    public typealias NSComparisonPredicate = MoultCoreData.NSComparisonPredicate
#endif
