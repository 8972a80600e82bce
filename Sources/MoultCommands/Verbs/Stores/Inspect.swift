import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let inspect = Verb(
        "inspect", "Show a store: its version, the rows of each entity, the framework level and the metadata.",
        discussion: """
            --entity NAME shows the columns of an entity with their types, as query and export name them.
            Of the app's own metadata, only the keys are shown unless you give --values.
            Without --model, the names are those of the one model next to the store or in this folder if it has the
            store's version, and else those of the model inside the store.
            STORE may also be a mapping model (.xcmappingmodel, .cdm). inspect then shows what it maps. With --model, it
            also shows the two versions and what the mapping leaves out.
            """,
        operands: [.store], options: [.model, inspected, values, .order],
        examples: [
            "moult inspect forum.sqlite", "moult inspect forum.sqlite --entity User",
            "moult inspect forum.sqlite --model Forum.xcdatamodeld --json",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        if MappingModelFile.isMappingModel(store) { return try inspect(mapping: store, invocation, console) }
        let versions = try versions(invocation, console)
        if let entity = invocation[value: inspected] {
            return console.print(try EntityReport(entity, of: store, versions: versions))
        }
        let report = try StoreInspection(of: store, in: versions, withValues: invocation[values])
        return console.print(report.document) { report.lines(style: $0) }
    }

    private static let inspected = Option.value("entity", "NAME", "Show the columns and relationships of this entity.")
    private static let values = Option.flag("values", "Also show the values of the app's own metadata.")

    /// Returns the versions to show with the store. A store is shown even without a model: faults of its own model are
    /// printed on standard error.
    private static func versions(_ invocation: Invocation, _ console: Console) throws -> ModelVersions {
        if let named = try invocation.versionsIfKnown(console) { return named }
        do {
            return try invocation.versions(console)
        } catch let error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            console.say("\(error.message) \(error.remedy)")
            return ModelVersions(versions: [])
        }
    }

    private static func inspect(mapping path: String, _ invocation: Invocation, _ console: Console) throws -> ExitCode {
        let report = try MappingReport(
            of: MappingModelFile(contentsOf: path),
            in: try invocation.versionsIfKnown(console) ?? ModelVersions(versions: []))
        return console.print(report.document) { report.lines(style: $0) }
    }

    static let status = Verb(
        "status", "Show which version a store is of, and how far it is behind.",
        discussion: """
            Exits with 0 if the store is current or behind (1 if behind with --check), 3 if it is ahead or of no known
            version, and 4 if it is not a Core Data store. Without --model, the store is compared with the one
            model next to it or in this folder, or else with the model inside it, which shows whether the two agree.
            """,
        operands: [.store], options: [.model, compared, .checking("the store is behind"), .order],
        examples: [
            "moult status forum.sqlite --model Forum.xcdatamodeld",
            "moult status forum.sqlite --model Forum.xcdatamodeld --json",
        ]
    ) { invocation, console in
        let keeper = try invocation.keeper {
            do {
                return try invocation.versionsOnTheWay(console)
            } catch let error as MigrationError where error.code == .notAStore && invocation[value: .model] == nil {
                // The status says so itself, as it does with a model.
                return ModelVersions(versions: [])
            }
        }
        let report = try keeper.status(aimingAt: invocation[value: .target])
        if let obstacle = report.obstacle, !console.isJSON { throw obstacle }
        console.print(report.document) { report.lines(style: $0) }
        switch report.state {
        case .current: return .done
        case .behind: return invocation[.check] ? .findings : .done
        case .ahead, .unknown: return .refused
        case .notCoreData: return .unusable
        }
    }

    private static let compared = Option.value(
        Option.target.name, "VERSION",
        "The version to compare the store with; by default the model's current version, or the newest if none is "
            + "marked as current.")
}
