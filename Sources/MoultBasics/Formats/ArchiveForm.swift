/// A form of compressed or archived files, recognised by the bytes at their beginning.
package struct ArchiveForm: Sendable, Equatable {
    /// The name with its article, such as `a gzip archive`.
    package let noun: String
    /// The command that unpacks a file of the form, without the file.
    private let command: String

    /// The number of bytes at the beginning of a file that show its form.
    package static let prefix = 512

    /// Recognises a form; nil for a file that is not an archive of a known form.
    package init?(_ start: [UInt8]) {
        let forms: [(magic: [UInt8], offset: Int, noun: String, command: String)] = [
            ([0x1F, 0x8B], 0, "a gzip archive", "gunzip -k"), (Array("PK\u{3}\u{4}".utf8), 0, "a zip archive", "unzip"),
            (Array("PK\u{5}\u{6}".utf8), 0, "an empty zip archive", "unzip"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], 0, "an xz archive", "unxz -k"),
            ([0x28, 0xB5, 0x2F, 0xFD], 0, "a zstd archive", "unzstd"),
            (Array("BZh".utf8), 0, "a bzip2 archive", "bunzip2 -k"),
            ([0x04, 0x22, 0x4D, 0x18], 0, "an lz4 archive", "unlz4"),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], 0, "a 7-Zip archive", "7z x"),
            (Array("Rar!".utf8), 0, "a RAR archive", "unrar x"), (Array("ustar".utf8), 257, "a tar archive", "tar xf"),
        ]
        guard let form = forms.first(where: { start.dropFirst($0.offset).starts(with: $0.magic) }) else { return nil }
        (noun, command) = (form.noun, form.command)
    }

    /// Recognises the form of a file; nil for anything else, also for a file that cannot be read.
    package init?(ofFile path: String, _ system: any System) {
        guard (try? system.status(of: path))??.kind == .file, let start = try? system.read(path, prefix: Self.prefix)
        else { return nil }
        self.init(start)
    }

    /// Returns the remedy for a file that was named in place of what it contains.
    package func remedy(for path: String) -> Remedy {
        let isTar = command == "tar xf"
        let isPackedTar = [".tgz", ".txz", ".tzst", ".tbz2"].contains { path.hasSuffix($0) } || path.contains(".tar.")
        let unpack = "Unpack it first: \(isPackedTar ? "tar xf" : command) \(path.shellQuoted)"
        guard isTar else { return "\(unpack), and name the file in it." }
        return "\(unpack), and name the file in it. \(.importBackup, .store("STORE"), .path(path)) imports a backup."
    }
}
