import MoultData
import TestSupport
import Testing

/// Not every old object becomes a new one.
@Suite struct TransformOutcomeTests {
    @Test func `objects are merged, dropped and put aside, and links follow`() throws {
        let store = try VersionedStore()
        try store.open(ClubV1.self) { context in
            let visits = [
                ("Ada", "a@x", 3), ("Bob", nil, 1), ("ada", "a@x", 4), ("Cy", "?", 1), ("Dan", "d@x", 5),
            ]
            for (name, email, count) in visits {
                let member = ClubV1.Member(name: name, email: email, visits: count)
                context.insert(member)
                let card = ClubV1.Card(number: count)
                card.member = member
                context.insert(card)
            }
        }
        try store.open(ClubV2.self, ClubPlan.self) { context in
            let members = try context.fetch(FetchDescriptor<ClubV2.Member>(sortBy: [SortDescriptor(\.email)]))
            #expect(members.map(\.email) == ["a@x", "d@x"] && members.map(\.visits) == [7, 5])
            #expect(members.map { $0.cards.map(\.number).sorted() } == [[3, 4], [5]])
        }
        // Every card is there; those of objects that are gone lead nowhere.
        #expect(try store.sql("SELECT count(*), count(ZMEMBER) FROM ZCARD") == "5|3\n")
        #expect(try store.sql("SELECT ZEMAIL, ZVISITS FROM ZMEMBER ORDER BY 1") == "a@x|7\nd@x|5\n")
    }

    @Test func `an object is merged into one that was made, and not into nothing`() throws {
        let store = try VersionedStore()
        try store.open(ClubV1.self) { $0.insert(ClubV1.Member(name: "Eve", email: "wrong", visits: 1)) }
        let error = #expect(throws: SwiftDataError.self) { try store.open(ClubV2.self, ClubPlan.self) { _ in } }
        #expect(error?.underlyingError.code == .policyFailed, "\(String(describing: error))")
        #expect(try store.sql("SELECT ZEMAIL FROM ZMEMBER") == "wrong\n")
    }
}

private enum ClubV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Member.self, Card.self] }

    @Model final class Member {
        var name: String
        var email: String?
        var visits: Int
        @Relationship(inverse: \Card.member) var cards: [Card] = []
        init(name: String, email: String?, visits: Int) {
            self.name = name
            self.email = email
            self.visits = visits
        }
    }

    @Model final class Card {
        var number: Int
        var member: Member?
        init(number: Int) { self.number = number }
    }
}

private enum ClubV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Member.self, Card.self] }

    @Model final class Member {
        @Attribute(.unique) var email: String
        var visits: Int
        @Relationship(inverse: \Card.member) var cards: [Card] = []
        init(email: String, visits: Int) {
            self.email = email
            self.visits = visits
        }
    }

    @Model final class Card {
        var number: Int
        var member: Member?
        init(number: Int) { self.number = number }
    }
}

private struct NobodyThere: Error {}

private enum ClubPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ClubV1.self, ClubV2.self] }
    static var stages: [MigrationStage] {
        [
            .transform(
                from: ClubV1.Member.self, to: ClubV2.Member.self,
                deciding: { old, made in
                    guard let email = old.email else { return .dropped(reason: "no e-mail address") }
                    if email == "?" { return .quarantined(reason: "no real address") }
                    if email == "wrong" {
                        // A member that is of no store.
                        return .merged(into: try made["nobody"].orThrow(NobodyThere()))
                    }
                    if let known = made[email] {
                        known.visits += old.visits
                        return .merged(into: known)
                    }
                    return .made(as: email)
                },
                transforming: { old, new in new.email = old.email ?? "" })
        ]
    }
}

extension Optional {
    fileprivate func orThrow(_ error: any Error) throws -> Wrapped {
        guard let self else { throw error }
        return self
    }
}
