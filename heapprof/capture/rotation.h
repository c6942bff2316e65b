/*
 * Which dumps of a service stay in a folder: at most `keep` of them and `budget` bytes, across processes and
 * restarts. The newest always stays, the largest after it. Of the others those go first of which the same
 * process has written a newer one: where workers, or restarts, share a folder, what each had to say last is
 * worth more than what one of them said before. Among equals the oldest go first.
 *
 * Only regular files of one owner count, or go: in a folder where others may write, /tmp say, nobody's files
 * are in danger because of their names, and nobody can drive a service's dumps out by names like its own.
 */
#ifndef HP_CAPTURE_ROTATION_H
#define HP_CAPTURE_ROTATION_H

#include <stdint.h>

enum { HP_ROTATION_FILES_MAX = 2048 };

struct hp_rotation_file {
    char name[256];
    uint64_t bytes;
    int64_t written_ns;
    uint8_t goes;      /* to be deleted */
    uint8_t has_newer; /* of the same process; set by hp_rotation_decide */
};

/* Whose dumps are meant. */
struct hp_rotation_scope {
    const char *folder;
    const char *service; /* as the dump's identity has it */
    unsigned owner;      /* the user whom a file of this process belongs to there; a server of files may say
                            another      than who it runs as */
};

/* Marks in files[0..count) those that go. Pure. */
void hp_rotation_decide(struct hp_rotation_file *files, uint32_t count, uint32_t keep, uint64_t budget);

/*
 * Applies that to the dumps in `scope`, of which `own`, which has just
 * been put there, is the newest; NULL: that is told by the files' times. Removes temporary files, too, that a
 * killed process left there more than ten minutes ago. Called when a dump is whole and has its name, never
 * before: the last whole dump is not given up for one that may fail. One user at a time (the capture lock);
 * no allocation after the first call has mapped its memory (hp_rotation_prepare). Failures are ignored: the
 * next dump tries again.
 */
void hp_rotation_apply(const struct hp_rotation_scope *scope, uint32_t keep, uint64_t budget,
                       const char *own);

/* How many dumps in `scope` were written after `since_ns` by processes whose names do not begin with `own`
 * (hp_dump_name_own()). The same conditions. */
uint32_t hp_rotation_count_recent(const struct hp_rotation_scope *scope, const char *own, int64_t since_ns);

/* Maps the memory for hp_rotation_apply, and touches what is usual; false when there is none. */
_Bool hp_rotation_prepare(void);

#endif
