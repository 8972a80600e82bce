import MoultModel
import MoultStore
import MoultSystem

/// The files of external data of an anonymous copy: as many, of the same sizes.
struct AnonymousFiles {
    private let source: ExternalStorage
    private let system: any System

    init(of store: String, _ system: any System) {
        source = ExternalStorage(store: store)
        self.system = system
    }

    /// The names of the plain files.
    private var names: [String] {
        get throws {
            guard try system.status(of: source.folder)?.kind == .folder, try !system.isLink(source.folder) else {
                return []
            }
            return try system.list(source.folder).filter { try source.holds($0, on: system) }
        }
    }

    func note(_ standIns: StandIns) throws {
        for name in try names {
            _ = standIns.fileName(name)
            if let bytes = try source.contents(of: name, on: system) { _ = standIns.bytes(bytes) }
        }
    }

    /// - Returns: how many files there are.
    func write(to support: String, _ standIns: StandIns, keeping kept: Set<String>) throws -> Int {
        guard try system.exists(source.folder) else { return 0 }
        let folder = Path.join(support, Path.name(of: source.folder))
        try system.makeFolder(support, .own)
        try system.makeFolder(folder, .own)
        let names = try names
        for name in names {
            guard let bytes = try source.contents(of: name, on: system) else { continue }
            let file = Path.join(folder, standIns.fileName(name))
            try system.write(kept.contains(name) ? bytes : standIns.bytes(bytes), to: file, .own)
            try system.synchronise(file)
        }
        for folder in [folder, support] { try system.synchronise(folder) }
        return names.count
    }
}

extension StandIns {
    /// Another name for a file, which fits into the same column.
    func fileName(_ name: String) -> String { String(decoding: text(Array(name.utf8)), as: UTF8.self) }
}
