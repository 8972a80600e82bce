import MoultCoreData

/// What several rows say of one user, by this rule: the newest row counts; what it does not say is taken from the one
/// before it, and so on; the earliest date of registration stays.
///
/// A row without a date is older than every other, and of two of the same date the one with the smaller key is older.
struct MergedUser {
    /// By attribute; an attribute that no row says is not there.
    private(set) var values: [String: AttributeValue] = [:]

    private static let attributes = [
        "username", "realName", "customTitleHTML", "avatarURL", "administrator", "moderator", "lastModifiedDate",
    ]

    /// - Parameter rows: by their keys.
    init(_ rows: [SourceObject]) {
        let dates = rows.map { $0.date("lastModifiedDate") ?? -.infinity }
        let oldestFirst = rows.indices.sorted { dates[$0] == dates[$1] ? $0 < $1 : dates[$0] < dates[$1] }
        for row in oldestFirst.map({ rows[$0] }) {
            for name in Self.attributes { if let value = row[name] { values[name] = value } }
        }
        if let registered = rows.compactMap({ $0.date("regdate") }).min() { values["regdate"] = .date(registered) }
    }

    func text(_ name: String) -> String? {
        if case .string(let text) = values[name] { text } else { nil }
    }
}
