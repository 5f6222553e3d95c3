//! C20: what the wasm files are built from has no clock, no threads and no sockets.

use std::process::Command;

/// Crates that only make sense where there is an operating system.
const OF_A_SYSTEM: [&str; 8] =
    ["tokio", "mio", "socket2", "libc", "rustix", "async-std", "smol", "windows-sys"];

fn tree(package: &str, target: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", package, "--edges", "normal", "--prefix", "none"])
        .args(target)
        .output()
        .expect("cargo tree runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a tree in UTF-8")
}

fn found(tree: &str) -> Vec<&str> {
    let names = tree.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| OF_A_SYSTEM.contains(name)).collect()
}

#[test]
fn c20_the_wasm_files_need_no_system() {
    let tree = tree("evenkeel-wasm", &["--target", "wasm32-unknown-unknown"]);
    assert!(tree.contains("evenkeel-core"), "{tree}");
    assert_eq!(found(&tree), Vec::<&str>::new());
}

/// Control: the tree of the command line has them.
#[test]
fn c20_control_the_command_line_needs_one() {
    let tree = tree("evenkeel", &[]);
    assert!(found(&tree).contains(&"tokio") && found(&tree).contains(&"mio"), "{tree}");
}
