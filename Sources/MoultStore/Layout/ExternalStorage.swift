import MoultModel
import MoultSystem

/// The files next to a store that hold large values.
///
/// The column holds one leading byte: `01` and the value itself, or `02`, the file's name in 36 characters and `00`.
package struct ExternalStorage: Sendable, Hashable {
    /// `.<store name without extension>_SUPPORT`, next to the store.
    package let supportFolder: String
    /// The folder of the files, each named by a UUID in upper case.
    package var folder: String { Path.join(supportFolder, "_EXTERNAL_DATA") }
    /// Another folder in which files are looked for, and never written or removed: for a working copy, that of the
    /// store.
    package let lowerFolder: String?
    /// Names the files of a transaction that has not ended; nil for a working copy, which goes as a whole.
    let unsavedList: String?
    /// Files have the permissions of the store. Those of a working copy belong to this user alone.
    package let rights: FileRights

    /// A value of this many bytes or more is stored in a file.
    package static let threshold = 100_000

    package init(store path: String) {
        supportFolder = Path.join(Path.folder(of: path), ".\(Path.stem(of: path))_SUPPORT")
        lowerFolder = nil
        unsavedList = Path.join(Path.folder(of: path), ".\(Path.name(of: path))_UNSAVED")
        rights = .like(path)
    }

    /// The files of a working copy: new ones lie in a folder of their own, those of the store where they are.
    package init(ofWorkingCopy path: String, of store: String) {
        supportFolder = Path.join(Path.folder(of: path), ".new_external")
        lowerFolder = ExternalStorage(store: store).folder
        unsavedList = nil
        rights = .own
    }

    /// The path of a file by its name, which must be a plain one; nil if there is none.
    package func file(_ name: String, on system: some System) throws -> String? {
        for folder in [folder, lowerFolder].compactMap({ $0 }) {
            let path = Path.join(folder, name)
            if try system.isLink(path) || system.exists(path) { return path }
        }
        return nil
    }

    /// The bytes of a file by its name, which must be a plain one; nil if there is none.
    ///
    /// - Throws: `fileNotReadable` for what is no plain file, or has more bytes than a value may have.
    package func contents(of name: String, on system: any System) throws -> [UInt8]? {
        guard let path = try file(name, on: system) else { return nil }
        guard try Self.isPlain(path, on: system) else { throw Self.strange(path) }
        return try system.read(path, limit: POSIXSystem.largestValue)
    }

    /// Whether there is a plain file of that name, and no link to one.
    package func holds(_ name: String, on system: any System) throws -> Bool {
        try file(name, on: system).map { try Self.isPlain($0, on: system) } ?? false
    }

    /// The paths of everything in the folder that is not a plain file, such as a link. Core Data makes none.
    package func strangers(on system: any System) throws -> [String] {
        for path in [supportFolder, folder] {
            guard try !system.isLink(path) else { return [path] }
            guard let status = try system.status(of: path) else { return [] }
            guard status.kind == .folder else { return [path] }
        }
        return try system.list(folder).map { Path.join(folder, $0) }.filter { try !Self.isPlain($0, on: system) }
    }

    private static func isPlain(_ path: String, on system: any System) throws -> Bool {
        try !system.isLink(path) && system.status(of: path)?.kind == .file
    }

    private static func strange(_ path: String) -> MigrationError {
        MigrationError(
            .fileNotReadable, "\(path) is not a plain file, as external data is.", place: path,
            remedy: "Replace it with the file itself, or remove it.")
    }

    package func makeFolder(on system: some System) throws {
        try system.makeFolder(supportFolder, rights)
        try system.makeFolder(folder, rights)
    }

    /// The content of a column of external storage.
    package enum Cell: Sendable, Hashable {
        case inline([UInt8])
        /// The name of a file in the folder.
        case file(String)

        /// Nil for bytes that are neither.
        package init?(_ bytes: [UInt8]) {
            switch bytes.first {
            case 1:
                self = .inline(Array(bytes.dropFirst()))
            case 2:
                let name = bytes.dropFirst().prefix { $0 != 0 }
                // A name from a hostile store must not lead out of the folder.
                guard bytes.count == name.count + 2, !name.isEmpty, name.count <= 64,
                    name.allSatisfy({ $0.isNameByte })
                else { return nil }
                self = .file(String(decoding: name, as: UTF8.self))
            default:
                return nil
            }
        }

        package var bytes: [UInt8] {
            switch self {
            case .inline(let value): [1] + value
            case .file(let name): [2] + Array(name.utf8) + [0]
            }
        }
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
