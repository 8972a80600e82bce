/// The outcome of an old object, decided before a new one is made of it.
public struct TransformOutcome<New: PersistentModel> {
    enum Kind {
        case made(key: AnyHashable?)
        case merged(into: New)
        case dropped(reason: String)
        case quarantined(reason: String)
    }
    let kind: Kind

    /// A new object is made of it.
    public static var made: TransformOutcome { TransformOutcome(kind: .made(key: nil)) }

    /// A new object is made of it, which ``TransformedModels`` finds by that key from now on.
    public static func made(as key: some Hashable) -> TransformOutcome {
        TransformOutcome(kind: .made(key: AnyHashable(key)))
    }

    /// It goes into an object that was made of an earlier one; links to it will lead there.
    public static func merged(into model: New) -> TransformOutcome { TransformOutcome(kind: .merged(into: model)) }

    /// Nothing becomes of it. The reason is counted, and stands in the report.
    public static func dropped(reason: String) -> TransformOutcome {
        TransformOutcome(kind: .dropped(reason: reason))
    }

    /// Nothing becomes of it for now: it goes to the quarantine, from where it can be looked at and brought back.
    public static func quarantined(reason: String) -> TransformOutcome {
        TransformOutcome(kind: .quarantined(reason: reason))
    }
}

/// The new objects of the present run that were made under a key: ``TransformOutcome/made(as:)``.
public struct TransformedModels<New: PersistentModel> {
    let find: (AnyHashable) -> (any PersistentModel)?

    /// The new object that was made under a key in this run; nil where there is none of this class.
    public subscript(key: some Hashable) -> New? { find(AnyHashable(key)) as? New }
}
