//
//  BothTag+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
#if canImport(Darwin)
import CoreData
#else
import MoultNSCoreData
#endif


extension BothTag {

#if canImport(Darwin)
    @nonobjc
#endif
    public class func fetchRequest() -> NSFetchRequest<BothTag> {
        return NSFetchRequest<BothTag>(entityName: "Tag")
    }

#if canImport(Darwin)
    @NSManaged public var title: String?
    @NSManaged public var books: NSSet?
#else
    public var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }
    public var books: NSSet? {
        get { value(forKey: "books") as? NSSet }
        set { setValue(newValue, forKey: "books") }
    }
#endif

}

// MARK: Generated accessors for books
extension BothTag {

#if canImport(Darwin)
    @objc(addBooksObject:)
    @NSManaged public func addToBooks(_ value: BothBook)

    @objc(removeBooksObject:)
    @NSManaged public func removeFromBooks(_ value: BothBook)

    @objc(addBooks:)
    @NSManaged public func addToBooks(_ values: NSSet)

    @objc(removeBooks:)
    @NSManaged public func removeFromBooks(_ values: NSSet)
#else
    public func addToBooks(_ value: BothBook) {
        mutableSetValue(forKey: "books").add(value)
    }

    public func removeFromBooks(_ value: BothBook) {
        mutableSetValue(forKey: "books").remove(value)
    }

    public func addToBooks(_ values: NSSet) {
        for value in values.allObjects { mutableSetValue(forKey: "books").add(value) }
    }

    public func removeFromBooks(_ values: NSSet) {
        for value in values.allObjects { mutableSetValue(forKey: "books").remove(value) }
    }
#endif

}

extension BothTag : Identifiable {

}
