import Foundation
internal import MoultCoreData

extension ModelConfiguration {
    /// The folder that the programs of one group share. Linux has no such thing: a group's is a folder of its name in
    /// the user's application support folder.
    public struct GroupContainer: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case automatic, none
            case identifier(String)
        }
        let kind: Kind

        /// As ``none``: no program here has entitlements that would name a group.
        public static var automatic: GroupContainer { GroupContainer(kind: .automatic) }
        /// The program's own folder.
        public static var none: GroupContainer { GroupContainer(kind: .none) }
        /// A folder of this name, next to the program's own in the user's application support folder.
        public static func identifier(_ name: String) -> GroupContainer { GroupContainer(kind: .identifier(name)) }
    }

    /// The CloudKit database that a store would be mirrored to. Nothing is mirrored outside Apple's systems, whatever
    /// is asked for: the store is the same as without, and ``cloudKitExplanation`` says so.
    public struct CloudKitDatabase: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case automatic, none
            case `private`(String)
        }
        let kind: Kind

        /// Asks for the container that the program's entitlements name. No program has any here, so nothing is asked
        /// for.
        public static var automatic: CloudKitDatabase { CloudKitDatabase(kind: .automatic) }
        /// Asks for no mirroring.
        public static var none: CloudKitDatabase { CloudKitDatabase(kind: .none) }
        /// Asks for mirroring to a container by its identifier, which ``cloudKitExplanation`` then names.
        public static func `private`(_ name: String) -> CloudKitDatabase { CloudKitDatabase(kind: .private(name)) }
    }

    /// The name given to ``GroupContainer/identifier(_:)``; nil for the program's own folder.
    public var groupAppContainerIdentifier: String? {
        if case .identifier(let name) = groupContainer.kind { name } else { nil }
    }

    /// The identifier given to ``CloudKitDatabase/private(_:)``; nil where no container is named.
    public var cloudKitContainerIdentifier: String? {
        if case .private(let name) = cloudKitDatabase.kind { name } else { nil }
    }

    /// An explanation of what becomes of a wish for CloudKit, in one sentence; nil if there is none.
    public var cloudKitExplanation: String? {
        cloudKitContainerIdentifier.map {
            "The store \(name) is not mirrored to \($0): CloudKit exists on Apple's systems only, where the same store "
                + "is mirrored when the app opens it."
        }
    }

    static let nowhere = URL(fileURLWithPath: "/dev/null")

    static func folder(_ group: GroupContainer) -> URL {
        let own = PersistentContainer.defaultDirectoryURL()
        guard case .identifier(let name) = group.kind else { return own }
        return own.deletingLastPathComponent().appendingPathComponent(name)
    }

    /// - Throws: `SwiftDataError` with ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` or
    ///   ``SwiftDataError/configurationFileNameTooLong``.
    func checkName() throws {
        if name.contains("/") || name.contains("\0") || name == "." || name == ".." {
            throw SwiftDataError(
                .configurationFileNameContainsInvalidCharacters, "\(name) cannot be the name of a file.", place: name,
                remedy: "Name the configuration without slashes.")
        }
        guard url.isFileURL else {
            throw SwiftDataError(
                .configurationFileNameContainsInvalidCharacters, "\(url) is not the URL of a file.", place: "\(url)",
                remedy: "Use URL(fileURLWithPath:).")
        }
        // The side files of a store have longer names, and 255 bytes is what file systems take.
        if url.lastPathComponent.utf8.count > 250 {
            throw SwiftDataError(
                .configurationFileNameTooLong, "The name of the store's file is too long.", place: url.path,
                remedy: "Use at most 250 bytes.")
        }
    }
}

extension ModelConfiguration: CustomDebugStringConvertible {
    /// The configuration's name and the path of its store.
    public var debugDescription: String { "ModelConfiguration(\(name), \(url.path))" }
}
