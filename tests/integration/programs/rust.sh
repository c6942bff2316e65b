#!/usr/bin/env bash
# A Rust program: collections, threads, channels, panics that are caught and one that is not.  rust.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs flock
rustc=/usr/bin/rustc
[[ -x $rustc ]] || rustc=$(command -v rustc) || skip "there is no rustc here"
program=$HP_BUILD/work_in_rust # made once, for all runs
make_program() {
    cat >"$work/work.rs" <<'END'
use std::collections::{BTreeMap, VecDeque};
use std::panic;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn work(n: usize) -> usize {
    let mut map = BTreeMap::new();
    for i in 0..n {
        map.entry(i * 7919 % 1009).or_insert_with(Vec::new).push(format!("item {i}"));
    }
    map.values().map(|v| v.iter().map(String::len).sum::<usize>()).sum()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let (sender, receiver) = mpsc::channel();
    let total = Arc::new(Mutex::new(VecDeque::new()));
    let threads: Vec<_> = (0..6).map(|i| {
        let (sender, total) = (sender.clone(), Arc::clone(&total));
        thread::spawn(move || {
            sender.send((i, work(500 * (i + 1)))).unwrap();
            total.lock().unwrap().push_back(vec![i as u8; 100_000]);
            if i % 2 == 1 { panic!("thread {i}") }
            i
        })
    }).collect();
    drop(sender);
    let mut results: Vec<_> = receiver.iter().collect();
    results.sort();
    println!("{results:?}");
    println!("{:?}", threads.into_iter().map(|t| t.join().ok()).collect::<Vec<_>>());
    println!("{}", total.lock().unwrap_or_else(|e| e.into_inner()).iter().map(Vec::len).sum::<usize>());
    for i in 0..200 {
        let caught = panic::catch_unwind(|| { let v = vec![i; 50]; if i % 3 == 0 { panic!("{}", v.len()) } v.len() });
        assert_eq!(caught.is_err(), i % 3 == 0);
    }
    let aligned = std::alloc::Layout::from_size_align(5000, 4096).unwrap();
    unsafe { let p = std::alloc::alloc_zeroed(aligned); println!("{} {}", p as usize % 4096, *p.add(4999)); std::alloc::dealloc(p, aligned); }
    std::process::exit(11);
}
END
    "$rustc" -O -g -o "$work/work" "$work/work.rs" 2>"$work/said" || fail "rustc: $(<"$work/said")"
    mv "$work/work" "$program"
}
(
    flock 9
    [[ -x $program ]] || make_program
) 9>"$program.lock"
same "$program"
