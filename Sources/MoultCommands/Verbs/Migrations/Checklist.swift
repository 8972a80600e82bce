import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let checklist = Verb(
        "checklist", "Print what to check before, during and after a release, filled in from the model and a store.",
        discussion: """
            The list is Markdown. What Moult can check is marked as done or open: the lock, lint, the order of the
            versions and, with --for, the plan, its losses and the backups. A person must check the rest. Exits with 0;
            with --check, 1 if something that Moult can check is open.
            """,
        operands: [.model], options: [forStore, .lintProfile, .answers, .backups, opened, .order],
        examples: ["moult checklist Forum.xcdatamodeld", "moult checklist Forum.xcdatamodeld --for forum.sqlite"]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        let sections = try sections(bundle, invocation, console)
        console.print(
            [
                "format": 1,
                "sections": .array(
                    sections.map { section in
                        [
                            "title": .string(section.title),
                            "items": .array(
                                section.items.map {
                                    [
                                        "text": .string($0.text.text(in: CommandWords())),
                                        "done": $0.isDone.map { .bool($0) } ?? .null,
                                    ]
                                }),
                        ]
                    }),
            ], wraps: false
        ) { _ in
            ["# Release checklist"]
                + sections.flatMap { section in
                    ["", "## \(section.title)", ""]
                        + section.items.map {
                            "- [\($0.isDone == true ? "x" : " ")] \($0.text)".printable
                        }
                }
        }
        let isOpen = sections.contains { $0.items.contains { $0.isDone == false } }
        return invocation[.check] && isOpen ? .findings : .done
    }

    private static let opened = Option.checking("something that Moult can check is open")
    private static let forStore = Option.value(
        "for", "STORE", "A store to plan for, such as a copy from a user's device.", completes: .files)

    private struct Section {
        let title: String
        let items: [Item]
    }

    private struct Item {
        let text: Remedy
        /// Nil if only a person can check it.
        var isDone: Bool?

        init(_ text: Remedy, _ isDone: Bool? = nil) {
            self.text = text
            self.isDone = isDone
        }
    }

    // MARK: The list

    private static func sections(
        _ bundle: ModelBundle, _ invocation: Invocation, _ console: Console
    ) throws -> [Section] {
        let store = invocation[value: forStore]
        let name: Remedy.Setting = store.map { .store($0) } ?? .anyStore
        let model: Remedy.Setting = .model(invocation[Operand.model] ?? "MODEL")
        let profiles =
            try invocation.all(.lintProfile).isEmpty ? invocation.configuration?.profiles ?? [] : invocation.profiles()
        return [
            Section(
                title: "Before the release",
                items: try modelItems(bundle, profiles, invocation, console)
                    + (store.map { try storeItems($0, bundle, invocation, console) } ?? [])
                    + [
                        Item(
                            "A store of every released version migrates in the tests: \(.fixture, .path("FOLDER"), model)."
                        ),
                        Item("A store of the size of the largest users was migrated, and its time was measured."),
                        Item("The breaking changes are in the release notes: \(.changelog, .anyModel)."),
                    ] + (profiles.contains(.cloudkit) ? cloudItems : [])),
            Section(
                title: "During the rollout",
                items: [
                    Item("Rehearsed on a copy: \(.migrate, name, model, .dryRun)."),
                    Item("No other process has the store open: the app, its extensions, a sync service."),
                    Item("There is space for two copies of the store."),
                    Item("The progress is shown to the user, and the app is not suspended."),
                    Item("Released to a part of the users first."),
                    Item("Errors of the migration are logged and read, by code and place."),
                ]),
            Section(
                title: "After the release",
                items: [
                    Item("The store is of the new version: \(.status, name, model)."),
                    Item("The store is sound: \(.validate, name, model)."),
                    Item("The losses of the runs are those of the plan: \(.runs, name)."),
                    Item("The number of crashes at start did not rise."),
                    Item("The backups are kept until the next release: \(.listBackups, name)."),
                    Item("The versions are locked, and moult.lock is committed: \(.lock, .anyModel)."),
                    Item("A fixture of the new version is committed: \(.fixture, .path("FOLDER"), model)."),
                ]),
            Section(
                title: "In an emergency",
                items: [
                    Item("Stop the rollout, and keep a copy of a store that fails."),
                    Item("Find out what is wrong: \(.diagnose, name, model)."),
                    Item("Go back: \(.rollback, name, model)."),
                    Item("If there is no backup: \(.downgrade, name, model, .dryRun)."),
                    Item("If the store is damaged: \(.salvage, name, .path("SAVED.sqlite"), model)."),
                ]),
        ]
    }

    private static let cloudItems = [
        Item("The migration changes local data only; the schema of CloudKit was deployed to production separately."),
        Item(
            "Devices with the old and the new version were synchronised with each other, in the production container."),
    ]

    private static func modelItems(
        _ bundle: ModelBundle, _ profiles: [LintRule.Profile], _ invocation: Invocation, _ console: Console
    ) throws -> [Item] {
        let place = ModelLock.path(besideModelAt: bundle.path)
        let release = bundle.lock.flatMap { LintRelease($0, of: bundle, place: place) }
        let answers = try invocation.answers(for: ModelVersions(bundle), console)
        let isOwn = invocation[Operand.model] == nil
        var request = invocation.configuredLint
        request.profiles = Set(profiles)
        let lint = try request.lint(accepting: invocation.registryWithDeclaredLosses.acceptedLosses)
        let subject = try LintSubject(
            bundle, answers: answers, registered: isOwn ? invocation.registry.stages(in: ModelVersions(bundle)) : [],
            releases: release.map { [$0] } ?? [], planFindings: isOwn ? invocation.registry.plan?.findings : nil,
            schema: lint.schema)
        let findings = lint.findings(in: subject, path: bundle.path)
        let errors = findings.count { $0.severity == .error && $0.exception == nil }
        let changes = bundle.lock?.check(bundle.versions, of: bundle.path) ?? []
        let isLocked = bundle.lock?.versions(of: bundle.path) != nil && !changes.contains { $0.severity > .note }
        let isCurrent = bundle.currentName == nil || bundle.versions.last?.name == bundle.currentName
        return [
            Item(
                isLocked
                    ? "The released versions are as they were locked."
                    : "Lock the released versions: \(.lock, .anyModel).", isLocked),
            Item(
                errors == 0
                    ? "Lint finds no error."
                    : """
                    Lint finds \(Quantity.count(errors, "error")): \
                    \(.lint, with: [.anyModel] + profiles.map { .profile($0.rawValue) }).
                    """,
                errors == 0),
            Item(
                isCurrent
                    ? "The last version, \(bundle.versions.last?.name ?? ""), is the current one."
                    : "The last version, \(bundle.versions.last?.name ?? ""), is not the current one.", isCurrent),
        ]
    }

    private static func storeItems(
        _ store: String, _ bundle: ModelBundle, _ invocation: Invocation, _ console: Console
    ) throws -> [Item] {
        // A file that is not a store is an error; a store that cannot be migrated is an item of the list.
        try ReadOnlyStore(store).close()
        let versions = ModelVersions(bundle)
        let listing = try invocation.keeper(of: store).backups()
        let (backups, unreadable) = (listing.readable, listing.unreadable)
        let damaged =
            unreadable.isEmpty ? "" : "Of \(Quantity.count(unreadable.count, "backup")) the manifest cannot be read. "
        let backup = Item(
            backups.isEmpty
                ? "\(damaged)Make a backup of \(store): \(.makeBackup, .store(store))."
                : "\(store) has \(Quantity.count(backups.count, "backup")).", !backups.isEmpty)
        do {
            let project = try invocation.project(versions, console)
            let plan = try StoreSession(
                invocation.request(.plan, for: store), project.context(for: store), on: invocation.system
            ).plan()
            let way = plan.versionNames.joined(separator: " → ")
            return [
                Item(
                    plan.obstacle.map { "\(store) cannot be migrated: \($0.message)" }
                        ?? (plan.isEmpty
                            ? "\(store) is of the newest version." : "\(store) can be migrated: \(way)."),
                    plan.obstacle == nil),
                Item(
                    plan.undeclaredLoss.map { Remedy($0.message) }
                        ?? (plan.losses.isEmpty
                            ? "Nothing is lost."
                            : "\(Quantity.count(plan.losses.count, "loss", plural: "losses")), all declared."),
                    plan.undeclaredLoss == nil),
                backup,
            ]
        } catch let error as MigrationError {
            return [Item("\(store) cannot be migrated: \(error.message)", false), backup]
        }
    }
}
