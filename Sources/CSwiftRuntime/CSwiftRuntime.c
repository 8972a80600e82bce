#include "CSwiftRuntime.h"

#if !defined(__APPLE__)

// Declared in swift/Runtime/HeapObject.h, which is not part of a toolchain.
void *swift_tryRetain(void *object);

void *moult_retain_if_alive(void *object) { return swift_tryRetain(object); }

#endif
