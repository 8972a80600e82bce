import MoultBasics
import MoultModel
import MoultModelFiles

/// The released versions of a model, as a lock file or a revision has them.
package struct LintRelease: Sendable {
    /// The origin of the versions: `moult.lock`, or `origin/main (1a2b3c4d)`.
    package let source: String
    /// The version that was current; nil if the source does not say.
    package let currentName: String?
    package let versions: [Version]
    /// The remedy that undoes an edit of a released version.
    package let undo: Remedy

    /// One released version.
    package struct Version: Sendable {
        package let name: String
        package let checksum: [UInt8]
        let fingerprint: [UInt8]
        let entities: [String: ModelLock.Entity]
        /// The names that the model gives itself; empty in a lock file.
        let identifiers: [String]
        /// Nil for a version of a lock file, which has hashes only.
        let model: ModelVersion?

        init(_ locked: ModelLock.Version) {
            name = locked.name
            checksum = locked.checksum
            fingerprint = locked.fingerprint
            entities = locked.entities
            identifiers = []
            model = nil
        }

        init(_ version: ModelVersion) {
            let locked = ModelLock.Version(version)
            name = locked.name
            checksum = locked.checksum
            fingerprint = locked.fingerprint
            entities = locked.entities
            identifiers = version.model.versionIdentifiers.filter { !$0.isEmpty }
            model = version
        }
    }

    /// The versions in a lock file; nil if it has none of this model, also not under an earlier name of its bundle.
    package init?(_ lock: ModelLock, of bundle: ModelBundle, place: String) {
        let checksums = Set(bundle.versions.map(\.hashes.checksum))
        let names = Set(bundle.versions.map(\.name))
        func likeness(_ versions: [ModelLock.Version]) -> Int {
            versions.count { checksums.contains($0.checksum) } * 1_000 + versions.count { names.contains($0.name) }
        }
        let own = lock.versions(of: bundle.path)
        // A bundle that was renamed is in the lock under its old name.
        let moved = lock.models.filter { !ModelLock.isModel(named: $0.key, besideModelAt: bundle.path) }
            .sorted { $0.key.precedesInByteOrder($1.key) }
            .filter { likeness($0.value) > 0 }.max { likeness($0.value) < likeness($1.value) }
        guard let versions = own ?? moved?.value else { return nil }
        source = place
        currentName = own == nil ? moved.flatMap { lock.current[$0.key] } : lock.currentName(of: bundle.path)
        self.versions = versions.map(Version.init)
        undo =
            "Undo the edit and make the change in a new version. If the version was never released, run "
            + "\(.lock, .anyModel, .again)."
    }

    /// The versions of a model at a revision.
    package init(_ bundle: ModelBundle, at revision: GitRevision) { self.init(bundle, source: revision.description) }

    /// The versions of an earlier state of a model.
    package init(_ bundle: ModelBundle, source: String) {
        self.source = source
        currentName = bundle.currentName
        versions = bundle.versions.map(Version.init)
        undo =
            "Undo the edit and make the change in a new version. If the version was never released, compare with an "
            + "earlier revision: \(option: .since("REV"))."
    }

    /// Returns the releases that a model is compared with: the lock file next to it, or the one that is named, and a
    /// revision.
    ///
    /// - Throws: `modelInvalid` for a lock file that cannot be read; `modelNotFound` for one that is named and has no
    ///   versions of the model; what ``GitRevision`` throws.
    package static func all(of bundle: ModelBundle, lock path: String?, since revision: String?) throws -> [LintRelease]
    {
        var releases: [LintRelease] = []
        if let path {
            let lock: ModelLock
            do {
                lock = try ModelLock(json: try POSIXSystem().read(path), place: path)
            } catch var error as MigrationError where error.code == .lockFileMismatch {
                // For lint, a lock that cannot be read is bad input, and not a refusal.
                error.code = .modelInvalid
                throw error
            }
            guard let release = LintRelease(lock, of: bundle, place: path) else {
                throw MigrationError(
                    .modelNotFound, "The lock file has no versions of this model.", place: path,
                    remedy: "Name the lock file of the model, or make one with \(.lock, .anyModel).")
            }
            releases.append(release)
        } else if let lock = bundle.lock {
            let place = ModelLock.path(besideModelAt: bundle.path)
            if let release = LintRelease(lock, of: bundle, place: place) { releases.append(release) }
        }
        guard let revision else { return releases }
        let commit = try GitRevision(revision, around: bundle.path)
        return releases + [LintRelease(try commit.model(of: bundle), at: commit)]
    }

    /// The fate of a released version in the present model.
    enum Fate {
        case same(LintVersion)
        /// Its hashes are the same, something else is not.
        case editedUnhashed(LintVersion)
        case edited(LintVersion)
        case missing
    }

    func fate(of released: Version, in versions: [LintVersion]) -> Fate {
        let named = versions.first { $0.name == released.name }
        let equal = versions.filter { $0.checksum == released.checksum }
        if let version = equal.first(where: { $0.name == released.name }) ?? equal.first {
            let fingerprint = ModelFingerprint(of: version.model).bytes
            return fingerprint == released.fingerprint ? .same(version) : .editedUnhashed(version)
        }
        if let named { return .edited(named) }
        // In a bundle that was renamed, its versions may be too; their identifiers stay.
        let identified = versions.first { version in
            !released.identifiers.isEmpty
                && version.model.versionIdentifiers.filter { !$0.isEmpty } == released.identifiers
        }
        return identified.map(Fate.edited) ?? .missing
    }
}
