/*
 * Writes the unit tests' profile, every location symbolized, to a file.
 *
 *   write_profile FILE [DROP_FRAMES [KEEP_FRAMES]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/test_tools_builder.h"

int main(int argc, char **argv) {
    static struct builder builder;
    static uint8_t packed[BUILDER_BYTES], zipped[2 * BUILDER_BYTES];
    if (argc < 2)
        return 2;
    builder_init(&builder);
    /* What has no symbols is named differently by pprof: give the library's location a function. */
    builder.locations[2].n_line = 1;
    builder.locations[2].line = &builder.line_list[3];
    if (argc > 2)
        builder.profile.drop_frames = builder_string(&builder, argv[2]);
    if (argc > 3)
        builder.profile.keep_frames = builder_string(&builder, argv[3]);
    size_t size = builder_gzip(packed, builder_pack(&builder, packed), zipped, sizeof zipped);
    FILE *file = fopen(argv[1], "wb");
    return file == NULL || fwrite(zipped, 1, size, file) != size || fclose(file) != 0;
}
