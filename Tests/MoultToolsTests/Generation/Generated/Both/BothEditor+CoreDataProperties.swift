//
//  BothEditor+CoreDataProperties.swift
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


extension BothEditor {

#if canImport(Darwin)
    @nonobjc
#endif
    public class func fetchRequest() -> NSFetchRequest<BothEditor> {
        return NSFetchRequest<BothEditor>(entityName: "Editor")
    }

#if canImport(Darwin)
    @NSManaged public var house: String?
#else
    public var house: String? {
        get { value(forKey: "house") as? String }
        set { setValue(newValue, forKey: "house") }
    }
#endif

}

