//! What the binary is given when it is built: the commit it comes from, and the planning page.

#[path = "build/commit.rs"]
mod commit;
#[path = "build/page.rs"]
mod page;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    commit::tell();
    page::embed()
}
