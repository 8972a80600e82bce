import MoultBasics
import MoultStore

/// Files of external data that no row named when they were looked for.
package struct UnnamedFiles: Sendable {
    let files: ExternalStorage.Unnamed
    let system: any System

    package init(files: ExternalStorage.Unnamed, system: any System) { (self.files, self.system) = (files, system) }

    /// Moves the files that still have no row naming them to a folder where a person can examine them.
    func moveAway(_ lock: StoreLock, _ run: String) throws {
        let (sidecar, external) = (lock.sidecar, ExternalStorage(store: lock.sidecar.store))
        let still = try external.unnamed(in: lock.connection, of: lock.sidecar.store, on: system)
        let names = Set(files.names).intersection(still.names)
        guard !names.isEmpty else { return }
        let folder = Path.join(sidecar.unnamedFiles, run)
        for path in [sidecar.unnamedFiles, folder] { try system.makeFolder(path, sidecar.rights) }
        for name in names {
            try system.rename(Path.join(external.folder, name), toUnused: Path.join(folder, name))
        }
        for path in [folder, sidecar.unnamedFiles, sidecar.folder, external.folder] { try system.synchronise(path) }
    }
}
