//
//  BothBook+CoreDataProperties.swift
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


extension BothBook {

#if canImport(Darwin)
    @nonobjc
#endif
    public class func fetchRequest() -> NSFetchRequest<BothBook> {
        return NSFetchRequest<BothBook>(entityName: "Book")
    }

#if canImport(Darwin)
    @NSManaged public var binary: Data?
    @NSManaged public var boolean: Bool
    @NSManaged public var date: Date?
    @NSManaged public var decimal: NSDecimalNumber?
    @NSManaged public var `default`: String?
    @NSManaged public var double: Double
    @NSManaged public var float: Float
    @NSManaged public var integer16: Int16
    @NSManaged public var integer32: Int32
    @NSManaged public var integer64: Int64
    @NSManaged public var moment: TimeInterval
    @NSManaged public var number: NSNumber?
    @NSManaged public var string: String?
    @NSManaged public var transformable: NSObject?
    @NSManaged public var uri: URL?
    @NSManaged public var uuid: UUID?
    @NSManaged public var author: BothAuthor?
    @NSManaged public var tags: NSSet?
#else
    public var binary: Data? {
        get { value(forKey: "binary") as? Data }
        set { setValue(newValue, forKey: "binary") }
    }
    public var boolean: Bool {
        get { (value(forKey: "boolean") as? NSNumber)?.boolValue ?? false }
        set { setValue(newValue, forKey: "boolean") }
    }
    public var date: Date? {
        get { value(forKey: "date") as? Date }
        set { setValue(newValue, forKey: "date") }
    }
    public var decimal: NSDecimalNumber? {
        get { value(forKey: "decimal") as? NSDecimalNumber }
        set { setValue(newValue, forKey: "decimal") }
    }
    public var `default`: String? {
        get { value(forKey: "default") as? String }
        set { setValue(newValue, forKey: "default") }
    }
    public var double: Double {
        get { (value(forKey: "double") as? NSNumber)?.doubleValue ?? 0 }
        set { setValue(newValue, forKey: "double") }
    }
    public var float: Float {
        get { (value(forKey: "float") as? NSNumber)?.floatValue ?? 0 }
        set { setValue(newValue, forKey: "float") }
    }
    public var integer16: Int16 {
        get { (value(forKey: "integer16") as? NSNumber)?.int16Value ?? 0 }
        set { setValue(newValue, forKey: "integer16") }
    }
    public var integer32: Int32 {
        get { (value(forKey: "integer32") as? NSNumber)?.int32Value ?? 0 }
        set { setValue(newValue, forKey: "integer32") }
    }
    public var integer64: Int64 {
        get { (value(forKey: "integer64") as? NSNumber)?.int64Value ?? 0 }
        set { setValue(newValue, forKey: "integer64") }
    }
    public var moment: TimeInterval {
        get { (value(forKey: "moment") as? Date)?.timeIntervalSinceReferenceDate ?? 0 }
        set { setValue(Date(timeIntervalSinceReferenceDate: newValue), forKey: "moment") }
    }
    public var number: NSNumber? {
        get { value(forKey: "number") as? NSNumber }
        set { setValue(newValue, forKey: "number") }
    }
    public var string: String? {
        get { value(forKey: "string") as? String }
        set { setValue(newValue, forKey: "string") }
    }
    public var transformable: NSObject? {
        get { value(forKey: "transformable") as? NSObject }
        set { setValue(newValue, forKey: "transformable") }
    }
    public var uri: URL? {
        get { value(forKey: "uri") as? URL }
        set { setValue(newValue, forKey: "uri") }
    }
    public var uuid: UUID? {
        get { value(forKey: "uuid") as? UUID }
        set { setValue(newValue, forKey: "uuid") }
    }
    public var author: BothAuthor? {
        get { value(forKey: "author") as? BothAuthor }
        set { setValue(newValue, forKey: "author") }
    }
    public var tags: NSSet? {
        get { value(forKey: "tags") as? NSSet }
        set { setValue(newValue, forKey: "tags") }
    }
#endif

}

// MARK: Generated accessors for tags
extension BothBook {

#if canImport(Darwin)
    @objc(addTagsObject:)
    @NSManaged public func addToTags(_ value: BothTag)

    @objc(removeTagsObject:)
    @NSManaged public func removeFromTags(_ value: BothTag)

    @objc(addTags:)
    @NSManaged public func addToTags(_ values: NSSet)

    @objc(removeTags:)
    @NSManaged public func removeFromTags(_ values: NSSet)
#else
    public func addToTags(_ value: BothTag) {
        mutableSetValue(forKey: "tags").add(value)
    }

    public func removeFromTags(_ value: BothTag) {
        mutableSetValue(forKey: "tags").remove(value)
    }

    public func addToTags(_ values: NSSet) {
        for value in values.allObjects { mutableSetValue(forKey: "tags").add(value) }
    }

    public func removeFromTags(_ values: NSSet) {
        for value in values.allObjects { mutableSetValue(forKey: "tags").remove(value) }
    }
#endif

}

extension BothBook : Identifiable {

}
