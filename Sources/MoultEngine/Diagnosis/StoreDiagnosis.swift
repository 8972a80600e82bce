import MoultModel
import MoultPlan
import MoultStore
import MoultSystem

/// What is wrong with a store, why, and what to type next; found without changing a byte.
///
/// A check that cannot be done says nothing: what stands in its way is the finding of another.
package struct StoreDiagnosis: Sendable {
    /// The worst first; each remedy begins with the command that helps.
    package let findings: [Finding]
    /// The version's name; nil where it is not known.
    package let version: String?

    /// Whether nothing stands in the way of a migration, and nothing of the data is at risk.
    package var isWell: Bool { !findings.contains { $0.severity > .note } }

    /// - Parameters:
    ///   - versions: of the model; nil where none was named.
    ///   - model: the model's path as it was typed, for the commands to type next.
    ///   - target: the version to migrate to; the current one when nil.
    ///   - answers: what was recorded about the model.
    package init(
        _ store: String, versions: ModelVersions? = nil, model: String? = nil, to target: String? = nil,
        answers: Answers = .none, migrator: Migrator = Migrator()
    ) {
        let site = DiagnosisSite(store, versions: versions, target: target, answers: answers, migrator)
        var found: [Finding] = []
        for check in DiagnosisCheck.all { found += (try? check.run(site)) ?? [] }
        if let model {
            for position in found.indices {
                found[position].remedy.replace("--model MODEL", with: "--model \(model.shellQuoted)")
                found[position].remedy.replace("moult answer MODEL", with: "moult answer \(model.shellQuoted)")
            }
        }
        findings = found.enumerated().sorted {
            ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
        }.map(\.element)
        version = site.version?.name
    }
}

/// What the checks of a diagnosis have in common.
struct DiagnosisSite {
    /// As it was named.
    let name: String
    /// Without symbolic links, as far as there is something.
    let path: String
    let sidecar: Sidecar
    let versions: ModelVersions?
    let target: String?
    let answers: Answers
    let migrator: Migrator
    /// Nil where the file can be read as a store.
    let obstacle: MigrationError?
    /// Whether SQLite finds every page sound.
    let isSound: Bool
    let snapshot: StoreSnapshot?
    let version: ModelVersion?

    var system: any System { migrator.system }

    init(_ store: String, versions: ModelVersions?, target: String?, answers: Answers, _ migrator: Migrator) {
        let system = migrator.system
        name = store
        let folder = (try? system.resolve(Path.folder(of: store))) ?? Path.folder(of: store)
        path = (try? system.resolve(store)) ?? Path.join(folder, Path.name(of: store))
        sidecar = Sidecar(store: path)
        self.versions = versions
        self.target = target
        self.answers = answers
        self.migrator = migrator
        let read = Result {
            try StoreProbe.read(store, system: system) { probe in
                let isSound = (try? probe.connection.checkSoundness(place: probe.path)) != nil
                return (isSound, try StoreSnapshot(probe.connection))
            }
        }
        switch read {
        case .success(let read): (isSound, snapshot, obstacle) = (read.0, read.1, nil)
        case .failure(let error):
            (isSound, snapshot) = (false, nil)
            obstacle =
                error as? MigrationError
                ?? MigrationError(.inputOutput, "\(error)", place: store, remedy: "Look into the cause.")
        }
        let position = snapshot.flatMap { snapshot in
            versions?.position(matching: snapshot.hashes, identifiers: snapshot.metadata.versionIdentifiers)
        }
        let known = position.flatMap { versions?.versions[$0] }
        version =
            known
            ?? snapshot.flatMap { snapshot in
                snapshot.cachedModel.map { ModelVersion(names: ["the store's own model"], model: $0) }
                    .flatMap { $0.hashes.isCompatible(with: snapshot.hashes) ? $0 : nil }
            }
    }

    /// The newest backup that is what its manifest says.
    func newestGoodBackup() throws -> StoreBackup? {
        let folder = try migrator.backups(of: path)
        return try folder.list().last { (try? folder.verify($0)) != nil }
    }

    /// The store's path as it is typed in a shell.
    var typed: String { name.shellQuoted }

    func finding(
        _ code: String, _ severity: Finding.Severity, place: String? = nil, _ message: String, _ remedy: String = ""
    ) -> Finding {
        Finding(code: code, severity: severity, place: place ?? path, message: message, remedy: remedy)
    }
}

extension String {
    /// As one word for a shell.
    package var shellQuoted: String {
        let isPlain =
            !isEmpty
            && unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-".unicodeScalars.contains($0)
            }
        guard !isPlain else { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
