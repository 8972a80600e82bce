import Foundation
import MoultTesting

/// A row as a file, for the runs to come.
extension FaultRow {
    /// Nil where there is none.
    init?(keptAt path: String) {
        guard let data = FileManager.default.contents(atPath: path),
            let row = try? JSONDecoder().decode(FaultRow.self, from: data)
        else { return nil }
        self = row
    }

    func keep(at path: String) throws {
        try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
