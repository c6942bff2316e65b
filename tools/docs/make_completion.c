#include <stdbool.h>
#include <string.h>

#include "make_docs.h"

/* "a|b" as "a b". */
static void print_words(FILE *stream, const char *words) {
    for (; *words != '\0'; words++)
        fputc(*words == '|' ? ' ' : *words, stream);
}

static void print_names(FILE *stream, const struct hp_docs *docs) {
    for (size_t i = 0; i < docs->n_commands; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", docs->commands[i].name);
}

static void print_bash_value(FILE *stream, const struct hp_help_option *option) {
    enum hp_docs_kind kind = hp_docs_argument_kind(option);
    if (*option->argument == '\0')
        return;
    fputs("        ", stream);
    if (option->letter != 0)
        fprintf(stream, "-%c|", option->letter);
    fprintf(stream, "--%s) ", option->name);
    if (kind == HP_DOCS_WORDS) {
        fputs("_heapprof_words '", stream);
        print_words(stream, option->argument);
        fputs("'; return ;;\n", stream);
    } else if (kind == HP_DOCS_FILE || kind == HP_DOCS_FOLDER) {
        fprintf(stream, "_heapprof_files %s; return ;;\n", kind == HP_DOCS_FILE ? "-f" : "-d");
    } else {
        fputs("return ;;\n", stream);
    }
}

static void print_bash_command(FILE *stream, const struct hp_docs *docs, const struct hp_help_text *help) {
    fprintf(stream, "    %s)\n        case $before in\n", help->name);
    for (size_t i = 0; i < help->n_options; i++)
        print_bash_value(stream, &help->options[i]);
    fputs("        esac\n        if [[ $word == -* ]]; then\n            _heapprof_words '", stream);
    for (size_t i = 0; i < help->n_options; i++) {
        const struct hp_help_option *option = &help->options[i];
        fprintf(stream, "%s--%s", i > 0 ? " " : "", option->name);
        if (option->letter != 0)
            fprintf(stream, " -%c", option->letter);
    }
    fputs("'\n        else\n            ", stream);
    switch (hp_docs_operand_kind(help)) {
    case HP_DOCS_COMMAND:
        fputs("_heapprof_words '", stream);
        print_names(stream, docs);
        fputs(" env'", stream);
        break;
    case HP_DOCS_FILE:
        fputs("_heapprof_files -f", stream);
        break;
    case HP_DOCS_PROCESS:
        fputs("_heapprof_words \"$(_heapprof_processes)\"", stream);
        break;
    default:
        fputs("return", stream);
    }
    fputs("\n        fi ;;\n", stream);
}

/* Options end at the program; what follows is completed as that program's own. */
static void print_bash_program(FILE *stream, const struct hp_help_text *help) {
    fprintf(stream, "    if [[ $command == %s ]]; then\n", help->name);
    fputs("        for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "            case ${COMP_WORDS[i]} in\n"
          "            --) _heapprof_program \"$((i + 1))\"; return ;;\n",
          stream);
    bool any = false;
    for (size_t i = 0; i < help->n_options; i++) {
        if (*help->options[i].argument == '\0')
            continue;
        fprintf(stream, "%s--%s", any ? "|" : "            ", help->options[i].name);
        any = true;
    }
    if (any)
        fputs(") [[ ${COMP_WORDS[i + 1]} == = ]] && ((i += 2)) || ((i++)) ;;\n", stream);
    fputs("            -*) ;;\n"
          "            *) _heapprof_program \"$i\"; return ;;\n"
          "            esac\n"
          "        done\n"
          "        # beyond it: the word is an option's value\n"
          "        if ((i == COMP_CWORD)) && [[ $word != -* ]]; then\n"
          "            _heapprof_program \"$i\"\n"
          "            return\n"
          "        fi\n"
          "    fi\n",
          stream);
}

static void print_bash_helpers(FILE *stream) {
    fputs("# bash completion for heapprof; made from its help texts.\n"
          "\n"
          "_heapprof_words() {\n"
          "    COMPREPLY=($(compgen -W \"$1\" -- \"$word\"))\n"
          "}\n"
          "\n"
          "_heapprof_files() {\n"
          "    local IFS=$'\\n'\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    COMPREPLY=($(compgen \"$1\" -- \"$word\"))\n"
          "}\n"
          "\n"
          "# Numbers and services of what heapprof profiles here; long names are cut in the list.\n"
          "_heapprof_processes() {\n"
          "    \"${COMP_WORDS[0]}\" list 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1; if ($2 !~ "
          "/[.][.][.]/) print $2 }'\n"
          "}\n"
          "\n"
          "# The words from $1 on are another program's command line.\n"
          "_heapprof_program() {\n"
          "    if ((COMP_CWORD == $1)); then\n"
          "        COMPREPLY=($(compgen -c -- \"$word\"))\n"
          "    elif declare -F _command_offset >/dev/null; then\n"
          "        _command_offset \"$1\"\n"
          "    else\n"
          "        _heapprof_files -f\n"
          "    fi\n"
          "}\n"
          "\n",
          stream);
}

void hp_docs_bash(FILE *stream, const struct hp_docs *docs) {
    print_bash_helpers(stream);
    fputs("_heapprof() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
          "command=${COMP_WORDS[1]} i\n"
          "    COMPREPLY=()\n"
          "    # --option=value comes as three words\n"
          "    if [[ $word == = ]]; then\n"
          "        word=\n"
          "    elif [[ $before == = ]]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        _heapprof_words '",
          stream);
    print_names(stream, docs);
    fputs(" --help --version'\n        return\n    fi\n", stream);
    for (size_t i = 0; i < docs->n_commands; i++)
        if (hp_docs_operand_kind(&docs->commands[i]) == HP_DOCS_PROGRAM)
            print_bash_program(stream, &docs->commands[i]);
    fputs("    case $command in\n", stream);
    for (size_t i = 0; i < docs->n_commands; i++)
        print_bash_command(stream, docs, &docs->commands[i]);
    fputs("    esac\n}\n\ncomplete -F _heapprof heapprof\n", stream);
}

/* Inside '[...]' of a specification in single quotes; at most its first sentence. */
static void print_zsh_text(FILE *stream, const char *text) {
    for (; *text != '\0' && !(text[0] == '.' && (text[1] == ' ' || text[1] == '\0')) && *text != ';';
         text++) {
        if (*text == '\'')
            fputs("'\\''", stream);
        else if (strchr("[]:\\", *text) != NULL)
            fprintf(stream, "\\%c", *text);
        else
            fputc(*text, stream);
    }
}

static void print_zsh_value(FILE *stream, const struct hp_help_option *option) {
    if (*option->argument == '\0')
        return;
    fputc(':', stream);
    print_zsh_text(stream, option->argument);
    switch (hp_docs_argument_kind(option)) {
    case HP_DOCS_WORDS:
        fputs(":(", stream);
        print_words(stream, option->argument);
        fputc(')', stream);
        break;
    case HP_DOCS_FILE:
        fputs(":_files", stream);
        break;
    case HP_DOCS_FOLDER:
        fputs(":_files -/", stream);
        break;
    default:
        fputs(": ", stream);
    }
}

static void print_zsh_option(FILE *stream, const struct hp_help_option *option) {
    bool has_argument = *option->argument != '\0';
    fputs("            ", stream);
    if (option->letter != 0)
        fprintf(stream, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                has_argument ? "+" : "", option->name, has_argument ? "=" : "");
    else
        fprintf(stream, "'--%s%s[", option->name, has_argument ? "=" : "");
    print_zsh_text(stream, option->text);
    fputc(']', stream);
    print_zsh_value(stream, option);
    fputs("' \\\n", stream);
}

static const char *zsh_operand(enum hp_docs_kind kind) {
    switch (kind) {
    case HP_DOCS_FILE:
        return "'*:file:_files'";
    case HP_DOCS_PROGRAM:
        return "'(-)1:program:_command_names -e' '*::arguments:_normal'";
    case HP_DOCS_COMMAND:
        return "\"1:command:($topics)\"";
    case HP_DOCS_PROCESS:
        return "'*:process:_heapprof_processes'";
    default:
        return "'*: : '";
    }
}

static void print_zsh_command(FILE *stream, const struct hp_help_text *help) {
    fprintf(stream, "    %s)\n        _arguments -s -S \\\n", help->name);
    for (size_t i = 0; i < help->n_options; i++)
        print_zsh_option(stream, &help->options[i]);
    fprintf(stream, "            %s ;;\n", zsh_operand(hp_docs_operand_kind(help)));
}

void hp_docs_zsh(FILE *stream, const struct hp_docs *docs) {
    fputs("#compdef heapprof\n"
          "# zsh completion for heapprof; made from its help texts.\n"
          "\n"
          "_heapprof_processes() {\n"
          "    local -a processes\n"
          "    processes=(${(f)\"$(_call_program processes heapprof list 2>/dev/null |\n"
          "        awk '$1 ~ /^[0-9]+$/ { print $1 \":\" $2 }')\"})\n"
          "    _describe -t processes process processes\n"
          "}\n"
          "\n"
          "_heapprof() {\n"
          "    local -a commands\n"
          "    local topics='",
          stream);
    print_names(stream, docs);
    fputs(" env'\n    commands=(\n", stream);
    for (size_t i = 0; i < docs->n_commands; i++) {
        fprintf(stream, "        '%s:", docs->commands[i].name);
        print_zsh_text(stream, docs->commands[i].summary);
        fputs("'\n", stream);
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe -t commands command commands\n"
          "        _arguments '--help[the commands]' '--version[the version]'\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $words[1] in\n",
          stream);
    for (size_t i = 0; i < docs->n_commands; i++)
        print_zsh_command(stream, &docs->commands[i]);
    fputs("    esac\n}\n\n_heapprof \"$@\"\n", stream);
}
