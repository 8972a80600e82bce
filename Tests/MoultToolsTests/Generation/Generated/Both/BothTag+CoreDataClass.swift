//
//  BothTag+CoreDataClass.swift
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

#if canImport(Darwin)
@objc(BothTag)
#endif
public class BothTag: NSManagedObject {

}
