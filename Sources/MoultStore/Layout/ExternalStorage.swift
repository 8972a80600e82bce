import MoultModel
import MoultSystem

/// The files beside a store that hold large values (STORE_FORMAT 6, MORE 2).
///
/// The column holds one leading byte: `01` and the value itself, or `02`, the file's name in 36 characters and `00`.
package struct ExternalStorage: Sendable, Hashable {
    /// `.<store name without extension>_SUPPORT`, beside the store.
    package let supportFolder: String
    /// Where the files lie, each named by a UUID in upper case.
    package var folder: String { Path.join(supportFolder, "_EXTERNAL_DATA") }
    /// Where else files are looked for, and never written or removed: for a working copy, the store's own folder.
    package let lowerFolder: String?

    /// From this many bytes on a value goes into a file.
    package static let threshold = 100_000

    package init(store path: String) {
        supportFolder = Path.join(Path.folder(of: path), ".\(Path.stem(of: path))_SUPPORT")
        lowerFolder = nil
    }

    /// The files of a working copy: new ones lie in a folder of their own, those of the store where they are.
    package init(ofWorkingCopy path: String, of store: String) {
        supportFolder = Path.join(Path.folder(of: path), ".new_external")
        lowerFolder = ExternalStorage(store: store).folder
    }

    /// The path of a file by its name, which must be a plain one; nil where there is none.
    package func file(_ name: String, on system: some System) throws -> String? {
        for folder in [folder, lowerFolder].compactMap({ $0 }) {
            let path = Path.join(folder, name)
            if try system.exists(path) { return path }
        }
        return nil
    }

    package func makeFolder(on system: some System) throws {
        try system.makeFolder(supportFolder)
        try system.makeFolder(folder)
    }

    /// What a column of external storage holds.
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
