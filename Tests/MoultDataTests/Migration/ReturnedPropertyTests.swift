import Foundation
import MoultBasics
import TestSupport
import Testing

@testable import MoultData

/// Properties and models that one stage removes and a later one adds again.
struct ReturnedPropertyTests {
    private func store() throws -> VersionedStore {
        let store = try VersionedStore()
        try store.open(PageV1.self) { context in
            context.insert(PageV1.Page(title: "a", order: 7))
            context.insert(PageV1.Mark(name: "b"))
        }
        return store
    }

    private func contents(_ store: VersionedStore, _ plan: any SchemaMigrationPlan.Type) throws -> String {
        try store.open(PageV3.self, plan) { context in
            let pages = try context.fetch(FetchDescriptor<PageV3.Page>()).map { "\($0.title) \($0.order ?? 0)" }
            let marks = try context.fetch(FetchDescriptor<PageV3.Mark>()).map(\.name)
            return (pages + marks).joined(separator: ", ")
        }
    }

    @Test func `a plan without an answer is refused before there is a store of the first version`() throws {
        let new = try VersionedStore()
        let error = #expect(throws: SwiftDataError.self) { try new.open(PageV3.self, PlainPlan.self) { _ in } }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("Page.order is in 1.0.0, is removed after it, and returns in 3.0.0"))
        #expect(text.contains(".kept(\"Page.order\", in: PageV3.self) or .dropped(\"Page.order\", in: PageV3.self)"))
        #expect(text.contains(".kept(\"Mark\", in: PageV3.self) or .dropped(\"Mark\", in: PageV3.self)"))
        #expect(!FileManager.default.fileExists(atPath: new.path))
    }

    @Test func `the old values are kept or dropped as the plan answers`() throws {
        #expect(try contents(try store(), KeepingPlan.self) == "a 7, b")
        #expect(try contents(try store(), DroppingPlan.self) == "a 0")
    }

    @Test func `a store of the version between has none of them`() throws {
        let store = try VersionedStore()
        try store.open(PageV2.self) { $0.insert(PageV2.Page(title: "c")) }
        #expect(try contents(store, KeepingPlan.self) == "c 0")
    }

    @Test func `a plan that accepts all losses, or has code, drops them and need not be asked`() throws {
        #expect(try contents(try store(), AcceptingPlan.self) == "a 0")
        #expect(try contents(try store(), CodePlan.self) == "a 0")
    }

    @Test func `values that cannot be kept over a stage with code are refused, and may be dropped`() throws {
        let store = try store()
        let error = #expect(throws: SwiftDataError.self) { try contents(store, KeepingCodePlan.self) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("its old values cannot be kept"))
        #expect(try store.sql("SELECT ZORDER FROM ZPAGE") == "7\n")
        #expect(try contents(store, DroppingCodePlan.self) == "a 0")
    }
}

private enum PageV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static let models: [any PersistentModel.Type] = [Page.self, Mark.self]

    @Model final class Page {
        var title: String
        var order: Int?
        init(title: String, order: Int?) { (self.title, self.order) = (title, order) }
    }

    @Model final class Mark {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum PageV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static let models: [any PersistentModel.Type] = [Page.self]

    @Model final class Page {
        var title: String
        init(title: String) { self.title = title }
    }
}

private enum PageV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static let models: [any PersistentModel.Type] = [Page.self, Mark.self]

    @Model final class Page {
        var title: String
        var order: Int?
        var note: String?
        init(title: String) { self.title = title }
    }

    @Model final class Mark {
        var name: String
        init(name: String) { self.name = name }
    }
}

private protocol PagePlan: SchemaMigrationPlan {}

extension PagePlan {
    static var schemas: [any VersionedSchema.Type] { [PageV1.self, PageV2.self, PageV3.self] }
    static var stages: [MigrationStage] { [first, .lightweight(fromVersion: PageV2.self, toVersion: PageV3.self)] }
    fileprivate static var first: MigrationStage { .lightweight(fromVersion: PageV1.self, toVersion: PageV2.self) }
    fileprivate static var withCode: [MigrationStage] {
        [first, .custom(fromVersion: PageV2.self, toVersion: PageV3.self, willMigrate: nil, didMigrate: { _ in })]
    }
    fileprivate static var kept: [MigrationAnswer] {
        [.kept("Page.order", in: PageV3.self), .kept("Mark", in: PageV3.self)]
    }
    fileprivate static var dropped: [MigrationAnswer] {
        [.dropped("Page.order", in: PageV3.self), .dropped("Mark", in: PageV3.self)]
    }
}

private enum PlainPlan: PagePlan {}

private enum KeepingPlan: PagePlan {
    static var answers: [MigrationAnswer] { kept }
}

private enum DroppingPlan: PagePlan {
    static var answers: [MigrationAnswer] { dropped }
}

private enum AcceptingPlan: PagePlan {
    static var acceptedLosses: AcceptedLosses { .all }
}

private enum CodePlan: PagePlan {
    static var stages: [MigrationStage] { withCode }
}

private enum KeepingCodePlan: PagePlan {
    static var stages: [MigrationStage] { withCode }
    static var answers: [MigrationAnswer] { kept }
}

private enum DroppingCodePlan: PagePlan {
    static var stages: [MigrationStage] { withCode }
    static var answers: [MigrationAnswer] { dropped }
}
