import Foundation
import MoultData
import TestSupport
import Testing

/// What a context saves is told in the store's history.
@Suite struct HistoryTests {
    typealias Shelf = Bookshop.Shelf
    typealias Book = Bookshop.Book
    typealias Tag = Bookshop.Tag
    typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

    private let folder: ScratchFolder
    private let container: ModelContainer
    private let context: ModelContext
    private var path: String { folder.path + "/books.store" }

    init() throws {
        folder = try ScratchFolder()
        container = try ModelContainer(
            for: Schema(versionedSchema: Bookshop.self),
            configurations: .init(url: URL(fileURLWithPath: folder.path + "/books.store")))
        context = ModelContext(container)
    }

    /// Three saves: two insertions; a change and an insertion; a deletion.
    private func threeSaves() throws -> Book {
        context.author = "first"
        let (book, tag) = (Book("Emma"), Tag("old"))
        book.isbn = "978"
        context.insert(book)
        context.insert(tag)
        try context.save()
        context.author = "second"
        book.pages = 474
        book.shelf = Shelf(code: "A")
        try context.save()
        context.author = nil
        context.delete(book)
        try context.save()
        return book
    }

    @Test func `insertions, changes and deletions, by whom and of what`() throws {
        let id = try threeSaves().persistentModelID
        let all = try ModelContext(container).fetchHistory(Descriptor())
        #expect(all.map(\.author) == ["first", "second", nil] && all.map(\.changes.count) == [2, 2, 1])
        #expect(
            all.allSatisfy { abs($0.timestamp.timeIntervalSinceNow) < 60 && $0.storeIdentifier == id.storeIdentifier })
        #expect(all.map(\.token) == all.map(\.token).sorted() && all[0].token < all[1].token)

