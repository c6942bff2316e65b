/*
 * From a program counter to the module table: what the dynamic loader knows of the binary around it, copied.
 */
#ifndef HP_FRAME_MODULE_H
#define HP_FRAME_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the main program's path; `invoked_as` is its argv[0]. Once, from the constructor, before anything else here. */
void hp_frame_module_find_program(const char *invoked_as);

/* Registers the main program as module 1 of the (initialised) module table and remembers where the dynamic
 * loader is. Once, from the constructor. */
void hp_frame_module_init(void);

/* The module table's id for the code at `pc`, which must be on the caller's stack (its binary can't go away
 * meanwhile); 0 when it is in no binary. Takes no foreign lock; allocates nothing. */
uint32_t hp_frame_module_of(uintptr_t pc);

/* Whether `pc` lies in the dynamic loader: who allocates below it may hold the loader's locks. */
bool hp_frame_module_is_loader(uintptr_t pc);

/* The main program's absolute path; its base name is what users know it by. */
const char *hp_frame_module_program(void);

#endif
