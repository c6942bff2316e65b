#include "tools/profile/location_name.h"

#include <inttypes.h>
#include <string.h>

#include "tools/base/memory.h"

const char *hp_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *hp_location_name(const struct hp_location *location) {
    const struct hp_mapping *mapping = location->mapping;
    if (mapping == NULL || mapping->filename[0] == '\0')
        return hp_memory_format("0x%" PRIx64, location->address);
    return hp_memory_format("%s+0x%" PRIx64, hp_base_name(mapping->filename),
                            location->address - mapping->start + mapping->offset);
}