        var kinds: [String] = []
        for case .insert(let change) in all[0].changes {
            kinds.append(change.changedPersistentIdentifier.entityName)
            if change.changedPersistentIdentifier == id { #expect(change is DefaultHistoryInsert<Book>) }
        }
        #expect(kinds.sorted() == ["Book", "Tag"])
        let update = try #require(
            all[1].changes.compactMap { change in
                if case .update(let update as DefaultHistoryUpdate<Book>) = change { update } else { nil }
            }.first)
        #expect(Set(update.updatedAttributes) == [\Book.pages, \Book.shelf])
        #expect(update.changedPersistentIdentifier == id)
        let deletion = try #require(
            all[2].changes.compactMap { change in
                if case .delete(let deletion as DefaultHistoryDelete<Book>) = change { deletion } else { nil }
            }.first)
        #expect(deletion.tombstone[\.isbn] as? String == "978" && deletion.tombstone[\.title] == nil)
    }

    @Test func `tokens and predicates find what is new`() throws {
        _ = try threeSaves()
        let all = try context.fetchHistory(Descriptor())
        let coded = try JSONEncoder().encode(all[0].token)
        let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: coded)
        #expect(token == all[0].token)
        let newer = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
        #expect(newer.map(\.token) == Array(all.map(\.token).dropFirst()))
        let byAuthor = Descriptor(predicate: #Predicate { $0.author == "second" })
        #expect(try context.fetchHistory(byAuthor).map(\.transactionIdentifier) == [all[1].transactionIdentifier])
        var latest = Descriptor(sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
        latest.fetchLimit = 1
        #expect(try context.fetchHistory(latest).map(\.transactionIdentifier) == [all[2].transactionIdentifier])
    }

    @Test func `a save says where in the history its own transaction is`() throws {
        nonisolated(unsafe) var tokens: [DefaultHistoryToken?] = []
        let container = container
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { note in
            // Another context saves before the token is used.
            let other = ModelContext(container)
            other.author = "other"
            other.insert(Tag("\(tokens.count)"))
            try? other.save()
            tokens.append(note.userInfo?[ModelContext.NotificationKey.historyTokens] as? DefaultHistoryToken)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.author = "own"
        context.insert(Book("Emma"))
        try context.save()
        context.insert(Book("Persuasion"))
        try context.save()
        let own = try SQLiteShell.run(
            path,
            """
            SELECT t.Z_PK FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS
            WHERE s.ZNAME = 'own' ORDER BY 1
            """
        ).split(separator: "\n").compactMap { Int64($0) }
        #expect(tokens.map { $0?.tokenValue?.values.first } == own && own == [1, 3])
        let first = try #require(tokens[0])
        let newer = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > first }))
        #expect(newer.map(\.author) == ["other", "own", "other"])
    }

    @Test func `history can be forgotten, and goes on with new numbers`() throws {
        _ = try threeSaves()
        let all = try context.fetchHistory(Descriptor())
        let token = all[1].token
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= token }))
        #expect(try context.fetchHistory(Descriptor()).map(\.token) == [all[2].token])
        #expect(try SQLiteShell.run(path, "SELECT COUNT(*) FROM ACHANGE") == "1\n")
        context.insert(Book("Persuasion"))
        try context.save()
        let last = try #require(try context.fetchHistory(Descriptor()).last)
        #expect(last.token > all[2].token && last.transactionIdentifier == all[2].transactionIdentifier + 1)
    }

    @Test(arguments: [
        "{}", "{\"tokenValue\":{}}", "{\"tokenValue\":{\"nowhere\":7}}",
        "{\"tokenValue\":{\"STORE\":-9223372036854775808}}",
        "{\"tokenValue\":{\"STORE\":9223372036854775807}}",
        "{\"tokenValue\":{\"STORE\":-1,\"'; DROP TABLE ACHANGE; --\":1}}",
    ])
    func `a token that no store has given is answered or refused, and harms nothing`(json: String) throws {
        _ = try threeSaves()
        let all = try context.fetchHistory(Descriptor())
        let text = json.replacingOccurrences(of: "STORE", with: all[0].storeIdentifier)
        let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8))
        for predicate: Predicate<DefaultHistoryTransaction> in [
            #Predicate { $0.token > token }, #Predicate { $0.token <= token }, #Predicate { $0.token == token },
        ] {
            do {
                #expect(try context.fetchHistory(Descriptor(predicate: predicate)).count <= all.count)
            } catch is SwiftDataError {
            }
        }
        #expect(try context.fetchHistory(Descriptor()).map(\.token) == all.map(\.token))
    }

    @Test func `a token of a time that a restore took back is expired, and no number is given again`() throws {
        let own = try ScratchFolder()
        let url = URL(fileURLWithPath: own.path + "/books.store")
        func open<Result>(_ body: (ModelContext) throws -> Result) throws -> Result {
            try body(
                ModelContext(
                    ModelContainer(for: Schema(versionedSchema: Bookshop.self), configurations: .init(url: url))))
        }
        func add(_ titles: [String]) throws -> [DefaultHistoryToken] {
            try open { context in
                for title in titles {
                    context.insert(Book(title))
                    try context.save()
                }
                return try context.fetchHistory(Descriptor()).map(\.token)
            }
        }
        let kept = try #require(try add(["Emma"]).last)
        let backup = try BackupManager(storeAt: url).createBackup()
        let lost = try add(["Persuasion", "Sanditon"])
        _ = try BackupManager(storeAt: url).restore(backup)
        _ = try add(["Lady Susan"])
        let numbers = "SELECT group_concat(Z_PK) FROM ATRANSACTION"
        #expect(try SQLiteShell.run(url.path, numbers) == "1,4\n")
        #expect(try SQLiteShell.run(url.path, "SELECT group_concat(Z_PK) FROM ZBOOK") == "1,4\n")
        try open { context in
            for token in lost[1...] {
                #expect(throws: SwiftDataError.historyTokenExpired) {
                    try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token }))
                }
            }
            let since = try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > kept }))
            #expect(since.count == 1)
        }
    }

    @Test func `a token of a store that is no more is expired`() throws {
        let (one, other) = (try VersionedStore(), try VersionedStore())
        var token: DefaultHistoryToken?
        for store in [one, other] {
            let container = try ModelContainer(
                for: Harbour.Ship.self, Harbour.Flag.self, configurations: .init(url: store.url))
            let context = ModelContext(container)
            context.insert(Harbour.Ship("Argo"))
            try context.save()
            guard let foreign = token else {
                token = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
                continue
            }
            #expect(throws: SwiftDataError.historyTokenExpired) {
                _ = try context.fetchHistory(
                    HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > foreign }))
            }
            #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 1)
        }
    }

    @Test func `a token is expired once what came after it is forgotten`() throws {
        _ = try threeSaves()
        let tokens = try context.fetchHistory(Descriptor()).map(\.token)
        let (first, second, third) = (tokens[0], tokens[1], tokens[2])
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= second }))
        for predicate in [
            #Predicate<DefaultHistoryTransaction> { $0.token > first }, #Predicate { first < $0.token },
            #Predicate { $0.token >= first && $0.author == nil },
        ] {
            let error = #expect(throws: SwiftDataError.historyTokenExpired) {
                try context.fetchHistory(Descriptor(predicate: predicate))
            }
            #expect(error?.message.contains("transaction 1") == true)
        }
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > second })).count == 1)
        try context.deleteHistory(Descriptor())
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > third })).isEmpty)
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > second }))
        }
    }

    /// The same answer as from all transactions in memory.
    @Test func `the bounds of a predicate leave out what it cannot hold for, and nothing else`() throws {
        for number in 1...12 {
            context.author = number.isMultiple(of: 3) ? "third" : nil
            context.insert(Tag("tag \(number)"))
            try context.save()
        }
        let all = try context.fetchHistory(Descriptor())
        let (low, high, number) = (all[3].token, all[8].token, all[5].transactionIdentifier)
        let (early, late) = (all[2].timestamp, all[9].timestamp)
        let author: String? = "third"
        let predicates: [Foundation.Predicate<DefaultHistoryTransaction>] = [
            #Predicate { $0.token > low }, #Predicate { $0.token >= low && $0.token < high },
            #Predicate { $0.token > low && $0.author == author },
            #Predicate { $0.token <= high || $0.author == author },
            #Predicate { $0.transactionIdentifier == number }, #Predicate { $0.transactionIdentifier < number },
            #Predicate { $0.timestamp >= early && $0.timestamp <= late }, #Predicate { !($0.token > low) },
            #Predicate { high > $0.token && number <= $0.transactionIdentifier }, #Predicate { $0.timestamp > late },
            #Predicate { $0.token == low }, #Predicate { $0.timestamp < early && $0.token > high },
        ]
        for (place, predicate) in predicates.enumerated() {
            let found = try context.fetchHistory(Descriptor(predicate: predicate)).map(\.transactionIdentifier)
            let expected = try all.filter { try predicate.evaluate($0) }.map(\.transactionIdentifier)
            #expect(found == expected, "predicate \(place)")
        }
        #expect(try context.fetchHistory(Descriptor(predicate: predicates[1])).count == 5)
    }

    @Test func `the rows are those that Core Data writes`() throws {
        _ = try threeSaves()
        let authors = """
            SELECT t.Z_PK, t.Z_ENT, t.ZAUTHOR IS NULL, s.ZNAME FROM ATRANSACTION t
            LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS ORDER BY 1
            """
        #expect(try SQLiteShell.run(path, authors) == "1|16002|1|first\n2|16002|1|second\n3|16002|1|\n")
        // Entities by name: Author 1, Book 2, Shelf 3, Tag 4. The bits of Book: author, shelf, genre, isbn, pages,
        // price, title, tags.
        let changes = """
            SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS), ZTOMBSTONE0 FROM ACHANGE ORDER BY Z_PK
            """
        let lines = Set(try SQLiteShell.run(path, changes).split(separator: "\n").map(String.init))
        #expect(lines.contains("1|0|2|1||") && lines.contains("1|0|4|1||"))
        #expect(lines.contains("2|0|3|1||") && lines.contains("2|1|2|1|48|"))
        #expect(lines.contains("3|2|2|1||978"))
    }
}
