import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let reconstruct = Verb(
        "reconstruct", "Find the versions that a model had at the tags of its repository, and add the missing ones.",
        discussion: """
            An app that began without versions, or edited one after its release, has stores that no version describes.
            This reads the model at each tag from git, without a checkout: an .xcdatamodeld, .xcdatamodel, .momd or .mom,
            or the models as JSON that moult schema export wrote. Versions with the same version hashes are one shape.
            Each shape is printed with its tags and the version that describes it.
            The model is followed from the newest tag to the oldest. If its path is not at a tag, it is the model of the
            same name that shares an entity hash or half of the entity names, or the one that shares half of the entity
            hashes. A model beside it is another one.
            --write adds each missing shape that was current at a tag, or that a store has, as a version named after the
            model and the tag. The order is that of the releases; an earlier form of a version comes right after it. All
            versions are locked in that order. If there is no way from the oldest missing version to the current one, the
            reason is printed; moult answer answers questions.
            """,
        operands: [.model],
        options: [
            tags, stores, write, .checking("a released shape or a store has no version"), .answers, .order,
        ],
        examples: [
            "moult reconstruct Forum.xcdatamodeld --tags 'v*' --json",
            "moult reconstruct Forum.xcdatamodeld --tags 'v*' --write",
        ]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        console.say(bundle.findings)
        let versions = ModelVersions(bundle)
        let project = Project(
            versions, path: invocation[Operand.model], order: invocation.list(.order),
            registry: invocation.registryWithDeclaredLosses, answers: try invocation.answers(for: versions, console))
        let report = try ReconstructionReport(
            bundle, isInFiles: invocation[Operand.model] != nil, tags: invocation.all(tags),
            stores: invocation[value: stores], isWriting: invocation[write], project)
        console.print(report)
        return invocation[.check] && !report.isComplete ? .findings : .done
    }

    private static let tags = Option.value(
        "tags", "PATTERN", "The tags, as a shell pattern such as 'v*'; by default all. May be repeated.")
    private static let stores = Option.value(
        "stores", "FOLDER", "Also print which tags each store in this folder or below it is of.", completes: .folders)
    private static let write = Option.flag("write", "Write the missing versions into the model, and lock all.")
}
