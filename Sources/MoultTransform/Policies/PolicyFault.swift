import MoultModel
import MoultStore

/// An error in a policy, with the object that it concerns.
struct PolicyFault: Error {
    var message: String
    var entityName: String?
    var key: Int64?
    var property: String?
    var cause: String?
    var remedy: String?
    /// Whether the object's own data are at fault, not the policy.
    var isData = false
    /// Whether a volume ran full in the meantime.
    var isOfRoom = false
    /// An error that ends the migration as it is.
    var final: MigrationError?

    init(
        message: String, entityName: String? = nil, key: Int64? = nil, property: String? = nil,
        isData: Bool = false
    ) {
        self.message = message
        self.entityName = entityName
        self.key = key
        self.property = property
        self.isData = isData
    }

    init(_ error: any Error, _ reference: ObjectReference?) {
        if let fault = error as? PolicyFault {
            self = fault
        } else if let error = error as? MigrationError {
            self.init(message: error.message)
            remedy = error.remedy
            cause = error.cause
            let parts = error.place.split(separator: ".").map(String.init)
            if parts.count == 2, parts[0] == reference?.entityName { property = parts[1] }
            if [.cancelled, .policyFailed].contains(error.code) { final = error }
            isOfRoom = error.code == .insufficientStorage
        } else {
            self.init(message: "It threw \(type(of: error)).")
            cause = "\(error)"
        }
        entityName = entityName ?? reference?.entityName
        key = key ?? reference?.primaryKey
    }

    /// As everybody else sees it.
    func error(_ mapping: RunningMapping) -> MigrationError {
        if let final { return final }
        let object = entityName.map { name in "\(name)\(key.map { " \($0)" } ?? "")" }
        let place = [object, property].compactMap { $0 }.joined(separator: ".")
        let at = object.map { " at \($0)\(property.map { ", property \($0)" } ?? "")" } ?? ""
        // Room is not the policy's business: whoever can make some goes by the code.
        return MigrationError(
            isOfRoom ? .insufficientStorage : .policyFailed,
            "The migration policy \(mapping.policyName) of the mapping \(mapping.entityMapping.name) failed\(at): \(message)",
            place: place.isEmpty ? mapping.entityMapping.name : place,
            remedy: remedy ?? "Correct the policy, or drop or quarantine the object. The store is unchanged.",
            cause: cause)
    }
}
