import Moult
import MoultBasics
import MoultModel
import MoultModelFiles
import Synchronization

/// The projects of the pages that were shown last. Each is kept for as long as none of its files changes.
///
/// A model of many versions takes more than a second to read, and every page needs it.
package final class KeptProjects: Sendable {
    private let read: @Sendable (Site.Settings) throws -> Project
    private let settling: Double
    private let kept = Mutex<[(files: ProjectFiles, project: Project)]>([])

    /// The most projects to keep: each store of a folder may have a model of its own.
    private static let most = 3

    /// - Parameters:
    ///   - settling: the seconds after a change of a file before a project is kept. Two changes within the resolution of
    ///     the file system's clock have the same time.
    ///   - read: reads a project.
    package init(
        settling: Double = 2, reading read: @escaping @Sendable (Site.Settings) throws -> Project = { try $0.project() }
    ) {
        (self.settling, self.read) = (settling, read)
    }

    /// Returns the project of a site as its files are now.
    ///
    /// - Throws: the errors of ``Site/Settings/project()``.
    package func project(_ settings: Site.Settings) throws -> Project {
        let system = POSIXSystem()
        guard let files = ProjectFiles(settings, system) else { return try read(settings) }
        let known = kept.withLock { kept -> Project? in
            guard let place = kept.firstIndex(where: { $0.files == files }) else { return nil }
            kept.insert(kept.remove(at: place), at: 0)
            return kept[0].project
        }
        if let known { return known }
        let project = try read(settings)
        // A project is not kept if a file has changed while it was read.
        guard files.isSettled(at: system.now, for: settling), ProjectFiles(settings, system) == files else {
            return project
        }
        kept.withLock { kept in
            kept.removeAll { $0.files.hasPaths(of: files) }
            kept = [(files, project)] + kept.prefix(Self.most - 1)
        }
        return project
    }
}

extension Site.Settings {
    /// Reads the project: the models, which may be those inside the store, or none; the answers and the rules.
    package func project() throws -> Project {
        var project: Project
        do {
            project = try Project(models: models ?? store, order: order)
        } catch let error as MigrationError where models == nil && error.code == .modelNotFound {
            project = try Project(MigrationRegistry { ModelVersions(versions: []) })
        }
        if let answers { try project.addAnswers(contentsOf: answers) }
        if let rules { try project.addRules(contentsOf: rules) }
        return project
    }
}

/// The state of every file that a project is read from.
private struct ProjectFiles: Sendable, Hashable {
    /// The paths in the settings, and the order of the versions.
    private let names: [[String]]
    /// The status of each file that exists. It includes the device, the inode, the size and both times.
    private var files: [String: FileStatus] = [:]

    /// A folder with more files is no model.
    private static let most = 5_000
    private static let folders: Set = ["xcdatamodeld", "xcdatamodel", "momd"]

    /// - Returns: nil if the state is unknown: a file cannot be examined, there are too many, or a link leads to a
    ///   folder.
    init?(_ settings: Site.Settings, _ system: POSIXSystem) {
        let model = settings.models ?? settings.store
        names = [[model], [settings.answers, settings.rules].map { $0 ?? "" }, settings.order ?? []]
        let folder = Path.folder(of: model)
        // A single version is read with the settings of its bundle.
        let root = Self.folders.contains(folder.fileExtension) ? folder : model
        let stem = [".mom", ".omo"].contains(model.suffix(4)) ? String(model.dropLast(4)) : nil
        let others = [
            ModelLock.path(besideModelAt: model), AnswersFile.path(besideModelAt: model), settings.answers,
            settings.rules, stem.map { $0 + ".mom" }, stem.map { $0 + ".omo" },
        ]
        do {
            try add(root, system)
            let sides = ReadOnlyStore.sideFileSuffixes.filter { $0 != "-shm" }.map { model + $0 }
            for path in sides + others.compactMap(\.self) { files[path] = try system.status(of: path) }
        } catch {
            return nil
        }
    }

    /// Adds a file, or the files of a folder and of the models in it.
    private mutating func add(_ path: String, _ system: POSIXSystem) throws {
        guard let status = try system.status(of: path) else { return }
        guard status.kind == .folder else {
            files[path] = status
            return
        }
        for entry in try system.entries(of: path) {
            let inside = Path.join(path, entry.name)
            let status = try system.status(of: inside)
            switch (entry.kind, status?.kind) {
            case (.folder, _): if Self.folders.contains(entry.name.fileExtension) { try add(inside, system) }
            case (.link, .folder?): throw Unclear()
            default: files[inside] = status
            }
            if files.count > Self.most { throw Unclear() }
        }
    }

    private struct Unclear: Error {}

    /// Whether no file has changed in the last seconds.
    func isSettled(at now: Timestamp, for seconds: Double) -> Bool {
        files.values.allSatisfy { now.seconds(since: $0.changed) >= seconds }
    }

    /// Whether another project is read from the same paths.
    func hasPaths(of other: ProjectFiles) -> Bool { names == other.names }
}
