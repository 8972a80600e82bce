import Foundation
import MoultBasics
import MoultSQLite

/// The figures that runs have measured: `Benchmarks/results.json`. A run replaces its own figures and keeps the others,
/// if they are of the same machine, SQLite and kind of run.
struct Results {
    private(set) var figures: [Figure] = []
    /// The processor, the number of its cores, and the system.
    let machine: String
    let sqlite: String
    let isSmall: Bool

    /// No figures yet, of this machine.
    init(isSmall: Bool) {
        self.isSmall = isSmall
        (machine, sqlite) = (Self.thisMachine, Connection.version)
    }

    /// - Throws: `usage` for a file that is missing or has no figures.
    init(contentsOf path: String) throws {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw MigrationError(
                .usage, "There are no results \(path).", remedy: "Measure first, or name a file with --results.")
        }
        let json = try JSONValue(parsing: Array(bytes), place: path, code: .usage)
        guard json["format"]?.integer == 2, let list = json["figures"]?.array else {
            throw MigrationError(
                .usage, "This is no file of results.", place: path, remedy: "Remove it, and measure again.")
        }
        figures = list.compactMap { Figure($0) }
        machine = json["machine"]?.string ?? ""
        sqlite = json["sqlite"]?.string ?? ""
        isSmall = json["small"]?.bool ?? false
    }

    /// Adds the figures of a run to those of a file, and writes it.
    mutating func add(_ measured: [Figure], to path: String) throws {
        let key = { (figure: Figure) in "\(figure.group)\n\(figure.title)" }
        let new = Set(measured.map(key))
        if let earlier = try? Results(contentsOf: path), earlier.machine == machine, earlier.sqlite == sqlite,
            earlier.isSmall == isSmall
        {
            figures = earlier.figures.filter { !new.contains(key($0)) }
        }
        figures += measured
        let json = JSONValue.object([
            .init("format", 2), .init("machine", .string(machine)), .init("sqlite", .string(sqlite)),
            .init("small", .bool(isSmall)), .init("figures", .array(figures.map(\.json))),
        ])
        try (json.indented + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static var thisMachine: String {
        func value(_ key: String, in path: String, after separator: Character) -> String? {
            let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.first { $0.hasPrefix(key) }?.split(separator: separator, maxSplits: 1).last
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) }
        }
        let processor = value("model name", in: "/proc/cpuinfo", after: ":") ?? "an unknown processor"
        let system = value("PRETTY_NAME", in: "/etc/os-release", after: "=") ?? "an unknown system"
        let cores = Quantity.count(ProcessInfo.processInfo.activeProcessorCount, "core")
        return "\(processor), \(cores), \(system)"
    }
}
