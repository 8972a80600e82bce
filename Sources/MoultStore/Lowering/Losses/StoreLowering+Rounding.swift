import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

// Decimals with more digits than a column can store. All rounded values are counted before anything is changed.

extension StoreLowering {
    /// Returns findings for computed decimals with more digits than a column can store.
    func roundedValues(_ contributions: [RowSource], _ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for (name, condition) in contribution.values.roundings.sorted(by: { $0.key < $1.key }) {
                // A closure is not called in advance; it fails if the column cannot store its result.
                guard contribution.values.functions.allSatisfy({ $0.attribute.name != name }),
                    let count = try count(contribution, condition, connection), count > 0
                else { continue }
                let place = "\(contribution.destination.name).\(name)"
                findings.append(
                    Finding(
                        code: "values-rounded", severity: .warning, place: place,
                        message:
                            "\(Quantity.count(count, "value for \(place) has", plural: "values for \(place) have")) more digits than a Decimal column keeps for "
                            + "certain, 15, and are rounded to the nearest that it holds.",
                        remedy: "Say in the expression or in a closure how they are to be rounded."))
            }
        }
        return findings
    }

    /// Returns findings for the model's default values that rows receive. Core Data's own column also stores the
    /// nearest number, but without any report.
    func roundedDefaults(_ contributions: [RowSource], _ connection: Connection) throws -> [Finding] {
        var findings: [Finding] = []
        for contribution in contributions where rowCounts[contribution.source.name, default: 0] > 0 {
            for attribute in destination.model.leaves(of: contribution.destination)
            where attribute.type == .decimal && attribute.isStored {
                guard let (digits, condition) = defaultValue(of: attribute, contribution),
                    DecimalStorage.equal(to: digits) == nil,
                    let count = try count(contribution, condition, connection), count > 0
                else { continue }
                let place = "\(contribution.destination.name).\(attribute.name)"
                let nearest = DecimalStorage.nearest(digits).map { ", \($0)" } ?? ""
                findings.append(
                    Finding(
                        code: "values-rounded", severity: .warning, place: place,
                        message: "The default value \(digits) of \(place) has more digits than a Decimal column keeps "
                            + "for certain, 15; \(Quantity.count(count, "object gets", plural: "objects get")) the nearest that it holds\(nearest).",
                        remedy: "Round the default value to 15 digits, or make the attribute a text."))
            }
        }
        return findings
    }

    /// Returns the digits of the default value that rows receive, and the condition for those rows `s`.
    private func defaultValue(
        of attribute: AttributeDescription, _ contribution: RowSource
    ) -> (digits: String, condition: SQLText)? {
        switch contribution.mapping.attributes[attribute.name] {
        case .constant(.decimal(let digits)?): return (digits, "1")
        case .attribute(let name, .decimal(let digits)?):
            let column = source.column(forAttribute: name, in: contribution.source)
            return (digits, column.map { "s.\(name: $0) IS NULL" } ?? "1")
        case .expression:
            guard case .decimal(let digits)? = attribute.defaultValue,
                let failure = contribution.values.failures[attribute.name],
                contribution.values.functions.allSatisfy({ $0.attribute.name != attribute.name })
            else { return nil }
            return (digits, failure)
        default: return nil
        }
    }
}
