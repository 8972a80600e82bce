#if !canImport(Darwin)
    /// A property stored by the model, like `@NSManaged` on Apple's platforms.
    public typealias Managed<Value> = NSManaged<Value>
#endif
