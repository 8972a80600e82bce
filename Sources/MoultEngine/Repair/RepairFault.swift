import MoultModel
import MoultTransform

/// One kind of fault at one place of a store, as a statement that finds the rows.
struct RepairFault: Sendable {
    let rule: RepairRule
    /// `Entity.property`, an entity or a table.
    let place: String
    /// Selects the key of each row at fault in its first column, ordered; of a join table its rowid.
    let select: String
    let action: Action

    enum Action: Sendable {
        /// Ends a reference in a row of objects.
        case clear(Link)
        /// Removes a row of a join table: it leads from or to nothing, or holds a pair once more.
        case unlink(table: String, columns: [PairColumn])
        /// Sets or ends one side of a one-to-one relationship.
        case answer(Link, inverse: Link)
        /// Gives the row of a table the number of its entity.
        case number(table: String, entities: [String])
        /// Gives a reference the number of the object that it leads to.
        case renumber(Link)
        /// Keeps the first of several objects; the statement's second column is its key.
        case merge(entity: String)
        /// Sends objects of a table to the quarantine.
        case quarantine(table: String)
        /// The fix of a rule.
        case rule(ValidationRule)
        /// Counts the destinations of a relationship again.
        case recount(table: String, column: String, property: String, counted: String)
        case raise(table: String, number: Int)
        /// Changes or removes rows of persistent history; the statement lacks its condition.
        case history(String)
    }

    /// A key column of a join table.
    struct PairColumn: Sendable {
        let name: String
        /// The table of the objects that it leads to.
        let target: String
        /// The entity numbers that they may have.
        let numbers: [Int]
        /// Their relationship.
        let property: String
    }

    /// A reference as columns of a row.
    struct Link: Sendable {
        let table: String
        let column: String
        /// The columns that end with it: entity number and place in an ordered list.
        let companions: [String]
        /// Of those the one with the entity number.
        let entityColumn: String?
        let property: String
        let target: String
        let isOptional: Bool
    }
}
