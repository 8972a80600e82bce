public import MoultCoreData

/// Foundation's class for transformable attributes, which Linux does not have.
public typealias ValueTransformer = MoultCoreData.ValueTransformer
/// The name of a ``ValueTransformer``.
public typealias NSValueTransformerName = MoultCoreData.NSValueTransformerName
/// A transformer that archives values.
public typealias NSSecureUnarchiveFromDataTransformer = MoultCoreData.NSSecureUnarchiveFromDataTransformer

extension ValueTransformer {
    /// Makes a transformer known by a name, for `.transformable(by: "Name")`.
    public static func setValueTransformer(_ transformer: ValueTransformer.Type, forName name: String) {
        setValueTransformer(transformer.init(), forName: NSValueTransformerName(name))
    }
}
