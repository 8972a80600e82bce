#if !canImport(Darwin)
    import Foundation
    import MoultCoreData
    import Synchronization
    import Testing

    /// What Foundation's documentation says of `UndoManager`.
    struct UndoManagerTests {
        /// A number whose changes can be undone.
        private final class Counter {
            let manager = UndoManager()
            private(set) var value = 0

            func set(_ new: Int) {
                let old = value
                manager.registerUndo(withTarget: self) { $0.set(old) }
                value = new
            }
        }

        private let counter = Counter()
        private var manager: UndoManager { counter.manager }

        @Test func `changes of one event are undone and redone together`() {
            counter.set(1)
            counter.set(2)
            #expect(manager.canUndo && !manager.canRedo && manager.groupingLevel == 1)
            manager.undo()
            #expect(counter.value == 0 && !manager.canUndo && manager.canRedo && manager.groupingLevel == 0)
            manager.redo()
            #expect(counter.value == 2 && manager.canUndo && !manager.canRedo)
            manager.undo()
            #expect(counter.value == 0)
        }

        @Test func `groups are undone one by one`() {
            manager.groupsByEvent = false
            for value in 1...3 {
                manager.beginUndoGrouping()
                counter.set(value)
                counter.set(value * 10)
                manager.endUndoGrouping()
            }
            #expect(manager.undoCount == 3)
            manager.undo()
            #expect(counter.value == 20)
            manager.undo()
            #expect(counter.value == 10 && manager.redoCount == 2)
            manager.redo()
            #expect(counter.value == 20)
        }

        @Test func `a change after an undo forgets what could be redone`() {
            manager.groupsByEvent = false
            counter.set(1)
            counter.set(2)
            manager.undo()
            #expect(counter.value == 1 && manager.canRedo)
            counter.set(5)
            #expect(!manager.canRedo)
            manager.redo()
            #expect(counter.value == 5)
            manager.undo()
            manager.undo()
            #expect(counter.value == 0)
        }

        @Test func `a nested group is undone with the one around it, or alone before that is closed`() {
            manager.groupsByEvent = false
            manager.beginUndoGrouping()
            counter.set(1)
            manager.beginUndoGrouping()
            counter.set(2)
            manager.endUndoGrouping()
            #expect(manager.groupingLevel == 1)
            manager.undoNestedGroup()
            #expect(counter.value == 1)
            manager.endUndoGrouping()
            manager.undo()
            #expect(counter.value == 0)
        }

        @Test func `an empty group is nothing to undo`() {
            manager.groupsByEvent = false
            manager.beginUndoGrouping()
            manager.endUndoGrouping()
            #expect(!manager.canUndo)
            manager.undo()
            manager.endUndoGrouping()
            #expect(counter.value == 0 && manager.groupingLevel == 0)
        }

        @Test func `undo closes the groups that are open`() {
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            counter.set(4)
            manager.undo()
            #expect(counter.value == 0 && manager.groupingLevel == 0 && manager.canRedo)
        }

        @Test func `what is disabled is not registered`() {
            manager.disableUndoRegistration()
            manager.disableUndoRegistration()
            counter.set(1)
            manager.enableUndoRegistration()
            #expect(!manager.isUndoRegistrationEnabled)
            manager.enableUndoRegistration()
            manager.enableUndoRegistration()
            #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
            counter.set(2)
            manager.undo()
            #expect(counter.value == 1)
        }

        @Test func `only so many levels are kept`() {
            manager.groupsByEvent = false
            manager.levelsOfUndo = 2
            for value in 1...5 { counter.set(value) }
            #expect(manager.undoCount == 2)
            for _ in 0..<5 { manager.undo() }
            #expect(counter.value == 3)
        }

        @Test func `actions of a target are forgotten alone, and of one that is gone do nothing`() {
            let other = Counter()
            manager.groupsByEvent = false
            counter.set(1)
            manager.registerUndo(withTarget: other) { $0.set(7) }
            manager.removeAllActions(withTarget: other)
            manager.undo()
            #expect(counter.value == 0 && other.value == 0)
            manager.removeAllActions()
            #expect(!manager.canUndo && !manager.canRedo)
            do {
                let short = Counter()
                manager.registerUndo(withTarget: short) { _ in Issue.record("its target is gone") }
            }
            manager.undo()
        }

        @Test func `names belong to groups`() {
            manager.groupsByEvent = false
            counter.set(1)
            manager.setActionName("Count")
            counter.set(2)
            #expect(manager.undoActionName.isEmpty && manager.undoMenuItemTitle == "Undo")
            manager.undo()
            #expect(manager.undoActionName == "Count" && manager.undoMenuItemTitle == "Undo Count")
            manager.undo()
            #expect(manager.redoActionName == "Count" && manager.redoMenuItemTitle == "Redo Count")
        }

        @Test func `notifications say what happens`() {
            let posted = Mutex<[String]>([])
            let names: [Notification.Name] = [
                .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup,
                .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange,
                .NSUndoManagerDidRedoChange,
            ]
            let observers = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { _ in
                    posted.withLock { $0.append(name.rawValue) }
                }
            }
            defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
            counter.set(1)
            manager.undo()
            #expect(
                posted.withLock { $0 } == [
                    "NSUndoManagerDidOpenUndoGroupNotification", "NSUndoManagerWillCloseUndoGroupNotification",
                    "NSUndoManagerDidCloseUndoGroupNotification", "NSUndoManagerWillUndoChangeNotification",
                    "NSUndoManagerWillCloseUndoGroupNotification", "NSUndoManagerDidCloseUndoGroupNotification",
                    "NSUndoManagerDidUndoChangeNotification",
                ])
        }

        @Test func `while it undoes, it says so`() {
            manager.groupsByEvent = false
            var seen: [Bool] = []
            manager.registerUndo(withTarget: counter) { counter in
                seen = [counter.manager.isUndoing, counter.manager.isRedoing]
            }
            manager.undo()
            #expect(seen == [true, false] && !manager.isUndoing)
        }
    }
#endif
