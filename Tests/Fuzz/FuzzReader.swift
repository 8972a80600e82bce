import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultStore
import MoultTools
import TestSupport

/// Everything of Moult that reads bytes which somebody else wrote.
enum FuzzReader: String, CaseIterable, Sendable {
    case xml, elements, compiled, optimised
    case modelCache = "model-cache"
    case json
    case propertyList = "property-list"
    case metadata, lock, answers, expression, store
    case mapping
    case compiledMapping = "compiled-mapping"
    case rules, plan
    // An app in an archive, with its model.
    case app
    // What Moult keeps beside a store, and what is carried from one machine to another.
    case journal, runs, manifest, archive, quarantine
    case quarantinedObject = "quarantined-object"
    case writeAheadLog = "wal"
    case salvage
    case fleet
    case cloudKit = "cloudkit"

    /// The one that this process fuzzes.
    nonisolated(unsafe) static var current = FuzzReader.xml

    /// Reads; ends the process with a report where the reader answers with anything but a value or a useful error.
    static func tryCurrent(_ bytes: [UInt8]) {
        expectUsefulErrors { try current.read(bytes) }
    }

    private func read(_ bytes: [UInt8]) throws {
        var findings: [Finding] = []
        switch self {
        case .xml: try Self.use(ManagedObjectModel(xmlContents: bytes, file: "contents", findings: &findings))
        case .elements: try Self.use(ManagedObjectModel(elements: bytes, findings: &findings))
        case .compiled: try Self.compiled(bytes)
        case .optimised: try Self.use(ManagedObjectModel(optimised: bytes))
        case .modelCache: try Self.use(ManagedObjectModel(modelCache: bytes, findings: &findings))
        case .json: try Self.use(ManagedObjectModel(json: bytes, file: "Model.json", findings: &findings))
        case .propertyList: try Self.propertyList(bytes)
        case .metadata: try Self.metadata(bytes)
        case .lock: _ = try ModelLock(json: bytes, place: "moult.lock").contents
        case .answers: _ = try Answers(json: bytes, place: "answers.json").json
        case .expression: Self.expression(String(decoding: bytes, as: UTF8.self))
        case .store: try FuzzStore.shared.get().read(bytes)
        case .mapping: try Self.use(MappingModelFile.Content(bytes, isCompiled: false, file: "xcmapping.xml"))
        case .compiledMapping: try Self.use(MappingModelFile.Content(bytes, isCompiled: true, file: "Model.cdm"))
        case .rules: try Self.rules(bytes)
        case .app: try Self.app(bytes)
        case .plan: try FuzzSidecar.shared.get().plan(bytes)
        case .journal: try FuzzSidecar.shared.get().journal(bytes)
        case .runs: try FuzzSidecar.shared.get().runs(bytes)
        case .manifest: try FuzzSidecar.shared.get().manifest(bytes)
        case .archive: try FuzzSidecar.shared.get().archive(bytes)
        case .quarantine: try FuzzSidecar.shared.get().quarantine(bytes)
        case .quarantinedObject: try FuzzSidecar.shared.get().quarantinedObject(bytes)
        case .writeAheadLog: try FuzzSidecar.shared.get().writeAheadLog(bytes)
        case .salvage: try FuzzSidecar.shared.get().salvage(bytes)
        case .fleet: try FuzzSidecar.shared.get().fleet(bytes)
        case .cloudKit: try Self.cloudKit(bytes)
        }
    }

    /// A schema that is read is written and read again as the same one.
    private static func cloudKit(_ bytes: [UInt8]) throws {
        let file = try CloudKitSchemaFile(bytes, path: "Production.ckdb")
        let again = try CloudKitSchemaFile(Array(file.text.utf8), path: "Production.ckdb")
        precondition(again.schema == file.schema, "The schema differs after it was written.")
    }

    private static let forum = Result { try FuzzSeeds.forum() }

    /// What commands do with a model once it is read.
    private static func use(_ model: ManagedObjectModel) throws {
        let version = ModelVersion(names: ["1"], model: model)
        _ = ModelFingerprint(of: model)
        _ = model.json.compact
        expectUsefulErrors { _ = try model.compiled() }
        expectUsefulErrors { _ = try model.xmlContents() }
        expectUsefulErrors { _ = try CoreDataClasses(model, .both, .whole).files }
        expectUsefulErrors { _ = try SwiftDataModels(ModelVersions(versions: [version]), named: "Fuzz").files }
        expectUsefulErrors { _ = try Coexistence(of: version).isEqual }
        expectUsefulErrors { _ = try StoreCreator(version, experimental: true).layout.createStatements }
        expectUsefulErrors {
            guard let newer = try forum.get().versions.last else { return }
            let versions = ModelVersions(versions: [version, newer])
            _ = try MigrationPlan(versions, from: version.hashes, to: newer.name)
        }
    }

