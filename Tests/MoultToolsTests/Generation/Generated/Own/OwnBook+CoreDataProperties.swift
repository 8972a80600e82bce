//
//  OwnBook+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//
// swift-format-ignore-file

import Foundation
import MoultCoreData


extension OwnBook {

    public class func fetchRequest() -> FetchRequest<OwnBook> {
        return FetchRequest<OwnBook>(entityName: "Book")
    }

    public var binary: Data? {
        get { self["binary", as: Data?.self] }
        set { self["binary", as: Data?.self] = newValue }
    }
    public var boolean: Bool {
        get { self["boolean", as: Bool.self] }
        set { self["boolean", as: Bool.self] = newValue }
    }
    public var date: Date? {
        get { self["date", as: Date?.self] }
        set { self["date", as: Date?.self] = newValue }
    }
    public var decimal: Decimal? {
        get { self["decimal", as: Decimal?.self] }
        set { self["decimal", as: Decimal?.self] = newValue }
    }
    public var `default`: String? {
        get { self["default", as: String?.self] }
        set { self["default", as: String?.self] = newValue }
    }
    public var double: Double {
        get { self["double", as: Double.self] }
        set { self["double", as: Double.self] = newValue }
    }
    public var float: Float {
        get { self["float", as: Float.self] }
        set { self["float", as: Float.self] = newValue }
    }
    public var integer16: Int16 {
        get { self["integer16", as: Int16.self] }
        set { self["integer16", as: Int16.self] = newValue }
    }
    public var integer32: Int32 {
        get { self["integer32", as: Int32.self] }
        set { self["integer32", as: Int32.self] = newValue }
    }
    public var integer64: Int64 {
        get { self["integer64", as: Int64.self] }
        set { self["integer64", as: Int64.self] = newValue }
    }
    public var moment: Date? {
        get { self["moment", as: Date?.self] }
        set { self["moment", as: Date?.self] = newValue }
    }
    public var number: Int32? {
        get { self["number", as: Int32?.self] }
        set { self["number", as: Int32?.self] = newValue }
    }
    public var string: String? {
        get { self["string", as: String?.self] }
        set { self["string", as: String?.self] = newValue }
    }
    public var transformable: Any? {
        get { self["transformable"] }
        set { self["transformable"] = newValue }
    }
    public var uri: URL? {
        get { self["uri", as: URL?.self] }
        set { self["uri", as: URL?.self] = newValue }
    }
    public var uuid: UUID? {
        get { self["uuid", as: UUID?.self] }
        set { self["uuid", as: UUID?.self] = newValue }
    }
    public var author: OwnAuthor? {
        get { self["author", as: OwnAuthor?.self] }
        set { self["author", as: OwnAuthor?.self] = newValue }
    }
    public var tags: Set<OwnTag> {
        get { self["tags", as: Set<OwnTag>.self] }
        set { self["tags", as: Set<OwnTag>.self] = newValue }
    }

}

// MARK: Generated accessors for tags
extension OwnBook {

    public func addToTags(_ value: OwnTag) {
        tags.insert(value)
    }

    public func removeFromTags(_ value: OwnTag) {
        tags.remove(value)
    }

    public func addToTags(_ values: Set<OwnTag>) {
        tags.formUnion(values)
    }

    public func removeFromTags(_ values: Set<OwnTag>) {
        tags.subtract(values)
    }

}

