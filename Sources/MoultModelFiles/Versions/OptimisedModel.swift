import MoultModel

/// The optimised form of a compiled model, an `.omo` in a `.momd`: Core Data's own copy of the `.mom` of the same name,
/// which it loads faster.
///
/// Its layout is not documented and differs between compilers. It holds the version hash of every entity, which is all
/// that is read of it: the model is that of the `.mom`.
struct OptimisedModel {
    /// What every one begins with; the compiler's own mark follows.
    private static let signature = Array("momv2$".utf8)

    private let path: String
    private let bytes: [UInt8]

    /// - Throws: `fileNotReadable`.
    init(at path: String) throws {
        self.path = path
        bytes = try ModelFolder.bytes(at: path)
    }

    /// The `.mom` beside it.
    static func model(of path: String) -> String { "\(path.parentFolder)/\(path.fileStem).mom" }

    /// Nil where it is the optimised form of that model.
    func finding(against version: ModelVersion) -> Finding? {
        guard bytes.starts(with: Self.signature) else {
            return differs("The file is no optimised model.")
        }
        let absent = version.hashes.entities.filter { !bytes.holds($0.value) }.keys.sorted()
        guard !absent.isEmpty else { return nil }
        return differs(
            "The optimised model is not the \(version.name) of the .mom beside it: \(absent.joined(separator: ", ")).")
    }

    private func differs(_ message: String) -> Finding {
        Finding(
            code: "optimised-model-differs", severity: .warning, place: path, message: message,
            remedy: "Core Data may load this form where Moult reads the .mom; compile the bundle again.")
    }

    /// An optimised model without the model that it was made of.
    static func alone(_ path: String) -> Finding {
        Finding(
            code: "optimised-model-alone", severity: .warning, place: path,
            message: "The .mom that this optimised model was made of is not in the bundle.",
            remedy: "Add the .mom, which the compiler writes beside it; the optimised form alone is not read.")
    }
}

extension [UInt8] {
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        return withUnsafeBytes { all in
            part.withUnsafeBytes { part in
                all.indices.dropLast(part.count - 1).contains { start in
                    all[start] == first && all[start..<start + part.count].elementsEqual(part)
                }
            }
        }
    }
}
