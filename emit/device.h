/* Functions of emitted text that ask the current device. */
#ifndef EMIT_DEVICE_H
#define EMIT_DEVICE_H
extern const char device_on_arch[];             /* HostTarget.on_arch */
extern const char device_multiprocessors[];     /* HostTarget.multiprocessors */
extern const char device_clear[];               /* HostTarget.clear */
#endif
