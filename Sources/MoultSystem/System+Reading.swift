import MoultModel

/// The one way to read a whole file into memory: a plain one, of no more than so many bytes.
extension System {
    /// The most bytes of a file that Moult has written, or that a person has written for it.
    package static var largestText: Int { 128 << 20 }
    /// The most bytes of a file of external data: what SQLite holds in one value.
    package static var largestValue: Int { 1_000_000_000 }

    /// - Parameters:
    ///   - limit: bytes. Nothing is read of a file that has more.
    ///   - code: what a file that is too large, or none, counts as.
    /// - Throws: `code` if the file is larger, or is no plain file: a folder, a FIFO, a device.
    package func read(_ path: String, limit: Int? = nil, as code: MigrationError.Code = .fileNotReadable) throws
        -> [UInt8]
    {
        let limit = limit ?? Self.largestText
        do {
            // What /proc shows has no size, and what grows in the meantime had less.
            if let size = try status(of: path)?.size, size > limit { throw MigrationError.tooLarge(path, size, limit) }
            let bytes = try read(path, prefix: limit + 1)
            guard bytes.count <= limit else { throw MigrationError.tooLarge(path, nil, limit) }
            return bytes
        } catch var error as MigrationError where error.code == .fileNotReadable {
            error.code = code
            throw error
        }
    }
}

extension MigrationError {
    fileprivate static func tooLarge(_ path: String, _ size: Int64?, _ limit: Int) -> MigrationError {
        MigrationError(
            .fileNotReadable,
            "\(path) has \(size.map(String.init) ?? "more") bytes; Moult reads at most \(limit) of it.",
            place: path, remedy: "Name another file. If Moult itself made this one, move it away.")
    }
}