    /// A compiled model is also compared object for object.
    private static func compiled(_ bytes: [UInt8]) throws {
        expectUsefulErrors {
            if try !ArchiveComparison(bytes, bytes).differences.isEmpty { stop("an archive differs from itself") }
        }
        var findings: [Finding] = []
        try use(ManagedObjectModel(compiled: bytes, findings: &findings))
    }

    /// What commands do with a mapping model once it is read.
    private static func use(_ content: MappingModelFile.Content) throws {
        for mapping in content.mapping.entityMappings {
            _ = mapping.sourceExpressionFormat
            for property in mapping.attributeMappings + mapping.relationshipMappings {
                _ = property.valueExpression?.format
            }
        }
        guard let (source, destination) = content.versions else { return }
        _ = content.mapping.completed(from: source, to: destination)
    }

    /// What is read is checked against a model, and says what it asks for.
    private static func rules(_ bytes: [UInt8]) throws {
        let rules = try RulesFile(json: bytes, place: "rules.json").rules
        for rule in rules { _ = RuleFinding(rule).sentence }
        guard let model = try forum.get().versions.last?.model else { return }
        var check = RuleModelCheck(model)
        try check.check(rules)
    }

    /// Every file of the archive is unpacked, into memory only, and the model is read.
    private static func app(_ bytes: [UInt8]) throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/App.ipa"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        expectUsefulErrors {
            let archive = try ZipArchive(contentsOf: path)
            for entry in archive.entries {
                expectUsefulErrors {
                    if try archive.contents(of: entry, limit: 1 << 20).count > 1 << 20 {
                        stop("more came out than asked")
                    }
                }
            }
        }
        expectUsefulErrors { for version in try ModelBundle(contentsOf: path).versions { try use(version.model) } }
        if try FileManager.default.contentsOfDirectory(atPath: folder.path) != ["App.ipa"] { stop("files lie about") }
    }

    private static func propertyList(_ bytes: [UInt8]) throws {
        expectUsefulErrors { _ = try VersionInfo(parsing: bytes) }
        expectUsefulErrors { _ = try PropertyList(parsing: bytes, below: ["NSManagedObjectModel_VersionHashes", "1"]) }
        expectUsefulErrors { _ = try KeyedArchive(parsing: bytes).root?.entries }
        let list = try PropertyList(parsing: bytes)
        guard try PropertyList(parsing: list.binary) != list, !list.holdsNaN else { return }
        stop("a property list is another one when written and read again")
    }

    private static func metadata(_ bytes: [UInt8]) throws {
        let metadata = try StoreMetadata(uuid: "", propertyList: bytes)
        _ = metadata.hashes?.checksum
        _ = (metadata.versionIdentifiers, metadata.framework, metadata.hashesDigest, metadata.modelChecksum)
        _ = (metadata.hasDeferredWork, metadata.applicationEntries)
    }

    private static func expression(_ text: String) {
        expectUsefulErrors { try settle(text) { try Expression(parsing: $0).format } }
        expectUsefulErrors { try settle(text) { try Predicate(parsing: $0).format } }
        expectUsefulErrors { _ = try Predicate(parsing: text).holds(for: .string(text), in: NoObjects()) }
        expectUsefulErrors { _ = try Expression(parsing: text).value(for: .null, in: NoObjects()) }
    }

    /// What is printed is read again and printed as the same text.
    private static func settle(_ text: String, _ format: (String) throws -> String) throws {
        let printed = try format(text)
        if try format(printed) != printed { stop("\(printed) is printed otherwise when read again") }
    }
}

private struct NoObjects: ObjectValues {
    var now: Double { 0 }

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue { .null }
}

// MARK: - Judging

/// Runs; a thrown error must be Moult's own and say what was found, where, and what to do.
func expectUsefulErrors(_ body: () throws -> Void) {
    do {
        try body()
    } catch let error as MigrationError {
        if error.code == .internal { stop("a fault of Moult's own: \(error)") }
        if error.message.isEmpty || error.place.isEmpty || error.remedy.isEmpty {
            stop("an error says too little: \(error)")
        }
    } catch {
        stop("an error is not Moult's: \(error)")
    }
}

/// Ends the process in the way that makes libFuzzer keep and print the input.
func stop(_ complaint: String) -> Never {
    say("FOUND: \(complaint)")
    abort()
}

/// At once, for a process that may die at any time.
func say(_ words: String) { FileHandle.standardError.write(Data("\(words)\n".utf8)) }

extension PropertyList {
    /// A number that is not even equal to itself.
    fileprivate var holdsNaN: Bool {
        switch self {
        case .real(let number), .date(let number): number.isNaN
        case .array(let elements): elements.contains(where: \.holdsNaN)
        case .dictionary(let entries): entries.values.contains(where: \.holdsNaN)
        default: false
        }
    }
}
