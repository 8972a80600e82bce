import Moult
import MoultBasics
import MoultEngine
import MoultPlan

extension Site {
    /// Returns the page of the plan, which describes a migration to the target version.
    func planPage() async throws -> HTML {
        let plan: StorePlan
        do {
            plan = try await project().plan(for: settings.store, options: options)
        } catch {
            let isQuestion = (error as? MigrationError)?.code == .question
            let questions = isQuestion ? (try? questions()) : nil
            return page("Plan", at: .plan, "<h1>Plan</h1>\(questions ?? errorWords(error))")
        }
        guard !plan.isEmpty else {
            return page(
                "Plan", at: .plan,
                settings.models == nil
                    ? "<h1>Plan</h1><p>No model was named, and none is nearby, so there is no plan. Start <code>moult browse</code> with <code>--model</code>.</p>"
                    : "<h1>Plan</h1><p>The store is already of version <bdi>\(plan.to)</bdi>. There is nothing to do.</p>"
            )
        }
        let edges: [HTML] = plan.edges.map { edge in
            let sentences: [HTML] = edge.weightySentences.map { "<li>\($0)</li>" }
            let others: [HTML] = edge.lightSentences.map { "<li>\($0)</li>" }
            let rest: HTML =
                others.isEmpty
                ? ""
                : """
                <details class="noise"><summary>\(Quantity.count(others.count, "change")) without effect on the store</summary>\
                <ul>\(others)</ul></details>
                """
            return """
                <h2><bdi>\(edge.from)</bdi> → <bdi>\(edge.to)</bdi></h2><ul>\(sentences)</ul>\(rest)<p>\(edge.undo)</p>
                """
        }
        // The confirmation also accepts undeclared losses.
        let refusal: HTML =
            settings.allowsChanges && plan.canBeConfirmed
            ? ""
            : plan.refusal.map {
                "<div class=\"error\"><p><strong>The migration would be refused.</strong> \($0.message)</p><p>\(prose: $0.remedy)</p></div>"
            } ?? ""
        let difference = address("/picture.svg", ["kind": "difference", "from": plan.from, "to": plan.to])
        let hint: HTML = settings.allowsChanges ? "" : readOnlyHint
        let migrate: HTML =
            settings.allowsChanges && plan.canBeConfirmed
            ? "<a class=\"button weighty\" href=\"\(address("/confirm", ["do": "migrate"]))\">Migrate …</a>" : ""
        return page(
            "Plan", at: .plan,
            """
            <h1>Plan</h1>
            <p><bdi>\(plan.from)</bdi> → <bdi>\(plan.to)</bdi>\(plan.duration.map { ", in about \(Quantity.duration($0 / .seconds(1)))" } ?? "")</p>
            \(refusal)\(losses(plan))
            <div class="actions">\(form("/do", ["do": "rehearse"], button: "Rehearse"))\(migrate)</div>\(hint)
            <p>A rehearsal does everything on a copy and verifies it. The store is not changed.</p>
            \(edges)
            \(findings(plan.findings))
            <h2>Difference</h2>
            \(figure(difference, "The entities that differ between the two versions. The sentences above say the same."))
            """)
    }

    /// Returns the questions that the models leave open, each with its choices and the commands that answer; nil if the
    /// store's version is unknown.
    private func questions() throws -> HTML? {
        let project = try project()
        guard let start = try project.versions.position(ofStore: settings.store) else { return nil }
        let questions = try AnswerSession(
            project.versions, from: start, to: project.versions.target(named: nil), answers: project.answers, path: nil
        ).questions
        guard !questions.isEmpty else { return nil }
        let blocks: [HTML] = questions.map { question in
            let evidence: [HTML] = question.candidates.map { candidate in
                "<li><bdi>\(candidate.name)</bdi>: \(candidate.evidence.joined(separator: "; "))</li>"
            }
            let choices: [HTML] = question.answers.map { answer in
                let settings: [Remedy.Setting] = [
                    .anyModel, .from(question.from), .to(question.to), .set("\(question.place)=\(answer.choice)"),
                ]
                return """
                    <dt><bdi>\(answer.choice)</bdi></dt><dd><code>\(String(advice: "\(.answer, with: settings)"))</code></dd>
                    """
            }
            return """
                <section class="question"><h2>\(question.sentence)</h2>
                <p><bdi>\(question.from)</bdi> → <bdi>\(question.to)</bdi></p><ul>\(evidence)</ul>
                <dl>\(choices)</dl></section>
                """
        }
        return """
            <p class="warning">\(Quantity.count(questions.count, "question is", plural: "questions are")) not answered, and \
            Moult does not guess. Answer in a terminal, and load this page again.</p>\(blocks)
            """
    }

