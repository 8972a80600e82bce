import MoultBasics
import MoultModel
import MoultModelFiles

/// The released versions of a model, from a lock file or a git revision.
package struct LintRelease: Sendable {
    /// The origin of the versions: `moult.lock`, or `origin/main (1a2b3c4d)`.
    package let source: String
    /// The name of the current version at the release; nil if the source does not record it.
    package let currentName: String?
    package let versions: [Version]
    /// The remedy that undoes an edit of a released version.
    package let undo: Remedy
    /// Whether the versions are those of a lock file.
    private(set) var isLock = false
    /// The path of the lock file that the revision has for the model and the working tree does not;
    /// nil if there is none.
    private(set) var missingLock: String?

    /// A released version.
    package struct Version: Sendable {
        package let name: String
        package let checksum: [UInt8]
        let fingerprint: [UInt8]
        let entities: [String: ModelLock.Entity]
        /// The version identifiers in the model; empty for a lock file.
        let identifiers: [String]
        /// The model; nil for a version from a lock file, which contains hashes only.
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

    /// Reads the versions in a lock file; returns nil if it has none of this model, even under an earlier name of the
    /// bundle.
    package init?(_ lock: ModelLock, of bundle: ModelBundle, place: String) {
        let checksums = Set(bundle.versions.map(\.hashes.checksum))
        let names = Set(bundle.versions.map(\.name))
        func likeness(_ versions: [ModelLock.Version]) -> Int {
            versions.count { checksums.contains($0.checksum) } * 1_000 + versions.count { names.contains($0.name) }
        }
        let own = lock.versions(of: bundle.path)
        // The lock file lists a renamed bundle under its old name.
        let moved = lock.models.filter { !ModelLock.isModel(named: $0.key, besideModelAt: bundle.path) }
            .inByteOrder { $0.key }
            .filter { likeness($0.value) > 0 }.max { likeness($0.value) < likeness($1.value) }
        guard let versions = own ?? moved?.value else { return nil }
        source = place
        currentName = own == nil ? moved.flatMap { lock.current[$0.key] } : lock.currentName(of: bundle.path)
        self.versions = versions.map(Version.init)
        isLock = true
        undo =
            "Undo the edit and make the change in a new version. If the version was never released, run "
            + "\(.lock, .anyModel, .again)."
    }

    /// Creates a release from a model at a git revision.
    package init(_ bundle: ModelBundle, at revision: GitRevision) { self.init(bundle, source: revision.description) }

    /// Creates a release from an earlier state of a model.
    package init(_ bundle: ModelBundle, source: String) {
        self.source = source
        currentName = bundle.currentName
        versions = bundle.versions.map(Version.init)
        undo =
            "Undo the edit and make the change in a new version. If the version was never released, compare with an "
            + "earlier revision: \(option: .since("REV"))."
    }

    /// Creates a release without the model, which is newer than the revision.
    private init(without model: ModelBundle, at revision: GitRevision) {
        source = revision.description
        (currentName, versions, undo) = (nil, [], "")
    }

    /// Returns the releases to compare a model with: from the named lock file or the one next to the model, and from a
    /// revision.
    ///
    /// - Parameter allowsNew: whether the model may be missing from the revision; nothing of it was released then.
    /// - Throws: `lockFileMismatch` for a lock file that cannot be read; `modelNotFound` for a named lock file without
    ///   versions of the model; any error from ``GitRevision``.
    package static func all(
        of bundle: ModelBundle, lock path: String?, since revision: String?, allowsNew: Bool = false
    ) throws -> [LintRelease] {
        var releases: [LintRelease] = []
        let place = ModelLock.path(besideModelAt: bundle.path)
        if let path {
            let lock = try ModelLock(json: try POSIXSystem().read(path), place: path)
            guard let release = LintRelease(lock, of: bundle, place: path) else {
                throw MigrationError(
                    .modelNotFound, "The lock file has no versions of this model.", place: path,
                    remedy: "Name the lock file of the model, or make one with \(.lock, .anyModel).")
            }
            releases.append(release)
        } else if let lock = bundle.lock {
            if let release = LintRelease(lock, of: bundle, place: place) { releases.append(release) }
        }
        guard let revision else { return releases }
        let commit = try GitRevision(revision, around: bundle.path)
        // A version that was locked after the revision is not released yet, so the lock file of the revision counts. A
        // lock file that was given by its path is kept.
        let earlier =
            path == nil ? try commit.lock(at: place).flatMap { LintRelease($0, of: bundle, place: place) } : nil
        let isMissing = releases.isEmpty && earlier != nil
        if path == nil, !isMissing { releases = earlier.map { [$0] } ?? [] }
        do {
            var release = LintRelease(try commit.model(of: bundle), at: commit)
            if isMissing { release.missingLock = place }
            return releases + [release]
        } catch let error as MigrationError where error.code == .modelNotFound && allowsNew {
            return releases + [LintRelease(without: bundle, at: commit)]
        }
    }

    /// The state of a released version in the current model.
    enum Fate {
        case same(LintVersion)
        /// The hashes are unchanged, but something else has changed.
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
        // A renamed bundle may contain renamed versions too, but their identifiers stay the same.
        let identified = versions.first { version in
            !released.identifiers.isEmpty
                && version.model.versionIdentifiers.filter { !$0.isEmpty } == released.identifiers
        }
        return identified.map(Fate.edited) ?? .missing
    }
}
