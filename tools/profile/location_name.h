/* What a location without symbols is called. */
#ifndef HP_TOOLS_LOCATION_NAME_H
#define HP_TOOLS_LOCATION_NAME_H

#include "tools/profile/profile.h"

/* The last part of a path. */
const char *hp_base_name(const char *path);

/* "binary+0xoffset", or "0xaddress" without a binary. malloc'ed; the caller frees it. */
char *hp_location_name(const struct hp_location *location);

#endif
