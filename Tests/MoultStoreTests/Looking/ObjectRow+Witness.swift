import MoultStore
import TestSupport

extension ObjectRow {
    /// The line that `Tests/Witness/dump.py` prints for the object.
    var witnessLine: String {
        let fields = zip(shape.properties, values).map { "\($0)=\($1.witnessText)" }
        return ([entityName, String(primaryKey)] + fields).joined(separator: " ")
    }
}

extension PropertyValue {
    var witnessText: String {
        switch self {
        case .attribute(nil), .toOne(nil): "-"
        case .attribute(let value?): value.witnessText
        case .toOne(let reference?): "o:\(reference.entityName)/\(reference.primaryKey)"
        case .toMany(let references):
            "m:" + references.map { "\($0.entityName)/\($0.primaryKey)" }.joined(separator: ",")
        case .undecodable: "?"
        }
    }
}
