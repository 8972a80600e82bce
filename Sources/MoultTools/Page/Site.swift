import Moult
import MoultBasics
import MoultModel
import MoultSession
import MoultStore

/// The local site for one store. It handles one request at a time.
///
/// Pages read the store through a probe, which must not be opened or closed while a run in this process has the store
/// open. While a job runs, only the page of the job is available.
package actor Site {
    /// The settings of a site: the store to show, and the permitted actions.
    package struct Settings: Sendable {
        package var store: String
        /// The path of the models; nil for the model inside the store.
        package var models: String?
        package var order: [String]?
        package var answers: String?
        package var rules: String?
        package var backups: String?
        package var allowsChanges = false
        /// The secret that a browser may have from an earlier time; nil for a new one.
        package var session: String?
        /// The wording of remedies, which is that of the program that shows the page.
        package var words: any RemedyWords = SwiftWords()

        package init(store: String) { self.store = store }
    }

    let settings: Settings
    private(set) var access: Access
    private let projects: KeptProjects
    private var reading: (probe: ReadOnlyStore, reader: ObjectReader)?
    private(set) var job: Job?
    /// The action of the last confirmation, with the name in its form.
    private var offer: (name: String, action: Action)?
    private var pictures: [String: String] = [:]
    /// The attribute that names the objects of an entity, where a person has chosen it.
    private var labels: [String: String] = [:]
    /// The path below which the site is, if it is one of several; otherwise empty.
    let root: String
    let system = POSIXSystem()

    /// - Parameter host: the host of the site, `127.0.0.1:PORT`.
    package init(_ settings: Settings, host: String) {
        self.settings = settings
        access = Access(host: host, session: settings.session)
        (projects, root) = (KeptProjects(), "")
    }

    /// Creates the site of one store of several, whose requests have been admitted.
    init(_ settings: Settings, access: Access, _ projects: KeptProjects, root: String) {
        (self.settings, self.access, self.projects, self.root) = (settings, access, projects, root)
    }

    /// The address that opens the site. It works once.
    package var entrance: String { access.entrance }

    /// Cancels the current job and waits for its end.
    package func finish() async {
        job?.cancel()
        await job?.end()
        close()
    }

    // MARK: - Requests

    package func respond(to request: Request) async -> Response {
        await Remedy.$words.withValue(settings.words) { await page(for: request) }
    }

    private func page(for request: Request) async -> Response {
        if let refusal = access.answer(to: request) { return refusal }
        return await admitted(request)
    }

    /// Responds to a request that has been admitted.
    func admitted(_ request: Request) async -> Response {
        do {
            return try await route(request).below(root)
        } catch {
            return Response(
                page("Error", at: nil, "<h1>This cannot be shown</h1>\(errorWords(error))"), status: 422
            ).below(root)
        }
    }

    private func route(_ request: Request) async throws -> Response {
        switch (request.method == "POST", request.path) {
        case (false, "/style.css"):
            let style = Self.style + Self.tableStyle + PictureViewer.style
            return Response(200, type: "text/css; charset=utf-8", style)
        case (false, "/script.js"):
            let script = Self.script + Self.tableScript + PictureViewer.script
            return Response(200, type: "text/javascript; charset=utf-8", script)
        case (false, "/job"): return Response(jobPage())
        case (false, "/job.json"):
            return Response(200, type: "application/json", (job?.document ?? .null).compact)
        case (true, "/cancel"):
            job?.cancel()
            return .seeOther("/job")
        case _ where job?.isRunning == true: return .seeOther("/job")
        case (true, "/do"): return try await act(request)
        case (true, "/label"): return try chooseLabel(request)
        case (true, _): break
        case (false, "/"): return Response(try await overview())
        case (false, "/model"): return Response(try modelPage(request))
        case (false, "/picture.svg"): return try picture(request)
        case (false, "/objects"): return Response(try objectsPage(request))
        case (false, "/object"): return Response(try objectPage(request))
        case (false, "/links"): return Response(try linksPage(request))
        case (false, "/data"): return try data(request)
        case (false, "/objects.csv"): return try download(request, .csv)
        case (false, "/objects.jsonl"): return try download(request, .jsonl)
        case (false, "/sql"): return Response(try queryPage(request))
        case (false, "/sql.csv"): return try queryDownload(request, .csv)
        case (false, "/sql.json"): return try queryDownload(request, .json)
        case (false, "/log"): return Response(try await logPage(request))
        case (false, "/plan"): return Response(try await planPage())
        case (false, "/confirm"): return Response(try await confirmation(request))
        case (false, "/findings"): return Response(try await findingsPage())
        case (false, "/history"): return Response(try await historyPage())
        case (false, "/backups"): return Response(try await backupsPage())
        default: break
        }
        return Response(
            page("Not found", at: nil, "<h1>Not found</h1><p>There is no page <code>\(request.path)</code>.</p>"),
            status: 404)
    }

    // MARK: - The store

    /// Returns the project as its files are now: a model may have changed since the last request.
    func project() throws -> Project { try projects.project(settings) }

    var options: RunOptions {
        var options = RunOptions()
        options.backupFolder = settings.backups
        return options
    }

    /// Reads from the store. If another process writes in the meantime, `body` is called again.
    func read<Result>(_ body: (ObjectReader) throws -> Result) throws -> Result {
        for _ in 0..<3 {
            let (probe, own) = try opened()
            var reader = own
            reader.labels = labels
            let result = Swift.Result { [reader] in try body(reader) }
            if probe.way != .immutable || probe.isUndisturbed { return try result.get() }
        }
        throw ReadOnlyStore.disturbed(settings.store)
    }

    /// Returns the probe of the last request, unless another process has written to the store since; otherwise a new
    /// one.
    private func opened() throws -> (ReadOnlyStore, ObjectReader) {
        if let reading, reading.probe.isUndisturbed { return reading }
        close()
        let probe = try ReadOnlyStore(settings.store)
        do {
            let versions = settings.models == nil ? nil : try? project().versions
            let reader: ObjectReader
            do {
                reader = try ObjectReader(probe, versions: versions)
            } catch let error as MigrationError where error.code == .storeUnknown {
                reader = try ObjectReader(probe, versions: nil)
            }
            reading = (probe, reader)
            return (probe, reader)
        } catch {
            probe.close()
            throw error
        }
    }

    func close() {
        reading?.probe.close()
        reading = nil
    }

    /// Remembers which attribute names the objects of an entity, for as long as the page is served.
    private func chooseLabel(_ request: Request) throws -> Response {
        let name = request.form["entity"] ?? ""
        let chosen = request.form["label"] ?? ""
        try read { reader in
            let choices = ["", "-"] + reader.labelChoices(of: try reader.entity(name).name).map(\.name)
            guard choices.contains(chosen) else {
                throw MigrationError(
                    .usage, "\(name) has no attribute \(chosen) that can name its objects.", place: name,
                    remedy: "Choose another attribute.")
            }
        }
        labels[name] = chosen == "-" ? nil : chosen
        return .seeOther(Self.objects(name))
    }

    // MARK: - Work

    func begin(_ job: Job) -> Response {
        self.job = job
        return .seeOther("/job")
    }

    /// Stores the action of a confirmation, and returns the name for its form.
    func offer(_ action: Action) -> String {
        let name = system.uniqueName()
        offer = (name, action)
        return name
    }

    /// Returns a confirmed action, which can be taken once; nil if another confirmation was shown since.
    func takeOffer(_ name: String?) -> Action? {
        guard let offer, offer.name == name else { return nil }
        self.offer = nil
        return offer.action
    }

    // MARK: - Pictures

    /// Returns a picture as SVG, which is cached.
    func svg(_ diagram: Diagram) throws -> String {
        let dot = diagram.dot
        if let known = pictures[dot] { return known }
        let svg = try Graphviz.svg(diagram)
        if pictures.count > 20 { pictures = [:] }
        pictures[dot] = svg
        return svg
    }
}

extension Site.Settings {
    /// The settings as JSON, which `moult browse` passes to the program that serves the site.
    package var document: JSONValue {
        [
            "store": .string(store), "models": JSONValue(models),
            "order": order.map { .array($0.map { .string($0) }) } ?? .null, "answers": JSONValue(answers),
            "rules": JSONValue(rules), "backups": JSONValue(backups), "allowsChanges": .bool(allowsChanges),
        ]
    }

    /// Returns nil for a document that does not name a store.
    package init?(_ document: JSONValue) {
        guard let store = document["store"]?.string else { return nil }
        self.init(store: store)
        models = document["models"]?.string
        order = document["order"]?.array?.compactMap(\.string)
        answers = document["answers"]?.string
        rules = document["rules"]?.string
        backups = document["backups"]?.string
        allowsChanges = document["allowsChanges"]?.bool ?? false
    }
}
