import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let diagram = Verb(
        "diagram", "Draw a model, the difference between two versions, a plan or a store's history.",
        discussion: """
            MODEL is a model or a store. The default format is Mermaid, which GitHub and GitLab render in a Markdown
            code block marked mermaid. --format html prints one file for a browser, which loads nothing: it zooms, can
            be searched, and a click on an entity shows it with its neighbours. --format dot prints the input of
            Graphviz. --format svg and html need Graphviz to be installed. If a store contains no model, its tables are
            drawn.
            With more than 30 entities, the picture is an overview of their names by clusters. --entity NAME draws one
            with what is near it, --whole draws all of them with their attributes.
            --difference OLD NEW draws what differs between two versions. --plan draws how a migration of the store to
            the current version, or to the one that --to names, changes each entity. --history draws what was done to
            the store.
            """,
        operands: [.model, newer],
        options: [
            drawingFormat, version, difference, drawsPlan, .target, drawsHistory, drawnEntity, depth, drawsAll, .model,
            .answers, .order,
        ],
        examples: [
            "moult diagram Forum.xcdatamodeld", "moult diagram Forum.xcdatamodeld --difference Forum \"Forum 3\"",
            "moult diagram forum.sqlite --plan --model Forum.xcdatamodeld", "moult diagram forum.sqlite --history",
            "moult diagram Forum.xcdatamodeld --entity Post --depth 1 --format dot",
            "moult diagram Forum.xcdatamodeld --format html -o forum.html",
        ]
    ) { invocation, console in
        let format = try format(of: invocation)
        let kinds = [difference, drawsPlan, drawsHistory].filter { invocation[$0] }
        guard kinds.count < 2 else {
            throw invocation.wrong("--\(kinds[0].name) and --\(kinds[1].name) exclude each other.")
        }
        guard invocation[newer] == nil || invocation[difference] else {
            throw invocation.wrong("\(Program.name) diagram takes a second argument only with --difference.")
        }
        let drawing = try drawing(invocation, console, isFile: format == "html")
        let text =
            switch format {
            case "dot": drawing.dot
            case "svg": try Graphviz.svg(drawing)
            case "html": try drawing.html(isWhole: invocation[drawsAll])
            default: drawing.mermaid
            }
        if format == "mermaid", text.count > Diagram.mermaidLimit {
            console.say(
                "The picture has \(Quantity.count(text.count, "character")); Mermaid draws "
                    + "\(Quantity.count(Diagram.mermaidLimit)) by default. --entity chooses a part, --format svg has no limit."
            )
        }
        guard !console.isJSON else {
            return console.print(["format": 1, "language": .string(format), "text": .string(text)]) { _ in [] }
        }
        console.exactly(text)
        return .done
    }

    private static let newer = Operand(
        "NEW",
        "With --difference: the newer version; by default the model's current version, or the newest if none is marked "
            + "as current.",
        isOptional: true, completes: .nothing)
    private static let drawingFormat = Option.value(
        "format", "NAME", "mermaid (the default), dot, svg or html.", completes: .words(formats))
    private static let formats = ["mermaid", "dot", "svg", "html"]

    private static func format(of invocation: Invocation) throws -> String {
        try invocation.format(drawingFormat, of: formats, at: invocation.newFile(.printed)) ?? "mermaid"
    }

    private static let difference = Option.value(
        "difference", "OLD", "Draw what differs between the versions OLD and NEW.")
    private static let drawsPlan = Option.flag("plan", "Draw the plan of the store's migration.")
    private static let drawsHistory = Option.flag("history", "Draw what was done to the store.")
    private static let drawnEntity = Option.value(
        "entity", "NAME", "Draw this entity and what is near it; may be repeated.")
    private static let depth = Option.value(
        "depth", "N", "With --entity: draw what is up to N relationships or parents away; default 1.")
    private static let drawsAll = Option.flag(
        "whole", "Draw all entities with their attributes, however many there are.")

    /// Returns the picture that the arguments name. A large one that is not asked for whole becomes an overview.
    private static func drawing(_ invocation: Invocation, _ console: Console, isFile: Bool) throws -> Diagram {
        let drawing = try fullDrawing(invocation, console)
        let names = invocation.all(drawnEntity)
        // The file for a browser has the details, too.
        guard drawing.isLarge, !invocation[drawsAll], !isFile else { return drawing }
        console.say(
            "\(Quantity.count(drawing.boxes.count, "entity", plural: "entities")): "
                + (names.isEmpty
                    ? "the picture is an overview of their names. --entity NAME draws one with its neighbours"
                    : "the picture has the attributes of \(names.joined(separator: ", ")) alone")
                + ", --whole draws all with their attributes, --format html lets you open each.")
        return names.isEmpty ? drawing.overview : drawing.condensed(around: names)
    }

    private static func fullDrawing(_ invocation: Invocation, _ console: Console) throws -> Diagram {
        if invocation[drawsPlan] { return try planDrawing(invocation, console) }
        if invocation[drawsHistory] { return try historyDrawing(invocation, console) }
        let names = invocation.all(drawnEntity)
        let depth = try invocation.number(depth)
        guard depth == nil || !names.isEmpty else { throw invocation.wrong("--depth requires --entity.") }
        let choice: Diagram.EntityChoice = names.isEmpty ? .all : .around(names, depth: depth ?? 1)
        let versions: ModelVersions
        do {
            versions = try invocation.operandVersions(console)
        } catch let error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            guard let path = invocation[Operand.model], try ReadOnlyStore.isDatabase(path) else { throw error }
            console.say("\(error.message) The tables are drawn.")
            return try Diagram(tablesOf: path, choice: choice)
        }
        guard let old = invocation[value: difference] else {
            let version = try invocation.version(version, in: versions)
            return try Diagram(version.model, title: version.name, choice: choice)
        }
        let older = try invocation.version(named: old, in: versions)
        let newer =
            try invocation[newer].map { try invocation.version(named: $0, in: versions) }
            ?? invocation.version(version, in: versions)
        return try Diagram(from: older, to: newer, answers: try invocation.answers(), choice: choice)
    }

    private static func planDrawing(_ invocation: Invocation, _ console: Console) throws -> Diagram {
        let (store, versions) = try storeAndVersions(invocation, console)
        let known = try versions ?? invocation.versions(at: store, console)
        let project = try invocation.project(known, console)
        let session = try StoreSession(
            invocation.request(.plan, for: store), project.context(for: store), on: invocation.system)
        return Diagram(planOf: session)
    }

    private static func historyDrawing(_ invocation: Invocation, _ console: Console) throws -> Diagram {
        let (store, versions) = try storeAndVersions(invocation, console)
        let keeper = try invocation.keeper(of: store) { versions }
        return try Diagram(historyOf: keeper, versions)
    }

    /// Returns the store that the operand names, and the versions that `--model` names.
    private static func storeAndVersions(
        _ invocation: Invocation, _ console: Console
    ) throws -> (String, ModelVersions?) {
        guard let path = invocation[Operand.model] else {
            throw invocation.wrong("--plan and --history need the path of a store.")
        }
        return (path, try invocation.versionsIfKnown(console))
    }
}
