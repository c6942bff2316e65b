#include "labelset.h"

#include <stdlib.h>

static uint64_t labels_hash(const struct label *labels, size_t count) {
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        hash = table_hash(hash, labels[i].name, strlen(labels[i].name) + 1);
        hash = table_hash(hash, labels[i].value.at, labels[i].value.length);
    }
    return hash;
}

static bool same_labels(const struct label_set *set, const struct label *labels, size_t count) {
    if (set->label_count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(set->labels[i].name, labels[i].name) != 0 ||
            !slice_equal(set->labels[i].value, labels[i].value))
            return false;
    }
    return true;
}

static struct label_set *find(const struct table *sets, uint64_t hash, const struct label *labels,
                              size_t count) {
    for (struct table_node *node = table_find(sets, hash); node; node = table_find_next(node)) {
        struct label_set *set = (struct label_set *)node;
        if (same_labels(set, labels, count))
            return set;
    }
    return NULL;
}

static size_t block_size(const struct label *labels, size_t count) {
    size_t size = sizeof(struct label_set) + count * sizeof(*labels);
    for (size_t i = 0; i < count; i++)
        size += labels[i].value.length;
    return size;
}

/* Copies the labels into the block, their text behind them. */
static void fill(struct label_set *set, const struct label *labels, size_t count) {
    char *text = (char *)(set->labels + count);
    set->label_count = count;
    for (size_t i = 0; i < count; i++) {
        set->labels[i] = (struct label){labels[i].name, {text, labels[i].value.length}};
        if (labels[i].value.length)
            memcpy(text, labels[i].value.at, labels[i].value.length);
        text += labels[i].value.length;
    }
}

__attribute__((noinline)) struct label_set *labelset_intern(struct table *sets, const struct label *labels,
                                                            size_t count) {
    uint64_t hash = labels_hash(labels, count);
    struct label_set *set = find(sets, hash, labels, count);
    if (set)
        return set;
    size_t size = block_size(labels, count);
    set = malloc(size);
    if (!set)
        return NULL;
    *set = (struct label_set){.size = size};
    fill(set, labels, count);
    if (!table_insert(sets, &set->node, hash)) {
        free(set);
        return NULL;
    }
    account_add(ACCOUNT_METRICS, size);
    return set;
}

static void drop(struct table_node *node) {
    struct label_set *set = (struct label_set *)node;
    account_remove(ACCOUNT_METRICS, set->size);
    free(set);
}

void labelset_clear(struct table *sets) {
    table_fini(sets, drop);
}
