//! The `flumen` program. A program with types of its own is as short: it adds them to the registry first.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    flumen_agent::main(flumen_agent::registry())
}
