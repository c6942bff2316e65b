/*
 * Our dl_iterate_phdr, in the place of glibc's.
 *
 * libunwind asks dl_iterate_phdr for the binary around a program counter, and glibc's takes the loader's
 * lock: a thread that is sampled while another one, in dlopen, waits for something this one holds, hangs the
 * process (libunwind#16, gperftools#1159, async-profiler#1151). Ours forwards to glibc's for everyone, except
 * on a thread that is inside hp_phdr_shim_begin..end: there it answers lock-free with the one binary that is
 * asked for.
 */
#ifndef HP_UNWIND_PHDR_SHIM_H
#define HP_UNWIND_PHDR_SHIM_H

#include <stdbool.h>

/* Between these, dl_iterate_phdr on this thread answers as above. Do not nest. */
void hp_phdr_shim_begin(void);
void hp_phdr_shim_end(void);

/*
 * The answer needs the program counter, which dl_iterate_phdr's callback has, but dl_iterate_phdr has not:
 * libunwind's callback data begins with it (struct dwarf_callback_data of libunwind 1.3 to 1.8). Unwinds once
 * with `unwind` and tells whether it came by here and whether every first word was a program counter.
 */
bool hp_phdr_shim_check(void (*unwind)(void));

#endif
