import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Saves that meet other saves")
struct MergePolicyTests {
    /// One person that `theirs` and `ours` have both read; theirs saved another age and team, ours changed name and age.
    private struct Clash {
        let office: Office
        let ours: ObjectContext
        let person: Object

        init() throws {
            office = try Office()
            let ada = try office.person("Ada")
            try ada.setAttribute("age", .integer(1))
            let team = try office.insert("Team", "Blue")
            try office.context.save()
            ours = try office.elsewhere()
            person = try ours.existingObject(with: ada.id)
            try person.setAttribute("age", .integer(100))
            try person.setAttribute("name", .string("Ours"))
            try ada.setAttribute("age", .integer(50))
            try ada.setToOne("team", team)
            try office.context.save()
        }

        func row() throws -> String { try office.sql("SELECT ZNAME, ZAGE, ZTEAM, Z_OPT FROM ZPERSON") }
    }

    @Test func `the error policy has both versions, names what differs, and writes nothing`() throws {
        let clash = try Clash()
        do {
            try clash.ours.save()
            Issue.record("saved")
        } catch let error as MergeConflictError {
            #expect(error.coreData.number == 133020 && error.conflicts.count == 1)
            let conflict = error.conflicts[0]
            #expect(
                conflict.objects == [clash.person.id] && conflict.expectedVersion == 1 && conflict.storedVersion == 2)
            #expect(conflict.ours["age"] == .attribute(.integer(100)))
            #expect(conflict.stored["age"] == .attribute(.integer(50)))
            // The values are in the conflict; its words, which may end in a log, name the property.
            #expect(error.description.contains("(age, name"))
            let words = error.description.replacing("\(clash.person.id)", with: "")
            #expect(!words.contains("100") && !words.contains("50"))
        }
        #expect(try clash.row() == "Ada|50|1|2")
        #expect(clash.person.isUpdated)
        try clash.ours.refresh(clash.person, mergingChanges: true)
        try clash.ours.save()
        #expect(try clash.row() == "Ours|100|1|3")
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "Ours|50|1|3"), (.mergeByPropertyObjectTrump, "Ours|100|1|3"),
        (.overwrite, "Ours|100||3"), (.rollback, "Ada|50|1|2"),
    ])
    func `each policy decides by property or by object`(policy: MergePolicy, row: String) throws {
        let clash = try Clash()
        clash.ours.mergePolicy = policy
        try clash.ours.save()
        #expect(try clash.row() == row)
        #expect(!clash.ours.hasChanges)
        let seen = try [clash.person.attribute("name"), clash.person.attribute("age")].map { $0.map { "\($0)" } ?? "" }
        let parts = row.split(separator: "|", omittingEmptySubsequences: false)
        #expect(seen == ["string(\"\(parts[0])\")", "integer(\(parts[1]))"])
        #expect(try clash.person.toOne("team") == nil || parts[2] == "1")
    }

    @Test(arguments: MergePolicy.allCases)
    func `lists of one parent that two contexts added to hold both`(policy: MergePolicy) throws {
        let office = try Office()
        let ada = try office.person("Ada")
        try office.context.save()
        let other = try office.elsewhere()
        other.mergePolicy = policy
        let same = try other.existingObject(with: ada.id)
        #expect(try same.toMany("tasks").isEmpty)
        try office.insert("Task", "theirs").setToOne("owner", ada)
        try office.context.save()
        let task = try other.insert("Task")
        try task.setAttribute("name", .string("ours"))
        try same.add(task, to: "tasks")
        try same.setAttribute("height", .double(2))
        if policy == .error {
            #expect(throws: MergeConflictError.self) { try other.save() }
            try other.refresh(same, mergingChanges: true)
        }
        try other.save()
        #expect(try Set(names(same.toMany("tasks"))) == ["theirs", "ours"], "in memory, whatever became of the height")
        #expect(try office.sql("SELECT ZHEIGHT FROM ZPERSON") == (policy == .rollback ? "" : "2.0"))
        #expect(try office.sql("SELECT group_concat(ZNAME) FROM ZTASK WHERE ZOWNER = \(ada.id.key)") == "theirs,ours")
        try other.refresh(same, mergingChanges: false)
        #expect(try Set(names(same.toMany("tasks"))) == ["theirs", "ours"])
    }

    @Test func `what somebody else deleted stays deleted; what we deleted and they changed goes by policy`() throws {
        for policy in MergePolicy.allCases {
            let clash = try Clash()
            clash.ours.mergePolicy = policy
            try clash.office.context.delete(clash.office.context.object(with: clash.person.id))
            try clash.office.context.save()
            if policy == .error {
                #expect(throws: MergeConflictError.self) { try clash.ours.save() }
            } else {
                try clash.ours.save()
                #expect(!clash.ours.hasChanges && clash.person.context == nil)
            }
            #expect(try clash.row().isEmpty)

            let second = try Clash()
            second.ours.rollback()
            second.ours.mergePolicy = policy
            try second.ours.delete(second.person)
            if policy == .error {
                #expect(throws: MergeConflictError.self) { try second.ours.save() }
            } else {
                try second.ours.save()
            }
            let stays = [.error, .rollback, .mergeByPropertyStoreTrump].contains(policy)
            #expect(try second.row().isEmpty != stays, "\(policy)")
        }
    }

    @Test(arguments: MergePolicy.allCases)
    func `a uniqueness constraint is kept by policy`(policy: MergePolicy) throws {
        let office = try Office()
        let ada = try office.person("Ada")
        try ada.setAttribute("email", .string("a@b"))
        try ada.setAttribute("height", .double(2))
        try office.context.save()
        let other = try office.elsewhere()
        other.mergePolicy = policy
        let twin = try office.person("Twin", other)
        try twin.setAttribute("email", .string("a@b"))
        let task = try other.insert("Task")
        try task.setAttribute("name", .string("wash"))
        try task.setToOne("owner", twin)
        let rows = "SELECT Z_PK, ZNAME, ZHEIGHT FROM ZPERSON; SELECT ZOWNER FROM ZTASK"
        switch policy {
        case .error:
            #expect { try other.save() } throws: { error in
                guard let error = error as? MergeConflictError else { return false }
                return error.coreData.number == 133021 && error.conflicts[0].constraint == ["email"]
                    && error.conflicts[0].storedID == ada.id && error.conflicts[0].objects == [twin.id]
            }
            #expect(try office.sql(rows) == "1|Ada|2.0")
        case .mergeByPropertyStoreTrump:
            try other.save()
            #expect(try office.sql(rows) == "1|Ada|2.0\n1")
        case .mergeByPropertyObjectTrump:
            try other.save()
            #expect(try office.sql(rows) == "1|Twin|2.0\n1")
        case .overwrite:
            try other.save()
            #expect(try office.sql(rows) == "2|Twin|\n2")
        case .rollback:
            try other.save()
            #expect(try office.sql(rows) == "1|Ada|2.0")
        }
    }

    @Test(arguments: MergePolicy.allCases)
    func `two new objects of one save with the same unique value become one`(policy: MergePolicy) throws {
        let office = try Office()
        office.context.mergePolicy = policy
        for name in ["First", "Second"] { try office.person(name).setAttribute("email", .string("x")) }
        if policy == .error {
            #expect { try office.context.save() } throws: { ($0 as? MergeConflictError)?.coreData.number == 133021 }
            return
        }
        try office.context.save()
        let isLast = policy == .mergeByPropertyObjectTrump || policy == .overwrite
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON") == (isLast ? "Second" : "First"))
    }

    @Test(arguments: MergePolicy.allCases)
    func `an update that would repeat a unique value goes by policy`(policy: MergePolicy) throws {
        let office = try Office()
        let (one, two) = (try office.person("One"), try office.person("Two"))
        try one.setAttribute("email", .string("1"))
        try two.setAttribute("email", .string("2"))
        try office.context.save()
        office.context.mergePolicy = policy
        try two.setAttribute("email", .string("1"))
        try two.setAttribute("age", .integer(99))
        let rows = "SELECT ZNAME, ZEMAIL, ZAGE FROM ZPERSON"
        switch policy {
        case .error:
            #expect(throws: MergeConflictError.self) { try office.context.save() }
        case .mergeByPropertyStoreTrump:
            try office.context.save()
            #expect(try office.sql(rows) == "One|1|18\nTwo|2|99")
        case .rollback:
            try office.context.save()
            #expect(try office.sql(rows) == "One|1|18\nTwo|2|18")
        case .mergeByPropertyObjectTrump, .overwrite:
            try office.context.save()
            #expect(try office.sql(rows) == "Two|1|99")
        }
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `the object that wins a unique value keeps what led to the other`(policy: MergePolicy) throws {
        for isNew in [true, false] {
            let office = try Office()
            let ada = try office.person("Ada")
            try ada.setAttribute("email", .string("a@b"))
            try office.insert("Task", "wash").setToOne("owner", ada)
            try office.insert("Badge", "gold").setToOne("holder", ada)
            try ada.add(office.insert("Label", "red"), to: "favourites")
            try ada.setToOne("team", office.insert("Team", "Blue"))
            let bob = try office.person("Bob")
            try office.context.save()
            let other = try office.elsewhere()
            other.mergePolicy = policy
            let twin = try isNew ? office.person("Twin", other) : other.existingObject(with: bob.id)
            try twin.setAttribute("name", .string("Twin"))
            try twin.setAttribute("email", .string("a@b"))
            let task = try other.insert("Task")
            try task.setAttribute("name", .string("dry"))
            try task.setToOne("owner", twin)
            try other.save()
            let winner = "(SELECT Z_PK FROM ZPERSON WHERE ZEMAIL = 'a@b' AND ZNAME = 'Twin')"
            #expect(
                try office.sql(
                    """
                    SELECT count(*) FROM ZPERSON WHERE ZEMAIL = 'a@b';
                    SELECT group_concat(ZNAME) FROM ZTASK WHERE ZOWNER = \(winner);
                    SELECT ZNAME FROM ZBADGE WHERE Z_PK = (SELECT ZBADGE FROM ZPERSON WHERE Z_PK = \(winner));
                    SELECT count(*) FROM ZBADGE WHERE ZHOLDER = \(winner);
                    SELECT ZNAME FROM ZTEAM WHERE Z_PK = (SELECT ZTEAM FROM ZPERSON WHERE Z_PK = \(winner))
                    """) == "1\nwash,dry\ngold\n1\nBlue", "\(policy), new: \(isNew)")
            let favourites = try other.existingObject(with: twin.isDetached ? ada.id : twin.id).toMany("favourites")
            #expect(try names(favourites) == ["red"])
        }
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `a row is not made to hold values that its entity has not`(policy: MergePolicy) throws {
        let office = try Office()
        let first = try office.person("Ada", entity: policy == .overwrite ? "Manager" : "Person")
        try first.setAttribute("email", .string("a@b"))
        try office.context.save()
        let before = try office.sql("SELECT * FROM ZPERSON")
        let other = try office.elsewhere()
        other.mergePolicy = policy
        let twin = try office.person("Twin", other, entity: policy == .overwrite ? "Person" : "Manager")
        try twin.setAttribute("email", .string("a@b"))
        #expect {
            try other.save()
        } throws: { error in
            guard let error = error as? MergeConflictError else { return false }
            return error.coreData.number == 133021 && "\(error)".contains("An object of Person cannot hold")
        }
        #expect(try office.sql("SELECT * FROM ZPERSON") == before && twin.isInserted)
        // What the error says to do.
        try other.delete(other.existingObject(with: first.id))
        try other.save()
        #expect(try office.sql("SELECT ZNAME FROM ZPERSON") == "Twin")
    }

    @Test func `of two new objects the one stays that can hold the values of both`() throws {
        for entities in [["Person", "Manager"], ["Manager", "Person"]] {
            let office = try Office()
            office.context.mergePolicy = .mergeByPropertyObjectTrump
            for entity in entities {
                let person = try office.person(entity, entity: entity)
                try person.setAttribute("email", .string("a@b"))
                if entity == "Manager" { try person.setAttribute("budget", .decimal("7")) }
            }
            try office.context.save()
            #expect(try office.sql("SELECT count(*), max(ZBUDGET) FROM ZPERSON") == "1|7")
        }
    }
}