    private func losses(_ plan: StorePlan) -> HTML {
        guard !plan.losses.isEmpty else { return "<p>Nothing is lost.</p>" }
        let items: [HTML] = plan.losses.map { loss in
            let count: HTML = loss.count.map { " (\(Quantity.count($0)))" } ?? ""
            return "<li><bdi>\(loss.place)</bdi>\(count): \(loss.sentence)</li>"
        }
        return "<div class=\"warning\"><p><strong>Lost:</strong></p><ul>\(items)</ul></div>"
    }

    /// Returns the findings of a plan, with notes apart.
    private func findings(_ findings: [Finding]) -> HTML {
        let (notes, others) = (findings.filter { $0.severity <= .note }, findings.filter { $0.severity > .note })
        let shown: HTML = others.isEmpty ? "" : "<h2>Findings</h2>\(list(others))"
        guard !notes.isEmpty else { return shown }
        return """
            \(shown)<details class="noise"><summary>\(Quantity.count(notes.count, "note"))</summary>\(list(notes))</details>
            """
    }

    var readOnlyHint: HTML {
        "<p class=\"hint\">This page only looks. Start <code>moult browse</code> with <code>--allow-changes</code> to change the store.</p>"
    }

    // MARK: - Confirmations

    /// Returns a page that describes the effect of an action and asks for confirmation.
    func confirmation(_ request: Request) async throws -> HTML {
        guard settings.allowsChanges else { return page("Refused", at: nil, "<h1>Refused</h1>\(readOnlyHint)") }
        let store = settings.store
        switch request.query["do"] {
        case "backup":
            return confirmation(
                .backUp, title: "Create a backup?", button: "Create backup",
                """
                <p>A copy of <code>\(store)</code> (\(try size(of: store))) will be written to \
                <code>\(try backupFolder())</code>. Nothing is replaced.</p>
                """)
        case "resume":
            return confirmation(
                .resume, title: "Resume the run that has not ended?", button: "Resume",
                """
                <p>If it had put the new store in place, it is completed. Otherwise its leftover files are removed. A \
                migration of <code>\(store)</code> is then finished at its own target and with its own options; any other \
                work is named, but not started again.</p>
                """)
        case "restore", "undo":
            let backup = try await backup(named: request.query["name"] ?? "")
            let isUndo = request.query["do"] == "undo"
            return confirmation(
                isUndo ? .undo(backup) : .restore(backup),
                title: isUndo ? "Undo the last run?" : "Restore this backup?", button: isUndo ? "Undo" : "Restore",
                """
                <p><strong><code>\(store)</code> will be replaced</strong> (\(try size(of: store)), \
                version <bdi>\(try await version())</bdi>) by the backup <code>\(backup.name)</code> of \
                \(backup.madeAt): version <bdi>\(backup.version)</bdi>, \(Quantity.bytes(Int(backup.bytes))).</p>
                <p>What the store is now is backed up first.\
                \(isUndo ? " What was saved in the store since the backup is not in it." : "")</p>
                """)
        case "migrate":
            let plan = try await project().plan(for: store, options: options)
            if let refusal = plan.refusal, !plan.canBeConfirmed {
                throw MigrationError(.usage, refusal.message, remedy: refusal.remedy)
            }
            let consent: HTML =
                plan.losses.isEmpty
                ? ""
                : """
                <p><input type="checkbox" id="accept" name="accept" value="yes" required> \
                <label for="accept">What is listed above may be lost.</label></p>
                """
            return confirmation(
                .migrate(plan), title: "Migrate the store?", button: "Migrate",
                """
                <p><strong><code>\(store)</code> will be replaced</strong> (\(try size(of: store)), version \
                <bdi>\(plan.from)</bdi>) by the same of version <bdi>\(plan.to)</bdi>. A backup is written to \
                <code>\(try backupFolder())</code> first.</p>\(losses(plan))
                """, consent: consent)
        default:
            throw MigrationError(.usage, "There is no such action.", remedy: "Go back.")
        }
    }

    private func confirmation(
        _ action: Action, title: String, button: String, _ words: HTML, consent: HTML = ""
    ) -> HTML {
        let name = offer(action)
        return page(
            title, at: action.tab,
            """
            <h1>\(title)</h1>\(words)
            <div class="actions">\(form("/do", ["do": "confirmed", "offer": name], button: button, isWeighty: true, consent))\
            <a class="button" href="\(action.tab.path)">Cancel</a></div>
            """)
    }

    private func size(of path: String) throws -> String {
        try system.status(of: path).map { Quantity.bytes(Int($0.size)) } ?? "nothing is there now"
    }

    /// Returns the name of the store's version, if it is known.
    private func version() async throws -> String {
        (try? await project().status(of: settings.store).version) ?? "unknown"
    }

    private func backupFolder() throws -> String {
        try settings.backups ?? StoreRecords(of: settings.store, system).backups
    }
}

extension StorePlan {
    /// Whether the only obstacle is losses that the user has to accept.
    fileprivate var canBeConfirmed: Bool { refusal.map { $0.code == .lossNotAccepted } ?? true }
}
