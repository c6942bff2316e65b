#include "tools/command/environment.h"

#include <ctype.h>
#include <string.h>

#define HP_OPTION(variable, kind, field, default_text, help) {#variable, default_text, help},
const struct hp_variable hp_variables[] = {
#include "heapprof/options.def"
};
#undef HP_OPTION

const size_t hp_variable_count = sizeof hp_variables / sizeof *hp_variables;

void hp_variable_option(const struct hp_variable *variable, char option[HP_OPTION_NAME]) {
    static const char prefix[] = "HEAPPROF_";
    size_t length = 0;
    if (strncmp(variable->name, prefix, sizeof prefix - 1) == 0) {
        for (const char *at = variable->name + sizeof prefix - 1; *at != '\0' && length < HP_OPTION_NAME - 1;
             at++)
            option[length++] = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
    }
    option[length] = '\0';
}
