import Foundation
import MoultCoreData

/// The configuration of a store that a container opens.
open class NSPersistentStoreDescription: NSObject, @unchecked Sendable {
    let base: PersistentStoreDescription
    private(set) var postsRemoteChanges = false
    private var kept: [String: NSObject] = [:]

    /// A description of the store at a URL; `/dev/null` is a store in memory.
    public init(url: URL) { base = PersistentStoreDescription(url: url) }

    /// A description whose ``url`` is to be set.
    public override init() {
        base = PersistentStoreDescription()
        base.type = .sqlite
    }

    init(_ base: PersistentStoreDescription) { self.base = base }

    /// The store's file.
    open var url: URL? {
        get { base.url }
        set { base.url = newValue }
    }
    /// `NSSQLiteStoreType` or `NSInMemoryStoreType`.
    open var type: String {
        get { base.type.rawValue }
        set {
            base.type = orRaise("NSPersistentStoreDescription.type") {
                try NSPersistentStore.StoreType(rawValue: newValue).moult("NSPersistentStoreDescription.type")
            }
        }
    }
    /// The configuration whose entities the store holds.
    open var configuration: String? {
        get { base.configuration }
        set { base.configuration = newValue }
    }
    /// Whether the store is opened for reading only.
    open var isReadOnly: Bool {
        get { base.isReadOnly }
        set { base.isReadOnly = newValue }
    }
    /// Seconds to wait for another process.
    open var timeout: TimeInterval {
        get { base.timeout }
        set { base.timeout = newValue }
    }
    /// Whether the store is opened on another thread.
    open var shouldAddStoreAsynchronously: Bool {
        get { base.shouldAddStoreAsynchronously }
        set { base.shouldAddStoreAsynchronously = newValue }
    }
    /// Whether an older store is migrated when it is opened.
    open var shouldMigrateStoreAutomatically: Bool {
        get { base.shouldMigrateStoreAutomatically }
        set { base.shouldMigrateStoreAutomatically = newValue }
    }
    /// Whether a mapping may be inferred for that.
    open var shouldInferMappingModelAutomatically: Bool {
        get { base.shouldInferMappingModelAutomatically }
        set { base.shouldInferMappingModelAutomatically = newValue }
    }
    /// SQLite's pragmas by name.
    open var sqlitePragmas: [String: NSObject] { base.sqlitePragmas.mapValues { NSString(string: $0) } }
    /// Sets a pragma by its name.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        base.setValue(value.map { "\($0)" }, forPragmaNamed: name)
    }
    /// The options by their keys.
    open var options: [String: NSObject] { kept }

    /// Sets an option. A key that Moult does not know is kept and has no effect, as in Core Data.
    open func setOption(_ option: NSObject?, forKey key: String) {
        kept[key] = option
        if key == NSPersistentStoreRemoteChangeNotificationPostOptionKey {
            postsRemoteChanges = (option as? NSNumber)?.boolValue ?? false
        } else if PersistentStoreOption.all.contains(key) {
            base.setOption(option.flatMap(storeOption), forKey: key)
        }
    }
}

/// An option as MoultCoreData takes it.
func storeOption(_ value: Any) -> (any Sendable)? {
    switch value {
    case let manager as NSStagedMigrationManager: manager.base
    case let number as NSNumber:
        number.doubleValue == 0 || number.doubleValue == 1
            ? number.intValue as any Sendable : number.doubleValue
    case let flag as Bool: flag
    case let number as Int: number
    case let number as Double: number
    case let text as NSString: text.substring(from: 0)
    case let text as String: text
    case let texts as [String: String]: texts
    case let texts as [String]: texts
    case let texts as NSArray: texts.map { "\($0)" }
    case let texts as NSDictionary:
        texts.reduce(into: [String: String]()) { all, entry in
            if let key = entry.key as? String { all[key] = "\(entry.value)" }
        }
    default: "\(value)"
    }
}
