/// The keys of a store's metadata, as Core Data spells them; any other key is the application's own.
public enum StoreMetadataKey {
    /// `NSStoreTypeKey`
    public static let storeType = "NSStoreType"
    /// `NSStoreUUIDKey`
    public static let storeUUID = "NSStoreUUID"
    /// `NSStoreModelVersionHashesKey`: `[String: Data]`.
    public static let modelVersionHashes = "NSStoreModelVersionHashes"
    /// `NSStoreModelVersionIdentifiersKey`: `[String]`.
    public static let modelVersionIdentifiers = "NSStoreModelVersionIdentifiers"
}
