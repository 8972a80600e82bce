import Foundation
import SwiftData

@Model
final class Cookbook {
    @Attribute(.unique) var name: String
    var recipes: [Recipe] = []
    @Relationship(deleteRule: .deny) var owner: Cook?

    init(name: String, owner: Cook? = nil) {
        self.name = name
        self.owner = owner
    }
}

@Model
final class Cook {
    @Attribute(.unique, .preserveValueOnDeletion) var email: String
    var contact: Contact
    @Relationship(deleteRule: .nullify, inverse: \Cookbook.owner) var cookbooks: [Cookbook]? = []

    init(email: String, contact: Contact) {
        self.email = email
        self.contact = contact
    }
}
